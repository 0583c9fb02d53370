"""Measuring a set: index, search and ask, score, write down; the only file that knows this order.

questions -> groups, one library each -> legs -> spans -> shares of gold found
                                      -> modes -> answers -> how near to the references
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mindscape.errors import Refused, UsageError
from mindscape.evaluate import metrics
from mindscape.evaluate.answers import Asking
from mindscape.evaluate.legs import CONDITIONED, DEFAULT, Searched, Way
from mindscape.evaluate.library import Indexed
from mindscape.evaluate.metrics import Span
from mindscape.evaluate.models import Models
from mindscape.evaluate.sets import (
    Listed,
    Question,
    check_evidence,
    read_document,
    read_listed,
    read_questions,
    sample,
)
from mindscape.ingest.parsed import Parsed

PASSAGES = "passages"


class Run(NamedTuple):
    """What was measured, by which metric; the field names are those of the output."""

    mode: str
    legs: str
    alpha: float | None
    k: int | None
    metric: str
    answerable: bool = True
    """For `refusal`: of questions whose documents hold the answer, or of those whose do not."""
    condition: str | None = None
    """For the leg `conditioned`: what a question was conditioned on."""

    def shape(self) -> dict[str, Any]:
        """As a JSON object."""
        fields = self._asdict()
        if self.metric != "refusal":
            del fields["answerable"]
        if self.condition is None:
            del fields["condition"]
        return fields


class Row(NamedTuple):
    """What one question gave."""

    id: str
    document: str
    """Its first, for questions about one document are not independent."""
    scores: dict[Run, float]


class Detailed(NamedTuple):
    """A row, with the spans that each leg found and what was said in each mode."""

    row: Row
    found: dict[str, list[Span]]
    said: dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured."""

    folder: Path
    legs: Sequence[str]
    modes: Sequence[str]
    ks: Sequence[int]
    limit: int | None = None
    seed: int = 1
    library: bool = False
    """One index for the whole set, instead of one a document."""
    by: str | None = None
    """A field of `docs.jsonl`: one index for the documents that share its value."""
    alphas: Sequence[float] = ()
    conditions: Sequence[str] = ()
    """Of the leg `conditioned`: each with each."""

    @property
    def index(self) -> str:
        """What one index holds, in a word."""
        return "library" if self.library else self.by or "document"

    @property
    def ways(self) -> list[Way]:
        """Of finding, in order."""
        return [way for leg in self.legs for way in self._ways(leg)]

    def _ways(self, leg: str) -> list[Way]:
        if leg != CONDITIONED:
            return [Way(leg)]
        return [Way(leg, alpha, condition) for condition in self.conditions for alpha in self.alphas]


class Group(NamedTuple):
    """The documents of one index, and the questions asked of it."""

    documents: list[Listed]
    questions: list[Question]


Progress = Callable[[int, int, str], None]
"""How many questions are done, of how many, and what is being done."""


def read_groups(plan: Plan) -> list[Group]:
    """The set, in the order of its questions. Raises UsageError and Refused, as `sets` does."""
    listed = {one.id: one for one in read_listed(plan.folder)}
    every = [one for one in read_questions(plan.folder, listed) if _has_data(one)]
    if not every:
        raise Refused(f"{plan.folder} has no questions with evidence or answers.")
    if plan.by is not None and not any(plan.by in one.fields for one in listed.values()):
        raise UsageError(f"No document of {plan.folder} has a field {plan.by!r}.")
    groups: dict[tuple[str, ...], list[Question]] = {}
    for one in sample(every, plan.limit, plan.seed):
        groups.setdefault(_together(plan, listed, one), []).append(one)
    return [Group([listed[id_] for id_ in ids], asked) for ids, asked in groups.items()]


def measure(
    plan: Plan, groups: Sequence[Group], models: Models, done: Mapping[str, Row], progress: Progress
) -> Iterator[Detailed]:
    """What each question of these groups gives that is not `done`, one after the other."""
    count = _Count(progress, sum(len(group.questions) for group in groups))
    for group in groups:
        left = [one for one in group.questions if one.id not in done]
        count.add(len(group.questions) - len(left))
        if left:
            for one in _measure_group(plan, Group(group.documents, left), models, count):
                count.add(1)
                yield one


class _Count:
    """Tells how far it is."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._embedded = 0

    def add(self, questions: int) -> None:
        self._done += questions
        self.tell("asking")

    def embedded(self, passages: int) -> None:
        self._embedded += passages
        self.tell(f"{self._embedded:,} passages embedded")

    def tell(self, what: str) -> None:
        self._progress(self._done, self._total, what)


def _measure_group(plan: Plan, group: Group, models: Models, count: _Count) -> Iterator[Detailed]:
    names = {_display(one): one.id for one in group.documents}
    with tempfile.TemporaryDirectory(prefix="mindscape-eval-") as folder:
        path = Path(folder) / "library.db"
        library = Indexed(path, _files(group), models.embedder, count.embedded)
        try:
            searched = Searched(library, names, models.conditioning)
            asking = [Asking(library, mode, models.writer, models.conditioning) for mode in plan.modes]
            for one in group.questions:
                yield _measured(plan, one, searched, asking)
        finally:
            library.close()


def _measured(plan: Plan, question: Question, searched: Searched, asking: Sequence[Asking]) -> Detailed:
    scores: dict[Run, float] = {}
    found: dict[str, list[Span]] = {}
    if question.evidence and question.answerable and plan.legs:
        asked = searched.ask(question.text)
        for way in plan.ways:
            spans = found[way.name] = searched.find(way, asked, max(plan.ks))
            every = searched.every(way.leg, question.documents)
            for k in plan.ks:
                for metric, value in _shares(question.evidence, spans, every, k).items():
                    run = Run(PASSAGES, way.leg, way.alpha, k, metric, condition=way.condition)
                    scores[run] = value
    said: dict[str, list[dict[str, Any]]] = {}
    for one in asking:
        marked = one.mark(question)
        said[one.mode] = [each._asdict() for each in marked.said]
        for metric, value in marked.values.items():
            scores[Run(one.mode, DEFAULT, None, None, metric, question.answerable)] = value
    return Detailed(Row(question.id, question.documents[0], scores), found, said)


def _shares(gold: Sequence[Span], found: Sequence[Span], every: Sequence[Span], k: int) -> dict[str, float]:
    return {
        "recall": metrics.recall(gold, found[:k]),
        "hit": metrics.hit(gold, found[:k]),
        "norm": metrics.norm(gold, found[:k], every, k),
    }


def _has_data(one: Question) -> bool:
    return bool(one.evidence or one.answers) or not one.answerable


def _together(plan: Plan, listed: Mapping[str, Listed], question: Question) -> tuple[str, ...]:
    """Ids of the documents in whose index a question is asked."""
    if plan.library:
        return tuple(listed)
    if plan.by is None:
        return question.documents
    values = {listed[id_].fields.get(plan.by, id_) for id_ in question.documents}
    return tuple(id_ for id_, one in listed.items() if one.fields.get(plan.by, id_) in values)


def _files(group: Group) -> Iterator[tuple[str, Parsed]]:
    """Path in the library and text of each document, one in memory at a time."""
    for one in group.documents:
        parsed = read_document(one)
        check_evidence(group.questions, {one.id: parsed.text})
        yield _display(one), parsed


def _display(one: Listed) -> str:
    """The path of a document: its id, with the suffix of its file, by which tables and logs are known."""
    name = one.id.encode("utf-8", "replace").decode()
    return f"/{name}" if name.endswith(one.file.suffix) else f"/{name}{one.file.suffix}"
