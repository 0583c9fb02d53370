"""Markdown notes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.formats import markdown

FENCES = """# Real Title

Intro.

## Install

```bash
# install deps
```

````markdown
```python
# inner
```
# still inside
````

~~~
# tilde
~~~

    # indented

Setext Heading
==============

#tag is none and #NoSpace too

Second
---

<!--
# commented
-->

### Skipped [[Target|Level]] with `code` and **bold** #

- # In list

> # Quoted

```
# unclosed
"""


def test_sections_follow_commonmark_and_no_code_or_comment_is_a_heading() -> None:
    result = parsed("a.md", FENCES)
    assert [section.path for section in result.sections] == [
        ("Real Title",),
        ("Real Title", "Install"),
        ("Setext Heading",),
        ("Setext Heading", "Second"),
        ("Setext Heading", "Second", "Skipped Level with code and bold"),
    ]
    assert result.title == "Real Title"
    first = result.sections[0]
    assert first.end == result.text.index("Setext Heading")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks_are_the_same_whatever_ends_the_lines(end: str) -> None:
    text = (
        "# Title\n\nWords\nmore.\n\n- one\n  goes on\n- two\n  - three\n\n"
        "> said\n\n```\ncode\n```\n\n|a|b|\n|-|-|\n|1|2|\n"
    )
    result = parsed("a.md", text.replace("\n", end))
    assert [
        (block.kind, result.text[block.start : block.end].replace(end, "\n")) for block in result.blocks
    ] == [
        ("heading", "# Title"),
        ("paragraph", "Words\nmore."),
        ("item", "- one\n  goes on"),
        ("item", "- two"),
        ("item", "- three"),
        ("quote", "> said"),
        ("code", "```\ncode\n```"),
        ("table", "|a|b|\n|-|-|\n|1|2|"),
    ]
    assert result.blocks[-1].header == "|a|b|"


def test_code_inside_an_item_is_code_and_the_item_goes_on() -> None:
    result = parsed("a.md", "- before\n\n  ```\n  x = 1\n  ```\n\n  after\n")
    assert [block.kind for block in result.blocks] == ["item", "code", "item"]


def test_front_matter_gives_title_tags_aliases_and_date() -> None:
    result = parsed(
        "a.md",
        "---\ntitle: 2024\ntags: [birds, '#attic']\naliases: Herons, Egrets\n"
        "date: 2024-02-30\ndraft: yes\n---\nBody #marsh/reed.\n",
    )
    assert result.title == "2024"
    assert result.metadata["tags"] == ["birds", "attic", "marsh/reed"]
    assert result.metadata["aliases"] == ["Herons", "Egrets"]
    assert result.metadata["date"] == "2024-02-30"
    assert result.metadata["properties"]["draft"] == "yes"
    assert slices(result, "properties")[0].startswith("---\ntitle")
    assert slices(result, "paragraph") == ["Body #marsh/reed."]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_front_matter_is_found_behind_a_byte_order_mark_and_any_line_end(end: str) -> None:
    result = parsed("a.md", ("\ufeff---\ntitle: Heron house\n...\nBody.").replace("\n", end))
    assert result.title == "Heron house"
    assert slices(result, "paragraph") == ["Body."]


def test_toml_front_matter_is_read() -> None:
    result = parsed("a.md", '+++\ntitle = "Tower"\ntags = ["a"]\nweight = 3\ndate = 2024-05-01\n+++\nBody.')
    assert (result.title, result.metadata["tags"], result.metadata["date"]) == ("Tower", ["a"], "2024-05-01")


@pytest.mark.parametrize(
    ("yaml", "title"),
    [
        ("title: Part 2: The Return: again", "Part 2: The Return: again"),
        ("title:\tTabbed\n\tkey: v", "Tabbed"),
        ("title: T\n" + "".join(f"a{n}: &a{n} [*a{n}]\n" for n in range(9)), "T"),
        ("title: T\nx: " + "[" * 5_000, "T"),
        ("title: T\nx: !!python/object/apply:os.getcwd []", "T"),
    ],
)
def test_broken_or_hostile_properties_lose_nothing(yaml: str, title: str) -> None:
    text = f"---\n{yaml}\n---\nBody.\n"
    result = parsed("a.md", text)
    assert result.text == text
    assert result.title == title
    assert slices(result, "paragraph")[-1] == "Body."


@pytest.mark.parametrize(
    "text",
    [
        "---\nThis is just prose.\n---\n\nMore.\n",
        "---\n- a\n- b\n---\nMore.\n",
        "---\n\nA rule and no other.\n",
        "\n---\ntitle: Not at the top\n---\nMore.\n",
        "----\nMore.\n----\n",
        "---\n**Summary** of *it: all\n---\nMore.\n",
    ],
)
def test_a_rule_is_not_front_matter(text: str) -> None:
    result = parsed("a.md", text)
    assert slices(result, "properties") == []
    assert result.title is None


def test_links_keep_raw_targets_and_code_has_none() -> None:
    result = parsed(
        "a.md",
        "See [[Clock Tower|the tower]], [[Folder/Note#Part]], [text](https://e.org/a_(b)), <https://x.org>.\n"
        "`[[no]] #no`\n\n```\n[[never]] #never\n```\n\n[ref]: notes/b.md\n",
    )
    assert result.links == (
        "Clock Tower",
        "Folder/Note#Part",
        "https://e.org/a_(b)",
        "https://x.org",
        "notes/b.md",
    )
    assert "tags" not in result.metadata


@pytest.mark.parametrize(
    "text",
    [
        ">" * 50_000,
        "[" * 50_000,
        "- " * 20_000,
        "`" * 50_001,
        "![](" * 20_000,
        "<" * 50_000,
        "x" * 2_000_000,
        "# " + "*" * 50_000,
        "|a|b|\n|-|-|\n" + "|1|2|\n" * 5_000,
        "[[" * 50_000,
        "#a/" * 50_000,
    ],
    ids=lambda text: text[:6],
)
def test_hostile_markup_is_only_text(text: str) -> None:
    assert parsed("a.md", text).text == text


PARTS = st.lists(
    st.sampled_from(
        [
            "# One",
            "## Two #",
            "#",
            "####### no",
            "Words.",
            "===",
            "---",
            "- item",
            "  - inner",
            "    code",
            "1. first",
            "> quote",
            "```",
            "~~~ py",
            "<div>",
            "<!-- note",
            "-->",
            "<script>",
            "</script>",
            "| a | b |",
            "|---|---|",
            "[x]: /url",
            "[y]:",
            "",
            "",
            "",
        ]
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(PARTS, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 60))
def test_blocks_are_the_same_however_small_the_parts_are(lines: list[str], end: str, size: int) -> None:
    text = "Begin." + end.join(lines) + end
    whole = parsed("note.md", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "PART", size)
        assert parsed("note.md", text) == whole
