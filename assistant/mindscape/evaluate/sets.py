"""Sets of documents and questions with known answers: a folder with `docs.jsonl`, `docs/`, `questions.jsonl`.

    docs.jsonl       {doc_id, file, ...}
    questions.jsonl  {id, doc_ids, question, answers, evidence: [{doc_id, start, end, head}], ...}

Offsets are code points of the file as it stands; `head` repeats the first characters there. Whatever else a
row holds is read where a metric needs it: `evidence_fine` with `fine_ok`, `false_claim`, `options`,
`answerable`.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mindscape.errors import Refused, UsageError
from mindscape.evaluate.metrics import Span
from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, ParseFailure, Source

DOCUMENTS = "docs.jsonl"
QUESTIONS = "questions.jsonl"


@dataclass(frozen=True, slots=True)
class Listed:
    """A document of a set: its id, its file, and the other fields of its row."""

    id: str
    file: Path
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one or more documents, with the spans that answer it and reference answers."""

    text: str
    documents: tuple[str, ...]
    evidence: tuple[Span, ...] = ()
    answers: tuple[str, ...] = ()
    id: str = ""
    heads: tuple[str, ...] = ()
    """What stands at each gold span, as far as the set says."""
    false_claim: str | None = None
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """Letter -> text, of a question with options."""
    answerable: bool = True
    """False where the set says that its documents do not hold the answer."""

    @property
    def claim(self) -> bool | None:
        """Whether the text, a claim, is true; None for a question."""
        said = {answer.strip().lower() for answer in self.answers}
        return said == {"true"} if said in ({"true"}, {"false"}) else None


def read_listed(folder: Path) -> list[Listed]:
    """The documents of a set, in order.

    Raises UsageError for a folder that is no set, Refused for a row that is wrong.
    """
    if not (folder / DOCUMENTS).is_file() or not (folder / QUESTIONS).is_file():
        raise UsageError(
            f"{folder} is no set: it needs {DOCUMENTS} and {QUESTIONS}, and the documents they name."
        )
    listed: dict[str, Listed] = {}
    for where, row in _rows(folder / DOCUMENTS):
        id_, file = _text(where, row, "doc_id"), folder / _text(where, row, "file")
        if id_ in listed:
            raise Refused(f"{where}: there is a document {id_!r} already.")
        if not file.is_file():
            raise Refused(f"{where}: there is no file {file}.")
        listed[id_] = Listed(id_, file, row)
    if not listed:
        raise Refused(f"{folder / DOCUMENTS} names no document.")
    return list(listed.values())


def read_questions(folder: Path, known: Iterable[str]) -> list[Question]:
    """The questions of a set with these documents, in order. Raises Refused for a row that is wrong."""
    ids = set(known)
    found: dict[str, Question] = {}
    for where, row in _rows(folder / QUESTIONS):
        question = _question(where, row)
        if question.id in found:
            raise Refused(f"{where}: there is a question {question.id!r} already.")
        if unknown := sorted({*question.documents, *(one[0] for one in question.evidence)} - ids):
            raise Refused(f"{where}: {unknown[0]!r} is no document of {DOCUMENTS}.")
        found[question.id] = question
    return list(found.values())


def sample(questions: Sequence[Question], limit: int | None, seed: int) -> list[Question]:
    """`limit` questions drawn with a seed, in the order of the set: a larger limit adds to a smaller one."""
    if limit is None:
        return list(questions)
    drawn = list(range(len(questions)))
    random.Random(seed).shuffle(drawn)
    return [questions[at] for at in sorted(drawn[:limit])]


def read_document(one: Listed) -> Parsed:
    """The text of a document, parsed as the daemon would. Raises Refused where offsets would mean nothing."""
    try:
        data = one.file.read_bytes()
        parsed = parse(Source(one.file, data))
    except OSError as error:
        raise Refused(f"{one.file} cannot be read: {error.strerror}.") from error
    except ParseFailure as failure:
        raise Refused(f"{one.file} cannot be read: {failure}") from failure
    # Gold offsets count in the text as it stands in the file; a parser that changed it would move them.
    if parsed.text != data.decode("utf-8", "replace"):
        raise Refused(f"{one.file} is not read as it stands, so offsets into it mean nothing.")
    return parsed


