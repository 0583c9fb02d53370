"""Where sentences end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.graphemes import is_boundary
from mindscape.sentences import sentences

# Marks, closers, spaces and letters of many scripts, so that the rules meet each other.
PIECES = st.lists(
    st.sampled_from(
        [
            *'.!?;…。！？।؟།«»„“”"’)]( \n\r\t\u00a01aAαЖ字あกကब\u0301\ufe0f\u200d😀\U0001f1e9',
            "\r\n",
            "e.g",
            "Dr",
        ]
    ),
    max_size=60,
)


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentences(text)]


@given(PIECES)
def test_sentences_tile_the_text_and_cut_no_character_in_two(pieces: list[str]) -> None:
    text = "".join(pieces)
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert all(is_boundary(text, end) for _, end in spans)


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Lind met J. R. Hale at 5 p.m. there.", '"Stop!" she said.', "It cost 3.50 crowns.", "Fin"],
        ["He said no.", "See no. 5 on p. 12 of vol. 3.", "So it is."],
        ["Read https://example.org/a.b?c=d or notes.txt v1.2 first.", "Then go… slowly.", "Wait...", "Now."],
        ["« Bonjour ! » dit-il.", "Vraiment ?", "Oui !", "M. Dupont est parti.", "Voir p. 12."],
        ["Am 3. Mai kam z.B. Dr. Müller.", "Im 19. Jahrhundert nicht.", "Er kam 1990.", "„Halt!“ rief sie."],
        ["А. С. Пушкин родился в 1799 г. в Москве.", "«Да!» — сказал он.", "Конец."],
        ["1. Apples are red.", "They are good.", "2. Pears are green.", "IV. Plums."],
        ["Πού είναι το κλειδί;", "Στο συρτάρι."],
        ["Uno; due; tre.", "¿Qué?", "¡Ya!"],
    ],
)
def test_sentences_end_where_a_reader_of_a_spaced_script_would_say(expected: list[str]) -> None:
    assert split(" ".join(expected).replace(" 2. Pears", "\n2. Pears").replace(" IV.", "\nIV.")) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["水闸开了吗？！", "“走吧……”", "他说。", "然后没有人。"],
        ["你好吗?", "我很好!", "他……走了。"],
        ["「そうだ。」", "と彼は言った。", "３．５メートルです。"],
        ["यह एक वाक्य है।", "दूसरा वाक्य॥", "ठीक है।"],
        ["هل هذا سؤال؟", "نعم.", "هذا نص۔", "آخر"],
        ["Սա նախադասություն է։", "Երկրորդը։"],
        ["ይህ ዓረፍተ ነገር ነው።", "ሁለተኛ።"],
        ["བོད་ཡིག། །", "གཉིས་པ།"],
        ["ផ្ទះ។", "ពីរ។"],
        ["မြန်မာ။", "နှစ်။"],
    ],
)
@pytest.mark.parametrize("between", ["", " ", "\n"])
def test_sentences_end_at_the_marks_of_other_scripts(expected: list[str], between: str) -> None:
    text = between.join(expected)
    if between == "":
        text = text.replace("نعم.", "نعم. ")
    assert split(text) == expected


def test_thai_is_cut_at_spaces_once_a_piece_is_long() -> None:
    long = "ประภาคารตั้งอยู่บนหน้าผาสูงชันเหนือทะเล คนเฝ้าจุดไฟทุกคืนไม่เคยขาด"
    assert split("คุณ สมชาย ใจดี มี 3 คน") == ["คุณ สมชาย ใจดี มี 3 คน"]
    assert split(f"{long} {long} ต่าง ๆ นานา") == [long, f"{long}", "ต่าง ๆ นานา"]


def test_a_blank_line_ends_a_sentence_and_a_line_end_does_not() -> None:
    assert split("Heading\n\nOne line\ngoes on.\r\n\r\nDr.\n \nNext\rhere") == [
        "Heading",
        "One line\ngoes on.",
        "Dr.",
        "Next\rhere",
    ]
