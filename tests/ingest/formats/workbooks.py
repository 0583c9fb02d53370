"""Workbooks in the binary formats of Excel, as small as they can be."""

from __future__ import annotations

import struct

from tests.ingest.formats.made import zipped

_SECTOR = 512
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def xls(name: str, cells: dict[tuple[int, int], str | float], encrypted: bool = False) -> bytes:
    """An Excel 97 workbook of one sheet; `encrypted` only says that it is."""

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    held = b""
    for (row, column), value in sorted(cells.items()):
        place = struct.pack("<HHH", row, column, 0)
        if isinstance(value, str):
            held += record(0x0204, place + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
        else:
            held += record(0x0203, place + struct.pack("<d", value))
    begin = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 1996, 0, 0))
    sheet = begin + held + record(0x000A, b"")
    book = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 1996, 0, 0))
    book += record(0x002F, struct.pack("<HHH", 1, 1, 1)) if encrypted else b""
    title = struct.pack("<BBBB", 0, 0, len(name), 0) + name.encode("latin-1")
    start = len(book) + 4 + 4 + len(title) + 4
    book += record(0x0085, struct.pack("<I", start) + title) + record(0x000A, b"")
    return _ole((book + sheet).ljust(4096, b"\0"))


def _ole(stream: bytes) -> bytes:
    """A compound file with one stream, `Workbook`, of 4 KiB or more."""
    count = -(-len(stream) // _SECTOR)
    entries = [_entry("Root Entry", 5, 1, _END, 0), _entry("Workbook", 2, _FREE, 2, len(stream))]
    directory = b"".join(entries).ljust(_SECTOR, b"\0")
    chain = [_FAT, _END, *range(3, count + 2), _END]
    fat = struct.pack(f"<{len(chain)}I", *chain).ljust(_SECTOR, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    head += struct.pack("<HHHHH6xIIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4096, _END, 0, _END, 0, 0)
    return head.ljust(_SECTOR, b"\xff") + fat + directory + stream.ljust(count * _SECTOR, b"\0")


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    text = (name + "\0").encode("utf-16-le")
    packed = text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text), kind, 1, _FREE, _FREE, child)
    return packed + b"\0" * 36 + struct.pack("<IQ", start, size)


def xlsb(name: str, cells: dict[tuple[int, int], str | float]) -> bytes:
    """A binary workbook of Excel 2007 with one sheet."""

    def record(kind: int, body: bytes = b"") -> bytes:
        number = bytes([kind & 0x7F | 0x80, kind >> 7]) if kind > 0x7F else bytes([kind])
        return number + bytes([len(body)]) + body

    def text(value: str) -> bytes:
        return struct.pack("<I", len(value)) + value.encode("utf-16-le")

    book = record(131) + record(143) + record(156, struct.pack("<II", 0, 1) + text("rId1") + text(name))
    held, current = b"", -1
    for (row, column), value in sorted(cells.items()):
        if row != current:
            held += record(0, struct.pack("<I", row) + b"\0" * 13)
            current = row
        place = struct.pack("<II", column, 0)
        held += (
            record(6, place + text(value))
            if isinstance(value, str)
            else record(5, place + struct.pack("<d", value))
        )
    last = max(row for row, _ in cells), max(column for _, column in cells)
    sheet = record(129) + record(148, struct.pack("<IIII", 0, last[0], 0, last[1]))
    sheet += record(145) + held + record(146) + record(130)
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.bin": book + record(144) + record(132),
            "xl/_rels/workbook.bin.rels": f'<Relationships><Relationship Id="rId1" '
            f'Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.bin"/></Relationships>',
            "xl/worksheets/sheet1.bin": sheet,
        }
    )
