"""Linux's file events: one watch for each folder a scan enters, read on the event loop without a thread.

watchdog's recursive watch goes into ignored folders too, says nothing where the system's limit ends it half
way, and reports our own reading; so on Linux the kernel is asked directly. Other systems use watchdog.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import struct
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

_LIBC = ctypes.CDLL(None, use_errno=True)
_HEADER = struct.Struct("iIII")
"""Watch, mask, cookie, bytes of the name that follows (padded with NUL)."""

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x800
_OVERFLOW, _IGNORED, _IS_FOLDER = 0x4000, 0x8000, 0x4000_0000
_ONLY_FOLDERS, _NO_LINKS, _NOT_UNLINKED, _ADD_TO_MASK = 0x100_0000, 0x200_0000, 0x400_0000, 0x2000_0000

_NAMES = _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _ONLY_FOLDERS
_ALL = _NAMES | _MODIFY | _ATTRIB | _CLOSE_WRITE | _NO_LINKS | _NOT_UNLINKED
"""Opening and reading are not among them: what the indexer itself does must not wake it."""

_READ_BYTES = 1 << 16


class Inotify:
    """Watches single folders; `hint` gets a path something happened to, `lost` hears of lost events.

    `add` and `remove` may be called from any thread; the callbacks are called on the event loop.
    """

    def __init__(self, hint: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        """Raises OSError where the user has no more instances (EMFILE)."""
        self._hint = hint
        self._lost = lost
        self._lock = threading.Lock()
        self._folders: dict[int, bytes] = {}
        self._watches: dict[bytes, int] = {}
        self._fd = _checked(_LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._read)

    def __contains__(self, folder: bytes) -> bool:
        return folder in self._watches

    def add(self, folder: bytes, *, top: bool = False) -> None:
        """Watch what happens in a folder, and to a `top` folder itself; raises OSError."""
        self._add(folder, _ALL | _MOVE_SELF if top else _ALL)

    def add_names(self, folder: bytes) -> None:
        """Watch only which names come and go in a folder, or keep the watch it has; raises OSError."""
        self._add(folder, _NAMES | _ADD_TO_MASK)

    def remove(self, folder: bytes, *, below: bool = True) -> None:
        """Stop watching a folder and, if asked, those below it."""
        inside = folder.rstrip(b"/") + b"/"
        with self._lock:
            paths = [path for path in self._watches if below and path.startswith(inside)]
            for path in (folder, *paths):
                watch = self._watches.pop(path, None)
                if watch is not None and self._folders.get(watch) == path:
                    del self._folders[watch]
                    # It fails where the kernel has dropped the watch already: that is what we want.
                    _LIBC.inotify_rm_watch(self._fd, watch)

    def close(self) -> None:
        """Stop watching everything."""
        self._loop.remove_reader(self._fd)
        os.close(self._fd)

    def _add(self, folder: bytes, mask: int) -> None:
        with self._lock:
            watch = _checked(_LIBC.inotify_add_watch(self._fd, folder, mask))
            before = self._folders.get(watch)
            if before not in (None, folder):
                self._watches.pop(before, None)  # the same folder under the name it had before
            stale = self._watches.get(folder, watch)
            if stale != watch:
                self._folders.pop(stale, None)
                _LIBC.inotify_rm_watch(self._fd, stale)
            self._folders[watch], self._watches[folder] = folder, watch

    def _read(self) -> None:
        try:
            data = os.read(self._fd, _READ_BYTES)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            watch, mask, _, length = _HEADER.unpack_from(data, at)
            at += _HEADER.size + length
            self._handle(watch, mask, data[at - length : at].rstrip(b"\0"))

    def _handle(self, watch: int, mask: int, name: bytes) -> None:
        if mask & _OVERFLOW:
            log.warning("The system's queue of file events overflowed; every folder is compared again.")
            self._lost()
            return
        with self._lock:
            folder = self._folders.get(watch)
            if mask & _IGNORED and folder is not None:
                # Deleted or unmounted: the kernel has dropped the watch.
                del self._folders[watch]
                if self._watches.get(folder) == watch:
                    del self._watches[folder]
        if folder is None:
            return
        path = os.path.join(folder, name) if name else folder
        if mask & _MOVE_SELF or (mask & _MOVED_FROM and mask & _IS_FOLDER):
            # The watches would go along and report the old names; where the folder is now, a scan adds them.
            self.remove(path)
        self._hint(path)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
