"""One daemon at a time: private folders, the lock, the socket's file, and leaving cleanly."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import struct
import sys
from pathlib import Path

from mindscape.errors import Refused
from mindscape.paths import Paths


class AlreadyRunning(Refused):
    """Another daemon holds the lock."""


def prepare_folders(paths: Paths) -> None:
    """Create the folders, readable by their owner only. Raises Refused for one that is not safely ours."""
    for folder in dict.fromkeys((paths.data, paths.state, paths.runtime, paths.models)):
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            status = folder.stat()
            if status.st_uid != os.getuid():
                raise Refused(
                    f"The folder {folder} belongs to another user. Choose another by MINDSCAPE_HOME."
                )
            if status.st_mode & stat.S_IWOTH:
                raise Refused(f"Anyone may write to {folder}. Make it private first: chmod 700 {folder}")
            folder.chmod(0o700)
        except OSError as error:
            raise Refused(f"The folder {folder} cannot be used: {error.strerror}.") from error


def take_lock(file: Path) -> int:
    """Hold the lock until this process ends, however it ends; returns the descriptor.

    A file lock and not a process id decides: ids are used again. Raises AlreadyRunning.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.read(descriptor, 32).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise AlreadyRunning(f"already running (process {pid})") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


class Listener:
    """The listening socket and the file it has in the file system."""

    def __init__(self, path: Path) -> None:
        """Bind with mode 0600. Call it with the lock held: then a socket that exists is a stale one."""
        self._path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        try:
            if path.is_symlink() or (path.exists() and not path.is_socket()):
                raise Refused(f"{path} is in the way and is not a socket of ours. Move it and start again.")
            path.unlink(missing_ok=True)
            self.socket.bind(os.fspath(path))
            path.chmod(0o600)
            self.socket.listen(128)
        except OSError as error:
            raise Refused(f"The socket {path} cannot be opened: {error.strerror or error}.") from error
        self._inode = path.stat().st_ino

    def remove(self) -> None:
        """Unlink the file, unless another daemon's has taken its place."""
        try:
            if self._path.lstat().st_ino == self._inode:
                self._path.unlink()
        except FileNotFoundError:
            return


def peer_uid(link: socket.socket) -> int:
    """User id of the process at the other end."""
    if sys.platform == "darwin":
        local_peercred = 1
        _, uid = struct.unpack("II", link.getsockopt(0, local_peercred, 8))
        return uid
    _, uid, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return uid
