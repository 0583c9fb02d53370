"""The texts of a mail as blocks: plain text with its quotes, HTML as a reader sees it, calendar entries."""

from __future__ import annotations

import re
from binascii import Error as BinasciiError
from binascii import a2b_uu
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.html import tree_of
from mindscape.ingest.formats.html_walk import text_of, walk
from mindscape.ingest.media_types import HTML
from mindscape.ingest.parsed import BlockKind

MAX_MARKUP = 32 << 20
_MAX_LINKS = 10_000
_MAX_EVENTS = 1_000
_LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTED = re.compile(r"(?:[ \t]?>)++ ?")
_LINK = re.compile(r"https?://[^\s<>\"]{1,2000}")
_ARMOUR = re.compile(
    r"^-----BEGIN PGP (MESSAGE|SIGNATURE|PUBLIC KEY BLOCK)-----[ \t]*\r?\n"
    r"(?:[A-Z][A-Za-z]*: [^\r\n]*\r?\n)*\s*(?:[A-Za-z0-9+/=]{1,80}[ \t]*\r?\n)*"
    r"(?:[A-Za-z0-9+/=]{1,80}|-----END PGP \1-----)?",
    re.M,
)
_UNIX = re.compile(
    r"^begin [0-7]{3,4} (\S[^\r\n]{0,200})\r?\n((?:[ -`]{1,90}\r?\n)*)end[ \t]*(?:\r?\n|\Z)", re.M
)
_SIGNED = re.compile(r"-----BEGIN PGP SIGNED MESSAGE-----\s*(?:\w+: [^\r\n]*\s*)*")
_MAX_STUB = 500
_STUB = re.compile(
    r"(?:n[o']t|unable to|un) ?(?:support|display|show|view|read|render)\w*.{0,60}html"
    r"|html.{0,40}(?:capable|enabled|compatible|e-?mail|message|version|format|view)"
    r"|view (?:this|the|it).{0,40}(?:browser|online|html)",
    re.I | re.S,
)
_FIELD = re.compile(r"^(SUMMARY|DTSTART|DTEND|LOCATION|ORGANIZER|DESCRIPTION)([;:].*)$", re.M | re.I)
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")

Form = Literal["plain", "flowed", "delsp", "html", "calendar", "properties"]


@dataclass(frozen=True, slots=True)
class Body:
    """One text of a message; `flowed` and `delsp` are plain text whose lines are to be joined again."""

    form: Form
    text: str


def stands_in(plain: str, rich: list[Body]) -> bool:
    """True where a plain text only stands in for the HTML: empty, or a few words that say so."""
    if len(plain) > _MAX_STUB:
        return False
    html = " ".join(_readable(one) for one in rich)
    if len(html) <= len(plain):
        return False
    return not plain or bool(_STUB.search(plain)) or len(html) > 10 * max(len(plain), 20)


def add_body(builder: TextBuilder, body: Body, level: int) -> None:
    """Add the blocks of a body; its headings are below `level`."""
    if body.form == "html":
        _add_html(builder, body.text, level)
    elif body.form == "calendar":
        for event in _events(body.text):
            builder.add("properties", event)
    elif body.form == "properties":
        builder.add("properties", body.text)
    else:
        _add_plain(builder, body)


def without_files(text: str) -> tuple[str, list[tuple[str, bytes]]]:
    """Plain text without the files written into it by uuencode, and these: name and bytes."""
    if "\nbegin " not in f"\n{text}":
        return text, []
    found = [(one[1], _unix_decoded(one[2])) for one in _UNIX.finditer(text)]
    return _UNIX.sub("\n", text) if found else text, found


def without_armour(text: str) -> tuple[str, bool]:
    """Plain text without what PGP put around it, and True when a part of it is encrypted."""
    if "-----BEGIN PGP " not in text:
        return text, False
    encrypted = any(found[1] == "MESSAGE" for found in _ARMOUR.finditer(text))
    return _SIGNED.sub("", _ARMOUR.sub("", text)), encrypted


def _readable(body: Body) -> str:
    root = tree_of(body.text[:MAX_MARKUP]) if body.form == "html" else None
    return " ".join((body.text if root is None else text_of(root)).split())


