"""File events of systems other than Linux, through watchdog: one recursive watch for each root."""

from __future__ import annotations

import os
from collections.abc import Callable

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

_CHANGES = frozenset(("created", "modified", "moved", "deleted", "closed", "attrib"))
"""`opened` and `closed_no_write` are what our own reading causes: not changes. Permissions (attrib) are."""


class Observed(FileSystemEventHandler):
    """Watches whole roots; `hint` gets a path something happened to, called by watchdog's own threads."""

    def __init__(self, hint: Callable[[bytes], None]) -> None:
        self._hint = hint
        self._observer = Observer()
        self._watches: dict[bytes, ObservedWatch] = {}
        self._observer.start()

    def start(self, root: bytes) -> None:
        """Watch a root; raises OSError. A thread of watchdog's that died is replaced."""
        if not self._observer.is_alive():
            self._observer = Observer()
            self._observer.start()
            self._watches.clear()
        target = os.fsdecode(root)
        # A file is watched through its folder: editors replace it by renaming another over it.
        recursive = os.path.isdir(target)
        folder = target if recursive else os.path.dirname(target)
        self._watches[root] = self._observer.schedule(self, folder, recursive=recursive)

    def enter(self, folder: bytes) -> None:
        """A scan enters a folder: the watch of its root holds for it."""

    def end(self, root: bytes) -> None:
        """Stop watching a root."""
        watch = self._watches.pop(root, None)
        if watch is not None and watch not in self._watches.values():
            self._observer.unschedule(watch)

    def is_alive(self, root: bytes) -> bool:
        """Whether the threads that report a root still run; watchdog's die in silence."""
        watch = self._watches.get(root)
        reporting = any(each.watch == watch and each.is_alive() for each in self._observer.emitters)
        return self._observer.is_alive() and reporting

    def close(self) -> None:
        """Stop watching everything."""
        self._observer.stop()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog."""
        unchanged = event.is_directory and event.event_type in ("modified", "closed")
        if event.event_type not in _CHANGES or unchanged:
            return
        for path in (event.src_path, event.dest_path):
            if path:
                self._hint(os.fsencode(path))
