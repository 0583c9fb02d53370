"""Files of every common type and of a stated size, made the same each time, for measuring the parsers."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP

import docx
import pptx
import xlsxwriter
from pptx.util import Inches
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, PageBreak, SimpleDocTemplate
from reportlab.platypus import Paragraph as PdfParagraph

CHAPTERS = 40
PARAGRAPHS = 20
"""In a chapter, each of 5 sentences: some 65,000 words in a book of 40 chapters."""
ROWS = 20_000
SLIDES = 200

Chapter = tuple[str, list[str]]


def book(chapters: int = CHAPTERS) -> list[Chapter]:
    """Headings with paragraphs; words by Zipf's law, so that they repeat as those of a language do."""
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlucmfwypvbgk", k=rng.randint(2, 10))) for _ in range(8_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]

    def sentence() -> str:
        drawn = rng.choices(words, weights, k=rng.randint(10, 22))
        return f"{drawn[0].capitalize()} {' '.join(drawn[1:])}."

    return [
        (f"Chapter {number}", [" ".join(sentence() for _ in range(5)) for _ in range(PARAGRAPHS)])
        for number in range(1, chapters + 1)
    ]


def _plain(chapters: list[Chapter]) -> bytes:
    return "\n\n".join("\n\n".join((heading, *held)) for heading, held in chapters).encode()


def _markdown(chapters: list[Chapter]) -> bytes:
    return "\n\n".join("\n\n".join((f"# {heading}", *held)) for heading, held in chapters).encode()


def _html(chapters: list[Chapter]) -> bytes:
    body = "".join(
        f"<h2>{heading}</h2>" + "".join(f"<p>{one}</p>" for one in held) for heading, held in chapters
    )
    return f"<!DOCTYPE html><html><head><title>Book</title></head><body>{body}</body></html>".encode()


def _epub(chapters: list[Chapter]) -> bytes:
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(names)))
    package = f"<package><metadata/><manifest>{items}</manifest><spine>{spine}</spine></package>"
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    members = {"META-INF/container.xml": container}
    members |= {"p.opf": package}
    members |= {name: _html([chapter]).decode() for name, chapter in zip(names, chapters, strict=True)}
    return _zipped("application/epub+zip", members)


def _odt(chapters: list[Chapter]) -> bytes:
    name = "urn:oasis:names:tc:opendocument:xmlns:"
    body = "".join(
        f'<text:h text:outline-level="1">{heading}</text:h>'
        + "".join(f"<text:p>{one}</text:p>" for one in held)
        for heading, held in chapters
    )
    content = (
        f'<office:document-content xmlns:office="{name}office:1.0" xmlns:text="{name}text:1.0">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return _zipped("application/vnd.oasis.opendocument.text", {"content.xml": content})


def _zipped(kind: str, members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        for member, held in members.items():
            archive.writestr(member, held)
    return buffer.getvalue()


def _docx(chapters: list[Chapter]) -> bytes:
    document = docx.Document()
    for heading, held in chapters:
        document.add_heading(heading, 1)
        for one in held:
            document.add_paragraph(one)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _rtf(chapters: list[Chapter]) -> bytes:
    paragraphs = (rf"\pard {one}\par" for heading, held in chapters for one in (heading, *held))
    return ("{\\rtf1\\ansi\\deff0 " + "\n".join(paragraphs) + "}").encode()


def _pdf(chapters: list[Chapter]) -> bytes:
    styles = getSampleStyleSheet()
    flow: list[Flowable] = []
    for heading, held in chapters:
        flow += [
            PdfParagraph(heading, styles["Heading1"]),
            *(PdfParagraph(one, styles["BodyText"]) for one in held),
        ]
        flow.append(PageBreak())
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, invariant=True).build(flow)
    return buffer.getvalue()


def _pptx(chapters: list[Chapter]) -> bytes:
    presentation = pptx.Presentation()
    texts = [one for _, held in chapters for one in held][:SLIDES]
    for number, one in enumerate(texts, 1):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        if slide.shapes.title is not None:
            slide.shapes.title.text = f"Slide {number}"
        box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(8), Inches(4))
        box.text_frame.text = one
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def _rows(chapters: list[Chapter]) -> list[list[str | float]]:
    words = " ".join(chapters[0][1]).split()
    found: list[list[str | float]] = [["name", "weight", "days", "note"]]
    found += [
        [words[n % len(words)], n * 7 % 1000 / 10, n % 31, " ".join(words[n % 900 : n % 900 + 6])]
        for n in range(ROWS)
    ]
    return found


def _csv(chapters: list[Chapter]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(_rows(chapters))
    return buffer.getvalue().encode()


def _xlsx(chapters: list[Chapter]) -> bytes:
    buffer = io.BytesIO()
    workbook = xlsxwriter.Workbook(buffer, {"in_memory": True})
    sheet = workbook.add_worksheet("Fish")
    for number, row in enumerate(_rows(chapters)):
        sheet.write_row(number, 0, row)
    workbook.close()
    return buffer.getvalue()


def _eml(chapters: list[Chapter]) -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = "Ada <a@example.org>", "b@example.org", "Chapters"
    message["Date"] = "Tue, 01 Oct 2024 12:34:56 -0500"
    message.set_content(_plain(chapters).decode())
    message.add_alternative(_html(chapters).decode(), subtype="html")
    return message.as_bytes()


def _mbox(chapters: list[Chapter]) -> bytes:
    mails = (_eml([(heading, [one])]) for heading, held in chapters for one in held)
    return b"".join(b"From a@example.org Tue Oct  1 12:34:56 2024\r\n" + mail + b"\r\n" for mail in mails)


def _ipynb(chapters: list[Chapter]) -> bytes:
    cells: list[dict[str, object]] = []
    for heading, held in chapters:
        cells.append({"cell_type": "markdown", "source": f"# {heading}"})
        for one in held:
            output = {"output_type": "stream", "text": one[:200]}
            cells.append({"cell_type": "markdown", "source": one})
            cells.append({"cell_type": "code", "source": f"print({one[:40]!r})", "outputs": [output]})
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


MAKERS: dict[str, Callable[[list[Chapter]], bytes]] = {
    "pdf": _pdf,
    "docx": _docx,
    "odt": _odt,
    "rtf": _rtf,
    "epub": _epub,
    "html": _html,
    "md": _markdown,
    "txt": _plain,
    "csv": _csv,
    "xlsx": _xlsx,
    "pptx": _pptx,
    "eml": _eml,
    "mbox": _mbox,
    "ipynb": _ipynb,
}
"""By the ending of the file's name."""
