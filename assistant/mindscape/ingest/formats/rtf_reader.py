"""Read RTF token by token, in one pass: groups nest, and what a word does ends with its group."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mindscape.ingest.formats.rtf_flow import Flow, joined
from mindscape.ingest.formats.rtf_words import (
    ASIDE,
    CHARACTERS,
    PROPERTIES,
    SKIPPED,
    TRANSPARENT,
    code_page,
    font_encoding,
    heading_level,
)
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

MAX_DEPTH = 10_000
MAX_LINKS = 10_000
_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,9})?\d* ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\",
    re.S,
)
_LINK = re.compile(r'HYPERLINK\s+(?:"([^"]+)"|([^\s"\\]\S*))')
_DATE_PARTS = ("yr", "mo", "dy")


@dataclass(slots=True)
class _Group:
    """What holds inside a pair of braces; `sink` takes the text, None where it is left out."""

    sink: list[str] | None
    kind: str = "body"
    font: str = ""
    fallback: int = 1
    """Characters to pass over after one that is given in Unicode."""
    hidden: bool = False
    deleted: bool = False
    level: int = 0
    in_list: bool = False
    in_table: bool = False

    def copy(self) -> _Group:
        """What holds at the beginning of a group inside; `dataclasses.replace` takes six times as long."""
        return _Group(
            self.sink,
            self.kind,
            self.font,
            self.fallback,
            self.hidden,
            self.deleted,
            self.level,
            self.in_list,
            self.in_table,
        )


@dataclass(slots=True)
class RtfReader:
    """What was found so far; `read` fills it."""

    flow: Flow = field(default_factory=Flow)
    edges: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    """Texts of `header` and `footer`, each once."""
    notes: list[str] = field(default_factory=list[str])
    comments: list[str] = field(default_factory=list[str])
    links: dict[str, None] = field(default_factory=dict[str, None])
    info: dict[str, str] = field(default_factory=dict[str, str])
    created: dict[str, int] = field(default_factory=dict[str, int])
    has_hidden: bool = False
    has_pictures: bool = False
    is_whole: bool = False
    _group: _Group = field(default_factory=lambda: _Group([]))
    _above: list[_Group] = field(default_factory=list[_Group])
    _encoding: str = "cp1252"
    _fonts: dict[str, str] = field(default_factory=dict[str, str])
    _default_font: str = ""
    _levels: dict[int, int] = field(default_factory=dict[int, int])
    _style: int = 0
    _bytes: bytearray = field(default_factory=bytearray)
    _passing: int = 0
    _is_starred: bool = False
    _commenter: str = ""
    _open_notes: list[int] = field(default_factory=list[int])

    def read(self, data: bytes) -> None:
        """Read the whole file.

        Raises ParseFailure(TOO_LARGE) when groups nest without end.
        """
        text = data.decode("latin-1")
        self._group.sink = self.flow.pieces
        at = 0
        while not self.is_whole and (token := _TOKEN.match(text, at)):
            at = token.end()
            word, number, code, symbol, brace, run = token.groups()
            if code or run:
                self._characters(bytes.fromhex(code) if code else run.encode("latin-1"))
                continue
            if not (word or symbol or brace):
                continue
            self._decode()
            self._passing = 0
            if word == "bin" and 0 < int(number or 0) <= len(text) - at:
                at += int(number)
            elif word:
                self._word(word, int(number) if number else None)
            elif symbol:
                self._symbol(symbol)
            else:
                self._brace(brace)
        self._decode()
        self.flow.end_paragraph(self._group.level, self._group.in_list, in_table=False)
        self.flow.end_table()

    def _brace(self, brace: str) -> None:
        if brace == "{":
            if len(self._above) >= MAX_DEPTH:
                raise ParseFailure(
                    Status.TOO_LARGE,
                    f"The file nests groups over {MAX_DEPTH:,} deep, which no document does. It is not read.",
                )
            self._above.append(self._group)
            self._group = self._group.copy()
        elif self._above:
            ended, self._group = self._group, self._above.pop()
            if ended.kind != self._group.kind or ended.kind == "styles":
                self._end_group(ended)
            # Whatever follows the outermost group is no part of the document.
            self.is_whole = not self._above
        self._is_starred = False

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._is_starred = True
        elif symbol in "\r\n":
            self._end_paragraph()
        else:
            self._add(CHARACTERS.get(symbol, ""))

    def _characters(self, held: bytes) -> None:
        """Bytes in the font's encoding, whose characters may be cut anywhere by a token's end."""
        if self._passing:
            passed = min(self._passing, len(held))
            self._passing -= passed
            held = held[passed:]
        self._is_starred = False
        if self._group.sink is not None:
            self._bytes += held

    def _decode(self) -> None:
        if self._bytes:
            # Properties are in no font.
            font = "" if self._group.kind in PROPERTIES.values() else self._default_font
            encoding = self._fonts.get(self._group.font or font, self._encoding)
            self._add(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _add(self, text: str) -> None:
        group = self._group
        if group.sink is None or group.deleted:
            return
        if group.hidden:
            self.has_hidden = self.has_hidden or not text.isspace()
        else:
            group.sink.append(text)

    def _word(self, word: str, number: int | None) -> None:
        starred, self._is_starred = self._is_starred, False
        group = self._group
        if group.kind == "skipped":
            return
        if word in ASIDE:
            self._begin(ASIDE[word])
        elif group.kind == "info" and word in PROPERTIES:
            self._begin(PROPERTIES[word])
        elif group.kind == "info" and word == "creatim":
            self._begin("creatim")
        elif word in SKIPPED or (starred and word not in TRANSPARENT):
            self.has_pictures = self.has_pictures or word in ("pict", "shppict")
            self._begin("skipped")
        elif word == "u" and number is not None:
            self._add(chr(number % 0x10000) if number < 0x10000 else _character(number))
            self._passing = group.fallback
        elif word in CHARACTERS:
            self._add(CHARACTERS[word])
        elif group.kind == "fonts":
            self._font_word(word, number)
        elif group.kind == "creatim" and word in _DATE_PARTS:
            self.created[word] = number or 0
        else:
            self._format(word, number)

    def _format(self, word: str, number: int | None) -> None:
        group = self._group
        if word in ("par", "sect", "page", "column"):
            self._end_paragraph()
        elif word == "cell" and group.kind == "body":
            self.flow.end_cell()
        elif word == "row" and group.kind == "body":
            self.flow.end_row()
        elif word in ("cell", "row"):
            self._add(" ")
        elif word == "trowd":
            self.flow.is_header_row = False
        elif word == "trhdr":
            self.flow.is_header_row = True
        elif word == "pard":
            group.level, group.in_list, group.in_table = 0, False, False
        elif word == "plain":
            group.hidden, group.deleted, group.font = False, False, ""
        elif word == "intbl":
            group.in_table = True
        elif word == "s":
            self._style = number or 0
            group.level = self._levels.get(self._style, 0)
        elif word == "outlinelevel":
            group.level = number + 1 if number is not None and 0 <= number < 9 else 0
        elif word in ("ls", "pnlvlblt", "pnlvlbody"):
            group.in_list = number != 0
        elif word in ("v", "deleted"):
            setattr(group, "hidden" if word == "v" else word, number != 0)
        elif word == "f":
            group.font = str(number)
        elif word == "uc":
            group.fallback = max(number or 0, 0)
        else:
            self._document_word(word, number)

    def _document_word(self, word: str, number: int | None) -> None:
        if word == "ansicpg":
            self._encoding = code_page(str(number))
        elif word in ("mac", "pc", "pca"):
            self._encoding = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
        elif word == "deff":
            self._default_font = str(number)

    def _font_word(self, word: str, number: int | None) -> None:
        if word == "f":
            self._group.font = str(number)
        elif word == "fcharset":
            self._fonts[self._group.font] = font_encoding(str(number or 0), self._encoding)
        elif word == "cpg":
            self._fonts[self._group.font] = code_page(str(number))

    def _end_paragraph(self) -> None:
        group = self._group
        if group.kind == "body":
            self.flow.end_paragraph(group.level, group.in_list, group.in_table)
        else:
            self._add("\n")

    def _begin(self, kind: str) -> None:
        """The group that has just begun holds text of this kind."""
        group = self._group
        group.kind = kind
        if kind == "note":
            self.notes.append("")
            self._open_notes.append(len(self.notes))
            self._add(f"[{len(self.notes)}]")
        group.sink = None if kind in ("skipped", "fonts", "info", "creatim") else []
        group.level, group.in_list, group.in_table = 0, False, False

    def _end_group(self, ended: _Group) -> None:
        text = joined(ended.sink) if ended.sink else ""
        kind = ended.kind
        if kind == "styles":
            self._end_style(text, ended)
        elif kind == "note":
            number = self._open_notes.pop()
            self.notes[number - 1] = f"[Note {number}] {text}"
        elif kind == "commenter":
            self._commenter = text
        elif kind == "comment":
            label = f"Comment by {self._commenter[:100]}" if self._commenter else "Comment"
            self.comments += [f"[{label}] {text}"] if text else []
        elif kind == "field":
            self._end_field(text)
        elif kind == "box":
            self.flow.boxes.append(text)
        elif kind in ("header", "footer"):
            if any(letter.isalpha() for letter in text):
                self.edges.setdefault(kind, {})[text] = None
        elif kind in PROPERTIES.values() and text:
            self.info[kind] = " ".join(text.split())[:500]

    def _end_style(self, text: str, ended: _Group) -> None:
        name = text.strip("; ")
        if name and ended.sink is not None:
            self._levels[self._style] = ended.level or heading_level(name)
            ended.sink.clear()
            self._style = 0

    def _end_field(self, instruction: str) -> None:
        link = _LINK.match(instruction.strip())
        if link and len(self.links) < MAX_LINKS:
            self.links[link[1] or link[2]] = None


def _character(number: int) -> str:
    return chr(number) if number <= 0x10FFFF else "\ufffd"
