"""Pages that OCR is to read, as pictures, and what it has read of them, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pypdfium2

from mindscape.ingest.formats.pdf_lack import lack_of
from mindscape.ingest.formats.pdf_page import Run, runs_of
from mindscape.ingest.media_types import PDF
from mindscape.ingest.ocr import DOTS_PER_INCH, MAX_SIDE, Picture
from mindscape.ingest.parsed import ReadLine, Source

MAX_PAGES = 5_000
_POINTS = 72
_SNAP = 0.3
"""Heights of lines that differ less from the page's usual one are the same letters, measured badly."""


def pictures_of(source: Source, media_type: str) -> Iterator[tuple[int, Picture, float]]:
    """(page, picture, points a pixel) of each page that says less than it shows; other files have none."""
    if media_type == PDF:
        yield from _of_pdf(source.data)


def _of_pdf(data: bytes) -> Iterator[tuple[int, Picture, float]]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return  # the parser says why
    for index in range(min(len(document), MAX_PAGES)):
        try:
            page = document[index]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            continue
        if lack_of(page, runs_of(page, text_page)).is_readable_by_ocr:
            yield index + 1, *_rendered(page)
        text_page.close()
        page.close()


def _rendered(page: pypdfium2.PdfPage) -> tuple[Picture, float]:
    scale = min(DOTS_PER_INCH / _POINTS, MAX_SIDE / max(*page.get_size(), 1.0))
    bitmap: Any = page.render(scale=scale)  # pyright: ignore[reportArgumentType] - it takes fractions
    return np.ascontiguousarray(bitmap.to_numpy()[:, :, :3]), 1 / scale


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


def mean_confidence(lines: Sequence[ReadLine]) -> float:
    """Over the letters, from 0 to 1."""
    letters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / letters if letters else 0.0
