"""Jupyter notebooks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.formats.shape import assert_well_formed, parsed, slices

from mindscape.ingest.formats.notebook import MAX_OUTPUT
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

FRAME = "<style>td{}</style><table><tr><th>weight<th>days</tr><tr><td>2 kg<td>9</tr></table>"


def cell(kind: str, source: str | list[str], *outputs: dict[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    return held | {"outputs": list(outputs), "execution_count": 1} if kind == "code" else held


def result_of(**forms: Any) -> dict[str, Any]:
    data = {name.replace("_", "/"): value for name, value in forms.items()}
    return {"output_type": "execute_result", "data": data, "metadata": {}}


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": list(cells)})


def failure_of(data: str) -> ParseFailure:
    with pytest.raises(ParseFailure) as failure:
        parsed("n.ipynb", data)
    return failure.value


def test_lines_without_ends_as_in_old_notebooks_are_lines() -> None:
    old = {
        "nbformat": 2,
        "worksheets": [{"cells": [cell("markdown", ["# Salt", "", "Lay the fish", "on boards."])]}],
    }
    assert parsed("n.ipynb", json.dumps(old)).text == "# Salt\n\nLay the fish\non boards."


def test_prose_code_and_output_come_in_order_below_their_headings() -> None:
    data = notebook(
        cell("markdown", ["# Salting\n", "\n", "Lay the [fish](https://e.org) on boards."]),
        cell("code", "import cod", {"output_type": "stream", "name": "stdout", "text": ["nine\n", "days"]}),
        cell("markdown", "## Times\n\n- one\n- two"),
        cell("code", "frame", result_of(text_html=FRAME, text_plain="weight days\n2 kg 9")),
        cell("raw", "raw words"),
        kernelspec={"name": "python3", "language": "python"},
    )
    result = parsed("n.ipynb", data)
    assert [(block.kind, result.text[block.start : block.end]) for block in result.blocks] == [
        ("heading", "# Salting"),
        ("paragraph", "Lay the [fish](https://e.org) on boards."),
        ("code", "import cod"),
        ("code", "nine\ndays"),
        ("heading", "## Times"),
        ("item", "- one"),
        ("item", "- two"),
        ("code", "frame"),
        ("table", "weight | days\n2 kg | 9"),
        ("paragraph", "raw words"),
    ]
    assert [section.path for section in result.sections] == [("Salting",), ("Salting", "Times")]
    assert slices(result, "table") == [result.text[result.blocks[8].start : result.blocks[8].end]]
    assert result.blocks[8].header == "weight | days"
    assert result.title == "Salting"
    assert result.metadata == {"programming_language": "python"}
    assert result.links == ("https://e.org",)


def test_errors_are_named_and_terminal_escapes_and_progress_bars_are_gone() -> None:
    error = {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "\x1b[31mno salt\x1b[0m",
        "traceback": ["noise"],
    }
    bar = {"output_type": "stream", "text": "10%\r50%\r100%\ndone\r\n\x1b]0;title\x07end"}
    result = parsed("n.ipynb", notebook(cell("code", "cod()", error, bar)))
    assert slices(result, "code") == ["cod()", "ValueError: no salt", "100%\ndone\nend"]


def test_pictures_are_counted_and_huge_outputs_cut() -> None:
    picture = result_of(image_png="QUJD" * 1_000, text_plain=["<Figure size 640x480 with 1 Axes>"])
    prose = f"before ![x](data:image/png;base64,{'QUJD' * 1_000}) after"
    result = parsed(
        "n.ipynb",
        notebook(
            cell("markdown", prose), cell("code", "plot()", picture, result_of(text_plain="z" * 50_000))
        ),
    )
    assert "QUJD" not in result.text
    assert "Figure" not in result.text
    assert len(result.text) < MAX_OUTPUT + 100
    assert result.warnings == (
        f"1 outputs of over {MAX_OUTPUT:,} characters were cut.",
        "1 outputs are pictures or widgets and hold no text.",
    )


def test_control_characters_in_a_cell_are_no_reason_not_to_read_it() -> None:
    result = parsed("n.ipynb", notebook(cell("markdown", "words\0\1\2\x1b(J\x1b$B more")))
    assert result.text.split() == ["words", "(J", "$B", "more"]


def test_version_3_has_sheets_headings_and_inputs() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Times"]},
        {"cell_type": "code", "input": ["days"], "outputs": [{"output_type": "pyout", "text": ["9"]}]},
        {
            "cell_type": "code",
            "input": "x",
            "outputs": [{"output_type": "pyerr", "ename": "E", "evalue": "v"}],
        },
    ]
    result = parsed("n.ipynb", json.dumps({"nbformat": 3, "worksheets": [{"cells": cells}]}))
    assert result.text == "Times\n\ndays\n\n9\n\nx\n\nE: v"
    assert [(section.level, section.heading) for section in result.sections] == [(2, "Times")]


def test_what_is_no_notebook_is_damaged_and_says_where() -> None:
    whole = notebook(cell("markdown", "words"))
    assert "line 1" in failure_of(whole[:-5]).reason
    merged = json.dumps(json.loads(whole), indent=1).replace(' "cells"', '<<<<<<< HEAD\n "cells"')
    assert "merge" in failure_of(merged).reason
    for data in (whole[:-5], merged, "[]", '{"cells": 3}', "[" * 100_000, "words"):
        assert failure_of(data).status is Status.DAMAGED
    assert failure_of(notebook()).status is Status.EMPTY


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["cell_type", "source", "outputs", "output_type", "data", "text", "text/html", "level"]
            ),
            st.one_of(
                inner, st.sampled_from(["code", "markdown", "heading", "stream", "error", "<table><tr><td>a"])
            ),
        ),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(VALUES, max_size=4), VALUES)
def test_any_json_in_the_place_of_cells_is_survived(cells: list[object], metadata: object) -> None:
    try:
        assert_well_formed(parsed("n.ipynb", json.dumps({"cells": cells, "metadata": metadata})))
    except ParseFailure as failure:
        if failure.status is not Status.EMPTY:
            raise
