"""A question is answered in its own language, also where Mindscape itself speaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.citations import CitationStream
from mindscape.ask.phrases import phrases
from mindscape.ask.tongue import language_of

QUESTIONS = {
    "en": [
        "Where is the key to the granary?",
        "Who wrote Das Kapital?",
        "ferry",
        "What does 渡轮 mean here?",
    ],
    "de": ["Wie hoch ist der Eiffelturm?", "Warum?", "Und 1912?", "Gibt es Fotos?"],
    "fr": ["Où est la clé du moulin ?", "Pourquoi ?", "Qui a payé ?", "Combien coûte le billet ?"],
    "es": ["¿Dónde está la llave del molino?", "¿Por qué?", "Quién compró el barco y cuándo"],
    "it": ["Dov'è la chiave del faro?", "Quanto costa il biglietto?"],
    "pt": ["Onde está a chave do moinho?", "O que é isto?"],
    "nl": ["Waar is de sleutel van de molen?"],
    "tr": ["İskelenin anahtarı nerede?"],
    "ru": ["Где лежит ключ от мельницы?"],
    "el": ["Πού είναι το κλειδί;"],
    "he": ["איפה המפתח של המגדלור?"],
    "ar": ["أين مفتاح المنارة؟"],
    "zh": ["灯塔的钥匙在哪里？"],
    "ja": ["水車小屋の鍵はどこですか？", "渡船は何時に出ますか"],
    "ko": ["배는 언제 떠나나요?"],
}


@pytest.mark.parametrize(("language", "question"), [(a, q) for a, held in QUESTIONS.items() for q in held])
def test_the_language_of_a_question_is_known_by_its_small_words(language: str, question: str) -> None:
    assert language_of(question) == language


def test_each_language_has_sentences_of_its_own_that_hold_no_marker() -> None:
    said = [phrases(held[0]) for held in QUESTIONS.values()]
    for sentences in zip(*said, strict=True):
        assert len(set(sentences)) == len(said)
        for sentence in sentences:
            stream = CitationStream(9)
            assert stream.feed(sentence) + stream.close() == sentence
    assert all("mindscape add PATH" in one.nothing_yet for one in said)


@given(st.text(max_size=60))
def test_any_text_has_a_language_to_answer_it_in(text: str) -> None:
    assert phrases(text).not_found
