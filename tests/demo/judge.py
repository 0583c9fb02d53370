"""Is an answer right? The rule: the cited quote, from the expected file, holds the fact."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.demo.questions import Fact, Question

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Right or not, and a clause that says why."""

    right: bool
    reason: str


def judge(question: Question, reply: Json) -> Verdict:
    """Judge the `ask` shape: every fact quoted from its file, or `answered` false where nothing answers."""
    if not question.facts:
        if reply["answered"]:
            return Verdict(False, "it answered, and the library does not hold the answer")
        return Verdict(True, "it says that the documents do not hold the answer")
    if not reply["answered"]:
        return Verdict(False, "it found no answer")
    missing = [fact for fact in question.facts if not _is_quoted(fact, reply["citations"])]
    if missing:
        return Verdict(False, " and ".join(f"no quote from {f.file} holds {_spelt(f)}" for f in missing))
    return Verdict(True, " and ".join(f"the quote from {f.file} holds {_spelt(f)}" for f in question.facts))


def judge_text(question: Question, reply: Json) -> Verdict | None:
    """Judge the words a model wrote, citations aside; None when no model wrote them."""
    if not reply.get("model"):
        return None
    if not question.facts:
        return judge(question, reply)
    missing = [fact for fact in question.facts if not _holds(reply["answer"], fact)]
    if missing:
        return Verdict(False, "its words lack " + " and ".join(_spelt(fact) for fact in missing))
    return Verdict(True, "its words hold " + " and ".join(_spelt(fact) for fact in question.facts))


def _is_quoted(fact: Fact, citations: list[Json]) -> bool:
    # A citation that the product itself marks as unsupported is no evidence.
    return any(
        citation.get("supported") is not False
        and _is_file(citation["path"], fact.file)
        and _holds(citation["quote"], fact)
        for citation in citations
    )


def _is_file(path: str, file: str) -> bool:
    return ("/" + _plain(Path(path).as_posix())).endswith("/" + _plain(file))


def _holds(text: str, fact: Fact) -> bool:
    return any(_plain(spelling) in _plain(text) for spelling in fact.spellings)


def _plain(text: str) -> str:
    """Line breaks, case and compatibility forms do not matter to a reader."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _spelt(fact: Fact) -> str:
    return f"'{fact.spellings[0]}'"
