"""Where things live: the environment decides, and a folder named relative to nothing is not obeyed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mindscape.paths import find_paths


def test_a_relative_xdg_folder_is_ignored() -> None:
    relative = {f"XDG_{name}": "here" for name in ("DATA_HOME", "CONFIG_HOME", "STATE_HOME", "RUNTIME_DIR")}
    assert find_paths({"HOME": "/home/a", **relative}) == find_paths({"HOME": "/home/a"})
    assert find_paths({"HOME": "/home/a", "XDG_DATA_HOME": "/data"}).data == Path("/data/mindscape")


def test_a_relative_home_is_below_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_paths({"MINDSCAPE_HOME": "home"}).data == tmp_path / "home"


def test_a_socket_path_that_is_too_long_becomes_a_short_one_of_the_same_home(tmp_path: Path) -> None:
    home = tmp_path / ("x" * 60) / ("y" * 60)
    found = find_paths({"MINDSCAPE_HOME": str(home)})
    assert found.database == home / "library.db"
    assert len(os.fsencode(found.socket)) <= 100
    assert found.socket == find_paths({"MINDSCAPE_HOME": str(home)}).socket
    assert found.socket != find_paths({"MINDSCAPE_HOME": str(home / "other")}).socket
