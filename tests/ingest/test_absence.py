"""Gone or away: no file that may only be out of reach is dropped, and none that is gone stays for ever."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mindscape.ingest.absence import GRACE_SECONDS, Absence, Memory, absences
from mindscape.ingest.ignore import rules_for
from mindscape.ingest.scan import Disk, Known
from mindscape_storage.records import FileStat, Status

NOW = 1_000_000.0
STAT = FileStat(1, 1, 1, 1)


def known(root: Path, *names: str) -> Known:
    return {os.fsencode(root / name): (number, STAT, Status.OK) for number, name in enumerate(names)}


def decide(
    root: Path,
    names: list[str],
    *,
    gone: set[int] | None = None,
    mounts_before: Mapping[bytes, str] | None = None,
    mounts_now: Mapping[bytes, str] | None = None,
    since: Mapping[bytes, int] | None = None,
    same: tuple[Path, ...] = (),
    failed: Mapping[bytes, str] | None = None,
) -> list[Absence]:
    top = os.fsencode(root)
    disk = Disk(top, rules_for(top, ()))
    disk.failed.update(failed or {})
    identities = {os.fsencode(path): (path.stat().st_dev, path.stat().st_ino) for path in same}
    memory = Memory(mounts_before or {}, since or {}, identities)
    all_gone = set(range(len(names))) if gone is None else gone
    return absences(top, known(root, *names), all_gone, disk, memory, mounts_now or {}, NOW)


def numbers(found: list[Absence]) -> list[set[int]]:
    return [set(absence.documents) for absence in found]


BOOKS = [f"nas/book{number:02}.md" for number in range(25)]


def test_files_below_a_mount_that_is_gone_are_away_without_end_and_others_gone(tmp_path: Path) -> None:
    names = ["nas/a.md", "nas/deep/b.md", "nasty.md"]
    found = decide(tmp_path, names, mounts_before={os.fsencode(tmp_path / "nas"): "nfs4 server:/"})
    assert numbers(found) == [{0, 1}]
    assert not found[0].for_a_day
    assert "no nfs4 is mounted at" in found[0].reason


def test_files_removed_on_a_mount_that_is_there_are_gone(tmp_path: Path) -> None:
    (tmp_path / "local.md").touch()
    mounts = {os.fsencode(tmp_path / "nas"): "nfs4 server:/"}
    assert decide(tmp_path, BOOKS, mounts_before=mounts, mounts_now=mounts) == []


def test_another_disk_at_the_same_place_hides_files_unless_it_holds_most_of_them(tmp_path: Path) -> None:
    place = os.fsencode(tmp_path / "nas")
    before, now = {place: "vfat /dev/sdb1"}, {place: "vfat /dev/sdc1"}
    assert numbers(decide(tmp_path, BOOKS, mounts_before=before, mounts_now=now)) == [set(range(25))]
    assert decide(tmp_path, BOOKS, gone={1, 2}, mounts_before=before, mounts_now=now) == []


def test_a_vanished_mount_that_is_left_out_by_now_is_forgotten(tmp_path: Path) -> None:
    before = {os.fsencode(tmp_path / "nas"): "nfs4 server:/"}
    (tmp_path / ".mindscapeignore").write_text("nas\n")
    assert decide(tmp_path, BOOKS, mounts_before=before) == []


def test_a_missing_folder_and_one_that_was_emptied_are_gone(tmp_path: Path) -> None:
    (tmp_path / "local.md").touch()
    assert decide(tmp_path, BOOKS) == []
    (tmp_path / "nas").mkdir()
    assert decide(tmp_path, BOOKS, same=(tmp_path / "nas",)) == []


def test_another_empty_folder_means_away_for_a_day(tmp_path: Path) -> None:
    (tmp_path / "nas").mkdir()
    found = decide(tmp_path, [*BOOKS, "local.md"])
    assert numbers(found) == [set(range(25))]
    assert found[0].for_a_day
    place = os.fsencode(tmp_path / "nas")
    same = (tmp_path / "nas",)
    later = decide(tmp_path, BOOKS, since={place: int(NOW) - GRACE_SECONDS + 5}, same=same)
    assert numbers(later) == [set(range(25))]
    assert decide(tmp_path, BOOKS, since={place: int(NOW) - GRACE_SECONDS}, same=same) == []
    assert decide(tmp_path, BOOKS, since={place: int(NOW) - GRACE_SECONDS}) == []
    (tmp_path / "nas").rmdir()
    missing_now = decide(tmp_path, BOOKS, since={place: int(NOW) - 5})
    assert numbers(missing_now) == [set(range(25))]


def test_few_files_or_a_folder_that_holds_something_are_simply_gone(tmp_path: Path) -> None:
    (tmp_path / "nas").mkdir()
    assert decide(tmp_path, BOOKS[:19]) == []
    (tmp_path / "nas" / "other.txt").touch()
    assert decide(tmp_path, BOOKS) == []


def test_what_the_disk_failed_to_show_is_away_until_it_shows_it(tmp_path: Path) -> None:
    found = decide(tmp_path, ["a/x.md", "b/y.md"], failed={os.fsencode(tmp_path / "a"): "Input/output error"})
    assert numbers(found) == [{0}]
    assert "Input/output error" in found[0].reason
