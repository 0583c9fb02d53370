"""Files that are not found: gone, or away because what they lie on is not there?

Gone is the rule: a file or folder that its user removed, moved out or emptied is not served any longer.
Away, so kept and said, are the files

1. below a mount point where the file system they were read from is not mounted now, until it is;
2. below what could not be looked at because the disk or the connection failed, until it can be;
3. of a folder with many files that is there and holds nothing at all, and that is not the folder they were
   read in (another inode, or unknown because the daemon was off): so looks a disk that was not mounted.
   Nobody can tell that from a user who emptied it, so it holds for a day only.

So a disk that is pulled out costs no index, and every file that is really gone leaves in the end.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mindscape.ingest.mounts import Mounts
from mindscape.ingest.scan import Disk, Known
from mindscape.text import display_path

GRACE_SECONDS = 86_400
MANY_FILES = 20
"""Fewer files that vanish with all that was in their folder are gone: they are soon read again."""

Identities = Mapping[bytes, tuple[int, int]]
"""Folder -> device and inode."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Documents that are away together, and why."""

    folder: bytes
    documents: frozenset[int]
    reason: str
    for_a_day: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of a root from its earlier scans."""

    mounts: Mounts
    since: Mapping[bytes, int]
    """Folder -> when its files were first found away by rule 3, seconds since 1970."""
    identities: Identities


def absences(
    root: bytes, known: Known, gone: Collection[int], disk: Disk, memory: Memory, mounts: Mounts, now: float
) -> list[Absence]:
    """Which of the documents that were not found are away. Those in none are gone."""
    missing = {path: number for path, (number, _, _) in known.items() if number in set(gone)}
    found: list[Absence] = []

    def take(folder: bytes, reason: str, *, for_a_day: bool = False) -> None:
        inside = {path: number for path, number in missing.items() if _is_at(path, folder)}
        if inside and (len(folder) <= len(root) or not disk.leaves_out(folder)):
            found.append(Absence(folder, frozenset(inside.values()), reason, for_a_day))
            for path in inside:
                del missing[path]

    for folder, why in disk.failed.items():
        take(folder, f"{display_path(folder)} cannot be looked at now ({why}); it is tried again.")
    for folder in _vanished(known, missing, memory.mounts, mounts):
        kind = memory.mounts[folder].split(" ", 1)[0]
        take(folder, f"Its disk is not there: no {kind} is mounted at {display_path(folder)} as before.")
    for folder, since in memory.since.items():
        if 0 <= now - since < GRACE_SECONDS:
            take(folder, _empty(folder), for_a_day=True)
    for folder in _emptied(root, missing, memory):
        if folder not in memory.since:  # else its day is over
            take(folder, _empty(folder), for_a_day=True)
    return found


def _vanished(known: Known, missing: Collection[bytes], before: Mounts, mounts: Mounts) -> Iterable[bytes]:
    """Mount points that are no more, or hold something else, and below which most files are missing."""
    for folder, what in before.items():
        if mounts.get(folder) != what:
            below = [path for path in known if _is_at(path, folder)]
            if sum(path in missing for path in below) * 2 > len(below):
                yield folder


def _emptied(root: bytes, missing: Collection[bytes], memory: Memory) -> Iterable[bytes]:
    """Folders that hold nothing, are not those they were, and in which many files are missing."""
    in_folder: defaultdict[bytes, int] = defaultdict(int)
    nearest: dict[bytes, bytes] = {}
    for path in missing:
        folder = os.path.dirname(path)
        if folder not in nearest:
            there = folder
            while len(there) > len(root) and not os.path.isdir(there):
                there = os.path.dirname(there)
            nearest[folder] = there
        in_folder[nearest[folder]] += 1
    for folder, count in in_folder.items():
        if count >= MANY_FILES and _is_another_empty_one(folder, memory.identities.get(folder)):
            yield folder


def _is_another_empty_one(folder: bytes, before: tuple[int, int] | None) -> bool:
    try:
        status = os.lstat(folder)
        return (status.st_dev, status.st_ino) != before and not os.listdir(folder)
    except OSError:
        return False


def _empty(folder: bytes) -> str:
    return (
        f"The folder {display_path(folder)} is there but holds nothing, as when its disk is not mounted; "
        "its files are forgotten after a day unless they return."
    )


def _is_at(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
