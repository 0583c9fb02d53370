"""A folder is read by OCR where its user says so, and only there."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from mindscape.errors import Refused
from tests.daemon.harness import Daemon

SENTENCE = "Boats wait below the gate"


def picture() -> Image.Image:
    sheet = Image.new("RGB", (1240, 1754), "white")
    ImageDraw.Draw(sheet).text((100, 200), SENTENCE, fill="black", font=ImageFont.load_default(size=48))
    return sheet


def scan() -> bytes:
    buffer = io.BytesIO()
    canvas: Any = Canvas(buffer, invariant=True)
    canvas.drawImage(ImageReader(picture()), 0, 0, 595, 842)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def rows(daemon: Daemon) -> dict[str, dict[str, Any]]:
    daemon.wait()
    return {row["path"]: row for row in daemon.call("ls")["documents"]}


def folder_of(daemon: Daemon, path: Path) -> dict[str, Any]:
    return next(row for row in daemon.call("status")["folders"] if row["path"] == str(path))


def test_two_folders_hold_the_same_scan_and_each_reads_it_as_it_was_told(
    daemon: Daemon, tmp_path: Path
) -> None:
    plain, read = tmp_path / "plain", tmp_path / "read"
    for folder in (plain, read):
        folder.mkdir()
        (folder / "rules.pdf").write_bytes(scan())
        (folder / "note.md").write_text("# Words\n\nwith a text of their own\n")
        picture().save(folder / "photo.png")
    daemon.call("add", paths=[str(plain)])
    assert daemon.call("add", paths=[str(read)], ocr=True)["folders"][0]["ocr"]

    found = rows(daemon)
    assert found[str(plain / "rules.pdf")]["status"] == "no_text"
    assert "mindscape add --ocr" in found[str(plain / "rules.pdf")]["reason"]
    assert found[str(plain / "photo.png")]["status"] == "unsupported"
    assert {path: row["status"] for path, row in found.items() if path.startswith(str(read))} == {
        str(read / name): "ok" for name in ("note.md", "photo.png", "rules.pdf")
    }
    texts = daemon.indexed()
    assert SENTENCE in texts[str(read / "rules.pdf")]
    assert SENTENCE in texts[str(read / "photo.png")]

    # Off again: what was read goes, the rest stays; and on in the other folder.
    daemon.call("add", paths=[str(read)], ocr=False)
    daemon.call("add", paths=[str(plain)], ocr=True)
    found = rows(daemon)
    assert found[str(read / "rules.pdf")]["status"] == "no_text"
    assert found[str(read / "photo.png")]["status"] == "unsupported"
    assert sorted(path for path in daemon.indexed() if path.startswith(str(read))) == [str(read / "note.md")]
    assert SENTENCE in daemon.indexed()[str(plain / "rules.pdf")]
    assert (folder_of(daemon, plain)["ocr"], folder_of(daemon, read)["ocr"]) == (True, False)


def test_what_is_not_said_stays_as_it_is(daemon: Daemon, folder: Path) -> None:
    daemon.call("add", paths=[str(folder)], ocr=True)
    assert daemon.call("add", paths=[str(folder)])["folders"][0]["ocr"]


def test_a_part_of_a_folder_is_not_read_otherwise_than_the_whole(daemon: Daemon, folder: Path) -> None:
    inner = folder / "scans"
    inner.mkdir()
    daemon.call("add", paths=[str(inner)], ocr=True)
    with pytest.raises(Refused, match="Say whether all of that is to be"):
        daemon.call("add", paths=[str(folder)])
    assert daemon.call("add", paths=[str(folder)], ocr=False)["folders"][0]["path"] == str(folder)
    with pytest.raises(Refused, match="read as a whole without OCR"):
        daemon.call("add", paths=[str(inner)], ocr=True)


def test_without_the_package_ocr_is_refused_and_a_folder_that_asks_for_it_says_so(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "rules.pdf").write_bytes(scan())
    daemon = Daemon(tmp_path / "home", workers="1")
    assert daemon.start() == "ready"
    daemon.call("add", paths=[str(folder)], ocr=True)
    assert rows(daemon)[str(folder / "rules.pdf")]["status"] == "ok"
    daemon.stop()

    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'rapidocr' else find(name, *rest)\n"
    )
    daemon.environment["PYTHONPATH"] = str(hidden)
    assert daemon.start() == "ready"
    try:
        with pytest.raises(Refused, match="OCR is not installed"):
            daemon.call("add", paths=[str(folder)], ocr=True)
        (folder / "more.pdf").write_bytes(scan() + b"\n")
        found = rows(daemon)[str(folder / "more.pdf")]
        assert found["status"] == "no_text"
        assert "asks for OCR" in found["reason"]
        assert rows(daemon)[str(folder / "rules.pdf")]["status"] == "ok"
    finally:
        daemon.stop()
