"""LaTeX: the file itself, with its divisions, environments, tables, list items and links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mindscape.ingest.formats.latex_words import group_end, plain
from mindscape.ingest.formats.lines import Lines, lines_of
from mindscape.ingest.formats.rows import SEPARATOR, looks_like_header
from mindscape.ingest.parsed import BlockKind, Parsed, Source

_LEVELS = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "frametitle": 6,
    "paragraph": 7,
    "subparagraph": 8,
}
_VERBATIM = re.compile(
    "verbatim|Verbatim|lstlisting|minted|alltt|comment|filecontents|tikzpicture|algorithmic|algorithm2e"
)
_EVENT = re.compile(
    r"(?P<comment>(?<!\\)%[^\r\n]*)"
    r"|\\(?P<escape>[^A-Za-z])"
    rf"|\\(?P<level>{'|'.join(_LEVELS)})\b\*?\s*(?:\[[^\[\]]{{0,500}}\]\s*)?(?={{)"
    r"|\\(?P<fact>title|author|date)\b\s*(?:\[[^\[\]]{0,500}\]\s*)?(?={)"
    r"|\\(?:input|include|subfile|import)\b\s*\{(?P<file>[^{}\r\n]{1,500})\}"
    r"|\\(?:href|url)\b\s*\{(?P<url>[^{}\r\n]{1,2000})\}"
    r"|\\begin\s*\{(?P<begin>[A-Za-z]{1,40}\d?\*?)\}"
    r"|\\end\s*\{(?P<end>[A-Za-z]{1,40}\d?\*?)\}"
    r"|\\(?P<item>item|bibitem)\b"
    r"|(?P<define>\\(?:re|provide)?newcommand|\\def|\\newenvironment)\b"
    r"|(?P<gap>(?:\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)\s*)"
)
_VERB = re.compile(r"\\(?:verb|lstinline)\*?([^\w\s{])(?:(?!\1)[^\r\n])*\1")
_TABULAR = re.compile(r"tabularx?|tabulary|longtable|tabu|supertabular|tblr")
_CAPTION = re.compile(r"\\caption\*?\s*(?:\[[^\[\]]{0,500}\]\s*)?(?={)")
_FLOAT = re.compile(r"\\(?:begin|end)\s*\{(?:table|figure|longtable|wraptable|sidewaystable)\*?\}")
_ROW_END = re.compile(r"\\\\|\\tabularnewline\b")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|centering|cline\{[^{}]*\}"
    r"|cmidrule(?:\([^()]*\))?\{[^{}]*\})"
)
_SPAN = re.compile(r"\\multi(?:column|row)\s*\{[^{}]*\}\s*(?:\[[^\[\]]*\])?\{[^{}]*\}")
_COLUMN = re.compile(r"(?<!\\)&")
_AND = re.compile(r"\\and\b|\\And\b|\\AND\b")
_KINDS: dict[str, BlockKind] = {"quote": "quote", "quotation": "quote", "verse": "quote"}
_LISTS = ("itemize", "enumerate", "description", "thebibliography")
_LOOK = 20_000
_DOCUMENT = re.compile(r"\\begin\s*\{document\}")


@dataclass(slots=True)
class _Walk:
    """Where the open run of prose began, and the environments around it, the innermost last."""

    lines: Lines
    at: int
    kinds: list[tuple[str, BlockKind]] = field(default_factory=list[tuple[str, BlockKind]])
    ends: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def text(self) -> str:
        return self.lines.decoded.text

    def end_of(self, name: str, start: int) -> int:
        """Where the environment ends that opened before `start`; -1 when it never does."""
        if self.ends.get(name, 0) >= 0:
            closing = f"\\end{{{name}}}"
            found = self.text.find(closing, start)
            self.ends[name] = found + len(closing) if found >= 0 else -1
        return self.ends[name]

    def close(self, end: int) -> None:
        """The run ends at that offset."""
        self.lines.add_span(self.kinds[-1][1] if self.kinds else "paragraph", self.at, end)
        self.at = max(self.at, end)


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; what stands in front of the document is code, but for its title, authors and date."""
    lines = lines_of(source)
    text = lines.decoded.text
    document = _DOCUMENT.search(_VERB.sub(lambda verb: " " * len(verb[0]), _uncommented(text)))
    body = document.start() if document else 0
    walk = _Walk(lines, body)
    lines.add_span("code", 0, body)
    _facts(walk, body)
    _events(walk, body)
    walk.close(len(text))
    return lines.parsed(media_type, lines.metadata.pop("title", None))


def _uncommented(text: str) -> str:
    return re.sub(r"(?<!\\)%[^\r\n]*", lambda comment: " " * len(comment[0]), text)


def _facts(walk: _Walk, end: int) -> None:
    """Title, authors, date and links of the preamble."""
    for event in _EVENT.finditer(walk.text, 0, end):
        if event["fact"]:
            _fact(walk, event)
        elif event["file"]:
            walk.lines.add_links([event["file"]])


def _events(walk: _Walk, body: int) -> None:
    verbs = iter([*(verb.span() for verb in _VERB.finditer(walk.text, body)), (len(walk.text), 0)])
    verb = next(verbs)
    skip = body
    for event in _EVENT.finditer(walk.text, body):
        while verb[1] and verb[1] <= event.start():
            verb = next(verbs)
        if event.start() < skip or verb[0] < event.start() < verb[1]:
            continue
        if event["end"] == "document":
            walk.close(event.end())
            return
        skip = _take(walk, event)


