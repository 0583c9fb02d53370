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

_CHANGES = frozenset(("created", "modified", "moved", "deleted", "closed"))
"""`opened`, `closed_no_write` and `attrib` are what our own reading causes: not changes."""


class Watcher(FileSystemEventHandler):
    """Watches any number of roots. `await next_paths()` gives what to look at."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._observer = Observer()
        self._watches: dict[bytes, ObservedWatch] = {}
        self._dirty: set[bytes] = set()
        self._first = 0.0
        self._last = 0.0
        self._woken = asyncio.Event()
        self._observer.start()

    def watch(self, root: bytes) -> str | None:
        """Start watching; None, or a sentence saying why no events will come from there."""
        if root in self._watches:
            return None
        try:
            target = os.fsdecode(root)
            # A file is watched through its folder: editors replace it by renaming another over it.
            folder = target if os.path.isdir(target) else os.path.dirname(target)
            recursive = os.path.isdir(target)
            self._watches[root] = self._observer.schedule(self, folder, recursive=recursive)
        except OSError as error:
            reason = error.strerror or str(error)
            log.warning("no file events: %s", reason)
            return f"No file events come from there ({reason}); it is scanned every minute instead."
        return None

    def unwatch(self, root: bytes) -> None:
        """Stop watching a root."""
        watch = self._watches.pop(root, None)
        if watch is not None and watch not in self._watches.values():
            self._observer.unschedule(watch)

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
        self._observer.stop()
