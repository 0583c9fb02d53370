"""The part of a passage worth showing: where most of the query's words are."""

from __future__ import annotations

import re

from mindscape.cli.layout import clip
from mindscape.tui.wording import one_line

_MAX_WORDS = 40
_LEAD = 40


def matches(query: str) -> re.Pattern[str] | None:
    """What to emphasise: the query's words with up to three letters of ending; None if it has none."""
    words = dict.fromkeys(word.casefold() for word in re.findall(r"\w+", query))
    chosen = [word for word in words if len(word) > 2 or not word.isascii()][:_MAX_WORDS] or list(words)
    if not chosen:
        return None
    # Text without spaces between words (Chinese) has no word starts to look for.
    shapes = [rf"(?<!\w){word}\w{{0,3}}(?!\w)" if word.isascii() else re.escape(word) for word in chosen]
    return re.compile("|".join(shapes), re.IGNORECASE)


def snippet(text: str, words: re.Pattern[str] | None, size: int) -> str:
    """About `size` columns of the text on one line, begun where the most different words follow."""
    flat = one_line(text)
    if words is None or len(flat) <= size:
        return clip(flat, size)
    found = [(match.start(), match[0].casefold()) for match in words.finditer(flat)]
    best, best_count = 0, 0
    for index, (start, _) in enumerate(found):
        count = len({word for at, word in found[index : index + _MAX_WORDS] if at < start + size - 2 * _LEAD})
        if count > best_count:
            best, best_count = start, count
    begin = flat.rfind(" ", 0, max(0, best - _LEAD)) + 1 if best > _LEAD else 0
    begin = begin or max(0, best - _LEAD)
    return clip(("…" if begin else "") + flat[begin:], size)
