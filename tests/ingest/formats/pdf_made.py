"""PDFs made by the tests, by drawing on a canvas."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from reportlab.pdfgen.canvas import Canvas


def drawn(*pages: Callable[[Any], None], **options: Any) -> bytes:
    """A page for each function, which draws on it."""
    buffer = io.BytesIO()
    canvas: Any = Canvas(buffer, invariant=True, **options)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def lines(canvas: Any, *texts: str, x: float = 60, y: float = 700, leading: float = 14) -> None:
    """Texts below each other."""
    for row, text in enumerate(texts):
        canvas.drawString(x, y - leading * row, text)
