"""EPUB books, whole and damaged."""

from __future__ import annotations

import pytest
from tests.ingest.formats.made import epub, zipped
from tests.ingest.formats.shape import parsed

from mindscape.ingest.formats import package
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

ONE = "<html><head><title/></head><body><h1>One</h1><p>First words.</p></body></html>"
TWO = "<html><body><p>Second words.</p></body></html>"
ENCRYPTION = (
    "<encryption><EncryptedData><EncryptionMethod Algorithm='{}'/><CipherData><CipherReference URI='{}'/>"
    "</CipherData></EncryptedData></encryption>"
)


def failure_of(data: bytes) -> Status:
    with pytest.raises(ParseFailure) as failure:
        parsed("book.epub", data)
    return failure.value.status


def test_chapters_come_in_reading_order_with_title_and_author() -> None:
    result = parsed("book.epub", epub({"one.xhtml": ONE, "two.xhtml": TWO}))
    assert result.text == "One\n\nFirst words.\n\nSecond words."
    assert result.title == "The Ferry Keeper"
    assert (result.metadata["author"], result.metadata["language"]) == ("A. Mole, B. Vole", "en")
    assert [(mark.label, result.text[mark.start :][:3]) for mark in result.marks] == [
        ("One", "One"),
        ("two.xhtml", "Sec"),
    ]
    assert not result.text_like


@pytest.mark.parametrize(
    ("contents", "items"),
    [
        (
            "<html xmlns:epub='http://www.idpf.org/2007/ops'><body><nav epub:type='toc'><ol>"
            "<li><a href='one.xhtml'>The First</a></li><li><a href='two.xhtml#x'>The Second</a></li>"
            "</ol></nav></body></html>",
            '<item id="nav" href="toc" properties="nav" media-type="application/xhtml+xml"/>',
        ),
        (
            "<ncx><navMap><navPoint><navLabel><text>The First</text></navLabel><content src='one.xhtml'/>"
            "<navPoint><navLabel><text>The Second</text></navLabel><content src='two.xhtml'/></navPoint>"
            "</navPoint></navMap></ncx>",
            '<item id="ncx" href="toc" media-type="application/x-dtbncx+xml"/>',
        ),
    ],
)
def test_the_table_of_contents_names_chapters_and_opens_sections(contents: str, items: str) -> None:
    result = parsed(
        "b.epub", epub({"one.xhtml": ONE, "two.xhtml": TWO}, extra={"OEBPS/toc": contents}, items=items)
    )
    assert [mark.label for mark in result.marks] == ["The First", "The Second"]
    assert [section.heading for section in result.sections] == ["One", "The Second"]


def test_a_missing_chapter_is_a_warning_and_the_others_are_read() -> None:
    result = parsed("b.epub", epub({"one.xhtml": ONE}, manifest=["one.xhtml", "gone.xhtml"]))
    assert "First words." in result.text
    assert "gone.xhtml" in result.warnings[0]


@pytest.mark.parametrize(
    "href", ["text\\one.xhtml", "TEXT/one.xhtml", "../OEBPS/text/one.xhtml", "text/o%6Ee.xhtml"]
)
def test_odd_names_still_find_their_chapter(href: str) -> None:
    assert "First words." in parsed("b.epub", epub({"text/one.xhtml": ONE}, manifest=[href])).text


def test_a_damaged_chapter_is_a_warning_and_the_others_are_read() -> None:
    whole = epub({"one.xhtml": ONE, "two.xhtml": TWO})
    place = whole.index(b"OEBPS/two.xhtml") + len("OEBPS/two.xhtml")
    result = parsed("b.epub", whole[:place] + b"\xff" * 8 + whole[place + 8 :])
    assert result.text == "One\n\nFirst words."
    assert "two.xhtml" in result.warnings[0]


def test_a_book_without_a_spine_is_read_by_its_manifest() -> None:
    assert "First words." in parsed("b.epub", epub({"one.xhtml": ONE}, spine=False)).text


def test_scrambled_fonts_do_not_protect_a_book_and_scrambled_chapters_do() -> None:
    font = ENCRYPTION.format("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    text = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/one.xhtml")
    assert "First" in parsed("b.epub", epub({"one.xhtml": ONE}, extra={"META-INF/encryption.xml": font})).text
    assert failure_of(epub({"one.xhtml": ONE}, extra={"META-INF/encryption.xml": text})) is Status.PROTECTED


def test_what_is_no_book_is_damaged_and_what_has_only_pictures_has_no_text() -> None:
    assert failure_of(b"not a zip") is Status.DAMAGED
    assert failure_of(zipped({"mimetype": "application/epub+zip"})) is Status.DAMAGED
    assert failure_of(epub({}, manifest=["gone.xhtml"])) is Status.DAMAGED
    assert failure_of(epub({"one.xhtml": "<html><body><img src='x'/></body></html>"})) is Status.NO_TEXT


