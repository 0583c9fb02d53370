"""What `doctor` says of the disk that the library lies on."""

from __future__ import annotations

import os
from pathlib import Path

from mindscape.ingest.mounts import Mounts, kind_of, mount_point, tells_nothing
from mindscape.protocol import Json


def place_check(database: Path, mounts: Mounts) -> Json:
    """A warning where the library lies on a network or shared file system.

    There SQLite's write-ahead log has no shared memory to rely on, and files have been damaged within days.
    """
    folder = os.fsencode(database.parent)
    what = mounts.get(mount_point(folder, mounts), "")
    if not tells_nothing(what):
        return {"name": "place", "state": "ok", "message": "The library lies on a local disk.", "fix": None}
    return {
        "name": "place",
        "state": "warn",
        "message": f"The library lies on {kind_of(what)}, which other machines can change: it may break.",
        "fix": "Set MINDSCAPE_HOME or XDG_DATA_HOME to a folder on a local disk; all is indexed anew.",
    }