def _unix_decoded(lines: str) -> bytes:
    pieces: list[bytes] = []
    for line in lines.splitlines():
        try:
            pieces.append(a2b_uu(line))
        except BinasciiError:
            # Some programs write surplus characters at the end of a line.
            count = ((ord(line[0]) - 32) & 63) * 4 // 3 + 4
            pieces.append(a2b_uu(line[: 1 + count // 4 * 4]))
    return b"".join(pieces)


def _add_html(builder: TextBuilder, markup: str, level: int) -> None:
    if len(markup) > MAX_MARKUP:
        builder.warnings.append(f"A text of more than {MAX_MARKUP >> 20} Mi characters of HTML was cut.")
    root = tree_of(markup[:MAX_MARKUP])
    if root is None:
        return
    body = root.find(".//body")
    inner = TextBuilder()
    walk(root if body is None else body, inner, page=True)
    builder.include(inner.build(HTML), below=level)


def _add_plain(builder: TextBuilder, body: Body) -> None:
    kind: BlockKind = "paragraph"
    run: list[str] = []
    for depth, line in chain(_lines(body), ((0, ""),)):
        now: BlockKind = "quote" if depth else "paragraph"
        if now != kind or not line.strip():
            builder.add(kind, "\n".join(run))
            run.clear()
        kind = now
        if line.strip():
            run.append(line.rstrip())
    for link in _LINK.finditer(body.text):
        if len(builder.links) >= _MAX_LINKS:
            break
        builder.links[link[0].rstrip(".,;:!?)]}'*_")] = None


def _lines(body: Body) -> Iterator[tuple[int, str]]:
    """(depth of quoting, the line without its marks) of each line, those broken for sending joined again."""
    lines = _LINE_END.split(body.text)
    if body.form != "plain":
        yield from _unflowed(lines, body.form == "delsp")
        return
    for line in lines:
        marks = _QUOTED.match(line) if ">" in line[:3] else None
        yield (marks[0].count(">"), line[marks.end() :]) if marks else (0, line)


def _unflowed(lines: list[str], drops_space: bool) -> Iterator[tuple[int, str]]:
    """Lines of format=flowed text (RFC 3676): one that ends with a space goes on in the next."""
    held: list[str] = []
    held_depth = 0
    for line in lines:
        depth = len(line) - len(line.lstrip(">"))
        if held and depth != held_depth:
            yield held_depth, "".join(held)
            held.clear()
        line, held_depth = line[depth:].removeprefix(" "), depth
        flows = line.endswith(" ") and line != "-- "
        held.append(line[:-1] if flows and drops_space else line)
        if not flows:
            yield depth, "".join(held)
            held.clear()
    if held:
        yield held_depth, "".join(held)


def _events(text: str) -> Iterator[str]:
    """What calendar entries say, a line a field."""
    for event in re.sub(r"\r?\n[ \t]", "", text).split("BEGIN:VEVENT", _MAX_EVENTS)[1:]:
        fields = _FIELD.findall(event.partition("END:VEVENT")[0])
        said = {name.upper(): _value(rest) for name, rest in reversed(fields)}
        shown = (
            ("Event", said.get("SUMMARY", "")),
            ("Start", _moment(said.get("DTSTART", ""))),
            ("End", _moment(said.get("DTEND", ""))),
            ("Place", said.get("LOCATION", "")),
            ("Organiser", said.get("ORGANIZER", "")),
            ("Description", said.get("DESCRIPTION", "")),
        )
        yield "\n".join(f"{name}: {value}" for name, value in shown if value)


def _value(rest: str) -> str:
    """The value of a field, its zone behind it, its escapes undone."""
    quoted = re.fullmatch(r"((?:;[^;:\"]*(?:\"[^\"]*\")?)*+):(.*)", rest.rstrip("\r"), re.S)
    parameters, value = (quoted[1], quoted[2]) if quoted else ("", rest[1:])
    value = re.sub(r"\\(.)", lambda found: " " if found[1] in "nN" else found[1], value).strip()
    zone = re.search(r";TZID=\"?([^\";:]+)", parameters, re.I)
    return f"{value} ({zone[1]})" if zone else value.removeprefix("mailto:").removeprefix("MAILTO:")


def _moment(value: str) -> str:
    stamp = _STAMP.match(value)
    if not stamp:
        return value
    time = f" {stamp[4]}:{stamp[5]}" if stamp[4] else ""
    zone = " UTC" if stamp[6] else value[stamp.end() :].replace("Z", "")
    return f"{stamp[1]}-{stamp[2]}-{stamp[3]}{time}{zone}"
