"""XML of any kind."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.formats.shape import calls, parsed, slices

from mindscape.ingest.parsed import Parsed, ParseFailure
from mindscape_storage.records import Status

FEED = """<?xml version="1.0" encoding="{0}"?>
<!DOCTYPE rss [<!ENTITY owner "Ann Mole">]>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>Гавань &amp;amp; Sea</title>
<link>https://e.org/</link>
<description>News of &owner;</description>
<language>ru</language>
<item><title>Первый прилив</title><link>https://e.org/1</link>
<description>&lt;p&gt;It rained &amp;nbsp;all day.&lt;/p&gt;&lt;li&gt;one&lt;/li&gt;</description>
<dc:creator>Б. Крот</dc:creator></item>
<item><title>Второй</title>
<description><![CDATA[<h2>Inside</h2>Words &eacute; <b>here</b>.]]></description></item>
</channel></rss>"""


def paths(result: Parsed) -> list[tuple[str, ...]]:
    return [section.path for section in result.sections]


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "IBM866", "utf-16"])
def test_a_feed_is_read_in_the_encoding_it_declares(encoding: str) -> None:
    result = parsed("feed.xml", FEED.format(encoding).encode(encoding))
    assert result.title == "Гавань & Sea"
    assert paths(result) == [
        ("Гавань & Sea",),
        ("Гавань & Sea", "Первый прилив"),
        ("Гавань & Sea", "Второй"),
        ("Гавань & Sea", "Второй", "Inside"),
    ]
    assert slices(result, "paragraph") == [
        "News of Ann Mole",
        "language: ru",
        "It rained all day.",
        "creator: Б. Крот",
        "Words é here.",
    ]
    assert slices(result, "item") == ["one"]
    assert result.links == ("https://e.org/", "https://e.org/1")
    assert result.metadata == {"language": "ru"}


def test_a_wrong_declaration_does_not_garble_utf_8() -> None:
    result = parsed("feed.xml", FEED.format("iso-8859-1").encode())
    assert result.title == "Гавань & Sea"
    assert result.encoding == "utf-8"


def test_blocks_say_the_line_of_the_file() -> None:
    result = parsed("feed.xml", FEED.format("utf-8").replace("\n", "\r\n"))
    lines = {
        result.text[mark.start :].split("\n")[0]: mark.label for mark in result.marks if mark.kind == "line"
    }
    assert lines["Первый прилив"] == "8"
    assert lines["Второй"] == "11"


ARTICLE = """<article><front>
<journal-meta><journal-title>Tides Weekly</journal-title></journal-meta><article-meta>
<title-group><article-title>The <italic>Harbour</italic> Book</article-title></title-group>
<contrib-group>
<contrib><name><surname>Mole</surname><given-names>Ann</given-names></name></contrib>
<contrib><name><surname>Vole</surname><given-names>Ben</given-names></name></contrib></contrib-group>
<pub-date><day>5</day><month>3</month><year>2024</year></pub-date>
<abstract><title>Abstract</title><p>It rained.</p></abstract></article-meta></front>
<body><sec><label>1.</label><title>Salting</title><p>Lay the <bold>fish</bold> on boards<xref>3</xref>.</p>
<list list-type="bullet"><list-item><p>one</p></list-item><list-item><p>two</p></list-item></list>
<table-wrap><label>Table 1</label><caption><title>By weight</title></caption>
<table><thead><tr><th>Weight</th><th>Days</th></tr></thead>
<tbody><tr><td>2 kg</td><td>9</td></tr></tbody></table></table-wrap>
<sec><title>Times</title><disp-quote><p>They said.</p></disp-quote><preformat>a
  b</preformat></sec></sec></body>
