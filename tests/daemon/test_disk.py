"""A library on a network folder: it works there for a while, and `doctor` says what will happen."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindscape.daemon.disk import place_check
from tests.daemon.harness import Daemon

MOUNTS = {b"/": "ext4 /dev/vda1", b"/home/ana/nas": "nfs4 nas:/vol", b"/mnt/host": "virtiofs host"}


@pytest.mark.parametrize(
    ("database", "state"),
    [
        ("/home/ana/.local/share/mindscape/library.db", "ok"),
        ("/home/ana/nas/mindscape/library.db", "warn"),
        ("/home/ana/nasty/library.db", "ok"),
        ("/mnt/host/library.db", "warn"),
    ],
)
def test_a_library_on_a_network_folder_is_warned_of(database: str, state: str) -> None:
    check = place_check(Path(database), MOUNTS)
    assert check["state"] == state
    assert (check["fix"] is None) == (state == "ok")


def test_doctor_says_where_the_library_lies(daemon: Daemon) -> None:
    assert "place" in [check["name"] for check in daemon.call("doctor")["checks"]]


def test_what_is_forgotten_is_in_no_file_of_ours(daemon: Daemon, folder: Path) -> None:
    kept = folder.with_name("kept")
    kept.mkdir()
    for number in range(40):
        (kept / f"{number}.md").write_text(f"# Note {number}\n\nWords of note {number} that stay.\n")
        (folder / f"{number}.md").write_text(f"# Secret {number}\n\nThe forgettable{number} word.\n")
    daemon.call("add", paths=[str(folder), str(kept)])
    daemon.wait()

    def traces() -> int:
        files = [path for path in daemon.home.rglob("*") if path.is_file()]
        return sum(path.read_bytes().count(b"orgettable") for path in files)

    assert traces() > 40
    daemon.call("rm", paths=[str(folder)], forget=True)
    assert traces() == 0
    assert len(daemon.indexed()) == 40
