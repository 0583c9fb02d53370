"""The exam tells a model that can summarise from one that cannot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import pytest

from mindscape.engine import summary_exam
from mindscape.ingest.extract import extract
from mindscape.ingest.summarise import BUDGETS, Kind
from mindscape_models.bundle import open_bundle
from mindscape_models.catalogue import installed_folder
from mindscape_models.exam import holds
from mindscape_models.generation import open_generator
from mindscape_models.summary_exam import (
    ENOUGH_ACCEPTED,
    ENOUGH_NAMES,
    ENOUGH_SUPPORTED,
    SummaryResult,
    examine_summaries,
    texts,
)


def telling(passages: Sequence[str]) -> str:
    """Names whoever must be named."""
    (names,) = [text.names for text in texts() if text.passages == tuple(passages)]
    return f"It is about {', '.join(names)}."


def believed(summary: str, text: str) -> list[bool]:
    assert summary
    assert any(text == "\n\n".join(one.passages) for one in texts())
    return [True]


def test_a_model_that_names_whoever_matters_passes() -> None:
    result = examine_summaries(telling, believed)
    assert result.passed
    assert (result.accepted, result.names, result.supported) == (1.0, 1.0, 1.0)
    assert len(result.summaries) == len(texts())


def test_a_model_whose_summaries_are_rejected_fails() -> None:
    result = examine_summaries(lambda _: None, believed)
    assert not result.passed
    assert (result.accepted, result.names, result.supported) == (0.0, 0.0, 0.0)


def test_a_model_that_names_nobody_fails() -> None:
    assert not examine_summaries(lambda _: "Some people do some things.", believed).passed


def test_a_model_that_says_what_the_text_does_not_fails() -> None:
    turns = cycle([True, True, False])
    result = examine_summaries(telling, lambda _, __: [next(turns)])
    assert result.supported < 1
    assert not result.passed


@pytest.mark.parametrize(
    ("accepted", "names", "supported", "passed"),
    [
        (ENOUGH_ACCEPTED, ENOUGH_NAMES, ENOUGH_SUPPORTED, True),
        (ENOUGH_ACCEPTED - 0.01, 1.0, 1.0, False),
        (1.0, ENOUGH_NAMES - 0.01, 1.0, False),
        (1.0, 1.0, ENOUGH_SUPPORTED - 0.01, False),
    ],
)
def test_every_share_must_be_enough(accepted: float, names: float, supported: float, passed: bool) -> None:
    assert SummaryResult(accepted, names, supported, ()).passed is passed


def test_every_name_stands_in_its_text_which_is_too_long_to_be_its_own_summary() -> None:
    for text in texts():
        whole = "\n\n".join(text.passages)
        assert text.names
        assert all(holds(whole, [name]) for name in text.names)
        assert extract([whole], BUDGETS[Kind.PASSAGES]) != extract([whole], 10_000)
    assert len(texts()) == 8


def test_extractive_summaries_would_pass() -> None:
    assert examine_summaries(lambda passages: extract(passages, BUDGETS[Kind.PASSAGES]), believed).passed


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(not installed_folder().exists(), reason="no generator is installed: run `make`")
def test_the_starter_sits_the_exam_and_has_a_summary_or_none_for_every_text() -> None:
    with open_generator(open_bundle(installed_folder() / "smollm2-135m-instruct"), context=4096) as generator:
        result = summary_exam(generator)
    assert len(result.summaries) == len(texts())
    assert result.accepted == sum(one is not None for one in result.summaries) / len(texts())
    assert not result.passed
