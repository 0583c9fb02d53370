"""Where things live: XDG folders, or all of them under MINDSCAPE_HOME."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_SOCKET_PATH_LIMIT = 100
"""sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL."""


class Paths(NamedTuple):
    """Every file and folder of one installation.

    A tuple, for importing dataclasses would take a sixth of the time that `mindscape search` has.
    """

    data: Path
    config_file: Path
    state: Path
    runtime: Path

    @property
    def database(self) -> Path:
        """The library."""
        return self.data / "library.db"

    @property
    def models(self) -> Path:
        """Bundles the user installed."""
        return self.data / "models"

    @property
    def socket(self) -> Path:
        """The daemon's Unix socket."""
        return self.runtime / "daemon.sock"

    @property
    def lock(self) -> Path:
        """Held by the running daemon; contains its process id. Beside the library it protects."""
        return self.data / "daemon.lock"

    @property
    def log(self) -> Path:
        """The daemon's log."""
        return self.state / "daemon.log"


def find_paths(environ: dict[str, str] | None = None) -> Paths:
    """Read the environment (`os.environ` unless given) and say where everything is; creates nothing."""
    env = dict(os.environ) if environ is None else environ
    if home := env.get("MINDSCAPE_HOME"):
        root = Path(home).expanduser().absolute()
        return Paths(root, root / "config.toml", root, _short_enough(root))
    user = Path(env.get("HOME") or Path.home())
    data = _xdg(env, "XDG_DATA_HOME", user / ".local/share")
    config = _xdg(env, "XDG_CONFIG_HOME", user / ".config")
    state = _xdg(env, "XDG_STATE_HOME", user / ".local/state")
    runtime = _xdg(env, "XDG_RUNTIME_DIR", state.parent)
    return Paths(data, config / "config.toml", state, _short_enough(runtime))


def _xdg(env: dict[str, str], name: str, default: Path) -> Path:
    """Our folder in one of XDG's; a relative one must be ignored, says its specification."""
    given = env.get(name, "")
    return (Path(given) if given.startswith("/") else default) / "mindscape"


def _short_enough(folder: Path) -> Path:
    """The folder itself, or a private one with a short name when a socket's path would not fit."""
    if len(os.fsencode(folder / "daemon.sock")) <= _SOCKET_PATH_LIMIT:
        return folder
    import hashlib  # rarely needed, and slow to load for a command that lives for milliseconds
    import tempfile

    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"mindscape-{os.getuid()}-{digest}"
