"""Jupyter notebooks: prose with its headings, code, and what the code printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mindscape.ingest.decode import clean, decode
from mindscape.ingest.formats import markdown
from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.html import tree_of
from mindscape.ingest.formats.html_walk import walk
from mindscape.ingest.media_types import HTML, MARKDOWN
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

MAX_OUTPUT = 20_000
"""Characters of one output that are kept: what runs longer is a log or a dump."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_DATA = re.compile(r"data:[\w/+.;=-]{0,200}base64,[A-Za-z0-9+/=\s]{100,}")
_REPR = re.compile(r"<[^<>]*>\s*")
"""What Python says of an object that is only a picture."""
_FORMS = ("text/markdown", "text/plain", "text/latex", "text/html")
_OLD_FORMS = {"text": "text/plain", "html": "text/html", "latex": "text/latex", "markdown": "text/markdown"}
"""What version 3 calls the forms of an output."""


@dataclass(slots=True)
class _Reading:
    builder: TextBuilder
    cut: int = 0
    pictures: int = 0


def parse(source: Source, media_type: str) -> Parsed:
    """Cells in order; their Markdown headings are the sections, pictures are left out."""
    decoded = decode(source.data)
    notebook = _mapping(_loaded(decoded.text))
    if not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        raise ParseFailure(
            Status.DAMAGED, "The file is JSON but no notebook: it has no cells. Save it again from Jupyter."
        )
    reading = _Reading(TextBuilder(warnings=list(decoded.warnings)))
    for cell in _cells(notebook):
        _add_cell(reading, cell)
    builder = reading.builder
    if reading.cut:
        builder.warnings.append(f"{reading.cut:,} outputs of over {MAX_OUTPUT:,} characters were cut.")
    if reading.pictures:
        builder.warnings.append(f"{reading.pictures:,} outputs are pictures or widgets and hold no text.")
    metadata = _metadata(_mapping(notebook.get("metadata")))
    title = metadata.pop("title", None) or next((h.text for h in builder.headings), None)
    return builder.build(media_type, title, metadata, decoded)


def _loaded(text: str) -> object:
    try:
        return json.loads(text, parse_int=str)
    except json.JSONDecodeError as error:
        raise ParseFailure(
            Status.DAMAGED,
            f"The notebook is not valid JSON from line {error.lineno:,} on: it was cut off, or it holds the "
            "marks of a merge. Mend it there, or save it again from Jupyter.",
        ) from None
    except RecursionError:
        raise ParseFailure(
            Status.DAMAGED, "The notebook nests its JSON deeper than any program does. It is not read."
        ) from None


def _cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells of version 4, or those of version 3, which has sheets."""
    for held in (notebook, *(_mapping(sheet) for sheet in _list(notebook.get("worksheets")))):
        yield from (_mapping(cell) for cell in _list(held.get("cells")))


def _add_cell(reading: _Reading, cell: dict[str, Any]) -> None:
    kind, text = cell.get("cell_type"), _joined(cell.get("source", cell.get("input")))
    if kind == "code":
        reading.builder.add("code", text)
        for output in _list(cell.get("outputs")):
            _add_output(reading, _mapping(output))
    elif kind == "heading":
        level = str(cell.get("level", 1))
        reading.builder.add("heading", text, level=int(level) if level in "123456" else 1)
    elif kind == "raw":
        reading.builder.add("paragraph", text)
    else:
        _add_markdown(reading.builder, text)


def _add_output(reading: _Reading, output: dict[str, Any]) -> None:
    kind = output.get("output_type")
    if kind == "stream":
        _add_printed(reading, _joined(output.get("text")))
    elif kind in ("error", "pyerr"):
        said = (str(output.get("ename") or ""), str(output.get("evalue") or ""))
        _add_printed(reading, ": ".join(filter(None, said)))
    else:
        data = _mapping(output.get("data")) or {new: output.get(old) for old, new in _OLD_FORMS.items()}
        forms = {form: _joined(data.get(form)) for form in _FORMS}
        if any(form.startswith("image/") for form in data) and _REPR.fullmatch(forms["text/plain"]):
            forms["text/plain"] = ""
        _add_result(reading, forms, bool(data))


def _add_result(reading: _Reading, forms: dict[str, str], has_other: bool) -> None:
    """One form of a result: a table, else the words, else the HTML."""
    html = forms["text/html"]
    if "<table" in html.lower() or (html and not any(forms[form] for form in _FORMS[:3])):
        inner = TextBuilder()
        root = tree_of(_cut(reading, _DATA.sub("", html), 10 * MAX_OUTPUT))
        if root is not None:
            walk(root, inner, page=True)
        if inner.blocks:
            reading.builder.include(inner.build(HTML), below=6)
            return
    if forms["text/markdown"]:
        _add_markdown(reading.builder, _cut(reading, forms["text/markdown"]))
    elif forms["text/plain"] or forms["text/latex"]:
        _add_printed(reading, forms["text/plain"] or forms["text/latex"])
    else:
        reading.pictures += has_other


def _add_printed(reading: _Reading, text: str) -> None:
    """What a program wrote to a terminal, as one sees it there: no escapes, no progress bars but the last."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in _ESCAPE.sub("", text).split("\n"))
    reading.builder.add("code", _cut(reading, "\n".join(lines)))


def _add_markdown(builder: TextBuilder, text: str) -> None:
    data = clean(_DATA.sub("", text)).encode("utf-8", "replace")
    builder.include(markdown.parse(Source(Path("cell.md"), data), MARKDOWN), below=0)


def _cut(reading: _Reading, text: str, limit: int = MAX_OUTPUT) -> str:
    reading.cut += len(text) > limit
    return text[:limit]


def _metadata(held: dict[str, Any]) -> dict[str, Any]:
    kernel, language = _mapping(held.get("kernelspec")), _mapping(held.get("language_info"))
    authors = [str(_mapping(one).get("name") or "") for one in _list(held.get("authors"))]
    found = {
        "title": str(held.get("title") or ""),
        "author": ", ".join(filter(None, authors)),
        "date": str(held.get("date") or ""),
        "programming_language": str(language.get("name") or kernel.get("language") or ""),
    }
    return {name: value[:500] for name, value in found.items() if value}


def _joined(value: object) -> str:
    """A text, which the format keeps as a string or as a list of lines."""
    if isinstance(value, str):
        return value
    lines = [one for one in _list(value) if isinstance(one, str)]
    # The notebooks of IPython before 1.0 keep lines without their ends.
    return ("" if any(line.endswith("\n") for line in lines) else "\n").join(lines)


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast(list[object], value) if isinstance(value, list) else []