def test_a_truncated_book_is_damaged() -> None:
    data = epub({"one.xhtml": ONE})
    assert failure_of(data[: len(data) // 2]) is Status.DAMAGED


def test_a_book_that_unpacks_too_far_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_PART_BYTES", 100_000)
    assert failure_of(epub({"one.xhtml": ONE, "big.xhtml": "<p>" + " x" * 100_000})) is Status.TOO_LARGE
    monkeypatch.setattr(package, "MAX_MEMBERS", 3)
    assert failure_of(epub({"one.xhtml": ONE})) is Status.TOO_LARGE


def test_a_page_that_is_a_drawing_gives_what_is_written_in_it() -> None:
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg"><title>Map of the isles</title><desc>Drawn in 1931</desc>'
        "<path d='M 0 0'/><text><tspan>North</tspan> <tspan>quay</tspan></text></svg>"
    )
    result = parsed("b.epub", epub({"one.svg": drawing, "two.xhtml": TWO}))
    assert result.text == "Map of the isles\n\nDrawn in 1931\n\nNorth quay\n\nSecond words."


def test_a_page_of_another_type_is_read_by_its_fallback_once() -> None:
    pages = "".join(
        f'<item id="i{n}" href="{n}.jpg" media-type="image/jpeg" fallback="text"/>' for n in range(2)
    )
    loop = '<item id="i2" href="3.jpg" media-type="image/jpeg" fallback="i2"/>'
    book = epub({"one.xhtml": ONE}, extra={"OEBPS/book.opf": package_of(pages + loop, range(3))})
    assert parsed("b.epub", book).text == "One\n\nFirst words."


def package_of(items: str, spine: range) -> str:
    order = "".join(f'<itemref idref="i{n}"/>' for n in spine)
    text = '<item id="text" href="one.xhtml" media-type="application/xhtml+xml"/>'
    return f"<package><metadata/><manifest>{items}{text}</manifest><spine>{order}</spine></package>"


def test_notes_are_read_once_and_leave_their_sentence_whole_below_nested_contents() -> None:
    def point(label: str, target: str, inner: str = "") -> str:
        label = f"<navLabel><text>{label}</text></navLabel>"
        return f"<navPoint>{label}<content src='{target}'/>{inner}</navPoint>"

    walk = point("The Walk", "all.xhtml#c", point("The Hill", "all.xhtml#d"))
    whole = point("Part One", "all.xhtml", point("Ferries", "all.xhtml#b") + walk)
    contents = f"<ncx><navMap>{whole}</navMap></ncx>"
    chapter = (
        "<body><h2>Part One</h2><p>Of boats.</p><h2 id='b'>Ferries</h2><p>The ferry<a epub:type='noteref' "
        "href='notes.xhtml#n1'><sup>1</sup></a> leaves at dawn.</p><h3>Fares</h3><p>A penny.</p>"
        "<p><a id='c'></a>We went on.</p><div id='d'><p>Uphill.</p></div></body>"
    )
    notes = "<body><aside id='n1'><p>Built in 1931.</p></aside></body>"
    items = '<item id="n" href="t.ncx" media-type="application/x-dtbncx+xml"/>'
    result = parsed(
        "b.epub",
        epub({"all.xhtml": chapter, "notes.xhtml": notes}, extra={"OEBPS/t.ncx": contents}, items=items),
    )
    assert "The ferry[1] leaves at dawn." in result.text
    assert result.text.count("Built in 1931.") == 1
    assert [section.path for section in result.sections] == [
        ("Part One",),
        ("Part One", "Ferries"),
        ("Part One", "Ferries", "Fares"),
        ("Part One", "The Walk"),
        ("Part One", "The Walk", "The Hill"),
    ]
    assert [mark.label for mark in result.marks] == ["Part One", "notes.xhtml"]


def test_a_chapter_lies_below_the_part_that_the_contents_put_it_in() -> None:
    contents = (
        "<html xmlns:epub='http://www.idpf.org/2007/ops'><body><nav epub:type='toc'><ol><li>"
        "<a href='p.xhtml'>Part</a><ol><li><a href='one.xhtml'>One</a></li><li><a href='two.xhtml'>"
        "The Second</a></li></ol></li></ol></nav></body></html>"
    )
    book = epub(
        {"p.xhtml": "<body><h1>Part</h1></body>", "one.xhtml": ONE, "two.xhtml": TWO},
        extra={"OEBPS/toc": contents},
        items='<item id="nav" href="toc" properties="nav" media-type="application/xhtml+xml"/>',
    )
    paths = [section.path for section in parsed("b.epub", book).sections]
    assert paths == [("Part",), ("Part", "One"), ("Part", "The Second")]