<back><ref-list><title>References</title><ref><element-citation><name><surname>Rat</surname></name>
<article-title>Boats</article-title></element-citation></ref></ref-list></back></article>"""


def test_an_article_is_read_by_its_sections() -> None:
    result = parsed("a.xml", ARTICLE)
    assert result.title == "The Harbour Book"
    assert paths(result) == [
        ("The Harbour Book",),
        ("The Harbour Book", "Abstract"),
        ("The Harbour Book", "1. Salting"),
        ("The Harbour Book", "1. Salting", "Times"),
        ("The Harbour Book", "References"),
    ]
    assert result.metadata == {"author": "Ann Mole, Ben Vole", "date": "2024-03-05"}
    assert "Lay the fish on boards3." in slices(result, "paragraph")
    assert "Rat Boats" in slices(result, "paragraph")
    assert slices(result, "item") == ["one", "two"]
    assert slices(result, "quote") == ["They said."]
    assert slices(result, "code") == ["a\n  b"]
    assert slices(result, "table") == ["Weight | Days\n2 kg | 9"]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["Weight | Days"]


def test_docbook_and_tei_have_headings_too() -> None:
    docbook = (
        "<book><info><title>Boats</title></info><chapter><title>Gull</title><para>x</para></chapter></book>"
    )
    assert paths(parsed("a.xml", docbook)) == [("Boats",), ("Boats", "Gull")]
    tei = (
        "<TEI><teiHeader><fileDesc><titleStmt><title>Boats</title></titleStmt></fileDesc></teiHeader><text><body>"
        "<div><head>Gull</head><p>Text.</p></div></body></text></TEI>"
    )
    assert paths(parsed("a.xml", tei)) == [("Boats",), ("Boats", "Gull")]


def test_data_is_read_as_values_with_their_names() -> None:
    result = parsed(
        "a.xml",
        "<boats><boat><name>Gull</name><crew>4</crew></boat><boat><name>Tern</name><crew>2</crew></boat></boats>",
    )
    assert slices(result, "item") == ["name: Gull\ncrew: 4", "name: Tern\ncrew: 2"]


def test_attributes_that_people_read_are_text() -> None:
    opml = (
        '<opml><head><title>Feeds</title></head><body><outline text="Boats">'
        '<outline text="Gull" xmlUrl="https://e.org/f"/></outline></body></opml>'
    )
    result = parsed("a.opml", opml)
    assert slices(result, "item") == ["Boats", "outline: Gull"]
    assert result.links == ("https://e.org/f",)


def test_a_file_of_other_attributes_only_is_not_empty() -> None:
    assert parsed("a.xml", '<a><b boat="Gull" crew="4"/></a>').text == "b: Gull | 4"


def test_a_drawing_gives_its_words() -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg"><title>Map</title><style>x</style>'
        '<text>High <tspan>tide</tspan></text><path d="M0 0"/></svg>'
    )
    assert parsed("a.svg", svg).text == "Map\n\nHigh tide"


def test_formulas_are_kept_in_their_sentence() -> None:
    math = "<mml:math xmlns:mml='m'><mml:mi>x</mml:mi><mml:mo>=</mml:mo><mml:mn>1</mml:mn></mml:math>"
    text = parsed(
        "a.xml", f"<a><p>Here <alternatives><tex-math>$x$</tex-math>{math}</alternatives> holds.</p></a>"
    ).text
    assert text == "Here x=1 holds."


def test_web_pages_and_books_are_read_as_such() -> None:
    assert (
        parsed(
            "a.xml",
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><h1>T</h1><nav>menu</nav></body></html>',
        ).text
        == "T"
    )
    book = parsed(
        "a.xml",
        "<FictionBook><body><section><title><p>One</p></title><p>Text.</p></section></body></FictionBook>",
    )
    assert book.media_type == "application/x-fictionbook+xml"


def test_xml_is_known_without_its_ending() -> None:
    assert parsed("feed", FEED.format("windows-1251").encode("cp1251")).title == "Гавань & Sea"


def test_several_documents_in_one_file_are_all_read() -> None:
    one = '<?xml version="1.0"?>\n<!DOCTYPE p [ ]>\n<patent><title>{}</title><x>words</x></patent>\n'
    assert [heading for (heading,) in paths(parsed("a.xml", one.format("One") + one.format("Two")))] == [
        "One",
        "Two",
    ]


def test_entities_neither_explode_nor_read_files() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = parsed(
        "a.xml",
        f'<!DOCTYPE a [<!ENTITY e0 "ha">{bomb}<!ENTITY f SYSTEM "file:///etc/hostname">]>'
        "<a>before &e11; &f; after</a>",
    ).text
    assert text == "before &e11; &f; after"


@pytest.mark.parametrize(
    "broken",
    [
        "<a><b>needle & thread<c></a>",
        "<a><b>needle",
        "junk <a>needle</a>",
        "<a>&nbsp;needle &undefined;</a>",
        "<a>" * 3_000 + "needle" + "</a>" * 3_000,
        "<a x=1>needle</a>",
        "<a><![CDATA[needle</a>",
    ],
)
def test_broken_xml_still_gives_its_words(broken: str) -> None:
    assert "needle" in parsed("a.xml", broken).text


def test_words_without_any_markup_are_kept_and_it_is_said() -> None:
    result = parsed("a.xml", "no markup at all")
    assert result.text == "no markup at all"
    assert result.warnings == ("The file is not valid XML; its text was read as if it were a web page.",)


def test_markup_without_an_element_says_so() -> None:
    with pytest.raises(ParseFailure) as caught:
        parsed("a.xml", '<?xml version="1.0"?>')
    assert caught.value.status is Status.DAMAGED


SIGNS = """
<a> </a> <title> </title> <p> </p> text &amp; &x; <b/> <table> <tr> <td> </td> </tr> </table>
<![CDATA[ ]]> <!-- --> <ref> </ref> <head> <label> <math> <!DOCTYPE [ ]> <?xml ?>
"""
PIECES = st.lists(
    st.sampled_from(SIGNS.split()),
    max_size=24,
)


@settings(deadline=None)
@given(pieces=PIECES)
def test_any_markup_gives_a_well_formed_result(pieces: list[str]) -> None:
    with contextlib.suppress(ParseFailure):
        parsed("a.xml", f"<r>{''.join(pieces)}needle")


@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_a_stated_failure(data: bytes) -> None:
    with contextlib.suppress(ParseFailure):
        parsed("a.xml", b"<a>" + data)


@pytest.mark.parametrize(
    "sign", [*SIGNS.split(), "<x>a</x>", "<tex-math>x</tex-math>", "<r><x>a</x><y>b</y></r>"]
)
def test_four_times_the_markup_takes_four_times_the_calls(sign: str) -> None:
    few, many = (calls("a.xml", f"<r>text {f'{sign} ' * count}") for count in (50, 200))
    assert many < 6 * few
