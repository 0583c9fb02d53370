"""The usual baseline: fixed windows of 1,200 tokens with an overlap of 100, each with one vector.

Tokens are counted as for passages (`ingest.passages.count_tokens`), so windows do not depend on the embedder.
A window is longer than a small encoder reads at once: its vector is then the mean over its parts.
"""

from __future__ import annotations

import re

from mindscape.evaluate.metrics import UNSPACED

TOKENS = 1_200
OVERLAP = 100

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W\d_{UNSPACED}]{{1,6}}|\d{{1,6}}|[^\w\s]|_")


def windows(text: str, tokens: int = TOKENS, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Start and end of each window, in order; together they hold the whole text, the last ends with it.

    Each starts with a token and ends before one. None for a text without tokens.
    """
    starts = [token.start() for token in _TOKEN.finditer(text)]
    if not starts:
        return []
    starts[0] = 0
    firsts = range(0, max(1, len(starts) - overlap), tokens - overlap)
    return [(starts[first], _end(starts, first + tokens, len(text))) for first in firsts]


def _end(starts: list[int], after: int, length: int) -> int:
    return starts[after] if after < len(starts) else length
