"""What the control words of RTF mean, as far as they touch the text."""

from __future__ import annotations

import codecs
import re

from striprtf.striprtf import charset_map, destinations, specialchars

CHARACTERS: dict[str, str] = {
    word: text for word, text in specialchars.items() if word not in ("par", "sect", "page", "row", "cell")
} | {
    "nestcell": " ",
    "-": "\u00ad",
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "ltrmark": "\u200e",
    "rtlmark": "\u200f",
}
"""Words and symbols that stand for text, most of them as the library has them."""

TRANSPARENT = frozenset(("shp", "shpinst", "shpgrp", "do", "object", "result"))
"""Groups whose own text is nothing, but which hold groups with text."""

ASIDE = {
    **{"shptxt": "box", "dptxbxtext": "box", "footnote": "note", "annotation": "comment", "fldinst": "field"},
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
    **{"atnauthor": "commenter", "stylesheet": "styles", "fonttbl": "fonts", "info": "info"},
}
"""Groups whose text goes somewhere else than into the paragraph they stand in, and where it goes."""

PROPERTIES = {
    "title": "title",
    "author": "author",
    "subject": "subject",
    "keywords": "tags",
    "doccomm": "description",
}
"""Groups of `info`, and what their text is."""

SKIPPED = (
    frozenset(destinations) | {"listtext", "nonesttables", "xmlnstbl", "mmath", "blipuid", "picprop"}
) - TRANSPARENT

_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|标题|標題|見出し)\s*([1-9])", re.I
)
_MAC_PAGES = {
    "10000": "mac_roman",
    "10006": "mac_greek",
    "10007": "mac_cyrillic",
    "10029": "mac_latin2",
    "65001": "utf-8",
}


def code_page(number: str) -> str:
    """The codec of a Windows code page, that of Western Europe where the number means nothing."""
    return _codec(_MAC_PAGES.get(number) or f"cp{number}", "cp1252")


def font_encoding(charset: str, default: str) -> str:
    """The codec of a font's character set; `default` is that of the document."""
    return _codec(str(charset_map.get(int(charset), default)), default)


def heading_level(name: str) -> int:
    """The level that a paragraph style makes headings of, from 1; 0 for other styles."""
    named = _HEADING.fullmatch(name)
    return int(named[1]) if named else int(name.casefold() == "title")


def _codec(name: str, default: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return default
