"""File events, gathered until they pause, as a set of paths to look at. Truth is the disk, not the event."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from mindscape.ingest.observed import Observed

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.3
LONGEST_SECONDS = 2.0
"""Paths are handed on after a pause, and at the latest after this long."""
MANY = 2_000
"""With more paths than this at once, looking at the whole root is cheaper than at each path."""

_NOT_OUR_CONCERN = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)
"""A folder that has gone, or that the scan says cannot be listed: the others are watched all the same."""
_LIMITS = {errno.ENOSPC: "max_user_watches", errno.EMFILE: "max_user_instances"}


class Backend(Protocol):
    """What reports the events of this system. All raise OSError."""

    def start(self, root: bytes) -> None:
        """Begin with a root."""
        ...

    def enter(self, folder: bytes) -> None:
        """A scan is about to list a folder of a root that was started."""
        ...

    def end(self, root: bytes) -> None:
        """Stop with a root."""
        ...

    def is_alive(self, root: bytes) -> bool:
        """Whether events of a root that was started would still come."""
        ...

    def close(self) -> None:
        """Stop altogether."""
        ...


class Watcher:
    """Watches any number of roots. `await next_paths()` gives what to look at.

    A root is watched as a whole or not at all: where one of its folders cannot be, `blind` says why.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._backend: Backend | None = None
        self._refused: OSError | None = None
        self._roots: dict[bytes, tuple[int, int]] = {}
        """Root -> device and inode of the folder that is watched."""
        self._blind: dict[bytes, str] = {}
        self._dirty: set[bytes] = set()
        self._first = 0.0
        self._last = 0.0
        self._woken = asyncio.Event()
        self._open()

    def watch(self, root: bytes) -> None:
        """Make sure that a root is watched, if it can be; may block on the disk, from any thread.

        Of one that is not there its coming is told.
        """
        if root in self._blind or self.sees(root):
            return
        self.unwatch(root)
        try:
            if self._backend is None:
                raise self._refused or OSError("the watcher was stopped")
            self._backend.start(root)
            self._roots[root] = _identity(root)
        except FileNotFoundError:
            self.unwatch(root)  # neither the root nor the folder that would hold it is there
        except OSError as error:
            self._cannot(root, error)

    def enter(self, root: bytes, folder: bytes) -> None:
        """A scan of the root is about to list a folder: what changes from now on is told. From any thread."""
        if root not in self._roots or self._backend is None:
            return
        try:
            self._backend.enter(folder)
        except OSError as error:
            if error.errno not in _NOT_OUR_CONCERN:
                self._cannot(root, error)

    def blind(self, root: bytes) -> str | None:
        """Why no events come from a root, as the first half of a sentence; None when they do."""
        return self._blind.get(root)

    def try_again(self) -> None:
        """The limits may have been raised: roots that could not be watched are tried again when scanned."""
        self._blind.clear()
        if self._backend is None:
            self._open()

    def sees(self, root: bytes) -> bool:
        """Whether the root's watch works, and is on the folder that is there now, not on one it replaced."""
        try:
            same = self._roots.get(root) == _identity(root)
        except OSError:
            return False
        return same and self._backend is not None and self._backend.is_alive(root)

    def unwatch(self, root: bytes) -> None:
        """Stop watching a root; one that lies inside it is watched again when it is scanned."""
        self._blind.pop(root, None)
        for each in [each for each in tuple(self._roots) if _is_at(each, root)]:
            del self._roots[each]
            if self._backend is not None:
                self._backend.end(each)

    def look_at(self, root: bytes) -> None:
        """Something may have changed anywhere in a root."""
        self._note(root)

    def lost_events(self) -> None:
        """The system dropped events: anything may have changed anywhere."""
        self._loop.call_soon_threadsafe(self._note, *self._roots)

    def _open(self) -> None:
        try:
            on_linux = sys.platform == "linux"
            self._backend = (
                _Folders(self._note, self.lost_events) if on_linux else Observed(self._note_from_thread)
            )
        except OSError as error:
            self._refused = error

    def _cannot(self, root: bytes, error: OSError) -> None:
        # Half of the watches would be worse than none: the root would look watched.
        self.unwatch(root)
        if self._backend is not None:
            self._backend.end(root)
        self._blind[root] = _why(error)
        log.warning("no file events: %s", error.strerror)

    def _note_from_thread(self, path: bytes) -> None:
        self._loop.call_soon_threadsafe(self._note, path)

    def _note(self, *paths: bytes) -> None:
        ours = [path for path in paths if any(_is_at(path, root) for root in tuple(self._roots))]
        if not ours:
            return
        now = self._loop.time()
        if not self._dirty:
            self._first = now
        self._last = now
        self._dirty.update(ours)
        self._woken.set()

    async def next_paths(self) -> set[bytes]:
        """Paths something happened to, once events have paused."""
        while True:
            await self._woken.wait()
            now = self._loop.time()
            wait = min(self._last + QUIET_SECONDS, self._first + LONGEST_SECONDS) - now
            if wait <= 0:
                break
            await asyncio.sleep(wait)
        self._woken.clear()
        paths, self._dirty = self._dirty, set()
        return paths

    def stop(self) -> None:
        """Stop all watching."""
        if self._backend is not None:
            self._backend.close()
            self._backend = None


class _Folders:
    """Linux: a watch on each folder that a scan enters, and one on the folder that holds the root."""

    def __init__(self, hint: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        from mindscape.ingest.inotify import Inotify  # cannot be imported on other systems

        self._inotify = Inotify(hint, lost)
        self._roots: dict[bytes, bytes] = {}
        """Root -> the folder whose watch tells of it."""

    def start(self, root: bytes) -> None:
        holder = os.path.dirname(root)
        if not os.path.isdir(root):
            # A file is watched through its folder: editors replace it by renaming another over it.
            self._inotify.add(holder)
        else:
            self._inotify.add(root, top=True)
            if holder != root and os.access(holder, os.R_OK):
                self._inotify.add_names(holder)  # tells at once when the root is replaced or comes back
        self._roots[root] = root if root in self._inotify else holder

    def enter(self, folder: bytes) -> None:
        self._inotify.add(folder, top=folder in self._roots)

    def end(self, root: bytes) -> None:
        self._roots.pop(root, None)
        self._inotify.remove(root)
        holder = os.path.dirname(root)
        if not any(_is_at(holder, other) or os.path.dirname(other) == holder for other in self._roots):
            self._inotify.remove(holder, below=False)

    def is_alive(self, root: bytes) -> bool:
        return self._roots.get(root, b"") in self._inotify

    def close(self) -> None:
        self._inotify.close()


def _is_at(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def _identity(root: bytes) -> tuple[int, int]:
    """Of the folder that is watched: for a file, the one it lies in."""
    status = os.stat(root if os.path.isdir(root) else os.path.dirname(root))
    return status.st_dev, status.st_ino


def _why(error: OSError) -> str:
    limit = _LIMITS.get(error.errno or 0)
    if limit is None:
        return f"The system gives no file events from here ({error.strerror})"
    name = f"fs.inotify.{limit}"
    try:
        now = int(Path("/proc/sys/fs/inotify", limit).read_text("ascii"))
    except (OSError, ValueError):
        return f"The system's limit {name} is reached, so no file events come from here"
    return (
        f"The system's limit {name} = {now} is reached, so no file events come from here "
        f"(to raise it: sudo sysctl {name}={4 * now})"
    )
