"""Files made to hurt: bounded time and memory, nothing outside is opened, and what is not read is said."""

from __future__ import annotations

import io
import socket
import zipfile
from pathlib import Path

import pytest
from tests.ingest.formats.made import W, docx, epub, zipped
from tests.ingest.formats.shape import parsed

from mindscape.ingest.formats import html
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

ONE = "<html><body><h1>One</h1><p>First words.</p></body></html>"
NCX = '<item id="n" href="t.ncx" media-type="application/x-dtbncx+xml"/>'
SECRET = "the private word"
LETTERS = list(zip("abcdefgh", "bcdefghi", strict=True))

BOMBS = {
    "aliases": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in LETTERS),
    "nested lists": "x: " + "[" * 60_000,
    "nested maps": "x: " + "{a: " * 15_000,
    "deep block": "".join(" " * depth + "k:\n" for depth in range(300)),
    "huge number": "x: " + "9" * 60_000,
    "no such day": "date: 2024-02-30",
    "a class": "x: !!python/object/apply:os.system ['exit 1']",
    "merged": "x: &x {<<: *x}",
    "a megabyte": "".join(f"key{number}: value {number}\n" for number in range(50_000)),
}

ENTITIES = {
    "laughs": '<!DOCTYPE x [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in LETTERS)
    + "]>",
    "quadratic": f'<!DOCTYPE x [<!ENTITY i "{"A" * 50_000}">]>',
    "file": '<!DOCTYPE x [<!ENTITY i SYSTEM "{file}">]>',
    "web": '<!DOCTYPE x [<!ENTITY i SYSTEM "http://127.0.0.1:{port}/x">]>',
    "dtd": '<!DOCTYPE x SYSTEM "http://127.0.0.1:{port}/x.dtd" [<!ENTITY % p SYSTEM "{file}">%p;]>',
}
USED = {"quadratic": "&i;" * 20_000}
XML = "<?xml version='1.0'?>{head}"
PAGE = "<html><body><p>openword {use}</p></body></html>"
HOLDERS = {
    "chapter.epub": "{head}" + PAGE,
    "contents.epub": "{head}<ncx><navMap><navPoint><navLabel><text>{use}</text></navLabel>"
    "<content src='one.xhtml'/></navPoint></navMap></ncx>",
    "drawing.epub": "{head}<svg><desc>{use}</desc></svg>",
    "notes.docx": f'{{head}}<w:footnotes {W}><w:footnote w:id="1"><w:p><w:r><w:t>{{use}}</w:t></w:r></w:p>'
    "</w:footnote></w:footnotes>",
    "page.html": "{head}" + PAGE,
    "page.xhtml": XML + PAGE,
    "data.xml": XML + "<x><p>openword {use}</p></x>",
    "book.fb2": XML + "<FictionBook><body><section><p>openword {use}</p></section></body></FictionBook>",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_properties_that_would_explode_cost_nothing(bomb: str) -> None:
    text = f"---\ntitle: Tower\n{bomb}\n---\nThe bodyword stands here.\n"
    result = parsed("a.md", text)
    assert result.text == text
    assert len(str(result.metadata)) <= 2 * len(text)


def held(name: str, part: str) -> bytes:
    """The part in the file that it belongs to."""
    if name == "notes.docx":
        relation = '<Relationship Type="x/footnotes" Target="footnotes.xml"/>'
        body = "<w:p><w:r><w:t>openword</w:t></w:r></w:p>"
        return docx(body, {"word/footnotes.xml": part}, relation)
    if name == "chapter.epub":
        return epub({"one.xhtml": part})
    if name == "contents.epub":
        return epub({"one.xhtml": ONE}, extra={"OEBPS/t.ncx": part}, items=NCX)
    return epub({"one.xhtml": ONE, "d.svg": part}) if name == "drawing.epub" else part.encode()


@pytest.mark.parametrize("kind", ENTITIES)
@pytest.mark.parametrize("name", HOLDERS)
def test_no_entity_explodes_or_opens_anything(name: str, kind: str, tmp_path: Path) -> None:
    private = tmp_path / "private.txt"
    private.write_text(SECRET)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        head = ENTITIES[kind].replace("{port}", str(server.getsockname()[1]))
        head = head.replace("{file}", private.as_uri())
        part = HOLDERS[name].replace("{head}", head).replace("{use}", USED.get(kind, "&i;"))
        data = held(name, part)
        try:
            text = parsed(name, data).text
        except ParseFailure as failure:
            text = failure.reason
        with pytest.raises(BlockingIOError):
            server.accept()
    assert SECRET not in text
    assert len(text) < len(part) + 1_000


def test_a_part_that_is_larger_than_it_says_is_measured() -> None:
    data = bytearray(docx("<w:p><w:r><w:t>word</w:t></w:r></w:p>" * 1_200_000))
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(signature)
        while at >= 0:
            if int.from_bytes(data[at + place : at + place + 4], "little") > 1 << 20:
                data[at + place : at + place + 4] = (1_000).to_bytes(4, "little")
            at = data.find(signature, at + 1)
    with pytest.raises(ParseFailure, match="unpacks to over") as refused:
        parsed("a.docx", bytes(data))
    assert refused.value.status is Status.TOO_LARGE


def test_more_members_than_any_document_has_are_refused() -> None:
    with pytest.raises(ParseFailure, match="parts") as refused:
        parsed("a.docx", zipped({f"word/{number}.xml": b"" for number in range(20_000)}))
    assert refused.value.status is Status.TOO_LARGE


def test_names_that_share_their_bytes_are_read_once_and_the_others_said() -> None:
    """A thousand names for one packed chapter of 3 MB: together they would be 3 GB of text."""
    names = [b"OEBPS/%d.xhtml" % number for number in range(1_000)]
    hrefs = [f"{number}.xhtml" for number in range(1_000)]
    data = epub({"0.xhtml": "<p>" + "over and over " * 220_000}, manifest=hrefs)
    start, end = data.find(b"PK\x01\x02"), data.rfind(b"PK\x05\x06")
    entries = data[start:end]
    chapter = entries[entries.rfind(b"PK\x01\x02") :]
    more = b"".join(
        chapter[:28] + len(name).to_bytes(2, "little") + chapter[30:46] + name for name in names[1:]
    )
    tail = bytearray(data[end:])
    tail[8:10] = tail[10:12] = (4 + 999).to_bytes(2, "little")
    tail[12:16] = (len(entries) + len(more)).to_bytes(4, "little")
    result = parsed("a.epub", data[:end] + more + bytes(tail))
    assert len(result.text) < 4_000_000
    assert "damaged" in result.warnings[0]


def test_an_archive_in_zip64_form_is_read() -> None:
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(epub({"one.xhtml": ONE}))) as plain,
        zipfile.ZipFile(written, "w") as large,
    ):
        for info in plain.infolist():
            with large.open(info.filename, "w", force_zip64=True) as member:
                member.write(plain.read(info))
    assert "First words." in parsed("a.epub", written.getvalue()).text


