"""How programs save a file: each function does what one of them was seen to do, step by step."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def vim(note: Path, text: str) -> None:
    swap, probe, backup = note.with_name(f".{note.name}.swp"), note.with_name("4913"), Path(f"{note}~")
    swap.write_text("b0VIM swapnoise")
    probe.touch()
    probe.unlink(missing_ok=True)
    note.rename(backup)
    note.write_text(text)
    backup.unlink(missing_ok=True)
    swap.unlink(missing_ok=True)


def gtk(note: Path, text: str) -> None:
    temporary = note.with_name(".goutputstream-7Q2XK3")
    temporary.write_text(text)
    temporary.replace(note)


def sed(note: Path, text: str) -> None:
    temporary = note.with_name("sedA8xYq1")
    temporary.write_text(text)
    temporary.replace(note)


def emacs(note: Path, text: str) -> None:
    lock, autosave = note.with_name(f".#{note.name}"), note.with_name(f"#{note.name}#")
    lock.unlink(missing_ok=True)
    lock.symlink_to("me@host.1234:1700000000")
    autosave.write_text("autosavenoise")
    shutil.copy2(note, f"{note}~")
    note.write_text(text)
    lock.unlink(missing_ok=True)
    autosave.unlink(missing_ok=True)


def other_extension(note: Path, text: str) -> None:
    temporary = note.with_name(f"{note.name}.tmp.48213.9")
    temporary.write_text(text)
    temporary.replace(note)


def from_outside(note: Path, text: str) -> None:
    temporary = note.parent.parent / "made outside"
    temporary.write_text(text)
    temporary.replace(note)


def rsync(note: Path, text: str, mtime_ns: int) -> None:
    """As a tool does that copies from elsewhere: under another name, with the times of the original."""
    temporary = note.with_name(f".{note.name}.x7Kq2Z")
    temporary.write_text(text)
    os.utime(temporary, ns=(mtime_ns, mtime_ns))
    temporary.replace(note)
