"""Sentences of a file and their places, by programs that share no code with our parsers.

poppler (pdftotext) for PDF and, through LibreOffice, for slides; pandoc for what has headings; perl's
Email::MIME for mail; LibreOffice for sheets; iconv for encodings. What a program cannot read gives nothing.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any, Literal

PlaceKind = Literal["page", "heading", "line", "none"]
TIMEOUT = 120

_PANDOC = {
    ".docx": "docx",
    ".odt": "odt",
    ".epub": "epub",
    ".fb2": "fb2",
    ".org": "org",
    ".rst": "rst",
    ".tex": "latex",
    ".rtf": "rtf",
    ".md": "commonmark_x",
    ".ipynb": "ipynb",
    ".textile": "textile",
    ".mediawiki": "mediawiki",
    ".typ": "typst",
    ".html": "html",
    ".htm": "html",
}
_ENCODING = re.compile(r"chardet__tests_(SHIFT_JIS|[A-Za-z0-9-]+?)(?:-[a-z]+)?_")
_FIELD = r"(?<=>)[^<>]{20,}(?=<)"


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text without markup, and where it stands: a page number, the nearest heading, a line."""

    text: str
    kind: PlaceKind
    place: str = ""


def pieces_of(path: Path) -> list[Piece]:
    """What an independent program finds in the file, in its order; empty when there is no program for it."""
    suffix = path.suffix.lower()
    special: dict[str, Callable[[Path], Iterator[Piece]]] = {
        ".pdf": _pdf,
        ".pptx": _slides,
        ".xlsx": _sheets,
        ".eml": _mail,
        ".msg": _outlook,
        ".xml": _markup,
    }
    reader = special.get(suffix) or (_pandoc if suffix in _PANDOC else _lines)
    try:
        return list(reader(path))
    except (subprocess.SubprocessError, OSError, ValueError, LookupError):
        return []


def encoding_in_name(path: Path) -> str | None:
    """The encoding that the name of a file of chardet's collection states."""
    match = _ENCODING.match(path.name)
    if not match:
        return None
    name = match.group(1)
    known = {
        "utf-8-sig": "utf-8-sig",
        "MacCyrillic": "mac_cyrillic",
        "UTF-16": "utf-16",
        "UTF-16LE": "utf-16-le",
    }
    return known.get(name, re.sub(r"^(windows|iso)-(\d+(?:-\d+)?).*", r"\1-\2", name))


def _run(*command: str, data: bytes | None = None) -> str:
    done = subprocess.run(command, input=data, capture_output=True, timeout=TIMEOUT, check=True)
    return done.stdout.decode("utf-8", "replace")


def _pdf(path: Path) -> Iterator[Piece]:
    for number, page in enumerate(_run("pdftotext", "-enc", "UTF-8", str(path), "-").split("\f"), start=1):
        for line in page.splitlines():
            yield Piece(line, "page", str(number))


def _slides(path: Path) -> Iterator[Piece]:
    with tempfile.TemporaryDirectory() as folder:
        _office("pdf", path, folder)
        yield from _pdf(Path(folder, path.stem + ".pdf"))


def _sheets(path: Path) -> Iterator[Piece]:
    every_sheet = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    with tempfile.TemporaryDirectory() as folder:
        _office(every_sheet, path, folder)
        for sheet in sorted(Path(folder).glob("*.csv")):
            with sheet.open(encoding="utf-8", newline="") as file:
                for number, row in enumerate(csv.reader(file), start=1):
                    yield from (Piece(cell, "line", str(number)) for cell in row)


def _office(target: str, path: Path, folder: str) -> None:
    _run("soffice", "--headless", "--convert-to", target, "--outdir", folder, str(path))


def _mail(path: Path) -> Iterator[Piece]:
    script = (
        "use Email::MIME; local $/; my $m = Email::MIME->new(<STDIN>); binmode(STDOUT, ':utf8');"
        "$m->walk_parts(sub { my $p = shift; return if $p->subparts or ($p->filename // '') ne '';"
        " return unless ($p->content_type // 'text/plain') =~ m{^text/plain}i;"
        " print eval { $p->body_str } // '', \"\\n\" })"
    )
    for line in _run("perl", "-e", script, data=path.read_bytes()).splitlines():
        yield Piece(line, "none")


def _outlook(path: Path) -> Iterator[Piece]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "mail.eml")
        _run("msgconvert", "--outfile", str(target), str(path))
        yield from _mail(target)


def _lines(path: Path) -> Iterator[Piece]:
    text = _decoded(path)
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        yield Piece(line, "line", str(number))


def _markup(path: Path) -> Iterator[Piece]:
    """Runs between two tags on one line, whatever the tags are."""
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), _decoded(path), flags=re.S)
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        for field in re.findall(_FIELD, line):
            yield Piece(unescape(unescape(field)), "line", str(number))


def _decoded(path: Path) -> str:
    data = path.read_bytes()
    named = encoding_in_name(path)
    if named is None and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        named = "utf-16"
    # iconv, not Python: the tables of the decoders are independent too.
    name = {"utf-8-sig": "utf-8", "mac_cyrillic": "MAC-CYRILLIC"}.get(named or "utf-8", named)
    return _run("iconv", "-f", name or "utf-8", "-t", "utf-8", str(path)).removeprefix("\ufeff")


def _pandoc(path: Path) -> Iterator[Piece]:
    data = _decoded(path).encode() if path.suffix.lower() in (".html", ".htm") else path.read_bytes()
    tree = json.loads(_run("pandoc", "-f", _PANDOC[path.suffix.lower()], "-t", "json", data=data))
    heading = ""
    for block in _blocks(tree["blocks"]):
        if block["t"] == "Header":
            heading = "".join(_words(block["c"][2])).strip()
        elif block["t"] in ("Para", "Plain"):
            yield from (Piece(run, "heading", heading) for run in _runs(block["c"]))


def _blocks(node: Any) -> Iterator[dict[str, Any]]:
    """Paragraphs and headings in document order; footnotes are left out, for they stand elsewhere."""
    if isinstance(node, list):
        for child in node:
            yield from _blocks(child)
    elif isinstance(node, dict):
        if node.get("t") in ("Para", "Plain", "Header"):
            yield node
        elif node.get("t") != "Note":
            yield from _blocks(node.get("c"))


def _runs(inlines: list[Any]) -> Iterator[str]:
    """Runs of words with no markup between them: they stand in the source as they are."""
    run: list[str] = []
    for inline in inlines:
        if inline["t"] in ("Str", "Space", "SoftBreak"):
            run.append(inline.get("c", " "))
        else:
            yield "".join(run)
            run = []
    yield "".join(run)


def _words(inlines: Any) -> Iterator[str]:
    if isinstance(inlines, list):
        for inline in inlines:
            yield from _words(inline)
    elif isinstance(inlines, dict):
        if inlines.get("t") in ("Space", "SoftBreak"):
            yield " "
        elif inlines.get("t") in ("Str", "Code"):
            content = inlines["c"]
            yield content if isinstance(content, str) else content[-1]
        elif inlines.get("t") != "Note":
            yield from _words(inlines.get("c"))
