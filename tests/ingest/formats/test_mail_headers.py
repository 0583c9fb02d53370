"""Headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ingest.formats.mail_headers import (
    MAX_NAME,
    MAX_VALUE,
    Envelope,
    dated,
    envelope_of,
    header_text,
    plain_name,
)
from mindscape.ingest.formats.mail_message import file_name, message_of
from mindscape.ingest.formats.outline import MAX_HEADING


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("=?utf-8?Q?F=C3=BCnf?= =?utf-8?b?IEJyZXR0ZXI=?= <a@b>", "Fünf Bretter <a@b>"),
        ("=?utf-8?b?8J+Y?=\r\n =?utf-8?b?gA==?=", "😀"),
        ("=?ISO-2022-JP?B?GyRCMXYkSDV7GyhC?=", "塩と魚"),
        ("=?windows-1251*ru?Q?=D1=EE=EB=FC?=", "Соль"),
        ("=?gb2312?B?4sUA?=", None),
        ("=?utf-8?b?!!!?= C:\\users\\new", None),
        ("=?nonsense?Q?F=C3=BCnf?=", "Fünf"),
        ("plain\r\n\tfolded  words", "plain folded words"),
        ("re\x1b[31md \u202etxt.exe\0", "re [31md txt.exe"),
    ],
)
def test_encoded_words_are_decoded_and_what_is_broken_is_shown(written: str, said: str | None) -> None:
    shown = header_text(written)
    assert said is None or shown == said
    assert shown


def test_raw_bytes_are_read_in_the_charset_of_the_message_or_as_utf8() -> None:
    head = "Subject: {}\nContent-Type: text/plain; charset=koi8-r\n\nx"
    for encoding in ("koi8-r", "utf-8"):
        assert (
            envelope_of(message_of(head.format("Соль и треска").encode(encoding))).subject == "Соль и треска"
        )
    assert envelope_of(message_of("Subject: Соль".encode())).subject == "Соль"


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("Tue, 01 Oct 2024 12:34:56 -0500", "2024-10-01T12:34:56-05:00"),
        ("1 Oct 24 12:34 GMT (comment)", "2024-10-01T12:34:00+00:00"),
        ("Tue, 01 Oct 2024 12:34:56 -0000", "2024-10-01T12:34:56+00:00"),
        ("next Tuesday", None),
        ("Tue, 99 Oct 2024 12:34:56 +9999", None),
        ("", None),
    ],
)
def test_dates_have_a_zone_or_stay_as_they_are_written(written: str, iso: str | None) -> None:
    shown, moment = dated(written)
    assert (shown, moment is None) == (iso or written, iso is None)


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ("filename*=utf-8''F%C3%BCnf%20Bretter.pdf", "Fünf Bretter.pdf"),
        ('filename*0="long "; filename*1="name.pdf"', "long name.pdf"),
        ('filename="=?utf-8?Q?F=C3=BCnf=2Epdf?="', "Fünf.pdf"),
        ('filename="../../etc/passwd"', "passwd"),
        ('filename="C:\\\\dir\\\\a.txt"', "a.txt"),
        ('filename="..."', ""),
        ('filename="a\x07\x1b.txt"', "a .txt"),
    ],
)
def test_names_of_files_are_decoded_and_plain(disposition: str, name: str) -> None:
    assert file_name(message_of(f"Content-Disposition: attachment; {disposition}\n\nx".encode())) == name


def test_a_long_name_keeps_its_ending_and_a_long_subject_its_section() -> None:
    name = plain_name("x" * 10_000 + ".pdf")
    assert len(name) <= MAX_NAME
    assert name.endswith(".pdf")
    assert len(Envelope(subject="s" * 900).heading) <= MAX_HEADING


@given(st.text(max_size=40))
def test_no_name_leads_out_of_a_folder_or_holds_controls(name: str) -> None:
    plain = plain_name(name)
    assert "/" not in plain
    assert plain not in (".", "..")
    assert plain.isprintable() or not plain.isascii()


@given(st.text(max_size=40), st.integers(0, 3))
def test_any_header_is_one_line_of_bounded_length(text: str, times: int) -> None:
    shown = header_text((text + "=?utf-8?Q?=C3?=") * 10 ** min(times, 2))
    assert len(shown) <= MAX_VALUE
    assert "\n" not in shown
