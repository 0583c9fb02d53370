"""Choosing a parser, and what bad input gets."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from mindscape.ingest import parse as parse_module
from mindscape.ingest.media_types import (
    BY_EXTENSION,
    CODE,
    DOCX,
    EPUB,
    HTML,
    MAIL,
    MAILBOX,
    MARKDOWN,
    NOT_READ,
    PARSERS,
    PDF,
    PLAIN,
)
from mindscape.ingest.parse import media_type_of, parse
from mindscape.ingest.parsed import ParseFailure, Source
from mindscape_storage.records import Status


def failure_of(name: str, data: bytes) -> ParseFailure:
    with pytest.raises(ParseFailure) as failure:
        parse(Source(Path(name), data))
    assert failure.value.reason.endswith(".")
    return failure.value


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("note.md", b"# hi", MARKDOWN),
        ("NOTE.MD", b"# hi", MARKDOWN),
        ("note", b"just words", PLAIN),
        ("note.unknown", "слова".encode("utf-16"), PLAIN),
        ("page", b"\xef\xbb\xbf<!DOCTYPE html><p>x", HTML),
        ("wrong.txt", b"%PDF-1.7\n", PDF),
        ("wrong.docx", b"%PDF-1.7\n", PDF),
        ("right.pdf", b"junk before %PDF-1.7\n", PDF),
        ("book", b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/epub+zip", EPUB),
        ("book.epub", b"not a zip", EPUB),
        ("letter.docx", b"PK\x03\x04", DOCX),
        ("letter.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", DOCX),
        ("tool.py", b"import os", CODE),
        ("Inbox", b"From - Tue Oct  1 12:34:56 2024\r\nX-Mozilla-Status: 0001\r\n", MAILBOX),
        ("1727.M5P6.host:2,S", b"Return-Path: <a@b>\nReceived: by x;\n Tue\nFrom: a@b\n", MAIL),
        ("note", b"From: me\nDear you, this is a letter.\n", PLAIN),
        ("README.DOC", b"Plain words, as in 1993.\r\n", PLAIN),
        ("page.doc", b"<html><body>x", HTML),
    ],
)
def test_content_decides_where_it_has_a_signature_and_the_extension_otherwise(
    name: str, head: bytes, expected: str
) -> None:
    assert media_type_of(Path(name), head) == expected


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("photo.md", b"\x89PNG\r\n\x1a\n"),
        ("archive.zip", b"PK\x03\x04" + b"\0" * 40),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ("book.mobi", b"plain words"),
        ("thing.bin", bytes(range(256))),
        ("thing", b"\0\1\2\3" * 50),
        ("binary.txt", bytes(range(256)) * 50),
    ],
)
def test_what_is_not_read_is_unsupported_and_says_why(name: str, data: bytes) -> None:
    assert failure_of(name, data).status is Status.UNSUPPORTED


def test_an_old_document_that_begins_like_text_gets_the_advice_for_its_kind() -> None:
    mac_word = b"U.S. participation " * 300 + bytes(range(32)) * 400
    assert "Word 97-2003" in failure_of("letter.doc", mac_word).reason


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n\r\n \t\n", "\u200b".encode(), b"\0\0\0\0\0\0"])
def test_a_file_without_a_visible_character_is_empty(data: bytes) -> None:
    assert failure_of("note.md", data).status is Status.EMPTY


def test_a_text_file_beyond_the_limit_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_module, "MAX_TEXT_BYTES", 1 << 20)
    failure = failure_of("big.log", b"x" * (3 << 20))
    assert failure.status is Status.TOO_LARGE
    assert "3 MiB" in failure.reason
    assert "up to 1 MiB" in failure.reason


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (RecursionError("a secret sentence"), Status.DAMAGED),
        (ValueError("a secret sentence"), Status.DAMAGED),
        (MemoryError(), Status.TOO_LARGE),
    ],
)
def test_whatever_a_parser_raises_is_a_status_without_the_text(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, status: Status
) -> None:
    def explode(source: Source, media_type: str) -> None:
        raise error

    monkeypatch.setattr("mindscape.ingest.formats.markdown.parse", explode)
    failure = failure_of("note.md", b"a secret sentence")
    assert failure.status is status
    assert "secret" not in failure.reason
    assert failure.__cause__ is None


def test_every_media_type_has_a_parser_and_no_extension_two_meanings() -> None:
    for name in set(PARSERS.values()):
        assert callable(importlib.import_module(f"mindscape.ingest.formats.{name}").parse)
    assert set(BY_EXTENSION.values()) == set(PARSERS)
    assert not set(BY_EXTENSION) & set(NOT_READ)


@pytest.mark.parametrize("head", [b"PK\x03\x04" + b"\0" * 40, b"\x1f\x8b\x08", b"Rar!\x1a\x07\x01"])
def test_an_archive_is_to_be_unpacked(head: bytes) -> None:
    with pytest.raises(ParseFailure, match="Unpack it in a watched folder"):
        media_type_of(Path("notes.archive"), head)
