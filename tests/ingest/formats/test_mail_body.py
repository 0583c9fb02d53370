"""The texts of mails."""

from __future__ import annotations

from binascii import b2a_uu

from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.formats.shape import assert_well_formed

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.mail_body import (
    Body,
    Form,
    add_body,
    stands_in,
    without_armour,
    without_files,
)


def blocks_of(form: Form, text: str) -> list[tuple[str, str]]:
    builder = TextBuilder()
    add_body(builder, Body(form, text), 1)
    result = builder.build("message/rfc822")
    assert_well_formed(result)
    return [(block.kind, result.text[block.start : block.end]) for block in result.blocks]


def test_quotes_are_blocks_without_their_marks_whatever_their_depth() -> None:
    text = "Ada wrote:\n> Lay it.\n>\n> > Salt it.\n>> Twice.\nYes -> so.\n"
    assert blocks_of("plain", text) == [
        ("paragraph", "Ada wrote:"),
        ("quote", "Lay it."),
        ("quote", "Salt it.\nTwice."),
        ("paragraph", "Yes -> so."),
    ]


def test_flowed_lines_are_joined_again() -> None:
    text = "Lay the fish \non boards.\n> Salt \n> it.\n From here.\n\n-- \nAda\n"
    assert blocks_of("flowed", text) == [
        ("paragraph", "Lay the fish on boards."),
        ("quote", "Salt it."),
        ("paragraph", "From here."),
        ("paragraph", "--\nAda"),
    ]
    assert blocks_of("delsp", "塩と \n魚") == [("paragraph", "塩と魚")]


def test_a_short_plain_text_that_says_something_stands_for_itself() -> None:
    html = [Body("html", "<p>Hello Bob, see you on Tuesday.</p>")]
    assert not stands_in("Hello Bob, see you on Tuesday.", html)
    assert not stands_in("", [Body("html", "<p> </p>")])
    assert stands_in(
        "This message cannot be displayed: your reader doesn't support HTML.",
        [Body("html", "<p>" + "Words of the mail. " * 9)],
    )


def test_files_written_into_a_text_are_taken_out() -> None:
    data = bytes(range(256))
    lines = b"".join(b2a_uu(data[at : at + 45]) for at in range(0, len(data), 45)).decode()
    text, files = without_files(f"See:\n\nbegin 644 a.bin\n{lines}`\nend\nBye.\nbegin 2024 with joy\n")
    assert files == [("a.bin", data)]
    assert text.split() == ["See:", "Bye.", "begin", "2024", "with", "joy"]


def test_words_about_pgp_are_not_taken_for_it() -> None:
    prose = "A line like\n-----BEGIN PGP MESSAGE-----\nmay stand in a text.\nMore words.\n"
    assert "More words." in without_armour(prose)[0]


def test_events_without_an_end_are_bounded() -> None:
    assert len(blocks_of("calendar", "BEGIN:VEVENT\nSUMMARY:x\n" * 50_000)) == 1_000


@given(st.text("> \nab-", max_size=60), st.sampled_from(["plain", "flowed", "delsp"]))
def test_no_word_of_a_plain_text_is_lost(text: str, form: Form) -> None:
    said = "".join(held for _, held in blocks_of(form, text))
    assert [letter for letter in said if letter in "ab"] == [letter for letter in text if letter in "ab"]