def _take(walk: _Walk, event: re.Match[str]) -> int:
    """What an event means; the offset before which others count for nothing."""
    if event["level"]:
        return _division(walk, event)
    if event["fact"]:
        return _fact(walk, event)
    if event["begin"]:
        return _begin(walk, event)
    if event["end"]:
        _end(walk, event)
    elif event["item"] and walk.kinds and walk.kinds[-1][1] == "item":
        walk.close(event.start())
    elif event["gap"]:
        walk.close(event.start())
        walk.at = event.end()
    elif link := event["file"] or event["url"]:
        walk.lines.add_links([link.replace("\\", "")])
    elif event["define"]:
        return _line_end(walk.text, event.end())
    return event.end()


def _division(walk: _Walk, event: re.Match[str]) -> int:
    end = group_end(walk.text, event.end())
    if end == event.end():
        return end
    walk.close(event.start())
    walk.kinds.clear()
    level = _LEVELS[event["level"]]
    walk.lines.add_heading_span(level, plain(walk.text[event.end() : end]), event.start(), end)
    walk.at = end
    return end


def _fact(walk: _Walk, event: re.Match[str]) -> int:
    end = group_end(walk.text, event.end())
    inside = walk.text[event.end() + 1 : max(event.end() + 1, end - 1)]
    if event["fact"] == "author":
        names = [plain(re.split(r"\\\\", name)[0]) for name in _AND.split(inside)]
        held = walk.lines.metadata.pop("author", "")
        value = ", ".join(filter(None, (held, *names)))[:500]
    else:
        value = plain(inside)[:300]
    if value:
        walk.lines.metadata.setdefault(event["fact"], value)
    return max(end, event.end())


def _begin(walk: _Walk, event: re.Match[str]) -> int:
    name = event["begin"]
    base = name.rstrip("*")
    is_code = _VERBATIM.fullmatch(base)
    if is_code or _TABULAR.fullmatch(base):
        end = walk.end_of(name, event.end())
        if end < 0:
            return event.end()
        return _whole(walk, event, "code", "", end) if is_code else _table(walk, event, end)
    if name == "abstract":
        walk.close(event.start())
        walk.lines.add_heading_span(_LEVELS["section"], "Abstract", event.start(), event.end())
        walk.at = event.end()
    elif base in _LISTS or base in _KINDS:
        walk.close(event.start())
        walk.kinds.append((base, _KINDS.get(base, "item")))
        walk.at = event.end() if base in _LISTS else event.start()
    elif base == "frame" and (end := group_end(walk.text, event.end())) > event.end():
        walk.close(event.start())
        title = plain(walk.text[event.end() : end])
        walk.lines.add_heading_span(_LEVELS["frametitle"], title, event.start(), end)
        walk.at = end
    return event.end()


def _end(walk: _Walk, event: re.Match[str]) -> None:
    base = event["end"].rstrip("*")
    if walk.kinds and walk.kinds[-1][0] == base:
        walk.close(event.end())
        walk.kinds.pop()


def _whole(walk: _Walk, event: re.Match[str], kind: BlockKind, header: str, end: int) -> int:
    """An environment as one block."""
    walk.close(event.start())
    walk.lines.add_span(kind, event.start(), end, header)
    walk.at = end
    return end


def _table(walk: _Walk, event: re.Match[str], end: int) -> int:
    start = event.end()
    source = walk.text[start : min(end, start + _LOOK)].partition("\\end{")[0]
    rows = _ROW_END.split(_after_columns(source), maxsplit=2)
    cells = [plain(_SPAN.sub("", _RULES.sub("", cell))) for cell in _COLUMN.split(rows[0])]
    header = SEPARATOR.join(cells) if len(rows) > 1 and looks_like_header(cells) else ""
    caption = _caption(walk.text, event.start(), end)
    return _whole(walk, event, "table", "\n".join(filter(None, (caption, header))), end)


def _after_columns(source: str) -> str:
    """The rows, without the columns' definition: `[t]{width}{lcr}`."""
    at = 0
    while option := re.compile(r"\s*\[[^\[\]]{0,200}\]\s*|\s+(?=[\[{])").match(source, at):
        at = option.end()
    while (end := group_end(source, at)) > at:
        at = end
        if re.compile(r"\s*\{[^{}]*[lcrpXS|][^{}]*\}").match(source, at) is None:
            break
        at += len(source[at:]) - len(source[at:].lstrip())
    return source[at:]


def _caption(text: str, start: int, end: int) -> str:
    """The caption of the float that the table stands in, above or below it."""
    before = text[max(0, start - 2_000) : start]
    opened = list(_FLOAT.finditer(before))
    if opened and not opened[-1][0].startswith("\\begin"):
        return ""
    first = max(0, start - 2_000) + (opened[-1].start() if opened else len(before))
    after = _FLOAT.search(text, end, end + 2_000)
    last = after.start() if after else end
    caption = _CAPTION.search(text, first, last)
    if not caption:
        return ""
    return plain(text[caption.end() : group_end(text, caption.end())])


def _line_end(text: str, at: int) -> int:
    found = re.compile(r"\r\n|\r|\n|$").search(text, at)
    return found.start() if found else len(text)
