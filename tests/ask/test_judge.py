"""Whether the evidence holds an answer: each feature pulls in its own direction."""

from __future__ import annotations

from tests.ask.made import source

from mindscape.ask.judge import Features, features, is_answerable, is_hopeless, probability

FERRY = source("Captain Lindqvist bought the ferry in 1987 for 12,000 crowns.", cosine=0.6)


def test_evidence_in_the_words_of_the_question_is_enough() -> None:
    assert is_answerable(features("Who bought the ferry in 1987?", [FERRY], {}))


def test_words_alone_can_be_enough() -> None:
    alone = source("Captain Lindqvist bought the ferry in 1987.")
    assert is_answerable(features("Who bought the ferry in 1987?", [alone], {}))


def test_a_name_or_a_year_that_is_nowhere_counts_against_it() -> None:
    here = features("Did Captain Lindqvist buy the ferry in 1987?", [FERRY], {})
    elsewhere = features("Did Captain Okonkwo buy the ferry in 1987?", [FERRY], {})
    another_year = features("Did Captain Lindqvist buy the ferry in 1988?", [FERRY], {})
    assert here.names == 0.0
    assert probability(elsewhere) < probability(here)
    assert probability(another_year) < probability(here)


def test_nothing_shared_and_nothing_near_is_hopeless() -> None:
    far = source("Honey is made by bees.", cosine=0.05)
    assert is_hopeless(features("Who won the chess match in Reykjavik?", [far], {}))


def test_a_rare_word_that_is_missing_weighs_more_than_a_common_one() -> None:
    question = "sextant on the ferry"
    common = features(question, [FERRY], {"sextant": 0.2, "ferri": 1.0})
    rare = features(question, [FERRY], {"sextant": 1.0, "ferri": 0.2})
    assert rare.best < common.best


def test_the_cosine_of_a_script_the_embedder_does_not_know_is_not_trusted() -> None:
    note = source("渡轮早上七点四十分离开北村。", cosine=0.9)
    assert features("天气怎么样？", [note], {}).cosine is None
    assert is_answerable(features("渡轮几点离开北村？", [note], {}))
    assert not is_answerable(features("国王住在哪座城堡？", [note], {}))


def test_without_evidence_nothing_is_answered() -> None:
    assert features("Who?", [], {}) == Features(None, 0.0, 0.0)
    assert not is_answerable(Features(None, 0.0, 0.0))
