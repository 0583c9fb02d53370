"""What OCR has read of a page, as the layout takes it."""

from __future__ import annotations

from collections.abc import Sequence

from mindscape.ingest.formats.pdf_run import Run
from mindscape.ingest.parsed import ReadLine

_SNAP = 0.3
"""Heights of lines that differ less from the page's usual one are the same letters, measured badly."""


def runs_of_lines(lines: Sequence[ReadLine]) -> list[Run]:
    """Lines as the layout takes them, the heights of their letters evened out."""
    if not lines:
        return []
    heights = sorted(line.y1 - line.y0 for line in lines for _ in line.text)
    usual = heights[len(heights) // 2]
    runs: list[Run] = []
    for line in lines:
        height = line.y1 - line.y0
        if abs(height - usual) < _SNAP * usual:
            height = usual
        middle = (line.y0 + line.y1) / 2
        box = (line.x0, middle - height / 2, line.x1, middle + height / 2)
        runs.append(Run.whole(line.text, box))
    return runs


def confidence_of(lines: Sequence[ReadLine]) -> float:
    """Over the letters, from 0 to 1."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / letters if letters else 0.0
