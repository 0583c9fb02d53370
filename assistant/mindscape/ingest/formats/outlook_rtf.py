"""Outlook's compressed RTF (MS-OXRTFCP): the only form of a text that some drafts have."""

from __future__ import annotations

import struct

MAX_BYTES = 32 << 20
_HEADER = struct.Struct("<IIII")
_COMPRESSED, _PLAIN = 0x75465A4C, 0x414C454D
_WINDOW = 4096
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    + b"\r\n"
    + rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def decompressed(data: bytes) -> bytes:
    """The RTF as far as it is whole, at most MAX_BYTES; empty when it is no such stream."""
    if len(data) < _HEADER.size:
        return b""
    _, size, kind, _ = _HEADER.unpack_from(data)
    if kind == _PLAIN:
        return data[_HEADER.size : _HEADER.size + size][:MAX_BYTES]
    if kind != _COMPRESSED:
        return b""
    window = bytearray(_START.ljust(_WINDOW, b"\0"))
    return bytes(_unpacked(data, window, min(size, MAX_BYTES)))


def _unpacked(data: bytes, window: bytearray, limit: int) -> bytearray:
    """Runs of eight tokens, each a byte or a (place, length) in the window of what was written last."""
    out = bytearray()
    at, write = _HEADER.size, len(_START)
    while at < len(data) and len(out) < limit:
        flags = data[at]
        at += 1
        for bit in range(8):
            if not flags >> bit & 1:
                run = data[at : at + 1]
                at += 1
            else:
                token = int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
                at += 2
                place, length = token >> 4, (token & 15) + 2
                if place == write % _WINDOW:
                    return out
                run = _copied(window, place, write, length)
            for byte in run:
                window[write % _WINDOW] = byte
                write += 1
            out += run
    return out


def _copied(window: bytearray, place: int, write: int, length: int) -> bytes:
    """Bytes of the window; those that the copy itself writes count too."""
    distance = (write - place) % _WINDOW
    held = bytes(window[(place + step) % _WINDOW] for step in range(min(length, distance)))
    return (held * (length // len(held) + 1))[:length]
