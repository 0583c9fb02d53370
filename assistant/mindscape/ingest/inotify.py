"""Linux's file events: one watch for each folder a scan enters, read by a thread of watchdog's.

watchdog's recursive watch goes into ignored folders too, says nothing where the system's limit ends it half
way, and reports our own reading; so only its lower layer is used, with masks and folders of our own.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import logging
import os
import threading
from collections.abc import Callable
from typing import NamedTuple

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

log = logging.getLogger(__name__)

_NAMES = (
    InotifyConstants.IN_MOVED_FROM
    | InotifyConstants.IN_MOVED_TO
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_ONLYDIR
)
_ALL = (
    _NAMES
    | InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_EXCL_UNLINK
)
"""Opening and reading are not among them: what the indexer itself does must not wake it."""


class _Watched(NamedTuple):
    folder: bytes
    id: CallbackId


class Inotify(WatchCallback):
    """Watches single folders; `hint` gets a path something happened to, `lost` hears of lost events.

    `add` and `remove` may be called from any thread; the callbacks are called on the event loop.
    """

    def __init__(self, hint: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        """Raises OSError where the user has no more instances (EMFILE)."""
        self._hint = hint
        self._lost = lost
        self._lock = threading.RLock()
        self._watched: dict[WatchDescriptor, _Watched] = {}
        self._watches: dict[bytes, WatchDescriptor] = {}
        self._ids = itertools.count()
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._reader = _started()

    def __contains__(self, folder: bytes) -> bool:
        return folder in self._watches and self._reader.is_alive()

    def add(self, folder: bytes, *, top: bool = False) -> None:
        """Watch what happens in a folder, and to a `top` folder itself; raises OSError."""
        self._add(folder, _ALL | InotifyConstants.IN_MOVE_SELF if top else _ALL)

    def add_names(self, folder: bytes) -> None:
        """Watch only which names come and go in a folder, or keep the watch it has; raises OSError."""
        self._add(folder, _NAMES | InotifyConstants.IN_MASK_ADD)

    def remove(self, folder: bytes, *, below: bool = True) -> None:
        """Stop watching a folder and, if asked, those below it."""
        inside = folder.rstrip(b"/") + b"/"
        with self._lock:
            paths = [path for path in self._watches if path == folder or (below and path.startswith(inside))]
            self._drop([self._watches[path] for path in paths])

    def close(self) -> None:
        """Stop watching everything."""
        with self._lock:
            self._closed = True
        self._reader.stop()
        self._reader.join()

    def on_event(self, event: InotifyEvent) -> None:
        """Called by watchdog's thread."""
        with self._lock:
            if self._closed or event.wd not in self._watched:
                return
            folder = self._watched[event.wd].folder
            path = os.path.join(folder, event.name) if event.name else folder
            if event.is_move_self or (event.is_moved_from and event.is_directory):
                # The watches would go along and report the old names; a scan adds them where it is now.
                self.remove(path)
            self._loop.call_soon_threadsafe(self._hint, path)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Called by watchdog's thread when the kernel has dropped a watch: it was deleted or unmounted."""
        with self._lock:
            if not self._closed and wd in self._watched:
                self._loop.call_soon_threadsafe(self._hint, self._forget(wd).folder)

    def on_queue_overflow(self) -> None:
        """Called by watchdog's thread."""
        with self._lock:
            if not self._closed:
                log.warning("The system's queue of file events overflowed; every folder is compared again.")
                self._loop.call_soon_threadsafe(self._lost)

    def _add(self, folder: bytes, mask: int) -> None:
        with self._lock:
            self._revive()
            # Another id each time: the system knows a folder again, also under another name, and gives the
            # watch it has.
            now = _Watched(folder, CallbackId(next(self._ids)))
            watch = self._reader.add_callback(folder, Mask(mask), self, now.id)
            if watch == -1:
                # watchdog keeps a folder that may not be read as if it were watched.
                self._reader.remove_callbacks([(watch, now.id)])
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            if watch in self._watched:
                self._reader.remove_callbacks([(watch, self._forget(watch).id)])
            if folder in self._watches:
                self._drop([self._watches[folder]])  # of another folder, which had the name before
            self._watched[watch], self._watches[folder] = now, watch

    def _revive(self) -> None:
        if self._closed:
            raise OSError("the watcher was stopped")
        if not self._reader.is_alive():
            log.warning("The thread that reads file events ended; every folder is compared again.")
            self._watched.clear()
            self._watches.clear()
            self._reader.stop()
            self._reader = _started()
            self._loop.call_soon_threadsafe(self._lost)

    def _drop(self, watches: list[WatchDescriptor]) -> None:
        self._reader.remove_callbacks([(watch, self._forget(watch).id) for watch in watches])

    def _forget(self, watch: WatchDescriptor) -> _Watched:
        it = self._watched.pop(watch)
        del self._watches[it.folder]
        return it


def _started() -> InotifyFD:
    reader = InotifyFD()
    reader.start()
    return reader
