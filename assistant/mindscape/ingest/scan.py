"""What is on the disk, and how it differs from what is known. Events are only hints for where to look."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mindscape.ingest.ignore import Rules
from mindscape.text import display_path
from mindscape_storage.records import FileStat, Status

Known = Mapping[bytes, tuple[int, FileStat, Status]]
"""path -> (document id, what stat said when it was indexed, status)."""


@dataclass(frozen=True, slots=True)
class Found:
    """An entry on the disk; `problem` is set where it will not be opened."""

    path: bytes
    stat: FileStat
    problem: tuple[Status, str] | None = None


@dataclass(slots=True)
class Changes:
    """What must be done so that the index follows the disk."""

    new: list[Found] = field(default_factory=list[Found])
    changed: list[tuple[int, Found]] = field(default_factory=list[tuple[int, Found]])
    moved: list[tuple[int, Found]] = field(default_factory=list[tuple[int, Found]])
    gone: list[int] = field(default_factory=list[int])

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.moved or self.gone)


def walk(root: bytes, rules: Rules, start: bytes | None = None) -> Iterator[Found]:
    """Every document-like entry under `start` (default: the root), links not followed.

    Links are never followed: a file counts where it really is, and no link leads out of the root.
    """
    start = root if start is None else start
    try:
        status = os.lstat(start)
    except OSError:
        return
    if not stat.S_ISDIR(status.st_mode):
        # A root that is a file is always wanted; below a root the rules decide.
        if start == root or not is_ignored(root, rules, start):
            yield from _entry(start, status)
        return
    if start != root and is_ignored(root, rules, start):
        return
    stack = [(start, _rules_at(root, rules, start))]
    while stack:
        folder, rules = stack.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield _unreadable(folder, error)
            continue
        rules = rules.below(folder, [entry.name for entry in entries])
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules.ignores(entry.path, is_folder=is_folder):
                continue
            if is_folder:
                stack.append((entry.path, rules))
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # it went away between the listing and now
            yield from _entry(entry.path, status)


def compare(found: Iterable[Found], known: Known) -> Changes:
    """The differences. A known file that is gone and one that is new are a move when they are one inode."""
    changes = Changes()
    remaining = dict(known)
    for item in found:
        before = remaining.pop(item.path, None)
        if before is None:
            changes.new.append(item)
        elif before[1] != item.stat or before[2] is Status.AWAY:
            changes.changed.append((before[0], item))
    _pair_moves(changes, remaining)
    return changes


def _pair_moves(changes: Changes, remaining: dict[bytes, tuple[int, FileStat, Status]]) -> None:
    def identity(status: FileStat) -> tuple[int, int, int]:
        return status.inode, status.size, status.mtime_ns

    candidates: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for document, status, _ in remaining.values():
        candidates[identity(status)].append(document)
    new: list[Found] = []
    for item in changes.new:
        if olds := candidates.get(identity(item.stat)):
            changes.moved.append((olds.pop(), item))
        else:
            new.append(item)
    changes.new = new
    moved = {document for document, _ in changes.moved}
    changes.gone = [document for document, _, _ in remaining.values() if document not in moved]


def _rules_at(root: bytes, rules: Rules, folder: bytes) -> Rules:
    """The rules in force at a folder below the root, from the ignore files of the folders above it."""
    if folder == root:
        return rules
    for above in _folders_between(root, folder):
        rules = rules.below(above, _names(above))
    return rules


def is_ignored(root: bytes, rules: Rules, path: bytes) -> bool:
    """Whether a path below the root, or a folder between them, is left out by the rules at the root."""
    for above in _folders_between(root, path):
        if above != root and rules.ignores(above, is_folder=True):
            return True
        rules = rules.below(above, _names(above))
    return rules.ignores(path, is_folder=os.path.isdir(path) and not os.path.islink(path))


def _folders_between(root: bytes, path: bytes) -> list[bytes]:
    """The root and the folders below it that hold the path, outermost first, the path itself left out."""
    folders: list[bytes] = []
    while path != root and len(path) > len(root):
        path = os.path.dirname(path)
        folders.append(path)
    return folders[::-1]


def _names(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _entry(path: bytes, status: os.stat_result) -> Iterator[Found]:
    if stat.S_ISLNK(status.st_mode):
        return
    seen = file_stat(status)
    if stat.S_ISREG(status.st_mode):
        yield Found(path, seen)
        return
    kind = "a named pipe" if stat.S_ISFIFO(status.st_mode) else "a socket or device"
    reason = f"{display_path(os.path.basename(path))} is {kind}, not a file; it is never opened."
    yield Found(path, seen, (Status.UNSUPPORTED, reason))


def _unreadable(folder: bytes, error: OSError) -> Found:
    try:
        seen = file_stat(os.lstat(folder))
    except OSError:
        seen = FileStat(0, 0, 0, 0)
    name = display_path(os.path.basename(folder))
    reason = f"The folder {name} cannot be listed ({error.strerror}). Mend its permissions."
    return Found(folder, seen, (Status.UNREADABLE, reason))


def file_stat(status: os.stat_result) -> FileStat:
    """What is compared to tell whether a file may have changed."""
    return FileStat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
