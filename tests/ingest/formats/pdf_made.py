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


def bare(catalog: str, *objects: str) -> bytes:
    """A PDF written by hand: object 1 is the catalog, the others follow from number 2."""
    body = b"%PDF-1.7\n"
    starts: list[int] = []
    for number, held in enumerate((f"<< /Type /Catalog {catalog} >>", *objects), 1):
        starts.append(len(body))
        body += f"{number} 0 obj\n{held}\nendobj\n".encode("latin-1")
    table = f"xref\n0 {len(starts) + 1}\n0000000000 65535 f \n"
    table += "".join(f"{start:010} 00000 n \n" for start in starts)
    trailer = f"trailer << /Size {len(starts) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + (table + trailer).encode()


def stream(content: str) -> str:
    """The content of a page, as an object."""
    return f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def one_page(content: str, catalog: str = "", page: str = "", *more: str) -> bytes:
    """A page of A4 with this content; `more` objects are numbered from 6."""
    return bare(
        f"/Pages 2 0 R {catalog}",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        f"/Resources << /Font << /F1 5 0 R >> >> {page} >>",
        stream(content),
        FONT,
        *more,
    )
