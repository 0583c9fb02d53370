"""How the demo prints answers, statuses and its table of results: plain text, 96 columns."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.demo.judge import Verdict
from tests.demo.questions import Question

Json = dict[str, Any]
WIDTH = 96


def heading(text: str) -> None:
    """A line that separates the steps."""
    print(f"\n== {text} " + "=" * max(3, WIDTH - len(text) - 4), flush=True)


def say(text: str, indent: str = "  ") -> None:
    """A paragraph, wrapped; its line breaks are kept."""
    for line in text.strip().splitlines():
        print(textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=indent))


def reply(result: Json, folder: Path) -> None:
    """The answer and where each citation points."""
    say(result["answer"], indent="  | ")
    for citation in result["citations"]:
        doubt = "" if citation.get("supported") is not False else ", not confirmed by the text"
        print(f"    [{citation['n']}] {place(citation, folder)}{doubt}")


def place(found: Json, folder: Path) -> str:
    """`Notes/Ferry.md, line 11`, with the page and the heading where they are known."""
    path = Path(found["path"])
    name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()
    page, line = found.get("page"), found.get("line")
    parts = [name, f"page {page}" if page else "", f"line {line}" if line else ""]
    return ", ".join(part for part in (*parts, _heading_of(found)) if part)


def _heading_of(found: Json) -> str:
    value = found.get("heading") or ""
    return value if isinstance(value, str) else " > ".join(value)


def status(result: Json) -> None:
    """Counts a user cares about, and the models."""
    documents = result["documents"]
    print(f"  documents   {documents['total']} ({counts(documents['by_status'])})")
    print(f"  embedded    {documents['embedded']}")
    for kind in ("embedder", "generator"):
        model = (result.get("models") or {}).get(kind) or {}
        name = model.get("name") or "none (answers are quoted, not written)"
        print(f"  {kind:<11} {name}" + (f", {model['device']}" if model.get("device") else ""))
    print(f"  computed    {counts(result['work'])}")


def counts(numbers: Json) -> str:
    """`parses 30, passage embeddings 412`; zeros left out."""
    return ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in numbers.items() if n) or "nothing"


def table(rows: Sequence[tuple[Question, Verdict, Verdict | None]]) -> None:
    """One line a question: the cited quotes, and the model's words when there are any."""
    with_words = any(words for _, _, words in rows)
    kinds = max(_columns(question.kind) for question, _, _ in rows)
    print(f"  {'kind':<{kinds}}  quotes" + ("  words" if with_words else "") + "  question")
    for question, quotes, words in rows:
        said = f"  {_mark(words):<5}" if with_words else ""
        print(f"  {question.kind:<{kinds}}  {_mark(quotes):<6}{said}  {question.text}")


def _mark(verdict: Verdict | None) -> str:
    return "-" if verdict is None else "right" if verdict.right else "WRONG"


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
