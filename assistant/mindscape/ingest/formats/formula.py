"""Formulas (MathML, and OMML of Word) as one line of text: x_1^2, (a+b)/c, √(x)."""

from __future__ import annotations

from mindscape.ingest.formats.xml import Element, inner_text, local_name

_MAX_DEPTH = 60
"""What nests deeper is given as its bare text."""
_LEFT_OUT = frozenset(
    (*("annotation", "annotation-xml", "mphantom", "maction"), *("ctrlPr", "rPr", "sPr", "fPr", "radPr"))
)
_BELOW = frozenset(("msub", "munder", "sSub", "limLow"))
_ABOVE = frozenset(("msup", "mover", "sSup", "limUpp"))
_BOTH = frozenset(("msubsup", "munderover", "sSubSup"))
_SPACED = frozenset("=<>≤≥≠≈≡∈∉⊂⊆→⇒⇔+−±∧∨")


def formula_text(element: Element) -> str:
    """The formula under a `math` or `oMath` element as one line."""
    return " ".join(_text(element, 0).split())


def _text(element: Element, depth: int) -> str:
    name = local_name(element).rpartition(":")[2]
    if not name or name in _LEFT_OUT:  # comments have no name
        return ""
    if depth > _MAX_DEPTH:
        return inner_text(element)
    if name in ("mo", "mi", "mn", "mtext", "ms", "t"):
        text = (element.text or "").strip() if name != "t" else element.text or ""
        return f" {text} " if text in _SPACED else text
    parts = [_text(child, depth + 1) for child in element]
    if name == "rad":
        # In OMML the degree stands before what the root is taken of.
        parts = parts[-1:]
    return _joined(name, [part for part in parts if part.strip()])


def _joined(name: str, parts: list[str]) -> str:
    if name in _BELOW | _ABOVE and len(parts) == 2:
        return f"{parts[0]}{'_' if name in _BELOW else '^'}{_grouped(parts[1])}"
    if name in _BOTH and len(parts) == 3:
        return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    if name in ("mfrac", "f") and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
    if name in ("msqrt", "rad") and parts:
        return f"√({''.join(parts).strip()})"
    if name in ("mtr", "mlabeledtr", "mr"):
        return ", ".join(parts)
    if name in ("mtable", "m", "eqArr"):
        return "; ".join(parts)
    if name == "d":
        return f"({''.join(parts)})"
    return "".join(parts)


def _grouped(part: str) -> str:
    part = part.strip()
    return part if part.isalnum() or len(part) == 1 else f"({part})"
