"""Web pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="windows-1252"><title>How to salt cod</title>
<script>noise()</script><style>noise</style><meta name="author" content="A. Mole"></head><body>
<nav><ul><li>noise</ul></nav><div id="cookie-banner">noise</div><div hidden>noise</div>
<div style="display: none">noise</div><template>noise</template><noscript>noise</noscript><!-- noise -->
<main><h1>Salting</h1>
<p>Lay the fish on cedar boards for<b>ty</b> hours.<br>Turn&nbsp;it &ldquo;twice&rdquo;.</p>
<h2>Times</h2><table><caption>By weight</caption><tr><th>Weight<th>Days</tr><tr><td>2 kg<td>9</tr></table>
<pre>10 PRINT "KEEP   SPACES"
20 GOTO 10</pre><ul><li>one<li>two <a href="https://e.org/x">link</a></ul><blockquote>said</blockquote>
<p>The sea<sup><a href="#n1">1</a></sup> is caf\xe9.</p></main><footer>noise</footer></body></html>"""


def test_a_saved_page_gives_what_its_reader_reads() -> None:
    result = parsed("page.html", PAGE.encode("latin-1"))
    assert result.title == "How to salt cod"
    assert "noise" not in result.text
    assert [(block.kind, result.text[block.start : block.end]) for block in result.blocks] == [
        ("heading", "Salting"),
        ("paragraph", "Lay the fish on cedar boards forty hours.\nTurn it “twice”."),
        ("heading", "Times"),
        ("paragraph", "By weight"),
        ("table", "Weight | Days\n2 kg | 9"),
        ("code", '10 PRINT "KEEP   SPACES"\n20 GOTO 10'),
        ("item", "one"),
        ("item", "two link"),
        ("quote", "said"),
        ("paragraph", "The sea[1] is café."),
    ]
    assert result.blocks[4].header == "By weight\nWeight | Days"
    assert [section.path for section in result.sections] == [("Salting",), ("Salting", "Times")]
    assert result.links == ("https://e.org/x",)
    assert result.metadata == {"author": "A. Mole", "language": "en"}


def test_a_heading_above_the_main_part_is_kept() -> None:
    result = parsed("p.html", "<header><h1>Salt</h1></header><main><p>Lay the fish on boards.</p></main>")
    assert result.text == "Salt\n\nLay the fish on boards."


def test_a_small_main_part_does_not_hide_the_rest() -> None:
    result = parsed("p.html", f"<main>Ad</main><p>{'The article. ' * 20}</p>")
    assert "The article." in result.text


def test_a_layout_table_is_read_as_prose() -> None:
    result = parsed("p.html", "<table><tr><td><h1>Title</h1><p>Words.</p></td><td>Side</td></tr></table>")
    assert slices(result, "table") == []
    assert result.text == "Title\n\nWords.\n\nSide"


@pytest.mark.parametrize("depth", [300, 1_500, 20_000])
@pytest.mark.parametrize("tag", ["div", "q", "figure", "x-part", "table><tr><td"])
def test_text_nested_deeply_is_not_lost(depth: int, tag: str) -> None:
    page = f"<title>T</title><script>noise</script><{tag}>" + f"<{tag}>" * depth + "needle"
    assert parsed("p.html", page).text == "needle"


def test_what_cannot_be_read_for_its_nesting_is_said() -> None:
    with pytest.raises(ParseFailure, match="nested too deeply"):
        parsed("p.html", "<template>" * 20_000 + "needle")


def test_inline_data_is_not_text() -> None:
    result = parsed("p.html", f'<p>before<img src="data:image/png;base64,{"QUJD" * 50_000}">after</p>')
    assert result.text == "beforeafter"


def test_a_declared_encoding_is_believed() -> None:
    assert parsed("p.html", '<meta charset="gb2312"><p>茶园</p>'.encode("gbk")).text == "茶园"
    xml = '<?xml version="1.0" encoding="windows-1251"?><html><body><p>Ключ</p></body></html>'
    assert parsed("p.xhtml", xml.encode("cp1251")).text == "Ключ"


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(ParseFailure) as failure:
        parsed("p.html", "<html><body><hr><script>x</script></body></html>")
    assert failure.value.status is Status.EMPTY


def test_an_external_entity_is_not_followed() -> None:
    page = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><html><body><p>word &e;</p></body></html>'
    assert "root:" not in parsed("p.xhtml", page).text


TAGS = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<div>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<li>",
        "<ul>",
        "<pre>",
        "</pre>",
        "<h2>",
        "</h2>",
    ]
)


@given(st.lists(st.one_of(TAGS, st.text("ab <>&;\u00ad\u2028\r", max_size=6)), max_size=30))
def test_any_soup_of_tags_has_a_proper_shape(pieces: list[str]) -> None:
    try:
        parsed("p.html", "".join(pieces))
    except ParseFailure as failure:
        if failure.status is not Status.EMPTY:
            raise


def test_formulas_and_what_pictures_say_are_text() -> None:
    math = (
        "<math><msub><mi>x</mi><mn>1</mn></msub><mo>=</mo><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>"
        "<msqrt><mi>c</mi></msqrt></mfrac><annotation>\\tex</annotation></math>"
    )
    page = (
        f"<p>With {math} follows <img src='m.png' alt='y squared'> at once.</p>"
        "<figure><img src='h.png' alt='A heron'><figcaption>A heron, 1931</figcaption></figure>"
        "<img src='logo.png' alt='logo.png'><table><tr><td>pole</td><td><img alt='red'></td></tr>"
        f"<tr><td>mast</td><td>{math}</td></tr></table>"
    )
    text = parsed("a.html", page).text
    assert "With x_1 = (a + b)/(√(c)) follows y squared at once." in text
    assert text.count("heron") == 1
    assert "logo" not in text
    assert "pole | red" in text
    assert "mast | x_1 = (a + b)/(√(c))" in text


def test_a_page_that_is_all_menus_is_read_with_them() -> None:
    links = "".join(f"<li><a href='/{n}'>Chapter {n} of the handbook</a></li>" for n in range(20))
    page = f"<body><nav><ul>{links}</ul></nav><footer>All about boots</footer><p>Index</p></body>"
    text = parsed("a.html", page).text
    assert "Chapter 7 of the handbook" in text
    assert "Index" in text
    article = "<p>" + "The boots stand by the door of the hall. " * 30 + "</p>"
    assert "Chapter 7" not in parsed("a.html", page.replace("<p>Index</p>", article)).text


def test_a_page_without_head_and_body_tags_keeps_its_order() -> None:
    page = "<!doctype html><title>T</title><!-- c --><article>One <b>two</b></article> three<p>four</p>"
    result = parsed("p.html", page)
    assert (result.title, " ".join(result.text.split())) == ("T", "One two three four")


def test_a_title_without_a_word_is_none() -> None:
    page = "<title>-</title><body><h1>Salt</h1><p>Lay the fish on boards."
    assert parsed("a.html", page).title == "Salt"
