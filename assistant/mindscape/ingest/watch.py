"""File events, gathered until they pause, as a set of paths to look at. Truth is the disk, not the event."""

from __future__ import annotations

import asyncio
import logging
import os

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.3
LONGEST_SECONDS = 2.0
"""Paths are handed on after a pause, and at the latest after this long."""
MANY = 2_000
"""With more paths than this at once, looking at the whole root is cheaper than at each path."""

_CHANGES = frozenset(("created", "modified", "moved", "deleted", "closed", "attrib"))
"""`opened` and `closed_no_write` are what our own reading causes: not changes. Permissions (attrib) are."""


class Watcher(FileSystemEventHandler):
    """Watches any number of roots. `await next_paths()` gives what to look at."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._observer = Observer()
        self._watches: dict[bytes, tuple[ObservedWatch, tuple[int, int]]] = {}
        """Root -> its watch, and the device and inode that it watches."""
        self._dirty: set[bytes] = set()
        self._first = 0.0
        self._last = 0.0
        self._woken = asyncio.Event()
        self._observer.start()
        self._overflow = _OverflowHandler(self)
        logging.getLogger("watchdog.observers.inotify_c").addHandler(self._overflow)

    def watch(self, root: bytes) -> str | None:
        """Start watching; None, or a sentence saying why no events will come from there."""
        if self.sees(root):
            return None
        self.unwatch(root)
        try:
            target = os.fsdecode(root)
            # A file is watched through its folder: editors replace it by renaming another over it.
            folder = target if os.path.isdir(target) else os.path.dirname(target)
            recursive = os.path.isdir(target)
            watch = self._observer.schedule(self, folder, recursive=recursive)
            self._watches[root] = (watch, _identity(folder))
        except OSError as error:
            reason = error.strerror or str(error)
            log.warning("no file events: %s", reason)
            return f"No file events come from there ({reason}); it is scanned every minute instead."
        return None

    def sees(self, root: bytes) -> bool:
        """Whether the root's watch is on the folder that is there now, and not on one it replaced."""
        watched = self._watches.get(root)
        try:
            return watched is not None and watched[1] == _identity(watched[0].path)
        except OSError:
            return False

    def unwatch(self, root: bytes) -> None:
        """Stop watching a root."""
        watched = self._watches.pop(root, None)
        if watched is not None and all(watched[0] != other for other, _ in self._watches.values()):
            self._observer.unschedule(watched[0])

    def lost_events(self) -> None:
        """Called when the system dropped events: anything may have changed anywhere."""
        self._loop.call_soon_threadsafe(lambda: self._note(set(self._watches)))

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog's own thread."""
        if event.event_type not in _CHANGES or (
            event.is_directory and event.event_type in ("modified", "closed")
        ):
            return
        paths = {os.fsencode(path) for path in (event.src_path, event.dest_path) if path}
        self._loop.call_soon_threadsafe(self._note, paths)

    def _note(self, paths: set[bytes]) -> None:
        now = self._loop.time()
        if not self._dirty:
            self._first = now
        self._last = now
        self._dirty |= paths
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
        logging.getLogger("watchdog.observers.inotify_c").removeHandler(self._overflow)
        self._observer.stop()


class _OverflowHandler(logging.Handler):
    """watchdog says only in its log that the kernel's queue overflowed."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__(logging.WARNING)
        self._watcher = watcher

    def emit(self, record: logging.LogRecord) -> None:
        """Hear one line of the log."""
        if "overflow" in record.getMessage():
            self._watcher.lost_events()


def _identity(folder: str) -> tuple[int, int]:
    status = os.stat(folder)
    return status.st_dev, status.st_ino
