"""Outlook messages made by the tests: compound files with the few streams that a message needs."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from oxmsg.domain import constants as pid

Tree = dict[str, "bytes | Tree"]
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR, _MINI = 512, 64
_CUTOFF = 4096
_INTEGER, _TIME, _STRING8, _STRING, _BINARY = 0x0003, 0x0040, 0x001E, 0x001F, 0x0102


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    child: int = _FREE
    right: int = _FREE
    start: int = _END


@dataclass
class _Chains:
    """A file allocation table and the sectors it links."""

    size: int
    table: list[int] = field(default_factory=list[int])
    body: bytes = b""

    def add(self, data: bytes) -> int:
        """Append the data as a chain; its first sector."""
        first, count = len(self.table), -(-len(data) // self.size)
        self.table += [*range(first + 1, first + count), _END] if count else []
        self.body += data.ljust(count * self.size, b"\0")
        return first if count else _END


def compound(tree: Tree) -> bytes:
    """A compound file (MS-CFB, version 3) of these folders and streams."""
    entries = [_Entry("Root Entry", 5)]
    _enter(entries, entries[0], tree)
    mini, big = _Chains(_MINI), _Chains(_SECTOR)
    for entry in entries:
        if entry.kind == 2:
            entry.start = (mini if len(entry.data) < _CUTOFF else big).add(entry.data)
    entries[0].data = mini.body
    entries[0].start = big.add(mini.body)
    mini_table = big.add(_packed(mini.table))
    directory = big.add(b"".join(_directory_entry(entry) for entry in entries).ljust(_SECTOR, b"\0"))
    count = next(n for n in range(1, 110) if n * 128 >= len(big.table) + n)
    fats = range(len(big.table), len(big.table) + count)
    big.table += [_FAT] * count
    table = _packed(big.table + [_FREE] * (count * 128 - len(big.table)))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack(
        "<9I", 0, count, directory, 0, _CUTOFF, mini_table, len(mini.table) // 128 + 1, _END, 0
    )
    return (head + _packed([*fats, *[_FREE] * (109 - count)])) + big.body + table


def _enter(entries: list[_Entry], parent: _Entry, tree: Tree) -> None:
    before = parent
    for name, held in tree.items():
        entry = _Entry(name, 2, held) if isinstance(held, bytes) else _Entry(name, 1)
        if before is parent:
            parent.child = len(entries)
        else:
            before.right = len(entries)
        entries.append(entry)
        if not isinstance(held, bytes):
            _enter(entries, entry, held)
        before = entry


def _packed(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def _directory_entry(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le") + b"\0\0"
    links = struct.pack("<HBBIII", len(name), entry.kind, 1, _FREE, entry.right, entry.child)
    return name.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", entry.start, len(entry.data))


def message(
    texts: dict[int, str],
    numbers: dict[int, int] | None = None,
    times: dict[int, int] | None = None,
    binaries: dict[int, bytes] | None = None,
    narrow: dict[int, bytes] | None = None,
    header: int = 32,
    folders: Tree | None = None,
) -> Tree:
    """A message, recipient or attachment by the numbers of its properties; `times` in seconds of 1970."""
    entries = [struct.pack("<HHIII", _INTEGER, name, 6, value, 0) for name, value in (numbers or {}).items()]
    entries += [
        struct.pack("<HHIQ", _TIME, name, 6, (seconds + 11_644_473_600) * 10_000_000)
        for name, seconds in (times or {}).items()
    ]
    tree: Tree = {"__properties_version1.0": bytes(header) + b"".join(entries)}
    streams = (
        (_STRING, {name: text.encode("utf-16-le") for name, text in texts.items()}),
        (_BINARY, binaries or {}),
        (_STRING8, narrow or {}),
    )
    tree |= {
        f"__substg1.0_{name:04X}{kind:04X}": data for kind, held in streams for name, data in held.items()
    }
    return tree | (folders or {})


def attachment(name: str, data: bytes, kind: str = "application/octet-stream") -> Tree:
    """A file attached to a message."""
    texts = {pid.PID_ATTACH_LONG_FILENAME: name, pid.PID_ATTACH_MIME_TAG: kind}
    return message(texts, binaries={pid.PID_ATTACH_DATA_BINARY: data}, header=8)


def recipient(name: str, address: str, line: int) -> Tree:
    """Somebody in To (1), Cc (2) or Bcc (3)."""
    texts = {pid.PID_DISPLAY_NAME: name, pid.PID_SMTP_ADDRESS: address}
    return message(texts, {pid.PID_RECIPIENT_TYPE: line}, header=8)
