"""How places, headings and coverage are worded, the same in the terminal interface and the commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

_STAGES = {
    "retrieve": "searching your documents",
    "answer": "reading, then writing the answer",
    "quote": "choosing sentences",
}


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