def check_evidence(questions: Iterable[Question], texts: Mapping[str, str]) -> None:
    """Raise Refused where a gold span of these documents is not what the set says it is."""
    for one in questions:
        for (id_, start, end), head in zip(one.evidence, one.heads, strict=True):
            text = texts.get(id_)
            if text is not None and not (
                end <= len(text) and text[start:end].startswith(head[: end - start])
            ):
                raise Refused(
                    f"The evidence of the question {one.id!r} is not at {start}-{end} of {id_!r}: "
                    "its offsets must count the code points of the file as it stands."
                )


def _question(where: str, row: dict[str, Any]) -> Question:
    documents = _texts(where, row, "doc_ids")
    if not documents:
        raise Refused(f"{where}: doc_ids is empty.")
    text = _text(where, row, "question")
    if not text.strip():
        raise Refused(f"{where}: the question is empty.")
    # The finest that may be trusted: of whole novels passages for some questions, for others chapters.
    spans = [
        _span(where, one) for one in _list(where, row, "evidence_fine" if row.get("fine_ok") else "evidence")
    ]
    false = row.get("false_claim")
    return Question(
        text=text,
        documents=tuple(dict.fromkeys(documents)),
        evidence=tuple(span for span, _ in spans),
        answers=tuple(one for one in _texts(where, row, "answers") if one.strip()),
        id=_text(where, row, "id"),
        heads=tuple(head for _, head in spans),
        false_claim=None if false is None else _text(where, row, "false_claim"),
        options=_options(where, row),
        answerable=row.get("answerable", True) is not False,
    )


def _span(where: str, one: object) -> tuple[Span, str]:
    row = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
    start, end, head = row.get("start"), row.get("end"), row.get("head") or ""
    if not (isinstance(start, int) and isinstance(end, int) and isinstance(head, str) and 0 <= start < end):
        raise Refused(f"{where}: evidence must be a list of {{doc_id, start, end}} with 0 <= start < end.")
    return (_text(where, row, "doc_id"), start, end), head


def _options(where: str, row: dict[str, Any]) -> dict[str, str]:
    """By letter, whether the set gives them letters or not."""
    given = row.get("options") or ()
    named = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    plain = cast("list[Any]", given) if isinstance(given, list) else list(named.values())
    if not isinstance(given, dict | list | tuple) or not all(isinstance(one, str) for one in plain):
        raise Refused(f"{where}: options must be a list of texts, or texts by letter.")
    return dict(zip(named or string.ascii_uppercase, plain, strict=False))


def _rows(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    """Each row with its place, `FILE, line N`."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    where = f"{path}, line {number}"
                    yield where, _row(where, line)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from error


def _row(where: str, line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Refused(f"{where} is no JSON in UTF-8: {error}.") from error
    if not isinstance(row, dict):
        raise Refused(f"{where} is no JSON object.")
    return cast("dict[str, Any]", row)


def _text(where: str, row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise Refused(f"{where}: {key} is missing." if value is None else f"{where}: {key} must be a text.")
    # Half of a surrogate pair can stand in JSON but cannot be encoded again.
    return value.encode("utf-8", "replace").decode()


def _list(where: str, row: dict[str, Any], key: str) -> list[Any]:
    value = row.get(key) or []
    if not isinstance(value, list):
        raise Refused(f"{where}: {key} must be a list.")
    return cast("list[Any]", value)


def _texts(where: str, row: dict[str, Any], key: str) -> list[str]:
    """A list of texts; numbers and truth values as text, for answers are such in some sets."""
    values = _list(where, row, key)
    if not all(isinstance(one, str | int | float) for one in values):
        raise Refused(f"{where}: {key} must be a list of texts.")
    return [str(one) for one in values]
