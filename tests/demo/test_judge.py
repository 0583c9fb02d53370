"""The demo's verdicts: the fact must be in a quote, from the right file, that the product stands by."""

from __future__ import annotations

from typing import Any

from tests.demo.judge import judge, judge_text
from tests.demo.questions import Fact, Question

ONE = Question("one", "When?", "note", (Fact("Notes/Ferry.md", ("07:40", "7.40")),))
TWO = Question("two", "What and when?", "two files", (*ONE.facts, Fact("Letters/Room.docx", ("120 euros",))))
NONE = Question("none", "Which vet?", "no answer", ())


def _quote(path: str, quote: str, supported: bool | None = True) -> dict[str, Any]:
    return {"n": 1, "path": path, "quote": quote, "supported": supported}


def _reply(*citations: dict[str, Any], answered: bool = True, model: str | None = None) -> dict[str, Any]:
    return {"answered": answered, "answer": "At 07:40.", "model": model, "citations": list(citations)}


def test_a_quote_with_the_fact_from_the_right_file_is_right() -> None:
    assert judge(ONE, _reply(_quote("/tmp/library/Notes/Ferry.md", "leaves at 07:40"))).right


def test_any_spelling_of_the_fact_counts() -> None:
    assert judge(ONE, _reply(_quote("/tmp/library/Notes/Ferry.md", "leaves at 7.40"))).right


def test_line_breaks_and_case_in_the_quote_do_not_matter() -> None:
    question = Question("q", "How much?", "note", (Fact("a.md", ("120 euros",)),))
    assert judge(question, _reply(_quote("/x/a.md", "a deposit of 120\n  Euros"))).right


def test_the_fact_quoted_from_another_file_is_wrong() -> None:
    verdict = judge(ONE, _reply(_quote("/tmp/library/Notes/Old Ferry.md", "leaves at 07:40")))
    assert not verdict.right
    assert "Notes/Ferry.md" in verdict.reason


def test_the_right_file_without_the_fact_is_wrong() -> None:
    assert not judge(ONE, _reply(_quote("/tmp/library/Notes/Ferry.md", "leaves in the morning"))).right


def test_a_citation_marked_unsupported_is_no_evidence() -> None:
    assert not judge(ONE, _reply(_quote("/x/Notes/Ferry.md", "07:40", supported=False))).right


def test_two_files_need_both_quotes() -> None:
    ferry, room = _quote("/x/Notes/Ferry.md", "07:40"), _quote("/x/Letters/Room.docx", "120 euros")
    assert judge(TWO, _reply(ferry, room)).right
    assert not judge(TWO, _reply(ferry)).right
    assert not judge(TWO, _reply(room)).right


def test_an_unanswered_question_is_right_only_where_there_is_no_answer() -> None:
    assert judge(NONE, _reply(answered=False)).right
    assert not judge(ONE, _reply(answered=False)).right
    assert not judge(NONE, _reply(_quote("/x/Notes/Ferry.md", "07:40"))).right


def test_written_words_are_judged_only_when_a_model_wrote_them() -> None:
    assert judge_text(ONE, _reply()) is None
    assert judge_text(ONE, _reply(model="small")) is not None


def test_written_words_must_hold_every_fact() -> None:
    one, two = judge_text(ONE, _reply(model="small")), judge_text(TWO, _reply(model="small"))
    assert one is not None
    assert one.right
    assert two is not None
    assert not two.right
