"""OCR: which pages are read, how a reading is chosen, and that the bundled models read a page of print."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.formats.pdf_made import one_page
from tests.ingest.formats.shape import assert_well_formed

from mindscape.ingest import ocr
from mindscape.ingest.formats.page_pictures import read_pages
from mindscape.ingest.media_types import PDF, PNG, TIFF
from mindscape.ingest.ocr import MAX_SIDE, Picture, Recogniser, read, recogniser
from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, ParseFailure, ReadLine, Source
from mindscape_storage.records import Status

PRINTED = ["Rules of the Lock", "Boats wait below the gate until", "the keeper has raised the lamp."]


def line(text: str, y: float = 0.0, confidence: float = 0.99) -> ReadLine:
    return ReadLine(text, 0.0, y, 10.0 * len(text), y + 20.0, confidence)


def sheet(lines: list[str], size: tuple[int, int] = (1240, 1754)) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=40)
    for row, text in enumerate(lines):
        draw.text((100, 120 + 70 * row), text, fill="black", font=font)
    return picture


def encoded(picture: Image.Image, kind: str = "png", **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def scanned(*pages: Image.Image | str, stamp: str = "") -> bytes:
    """A PDF with a page for each picture, or with the text itself as its layer."""
    buffer = io.BytesIO()
    canvas: Any = Canvas(buffer, invariant=True)
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(60, 700, page)
        else:
            canvas.drawImage(ImageReader(page), 0, 0, 595, 842)
            canvas.drawString(500, 20, stamp)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


class Fake:
    """Says the same of every picture, and remembers what it was shown."""

    def __init__(self, *lines: ReadLine) -> None:
        self.lines = list(lines)
        self.shown: list[tuple[int, ...]] = []

    def __call__(self, picture: Picture) -> list[ReadLine]:
        self.shown.append(picture.shape)
        return self.lines

    def load(self) -> Recogniser:
        return self


def read_and_parsed(name: str, data: bytes, media_type: str, fake: Fake) -> Parsed:
    read = dict(read_pages(Source(Path(name), data), media_type, fake.load))
    result = parse(Source(Path(name), data, read_pages=read))
    assert_well_formed(result)
    return result


def test_only_pages_that_say_less_than_they_show_are_read() -> None:
    fake = Fake(line("The keeper has raised the lamp."))
    data = scanned("a page with a layer of its own", sheet(PRINTED), "and another one", sheet(PRINTED))
    result = read_and_parsed("a.pdf", data, PDF, fake)
    assert len(fake.shown) == 2
    assert result.text.split("\n\n") == [
        "a page with a layer of its own",
        "The keeper has raised the lamp.",
        "and another one",
        "The keeper has raised the lamp.",
    ]
    assert [mark.label for mark in result.marks] == ["1", "2", "3", "4"]
    assert result.warnings == ("Pages 2 and 4 of 4 were read by OCR (mean confidence 99%).",)
    assert "pages_without_text" not in result.metadata


def test_a_stamp_over_a_scan_does_not_pass_for_its_text() -> None:
    data = scanned(sheet(PRINTED), stamp="ABC 000123")
    plain = parse(Source(Path("a.pdf"), data))
    assert plain.text == "ABC 000123"
    assert plain.metadata["pages_without_text"] == 1
    assert "almost no text beside a picture" in plain.warnings[0]
    stamp = ReadLine("A8C 00O123", 1389, 2250, 1560, 2290, 0.9)
    read = read_and_parsed("a.pdf", data, PDF, Fake(line("Boats wait below the gate."), stamp))
    # The text layer knows its own letters better.
    assert read.text == "Boats wait below the gate.\n\nABC 000123"


def test_what_the_text_layer_tells_only_in_part_is_completed() -> None:
    content = "BT /F1 12 Tf 60 700 Td (Boats wait below the gate) Tj 0 -40 Td <0405060708> Tj ET"
    data = one_page(content)
    plain = parse(Source(Path("a.pdf"), data))
    assert plain.text == "Boats wait below the gate"
    assert "letters that the text layer does not tell" in plain.warnings[0]
    layer = ReadLine("B0ats wa1t below the gate", 170, 365, 560, 400, 0.7)
    other = ReadLine("until noon", 170, 478, 400, 510, 0.9)
    read = read_and_parsed("a.pdf", data, PDF, Fake(layer, other))
    assert read.text.split() == ["Boats", "wait", "below", "the", "gate", "until", "noon"]


def test_where_ocr_reads_nothing_either_that_is_said() -> None:
    with pytest.raises(ParseFailure) as failure:
        read_and_parsed("a.pdf", scanned(sheet([])), PDF, Fake())
    assert failure.value.status is Status.NO_TEXT
    assert "OCR read none" in failure.value.reason
    mixed = read_and_parsed("a.pdf", scanned("words", sheet([])), PDF, Fake())
    assert mixed.warnings == ("Page 2 of 2 has no text layer. OCR read no text there.",)


def test_what_stops_ocr_on_a_page_leaves_the_rest_of_the_document() -> None:
    def breaks(picture: Picture) -> list[ReadLine]:
        raise ValueError("no such shape")

    data = scanned("words", sheet(PRINTED))
    assert dict(read_pages(Source(Path("a.pdf"), data), PDF, lambda: breaks)) == {2: ()}


def test_pages_without_anything_to_read_cost_no_models() -> None:
    def never() -> Recogniser:
        raise AssertionError("nothing is to be read")

    assert dict(read_pages(Source(Path("a.pdf"), scanned("words", "more words")), PDF, never)) == {}
    assert dict(read_pages(Source(Path("a.md"), b"words"), "text/markdown", never)) == {}


def test_doubtful_lines_are_left_out() -> None:
    found = read(np.zeros((90, 90, 3), np.uint8), Fake(line("clear words here", 0), line("smudge", 30, 0.4)))
    assert [kept.text for kept in found] == ["clear words here"]


def test_a_page_that_lies_on_its_side_or_its_head_is_turned() -> None:
    picture = np.zeros((100, 200, 3), np.uint8)
    picture[0, 0] = 255  # the corner from which its text starts

    def recognise(shown: Picture) -> list[ReadLine]:
        if shown[0, 0, 0]:
            return [line("text the right way up", 0), line("and a second line", 40)]
        if shown.shape[0] > shown.shape[1]:
            return [ReadLine("dn ʎɐʍ", 0, 0, 20, 200, 0.5)]
        return [line("dn ʎɐʍ ʇɥƃᴉɹ", 0, 0.5)]

    for quarters in range(4):
        found = read(np.ascontiguousarray(np.rot90(picture, quarters)), recognise)
        assert [kept.text for kept in found] == ["text the right way up", "and a second line"]


def test_a_huge_page_makes_no_huge_picture() -> None:
    buffer = io.BytesIO()
    canvas: Any = Canvas(buffer, pagesize=(14_400, 14_400), invariant=True)
    canvas.rect(60, 60, 10_000, 10_000)
    canvas.save()
    fake = Fake()
    dict(read_pages(Source(Path("a.pdf"), buffer.getvalue()), PDF, fake.load))
    assert max(fake.shown[0]) <= MAX_SIDE + 1


def test_pictures_are_read_with_their_pages() -> None:
    fake = Fake(line("The keeper has raised the lamp."))
    one = read_and_parsed("a.png", encoded(sheet(PRINTED)), PNG, fake)
    assert one.text == "The keeper has raised the lamp."
    assert one.marks == ()
    frames = [sheet(PRINTED), sheet(PRINTED)]
    two = encoded(frames[0], "tiff", save_all=True, append_images=frames[1:])
    assert [m.label for m in read_and_parsed("a.tiff", two, TIFF, fake).marks] == ["1", "2"]
    with pytest.raises(ParseFailure) as failure:
        parse(Source(Path("a.png"), encoded(sheet(PRINTED))))
    assert failure.value.status is Status.UNSUPPORTED


def test_a_picture_that_cannot_be_opened_is_damaged() -> None:
    with pytest.raises(ParseFailure) as failure:
        dict(read_pages(Source(Path("a.png"), b"\x89PNG\r\n\x1a\nnothing"), PNG, Fake().load))
    assert failure.value.status is Status.DAMAGED


def test_the_models_of_the_package_read_a_printed_page_and_fetch_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("OCR must not reach for the network")

    monkeypatch.setattr("socket.socket.connect", no_network)
    recogniser.cache_clear()
    source = Source(Path("a.pdf"), scanned(sheet(PRINTED)))
    result = parse(Source(source.path, source.data, read_pages=dict(read_pages(source, PDF, recogniser))))
    assert " ".join(result.text.split()) == " ".join(PRINTED)
    assert ocr.installed()
