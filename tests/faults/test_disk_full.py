"""A full disk: said plainly, nothing committed is lost, and the work goes on once there is room."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemon.harness import Daemon

from mindscape.errors import Refused


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_is_said_and_the_work_goes_on_when_there_is_room(
    small_disk: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "first.md").write_text("The first note is small.\n")
    daemon = Daemon(small_disk / "home", workers="1")
    assert daemon.start() == "ready"
    try:
        daemon.call("add", paths=[str(folder)])
        daemon.wait()
        for number in range(60):
            words = " ".join(f"word{number}x{index}" for index in range(8_000))
            (folder / f"{number}.txt").write_text(words)
        with pytest.raises(Refused, match="full"):
            daemon.wait()
        assert "full" in daemon.call("status")["trouble"]
        assert daemon.call("search", query="first note")["results"]
        subprocess.run(["mount", "-o", "remount,size=300m", str(small_disk)], check=True)
        daemon.stop()
        assert daemon.start() == "ready"
        daemon.wait()
        assert daemon.indexed() == {str(path): path.read_text() for path in folder.iterdir()}
        assert [check for check in daemon.call("doctor")["checks"] if check["state"] == "fail"] == []
    finally:
        daemon.stop()
