"""The exam tells a model that can answer from one that cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from mindscape_models.exam import Answering, ExamResult, examine, holds, questions
from mindscape_models.fake import FakeGenerator

REFUSAL = "Not stated."


class Student:
    """Answers by looking the question up, then does what its `slip` makes of the right reply."""

    def __init__(self, refuses: bool = True, knows: bool = True) -> None:
        self.refuses = refuses
        self.knows = knows

    def generate(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Iterator[str]:
        assert max_tokens > 0
        asked = next(q for q in questions() if messages[0]["content"].endswith(q.question))
        assert f"[1] {asked.passages[0]}" in messages[0]["content"]
        if asked.answers:
            yield f"It is {asked.answers[0]} [1]." if self.knows else "It is something else [1]."
        else:
            yield REFUSAL if self.refuses else "It is blue [2]."


def sit(student: Answering) -> ExamResult:
    def render(passages: str, question: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"{passages}\n{question}"}]

    return examine(student, render, lambda reply: reply == REFUSAL)


def test_a_model_that_knows_and_refuses_passes() -> None:
    assert sit(Student()).passed
    assert (sit(Student()).right, sit(Student()).refused) == (1.0, 1.0)


@pytest.mark.parametrize("student", [Student(refuses=False), Student(knows=False)])
def test_a_model_that_invents_or_misses_fails(student: Student) -> None:
    assert not sit(student).passed


def test_refusing_everything_is_not_being_right() -> None:
    result = sit(FakeGenerator([REFUSAL]))
    assert (result.right, result.refused) == (0.0, 1.0)


def test_every_answer_stands_in_the_passages_and_no_question_holds_it() -> None:
    for question in questions():
        shown = " ".join(question.passages)
        assert not question.answers or any(holds(shown, [answer]) for answer in question.answers)
        assert not question.answers or not holds(question.question, question.answers)
    assert sum(not question.answers for question in questions()) == 8
    assert len(questions()) == 24


@pytest.mark.parametrize(
    ("reply", "answers", "expected"),
    [
        ("It was 1911.", ("1911",), True),
        ("It was 19110.", ("1911",), False),
        ("Avec du CHENE [2].", ("chêne",), True),
        ("是林秀兰开办的。", ("林秀兰",), True),
        ("See [14].", ("14",), False),
        ("", ("14",), False),
    ],
)
def test_an_answer_counts_as_whole_words_outside_citations(
    reply: str, answers: tuple[str, ...], expected: bool
) -> None:
    assert holds(reply, answers) is expected
