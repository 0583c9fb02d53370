"""What is asked of a generator, and what its answers are worth; a real one answers in the slow suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from mindscape.evaluate.answers import EVIDENCE, Asking, writing
from mindscape.evaluate.library import Indexed
from mindscape.evaluate.sets import Question
from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Source
from mindscape_models.bundle import open_bundle
from mindscape_models.catalogue import installed_folder
from mindscape_models.fake import FakeEmbedder, FakeGenerator
from mindscape_models.generation import Generator, open_generator
from tests.evaluate.made import BOOK, CHAPTERS

STARTER = installed_folder() / "smollm2-135m-instruct"
LAST_STONE = Question(
    "Tobias set the last stone of the wall.",
    ("wall",),
    answers=("True",),
    false_claim="Tobias set the last stone of the barn.",
)
MASON = Question("Who set the last stone of the wall?", ("wall",), answers=("Tobias", "Tobias Wrenfield"))
CHOICE = Question(
    "Who set the last stone of the wall?",
    ("wall",),
    answers=("C",),
    options={"A": "Piers Dallin", "B": "Lennart", "C": "Tobias"},
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Indexed]:
    file = BOOK / CHAPTERS["wall"]
    indexed = Indexed(
        tmp_path / "library.db", [("/wall.md", parse(Source(file, file.read_bytes())))], FakeEmbedder()
    )
    yield indexed
    indexed.close()


def asking(library: Indexed, *replies: str) -> tuple[Asking, FakeGenerator]:
    generator = FakeGenerator(replies)
    return Asking(library, "passages", writing(cast("Generator", generator))), generator


def prompt(generator: FakeGenerator) -> str:
    return generator.prompts[-1][-1]["content"]


def test_an_answer_is_compared_without_its_markers(library: Indexed) -> None:
    asked, generator = asking(library, "Tobias Wrenfield [1].")
    marked = asked.mark(MASON)
    assert marked.said[0].text == "Tobias Wrenfield."
    assert marked.said[0].made_by == "model"
    assert marked.values == {"f1": 1.0, "em": 1.0, "rouge_l": 1.0, "refusal": 0.0}
    assert len(prompt(generator)) < 6 * EVIDENCE


def test_a_refusal_is_an_empty_answer(library: Indexed) -> None:
    asked, _ = asking(library, "The documents do not say.")
    assert asked.mark(MASON).values == {"f1": 0.0, "em": 0.0, "rouge_l": 0.0, "refusal": 1.0}


def test_where_the_documents_do_not_say_only_refusing_is_measured(library: Indexed) -> None:
    asked, _ = asking(library, "The documents do not say.")
    nowhere = Question(MASON.text, ("wall",), answers=("nobody",), answerable=False)
    assert asked.mark(nowhere).values == {"refusal": 1.0}


@pytest.mark.parametrize(
    ("replies", "accuracy", "pair"),
    [
        (["True [1].", "False [1]."], 1.0, 1.0),
        (["True [1].", "True [1]."], 0.5, 0.0),
        (["It was the mason [1].", "False [1]."], 0.5, 0.0),
    ],
)
def test_a_claim_and_its_false_twin_are_judged_one_after_the_other(
    library: Indexed, replies: list[str], accuracy: float, pair: float
) -> None:
    asked, generator = asking(library, *replies)
    values = asked.mark(LAST_STONE).values
    assert (values["accuracy"], values["pair_accuracy"]) == (accuracy, pair)
    assert "Is this true or false? Tobias set the last stone of the barn." in prompt(generator)


@pytest.mark.parametrize(
    ("reply", "right"), [("C [1].", 1.0), ("A. Piers [1]", 0.0), ("It was Tobias [1].", 1.0)]
)
def test_a_question_with_options_is_asked_with_them(library: Indexed, reply: str, right: float) -> None:
    asked, generator = asking(library, reply)
    assert asked.mark(CHOICE).values == {"accuracy": right, "refusal": 0.0}
    assert "A. Piers Dallin\nB. Lennart\nC. Tobias" in prompt(generator)


def test_an_option_may_be_given_by_its_text(library: Indexed) -> None:
    asked, _ = asking(library, "C [1].")
    by_text = Question(CHOICE.text, ("wall",), answers=("Tobias",), options=CHOICE.options)
    assert asked.mark(by_text).values["accuracy"] == 1.0


def test_without_a_generator_quotes_are_the_answer(library: Indexed) -> None:
    quoting = Asking(library, "passages", None)
    marked = quoting.mark(MASON)
    assert marked.said[0].made_by == "quotes"
    assert "Tobias set the last stone." in marked.said[0].text
    assert "Quoted" not in marked.said[0].text
    claims = quoting.mark(LAST_STONE)
    assert [one.asked for one in claims.said] == [LAST_STONE.text, LAST_STONE.false_claim]
    assert quoting.mark(CHOICE).values["accuracy"] == 1.0


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(not STARTER.exists(), reason="the starter generator is not installed: run `make`")
def test_a_real_generator_answers(library: Indexed) -> None:
    with open_generator(open_bundle(STARTER, verify=False)) as generator:
        marked = Asking(library, "passages", writing(generator)).mark(MASON)
    assert marked.said[0].made_by == "model"
    assert set(marked.values) == {"f1", "em", "rouge_l", "refusal"}
