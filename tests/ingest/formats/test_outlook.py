"""Outlook's messages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oxmsg.domain import constants as pid
from tests.ingest.formats.made_outlook import Tree, attachment, compound, message, recipient
from tests.ingest.formats.shape import assert_well_formed, parsed

from mindscape.ingest.formats.outlook_rtf import decompressed
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

# The example of MS-OXRTFCP, 3.1.
RTF = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
ENVELOPE = {
    pid.PID_SUBJECT: "How to salt cod",
    pid.PID_SENDER_NAME: "Ada Mole",
    pid.PID_SENDER_SMTP_ADDRESS: "ada@example.org",
}


def letter(body: str = "Lay the fish on boards.", folders: Tree | None = None) -> Tree:
    texts = ENVELOPE | {pid.PID_BODY: body}
    return message(texts, times={pid.PID_CLIENT_SUBMIT_TIME: 1_727_804_096}, folders=folders)


def failure_of(data: bytes) -> ParseFailure:
    with pytest.raises(ParseFailure) as failure:
        parsed("m.msg", data)
    return failure.value


def test_a_message_says_who_wrote_what_to_whom_and_when() -> None:
    people: Tree = {
        "__recip_version1.0_#00000000": recipient("Bob Vole", "bob@example.org", 1),
        "__recip_version1.0_#00000001": recipient("Zoë", "/O=ORG/CN=ZOE", 2),
    }
    result = parsed("m.msg", compound(letter(folders=people)))
    assert result.text == (
        "How to salt cod\n\nFrom: Ada Mole <ada@example.org>\nTo: Bob Vole <bob@example.org>\nCc: Zoë\n"
        "Date: 2024-10-01T17:34:56+00:00\nSubject: How to salt cod\n\nLay the fish on boards."
    )
    assert result.title == "How to salt cod"
    assert result.metadata == {
        "author": "Ada Mole <ada@example.org>",
        "date": "2024-10-01T17:34:56+00:00",
        "to": "Bob Vole <bob@example.org>",
    }


def test_the_headers_of_a_message_from_a_server_are_believed_first() -> None:
    headers = "From: Ada <real@example.org>\r\nDate: Tue, 1 Oct 2024 12:34:56 -0500\r\nMessage-ID: <1@x>\r\n"
    texts = ENVELOPE | {pid.PID_BODY: "Words.", pid.PID_TRANSPORT_MESSAGE_HEADERS: headers}
    result = parsed("m.msg", compound(message(texts)))
    assert result.metadata["author"] == "Ada <real@example.org>"
    assert result.metadata["date"] == "2024-10-01T12:34:56-05:00"
    assert result.title == "How to salt cod"


def test_texts_in_an_old_code_page_are_decoded() -> None:
    narrow = {pid.PID_SUBJECT: "Соль".encode("cp1251"), pid.PID_BODY: "Треска".encode("cp1251")}
    result = parsed("m.msg", compound(message({}, {pid.PID_MESSAGE_CODEPAGE: 1251}, narrow=narrow)))
    assert result.text.startswith("Соль\n")
    assert result.text.endswith("\n\nТреска")


@pytest.mark.parametrize(
    ("plain", "binaries", "expected"),
    [
        ("Plain words.", {pid.PID_HTML: b"<p>Rich words.</p>"}, "Plain words."),
        ("", {pid.PID_HTML: "<h2>Rich</h2><p>wörds.</p>".encode()}, "Rich\n\nwörds."),
        ("", {pid.PID_RTF_COMPRESSED: RTF}, "hello world"),
        ("", {pid.PID_RTF_COMPRESSED: b"junk" * 9}, "cod"),
    ],
)
def test_the_best_form_of_the_text_is_read(plain: str, binaries: dict[int, bytes], expected: str) -> None:
    texts = ENVELOPE | {pid.PID_BODY: plain}
    result = parsed("m.msg", compound(message(texts, {pid.PID_INTERNET_CODEPAGE: 65001}, binaries=binaries)))
    assert result.text.endswith(expected)


def test_attachments_and_messages_in_messages_are_sections_below() -> None:
    inner = message(ENVELOPE | {pid.PID_SUBJECT: "Inner", pid.PID_BODY: "Inner words."}, header=24)
    embedded = message({pid.PID_DISPLAY_NAME: "Inner"}, header=8) | {"__substg1.0_3701000D": inner}
    held: Tree = {
        "__attach_version1.0_#00000000": attachment("list.txt", b"five boards", "text/plain"),
        "__attach_version1.0_#00000001": embedded,
        "__attach_version1.0_#00000002": attachment("x.zip", b"PK\x03\x04", "application/zip"),
        "__attach_version1.0_#00000003": message({pid.PID_ATTACH_LONG_FILENAME: "gone.txt"}, header=8),
    }
    result = parsed("m.msg", compound(letter(folders=held)))
    assert [section.path[1:] for section in result.sections] == [(), ("Attachment: list.txt",), ("Inner",)]
    assert result.text.endswith("Inner words.")
    assert [said.split(" was ")[0] for said in result.warnings] == [
        "The attachment x.zip",
        "The attachment gone.txt",
    ]


def test_an_encrypted_message_is_protected_and_a_signed_one_is_read() -> None:
    file = attachment("smime.p7m", b"\x30\x80", "application/pkcs7-mime")
    sealed: Tree = {"__attach_version1.0_#00000000": file}
    assert failure_of(compound(letter("", sealed))).status is Status.PROTECTED
    mime = b"Content-Type: multipart/signed; boundary=B\n\n--B\nContent-Type: text/plain\n\n"
    mime += b"Signed words.\n--B--\n"
    signed: Tree = {"__attach_version1.0_#00000000": attachment("smime.p7m", mime, "multipart/signed")}
    assert parsed("m.msg", compound(letter("", signed))).text.endswith("Signed words.")


def test_what_is_no_message_is_damaged_or_empty() -> None:
    assert failure_of(b"plain words").status is Status.DAMAGED
    assert failure_of(compound({"Workbook": b"x"})).status is Status.DAMAGED
    assert failure_of(compound(message({}))).status is Status.EMPTY
    assert failure_of(compound(letter())[:1024]).status is Status.DAMAGED


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_damage_of_a_message_is_survived(data: st.DataObject) -> None:
    raw = bytearray(compound(letter(folders={"__attach_version1.0_#00000000": attachment("a.txt", b"five")})))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(8, len(raw) - 1))
        piece = data.draw(st.binary(min_size=1, max_size=8))
        raw[at : at + len(piece)] = piece
    try:
        assert_well_formed(parsed("m.msg", bytes(raw)))
    except ParseFailure as failure:
        if failure.status not in (Status.DAMAGED, Status.EMPTY, Status.TOO_LARGE):
            raise


@given(st.binary(max_size=200))
def test_any_compressed_rtf_ends(tail: bytes) -> None:
    assert len(decompressed(RTF[:16] + tail)) <= 18 * len(tail) + 43
