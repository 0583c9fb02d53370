"""Mailboxes."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ingest.formats.shape import assert_well_formed, parsed

from mindscape.ingest.formats import build
from mindscape.ingest.formats.mailbox import messages
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

FIRST = """From ada@example.org Tue Oct  1 12:34:56 2024
From: Ada Mole <ada@example.org>
Subject: Cod
Date: Tue, 1 Oct 2024 12:34:56 -0500

Salt it.

>From the sea it comes.
>>From him.

From here on, turn it twice.
From: a list of colons

"""
SECOND = """From - Wed Oct  2 09:00:00 2024
X-Mozilla-Status: 0001
From: Bob Vole <bob@example.org>
Date: Wed, 2 Oct 2024 09:00:00 +0200

Thanks.
"""


def test_messages_are_sections_that_begin_on_lines_of_the_file() -> None:
    result = parsed("Inbox.mbox", FIRST + SECOND)
    assert [section.heading for section in result.sections] == [
        "Cod",
        "Message from Bob Vole <bob@example.org>, 2024-10-02T09:00:00+02:00",
    ]
    assert "From the sea it comes.\n\nFrom him." in result.text
    assert b"From the sea it comes.\n>From him.\n" in next(messages(FIRST.encode()))[1]
    assert "From here on, turn it twice.\nFrom: a list of colons" in result.text
    assert [(mark.kind, mark.label) for mark in result.marks] == [("line", "1"), ("line", "14")]
    assert result.title is None
    assert result.metadata == {"messages": 2, "date": "2024-10-02T09:00:00+02:00"}


def test_line_ends_of_windows_make_no_difference() -> None:
    assert (
        parsed("a.mbox", (FIRST + SECOND).replace("\n", "\r\n")).text == parsed("a.mbox", FIRST + SECOND).text
    )


def test_a_message_that_cannot_be_read_loses_no_other() -> None:
    parts = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(60))
    deep = f"From x Tue Oct  1 12:34:56 2024\nSubject: Deep\n{parts}\n\n"
    sealed = "From x Tue Oct  1 12:34:56 2024\nContent-Type: application/pkcs7-mime\n\nMIAG\n\n"
    picture = "From x Tue Oct  1 12:34:56 2024\nContent-Type: image/png; name=a.png\n\nx\n\n"
    result = parsed("a.mbox", FIRST + deep + sealed + picture * 3 + SECOND)
    assert "Salt it." in result.text
    assert "Thanks." in result.text
    assert result.metadata["messages"] == 7
    assert result.warnings[0].startswith("The message at line 14 was not read: ")
    assert result.warnings[1:] == (
        "1 part of the mail is encrypted and was not read.",
        "3 attachments are pictures and hold no text.",
    )


def test_a_mailbox_of_nothing_but_what_cannot_be_read_is_refused_for_that() -> None:
    parts = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(60))
    with pytest.raises(ParseFailure) as failure:
        parsed("a.mbox", f"From x Tue Oct  1 12:34:56 2024\nSubject: Deep\n{parts}")
    assert failure.value.status is Status.TOO_LARGE


def test_a_mailbox_with_too_much_text_is_read_as_far_as_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_CHARACTERS", 500)
    result = parsed("a.mbox", FIRST + SECOND * 9)
    assert len(result.text) <= 500
    assert "From line 26 on the mailbox was not read" in result.warnings[0]


def test_a_file_without_messages_is_no_mailbox() -> None:
    with pytest.raises(ParseFailure) as failure:
        parsed("a.mbox", "From me to you,\n\nall the best.\n")
    assert failure.value.status is Status.DAMAGED


def test_messages_are_taken_one_at_a_time() -> None:
    body = "Subject: Cod\n\n" + "Lay the fish on boards.\n" * 40_000 + "\n"
    data = ("From x Tue Oct  1 12:34:56 2024\n" + body).encode() * 40
    tracemalloc.start()
    assert sum(1 for _ in messages(data)) == 40
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < len(data) / 5


@given(
    st.lists(
        st.sampled_from([FIRST, SECOND, "From ", "\n", "From x 1:00 2024\n", "x\r", "Subject: y\n"]),
        max_size=12,
    )
)
def test_any_mixture_has_a_proper_shape(pieces: list[str]) -> None:
    try:
        assert_well_formed(parsed("a.mbox", "".join(pieces)))
    except ParseFailure as failure:
        if failure.status not in (Status.DAMAGED, Status.EMPTY):
            raise
