"""Which file systems are mounted where: some tell of no changes, and one that is gone hides its files."""

from __future__ import annotations

import asyncio
import os
import re
import select
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

Mounts = Mapping[bytes, str]
"""Mount point -> kind of the file system and what is mounted, separated by a space."""

_MOUNTINFO = Path("/proc/self/mountinfo")
_OCTAL = re.compile(rb"\\([0-7]{3})")
_REMOTE = frozenset(
    (
        *("9p", "drvfs", "prl_fs", "vboxsf", "virtiofs", "vmhgfs"),
        *("afpfs", "afs", "cifs", "coda", "davfs", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "webdav"),
        *("ceph", "gfs2", "glusterfs", "gpfs", "lustre", "ocfs2", "orangefs"),
        *("macfuse", "osxfuse"),
    )
)
"""Kinds whose files are also changed elsewhere, of which this system hears nothing."""


def mounted() -> Mounts:
    """What is mounted now; a later mount hides an earlier one at the same place."""
    try:
        return parse(_MOUNTINFO.read_bytes())
    except FileNotFoundError:
        parts = psutil.disk_partitions(all=True)
        return {os.fsencode(part.mountpoint): f"{part.fstype} {part.device}" for part in parts}


def parse(mountinfo: bytes) -> Mounts:
    """The mounts in a text like Linux's `mountinfo`."""
    found: dict[bytes, str] = {}
    for line in mountinfo.splitlines():
        # "36 35 98:0 /root /mount/point options [more...] - kind source options"
        before, separator, after = line.partition(b" - ")
        places, what = before.split(b" "), after.split(b" ")
        if separator and len(places) > 4 and len(what) > 1:
            kind, source = (os.fsdecode(_unescaped(part)) for part in what[:2])
            found[_unescaped(places[4])] = f"{kind} {source}"
    return found


def mount_point(path: bytes, mounts: Mounts) -> bytes:
    """The mount point a path lies on: the longest that is the path or a folder above it; `/` at the least."""
    while path not in mounts and path not in (b"/", b""):
        path = os.path.dirname(path)
    return path or b"/"


def kind_of(what: str) -> str:
    """The kind in a value of `Mounts`."""
    return what.split(" ", 1)[0]


def tells_nothing(what: str) -> bool:
    """Whether no events come from there when files are changed elsewhere. fuseblk is a local disk (NTFS)."""
    kind = kind_of(what)
    return kind in _REMOTE or kind == "fuse" or kind.startswith("fuse.")


class MountChanges:
    """Calls back on the event loop when something is mounted or unmounted; on Linux, elsewhere never."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._file = self._poll = None
        if sys.platform == "linux":
            # The kernel marks the file as urgent then; the loop only knows readable, which it always is. So
            # it is asked through a poll of its own. Where the file knows no urgency, polling must do.
            self._file, self._poll = _MOUNTINFO.open("rb"), select.epoll()
            try:
                self._poll.register(self._file, select.EPOLLPRI)
            except OSError:
                return
            asyncio.get_running_loop().add_reader(self._poll.fileno(), self._read)

    def _read(self) -> None:
        if self._poll is not None:
            # That the loop looked has taken the mark away; this makes sure of it.
            self._poll.poll(0)
            self._changed()

    def stop(self) -> None:
        """Stop listening."""
        if self._poll is not None and self._file is not None:
            asyncio.get_running_loop().remove_reader(self._poll.fileno())
            self._poll.close()
            self._file.close()
            self._file = self._poll = None


def _unescaped(text: bytes) -> bytes:
    return _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), text)
