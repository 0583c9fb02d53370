"""Conditioning: what is encoded, how often, and what the question is encoded with."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from numpy.typing import NDArray

from mindscape.ask import conditioning
from mindscape.ask.conditioned import Gathered, Told
from mindscape.ask.conditioning import Conditioning
from mindscape_models.fake import FakeEmbedder

WORDS = ("mill", "tide", "wheel", "gate", "sluice", "eel", "lamp")
ALONE = FakeEmbedder().encode_queries(["the mill at the tide"])


class Recorded:
    """An encoder that says what it was asked."""

    def __init__(self) -> None:
        self.encoded: list[str] = []
        self.asked: list[list[list[str]]] = []
        self._embedder = FakeEmbedder()

    async def encode(self, texts: list[str]) -> NDArray[np.float32]:
        self.encoded += texts
        return self._embedder.encode_passages(texts)

    async def condition(self, questions: list[str], mindscapes: list[list[str]]) -> NDArray[np.float32]:
        self.asked.append(mindscapes)
        return self._embedder.encode_queries(questions, mindscapes)


def pool(*words: str) -> Gathered:
    """One passage under each of some nodes."""
    told = [Told(f"d{at}", f"About the {word}.") for at, word in enumerate(words)]
    return Gathered(told, list(range(len(told))), np.zeros((len(told), ALONE.shape[1]), np.float32))


def run(encoder: Conditioning, *about: list[Told] | Gathered) -> conditioning.Conditioned:
    questions = ["the mill at the tide"] * len(about)
    return asyncio.run(encoder.condition(questions, np.repeat(ALONE, len(about), axis=0), about))


def test_each_question_is_encoded_with_the_signature_of_its_own_pool() -> None:
    seen = Recorded()
    found = run(Conditioning(seen.encode, seen.condition), pool(*WORDS), pool("wheel"), pool())
    assert [len(told) for told in found.told] == [5, 1, 0]
    assert found.told[0][0].text == "About the mill."
    assert seen.asked == [[[one.text for one in told] for told in found.told]]


def test_what_two_questions_are_about_is_encoded_once() -> None:
    seen = Recorded()
    encoder = Conditioning(seen.encode, seen.condition)
    run(encoder, pool("mill", "tide"), pool("tide", "wheel"))
    run(encoder, pool("wheel", "gate"))
    assert sorted(seen.encoded) == [f"About the {word}." for word in ("gate", "mill", "tide", "wheel")]


def test_a_mindscape_is_taken_as_it_is_and_needs_no_vectors() -> None:
    seen = Recorded()
    mindscape = [Told(f"d1.1.{at}", word) for at, word in enumerate(WORDS)]
    assert run(Conditioning(seen.encode, seen.condition), mindscape).told == [mindscape]
    assert seen.encoded == []
    assert seen.asked == [[list(WORDS)]]


def test_with_nothing_to_tell_the_question_stands_alone_and_nothing_is_asked() -> None:
    seen = Recorded()
    found = run(Conditioning(seen.encode, seen.condition), pool(), list[Told]())
    assert found.told == [[], []]
    assert found.vectors.tolist() == np.repeat(ALONE, 2, axis=0).tolist()
    assert seen.encoded == []
    assert seen.asked == []


def test_of_the_vectors_that_are_kept_the_longest_unused_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditioning, "KEPT", 2)
    seen = Recorded()
    encoder = Conditioning(seen.encode, seen.condition)
    for words in (("mill", "tide"), ("mill", "wheel"), ("mill",), ("wheel",), ("tide",)):
        run(encoder, pool(*words))
    assert seen.encoded == [f"About the {word}." for word in ("mill", "tide", "wheel", "tide")]