@pytest.mark.parametrize(
    "contents",
    [
        "<ncx><navMap>" + "<navPoint>" * 5_000,
        "<ncx><navPoint><navLabel><text>x</text></navLabel><content src='t.ncx'/></navPoint></ncx>",
    ],
    ids=["deep", "itself"],
)
def test_a_contents_list_without_end_ends(contents: str) -> None:
    book = epub({"one.xhtml": ONE}, extra={"OEBPS/t.ncx": contents}, items=NCX)
    assert parsed("a.epub", book).text == "One\n\nFirst words."


def test_a_chapter_named_a_thousand_times_is_read_once() -> None:
    book = epub({"one.xhtml": ONE}, manifest=["one.xhtml"] * 1_000)
    assert parsed("a.epub", book).text.count("First") == 1


def test_tables_within_tables_are_read_or_said_to_be_too_deep() -> None:
    def nested(depth: int) -> bytes:
        cell = "<w:p><w:r><w:t>innerword</w:t></w:r></w:p>"
        return docx("<w:tbl><w:tr><w:tc>" * depth + cell + "</w:tc></w:tr></w:tbl>" * depth)

    assert parsed("a.docx", nested(60)).text == "innerword"
    with pytest.raises(ParseFailure, match="nested deeper"):
        parsed("a.docx", nested(1_000))


def test_pages_of_a_pdf_that_hold_each_other_end() -> None:
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 99/Kids[2 0 R 3 0 R]>>", page]
    written = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, one) for number, one in enumerate(objects, 1))
    with pytest.raises(ParseFailure) as refused:
        parsed("a.pdf", b"%PDF-1.4\n" + written + b"trailer<</Size 4/Root 1 0 R>>\n%%EOF")
    assert refused.value.status in (Status.DAMAGED, Status.EMPTY)


def test_a_page_over_the_limit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_BYTES", 1_000)
    with pytest.raises(ParseFailure, match="larger than"):
        parsed("a.html", "<p>word" * 1_000)
