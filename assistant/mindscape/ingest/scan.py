"""What is on the disk, and how it differs from what is known. Events are only hints for where to look."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from mindscape.ingest.ignore import Rules
from mindscape.text import display_path
from mindscape_storage.records import FileStat, Status

Known = Mapping[bytes, tuple[int, FileStat, Status]]
"""path -> (document id, what stat said when it was indexed, status)."""

_FAR = 2**63 - 1
"""Some file systems hold times beyond the year 2262, or inode numbers beyond this."""


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


class Disk:
    """One look at the disk below a root. Folders are listed, and their ignore files read, once.

    `enter` is called before a folder is listed: a watch put there misses nothing.
    """

    def __init__(self, root: bytes, rules: Rules, enter: Callable[[bytes], None] = lambda _: None) -> None:
        self._root = root
        self._enter = enter
        self._rules: dict[bytes, Rules] = {}
        self._top = rules
        self._names: dict[bytes, frozenset[bytes]] = {}
        self._left_out: dict[bytes, bool] = {}
        self.failed: dict[bytes, str] = {}
        """What could not be looked at because the disk or the connection failed, and why."""

    def walk(self, start: bytes | None = None) -> Iterator[Found]:
        """Every document-like entry at and below `start` (default: the root).

        Links are never followed: a file counts where it really is, and no link leads out of the root.
        """
        start = self._root if start is None else start
        status = self._status(start)
        if status is None:
            return
        if not stat.S_ISDIR(status.st_mode):
            # A root that is a file is always wanted; below a root the rules decide.
            if start == self._root or not self.leaves_out(start):
                yield from _entry(start, status)
            return
        if start != self._root and self.leaves_out(start):
            return
        rules = self._top if start == self._root else self._inside(os.path.dirname(start))
        yield from self._below(start, rules)

    def leaves_out(self, path: bytes) -> bool:
        """Whether a path below the root, or a folder between them, is left out by the rules."""
        if path not in self._left_out:
            above = os.path.dirname(path)
            is_folder = os.path.isdir(path) and not os.path.islink(path)
            self._left_out[path] = (len(above) > len(self._root) and self.leaves_out(above)) or self._inside(
                above
            ).ignores(path, is_folder=is_folder)
        return self._left_out[path]

    def _below(self, start: bytes, rules: Rules) -> Iterator[Found]:
        stack = [(start, rules)]
        while stack:
            folder, rules = stack.pop()
            self._enter(folder)
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                if _is_passing(error):
                    self.failed[folder] = error.strerror or "unknown error"
                yield from _unlisted(folder, error)
                continue
            rules = rules.below(folder, [entry.name for entry in entries])
            for entry in entries:
                is_folder = _is_folder(entry)
                if rules.ignores(entry.path, is_folder=is_folder):
                    continue
                if is_folder:
                    stack.append((entry.path, rules))
                elif status := self._status(entry.path, listed=True):
                    yield from _entry(entry.path, status)

    def _status(self, path: bytes, *, listed: bool = False) -> os.stat_result | None:
        """What is there; None when nothing is, or what is there has the name in another case or spelling."""
        try:
            status = os.lstat(path)
        except OSError as error:
            if _is_passing(error):
                self.failed[path] = error.strerror or "unknown error"
            return None
        # Some file systems find a file by a name that no folder lists: it is the listed one that counts.
        if listed or path == self._root or os.path.basename(path) in self._listed(os.path.dirname(path)):
            return status
        return None

    def _inside(self, folder: bytes) -> Rules:
        """The rules in force inside a folder, from the ignore files from the root down to it."""
        if folder not in self._rules:
            outer = self._inside(os.path.dirname(folder)) if len(folder) > len(self._root) else self._top
            self._rules[folder] = outer.below(folder, self._listed(folder))
        return self._rules[folder]

    def _listed(self, folder: bytes) -> frozenset[bytes]:
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._names[folder] = frozenset()
        return self._names[folder]


def walk(root: bytes, rules: Rules, start: bytes | None = None) -> Iterator[Found]:
    """Every document-like entry at and below `start`, as `Disk.walk` finds them."""
    return Disk(root, rules).walk(start)


def is_ignored(root: bytes, rules: Rules, path: bytes) -> bool:
    """Whether a path below the root, or a folder between them, is left out by the rules at the root."""
    return Disk(root, rules).leaves_out(path)


def compare(found: Iterable[Found], known: Known) -> Changes:
    """The differences. A known file that is not where it was, and a file that has its inode, are a move."""
    changes = Changes()
    remaining = dict(known)
    displaced: dict[int, Found] = {}
    for item in found:
        before = remaining.pop(item.path, None)
        if before is None:
            changes.new.append(item)
        elif before[1].inode != item.stat.inode:
            displaced[before[0]] = item
        elif before[1] != item.stat or before[2] is Status.AWAY:
            changes.changed.append((before[0], item))
    changes.gone = [document for document, _, _ in remaining.values()]
    was_there = {document: status for document, status, _ in known.values()}
    _pair_moves(changes, displaced, {number: was_there[number] for number in (*changes.gone, *displaced)})
    return changes


def _pair_moves(changes: Changes, displaced: dict[int, Found], left: dict[int, FileStat]) -> None:
    """Find where the files that left their paths are now. `displaced` ones left theirs to another file."""

    def identity(status: FileStat) -> tuple[int, int, int]:
        return status.inode, status.size, status.mtime_ns

    candidates: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for document, status in left.items():
        candidates[identity(status)].append(document)
    arrived: set[bytes] = set()
    for item in (*changes.new, *displaced.values()):
        if olds := candidates.get(identity(item.stat)):
            changes.moved.append((olds.pop(), item))
            arrived.add(item.path)
    moved = {document for document, _ in changes.moved}
    changes.new = [item for item in changes.new if item.path not in arrived]
    for document, item in displaced.items():
        if item.path in arrived:
            changes.gone.append(document)
        elif document in moved:
            changes.new.append(item)
        else:
            changes.changed.append((document, item))
    changes.gone = [document for document in changes.gone if document not in moved]


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


def _unlisted(folder: bytes, error: OSError) -> Iterator[Found]:
    if isinstance(error, FileNotFoundError):
        return  # it went away between the listing of the folder above and now
    try:
        seen = file_stat(os.lstat(folder))
    except OSError:
        seen = FileStat(0, 0, 0, 0)
    name = display_path(os.path.basename(folder))
    advice = "Its disk or its connection may be failing." if _is_passing(error) else "Mend its permissions."
    reason = f"The folder {name} cannot be listed ({error.strerror}). {advice}"
    yield Found(folder, seen, (Status.UNREADABLE, reason))


def _is_passing(error: OSError) -> bool:
    """Whether the disk or the connection failed, so that nothing is known of what is there."""
    return not isinstance(error, FileNotFoundError | NotADirectoryError | PermissionError)


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def file_stat(status: os.stat_result) -> FileStat:
    """What is compared to tell whether a file may have changed: numbers that fit into 64 bits with a sign."""

    def near(time: int) -> int:
        return min(max(time, -_FAR), _FAR)

    inode = status.st_ino if status.st_ino <= _FAR else status.st_ino - 2**64
    return FileStat(status.st_size, near(status.st_mtime_ns), near(status.st_ctime_ns), inode)
