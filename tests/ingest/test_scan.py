"""What a scan sees on the disk, what it leaves out, and what it makes of a move."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path
from typing import cast

import pytest

from mindscape.ingest import scan
from mindscape.ingest.ignore import rules_for
from mindscape.ingest.parsed import ParseFailure
from mindscape.ingest.reading import OpenFile
from mindscape.ingest.scan import Disk, Found, compare, file_stat, walk
from mindscape_storage.records import FileStat, Status


def names(root: Path, start: Path | None = None, patterns: tuple[str, ...] = ()) -> list[str]:
    top = os.fsencode(root)
    begin = None if start is None else os.fsencode(start)
    found = walk(top, rules_for(top, patterns), begin)
    return sorted(os.fsdecode(os.path.relpath(item.path, top)) for item in found)


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def test_hidden_files_machine_folders_and_temporaries_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "deep/b.md", ".git/config", ".obsidian/x.json", "node_modules/y.md", "c.md~")
    make(tmp_path, "d.crdownload", "sedAb12Zz", "4913", "#e.md#", ".f.md.swp", "~$g.docx", "second.txt")
    assert names(tmp_path) == ["a.md", "deep/b.md", "second.txt"]


def test_ignore_files_at_every_level_are_honoured_the_nearest_deciding(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "keep.log", "sub/b.log", "sub/c.md", "drafts/d.md", "sub/drafts/e.md")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\n/drafts/\n[\n")
    (tmp_path / "sub" / ".mindscapeignore").write_text("!b.log\nc.md\n")
    assert names(tmp_path) == ["keep.log", "sub/b.log", "sub/drafts/e.md"]
    assert names(tmp_path, tmp_path / "sub" / "c.md") == []
    assert names(tmp_path, tmp_path / "drafts" / "d.md") == []
    assert names(tmp_path, tmp_path / "sub") == ["sub/b.log", "sub/drafts/e.md"]


def test_the_users_own_patterns_add_to_the_built_in_ones(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.txt", ".journal/c.md", ".other/d.md")
    assert names(tmp_path, patterns=("*.txt", "!.journal")) == [".journal/c.md", "a.md"]


def test_a_file_is_found_by_the_name_its_folder_lists_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "notes.md")
    real = os.lstat

    # As on a file system that does not tell case apart.
    def lstat(path: bytes) -> os.stat_result:
        return real(path.replace(b"NOTES", b"notes"))

    monkeypatch.setattr(scan.os, "lstat", lstat)
    assert names(tmp_path, tmp_path / "NOTES.md") == []
    assert names(tmp_path, tmp_path / "notes.md") == ["notes.md"]


def test_times_and_inodes_beyond_what_the_library_holds_are_bounded() -> None:
    class Far:
        st_size, st_ino, st_mtime_ns, st_ctime_ns = 7, 2**64 - 5, 2**70, -(2**70)

    assert file_stat(cast(os.stat_result, Far())) == FileStat(7, 2**63 - 1, -(2**63) + 1, -5)


def test_a_disk_that_fails_is_told_from_files_that_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "bad/a.md", "good/b.md")
    real = os.scandir

    def failing(path: bytes) -> object:
        if path.endswith(b"bad"):
            raise OSError(errno.EIO, "Input/output error")
        return real(path)

    monkeypatch.setattr(scan.os, "scandir", failing)
    top = os.fsencode(tmp_path)
    disk = Disk(top, rules_for(top, ()))
    found = {Path(os.fsdecode(item.path)).name: item.problem for item in disk.walk()}
    assert disk.failed == {top + b"/bad": "Input/output error"}
    assert found["b.md"] is None
    assert found["bad"] is not None
    assert found["bad"][1] == (
        "The folder bad cannot be listed (Input/output error). Its disk or its connection may be failing."
    )


def test_links_are_not_followed_and_loops_end(tmp_path: Path) -> None:
    make(tmp_path, "a/note.md")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    assert names(tmp_path) == ["a/note.md"]


def test_pipes_and_sockets_get_a_sentence_and_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock.txt"))
        top = os.fsencode(tmp_path)
        found = {Path(os.fsdecode(f.path)).name: f.problem for f in walk(top, rules_for(top, ()))}
    assert found["pipe.txt"] is not None
    assert found["sock.txt"] is not None
    assert found["pipe.txt"] == (
        Status.UNSUPPORTED,
        "pipe.txt is a named pipe, not a file; it is never opened.",
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_folder_that_cannot_be_listed_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    make(tmp_path, "closed/a.md", "open/b.md")
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    (tmp_path / "closed").chmod(0)
    top = os.fsencode(tmp_path)
    os.seteuid(65534)
    try:
        found = {Path(os.fsdecode(f.path)).name: f.problem for f in walk(top, rules_for(top, ()))}
    finally:
        os.seteuid(0)
    assert found["b.md"] is None
    problem = found["closed"]
    assert problem is not None
    assert problem[0] is Status.UNREADABLE
    assert "cannot be listed" in problem[1]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_file_that_may_not_be_read_is_said(tmp_path: Path) -> None:
    make(tmp_path, "secret.md")
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    (tmp_path / "secret.md").chmod(0o600)
    os.seteuid(65534)
    try:
        with pytest.raises(ParseFailure, match=r"cannot be opened .* Mend its permissions") as failure:
            OpenFile(os.fsencode(tmp_path / "secret.md"), 1000)
    finally:
        os.seteuid(0)
    assert failure.value.status is Status.UNREADABLE


def test_a_file_over_the_limit_and_one_that_is_gone_are_said(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    with pytest.raises(ParseFailure, match="max_file_mb") as failure:
        OpenFile(os.fsencode(tmp_path / "a.md"), 3)
    assert failure.value.status is Status.TOO_LARGE
    with pytest.raises(ParseFailure, match="is gone") as failure:
        OpenFile(os.fsencode(tmp_path / "b.md"), 3)
    assert failure.value.status is Status.PENDING
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    with pytest.raises(ParseFailure, match="cannot be opened"):
        OpenFile(os.fsencode(tmp_path / "link.md"), 1000)


def found(path: bytes, inode: int, mtime: int = 1) -> Found:
    return Found(path, FileStat(10, mtime, mtime, inode))


def known(*files: tuple[bytes, int, int]) -> dict[bytes, tuple[int, FileStat, Status]]:
    return {path: (number, FileStat(10, 1, 1, inode), Status.OK) for path, number, inode in files}


def test_a_rename_is_a_move_and_the_name_it_leaves_free_is_not_gone_twice() -> None:
    changes = compare([found(b"b", 1)], known((b"a", 11, 1)))
    assert [(number, item.path) for number, item in changes.moved] == [(11, b"b")]
    assert (changes.new, changes.changed, changes.gone) == ([], [], [])


def test_a_chain_of_renames_and_a_swap_are_moves() -> None:
    changes = compare([found(b"b", 1), found(b"c", 2)], known((b"a", 11, 1), (b"b", 12, 2)))
    assert sorted((number, item.path) for number, item in changes.moved) == [(11, b"b"), (12, b"c")]
    assert (changes.new, changes.changed, changes.gone) == ([], [], [])
    changes = compare([found(b"a", 2), found(b"b", 1)], known((b"a", 11, 1), (b"b", 12, 2)))
    assert sorted((number, item.path) for number, item in changes.moved) == [(11, b"b"), (12, b"a")]
    assert (changes.new, changes.changed, changes.gone) == ([], [], [])


def test_a_file_that_is_moved_over_another_one_replaces_it() -> None:
    changes = compare([found(b"b", 1)], known((b"a", 11, 1), (b"b", 12, 2)))
    assert [(number, item.path) for number, item in changes.moved] == [(11, b"b")]
    assert (changes.new, changes.changed, changes.gone) == ([], [], [12])


def test_a_backup_by_rename_takes_the_document_along_and_the_new_file_is_new() -> None:
    changes = compare([found(b"a", 2), found(b"a.old", 1)], known((b"a", 11, 1)))
    assert [(number, item.path) for number, item in changes.moved] == [(11, b"a.old")]
    assert [item.path for item in changes.new] == [b"a"]
    assert (changes.changed, changes.gone) == ([], [])


def test_any_difference_of_stat_is_a_change_also_an_older_time() -> None:
    for stat in (FileStat(11, 1, 1, 1), FileStat(10, 0, 1, 1), FileStat(10, 1, 2, 1), FileStat(10, 1, 1, 9)):
        changes = compare([Found(b"a", stat)], known((b"a", 11, 1)))
        assert [number for number, _ in changes.changed] == [11]


def test_a_known_file_that_is_not_found_is_gone_and_an_unchanged_one_is_nothing() -> None:
    changes = compare([found(b"a", 1)], known((b"a", 11, 1), (b"b", 12, 2)))
    assert changes.gone == [12]
    assert (changes.new, changes.changed, changes.moved) == ([], [], [])
