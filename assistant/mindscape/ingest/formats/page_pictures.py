"""Pages that OCR is to read, as pictures, one after the other."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image, ImageOps, ImageSequence

from mindscape.ingest.formats.pdf_pages import look_at
from mindscape.ingest.media_types import PDF, PICTURES
from mindscape.ingest.ocr import DOTS_PER_INCH, MAX_SIDE, Picture, Recogniser, read
from mindscape.ingest.parsed import ParseFailure, ReadLine, Source
from mindscape_storage.records import Status

MAX_PAGES = 5_000
MAX_PIXELS = 100_000_000
_POINTS = 72


def read_pages(
    source: Source, media_type: str, recogniser: Callable[[], Recogniser]
) -> Iterator[tuple[int, tuple[ReadLine, ...]]]:
    """Each page that says less than it shows, by its number, with its lines in points, as they are read.

    `recogniser` is called when there is something to read; it takes long. Raises ParseFailure.
    """
    for number, picture, scale in pictures_of(source, media_type):
        try:
            lines = read(picture, recogniser())
        except Exception:  # noqa: BLE001 - whatever stops OCR on one page leaves the others to be read
            lines = ()
        yield (
            number,
            tuple(
                ReadLine(
                    line.text,
                    line.x0 * scale,
                    line.y0 * scale,
                    line.x1 * scale,
                    line.y1 * scale,
                    line.confidence,
                )
                for line in lines
            ),
        )


def pictures_of(source: Source, media_type: str) -> Iterator[tuple[int, Picture, float]]:
    """(page, picture, points a pixel) of each page that says less than it shows; other files have none."""
    if media_type == PDF:
        yield from _of_pdf(source.data)
    elif media_type in PICTURES:
        yield from _of_picture(source.data)


def _of_pdf(data: bytes) -> Iterator[tuple[int, Picture, float]]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError:
        return  # the parser says why
    if document.get_formtype():
        document.init_forms()
    for index in range(min(len(document), MAX_PAGES)):
        try:
            page = document[index]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            continue
        if look_at(document, page, text_page).lack.is_readable_by_ocr:
            yield index + 1, *_rendered(page)
        text_page.close()
        page.close()


def _rendered(page: pypdfium2.PdfPage) -> tuple[Picture, float]:
    scale = min(DOTS_PER_INCH / _POINTS, MAX_SIDE / max(*page.get_size(), 1.0))
    bitmap: Any = page.render(scale=scale)  # pyright: ignore[reportArgumentType] - it takes fractions
    return np.ascontiguousarray(bitmap.to_numpy()[:, :, :3]), 1 / scale


def _of_picture(data: bytes) -> Iterator[tuple[int, Picture, float]]:
    try:
        with Image.open(io.BytesIO(data)) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                why = f"The picture has more than {MAX_PIXELS // 1_000_000} million pixels. Save it smaller."
                raise ParseFailure(Status.TOO_LARGE, why)
            picture.draft("RGB", (MAX_SIDE, MAX_SIDE))
            for number, frame in enumerate(ImageSequence.Iterator(picture), 1):
                if number > MAX_PAGES:
                    return
                yield number, _flattened(ImageOps.exif_transpose(frame)), _POINTS / DOTS_PER_INCH
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        why = "The picture is damaged, or far too large to be one. Save it again."
        raise ParseFailure(Status.DAMAGED, why) from None


def _flattened(frame: Image.Image) -> Picture:
    """At most MAX_SIDE high and wide; what is transparent shows white paper."""
    if frame.mode in ("P", "PA"):
        frame = frame.convert("RGBA")
    frame.thumbnail((MAX_SIDE, MAX_SIDE))
    above = frame.convert("RGBA")
    flat = Image.alpha_composite(Image.new("RGBA", above.size, "white"), above).convert("RGB")
    array: Any = np.asarray(flat)
    return np.ascontiguousarray(array[:, :, ::-1])
