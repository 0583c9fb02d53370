"""How places, headings and coverage are worded, the same in the terminal interface and the commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mindscape.text import printable

_STAGES = {
    "rewrite": "reading the question",
    "retrieve": "searching your documents",
    "summary": "reading the mindscape",
    "answer": "reading, then writing the answer",
    "quote": "choosing sentences",
}

EMPTY_LIBRARY = "The library is empty.\nLeave with ctrl+q and fill it: mindscape add FOLDER"
NO_MINDSCAPE = (
    "Nothing is summarised yet. The mindscape grows while documents are read, and shows here as it does; "
    "'mindscape status' says how far they are."
)
_CRUMB = 40


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def short_path(path: str) -> str:
    """A path as a person would type it: relative to the working folder, or from `~`."""
    try:
        here = os.getcwd()  # noqa: PTH109 - pathlib has no cheaper form, and this runs on every search
    except FileNotFoundError:  # the working folder itself was deleted
        here = ""
    for folder, prefix in ((here, ""), (os.environ.get("HOME", ""), "~/")):
        if len(folder) > 1 and path.startswith(folder + "/"):
            return prefix + path[len(folder) + 1 :]
    return path


def where(path: str, place: Mapping[str, Any]) -> str:
    """`path:line` or `path p. 12`, from whichever of `page` and `line` the place has."""
    shown = one_line(short_path(path))
    if place.get("line"):
        return f"{shown}:{place['line']}"
    return f"{shown} p. {place['page']}" if place.get("page") else shown


def heading_of(place: Mapping[str, Any]) -> str:
    """The headings above a place, outermost first, or the empty string."""
    heading: object = place.get("heading")
    if isinstance(heading, list):
        return " › ".join(one_line(str(part)) for part in heading)
    return one_line(str(heading)) if heading else ""


def breadcrumb(node: Mapping[str, Any]) -> str:
    """The titles above a node, the library first, each cut to a readable length."""
    titles = [one_line(printable(str(part["title"]))) for part in node.get("path") or ()]
    return " › ".join(cut(title, _CRUMB) for title in titles[:-1])


def cut(text: str, longest: int) -> str:
    """The text, or its beginning and an ellipsis where it is longer."""
    return text if len(text) <= longest else text[:longest].rstrip() + "…"


def made_note(node: Mapping[str, Any]) -> str:
    """What a node is, who made its summary and when, and how long that is."""
    made_by, kind = str(node["made_by"]), str(node["kind"])
    if made_by == "nothing":
        return f"{kind} · not summarised yet"
    who = {"text": "its own text", "extractive": "sentences chosen from the text"}
    parts = [kind, who.get(made_by, f"summarised by {made_by}")]
    if made_at := node.get("made_at"):
        parts.append(datetime.fromtimestamp(int(made_at)).astimezone().strftime("%Y-%m-%d %H:%M"))
    return " · ".join([*parts, counted(int(node["tokens"]), "token")])


def coverage_note(coverage: Mapping[str, Any]) -> str:
    """What an answer could not see, in sentences, or the empty string."""
    notes = [str(note) for note in coverage.get("notes") or ()]
    if without_text := int(coverage.get("without_text") or 0):
        has = "has" if without_text == 1 else "have"
        notes.append(f"{counted(without_text, 'document')} {has} no text that can be searched.")
    return " ".join(notes)


def stage_name(stage: str) -> str:
    """What a stage of the pipeline does, for the one who waits."""
    return _STAGES.get(stage, stage)


def counted(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
