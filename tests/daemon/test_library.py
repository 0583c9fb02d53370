"""Folders in, documents out: the index follows the disk, with the real watcher and workers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mindscape.errors import NotFound
from mindscape_storage.database import open_reader, value
from tests.daemon.harness import Daemon


def add(daemon: Daemon, folder: Path) -> None:
    daemon.call("add", paths=[str(folder)])
    daemon.wait()


def texts(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in sorted(folder.rglob("*.md"))}


def found(daemon: Daemon, query: str) -> list[str]:
    return [Path(r["document"]["path"]).name for r in daemon.call("search", query=query)["results"]]


def test_edits_moves_and_deletes_are_followed_and_cost_only_what_they_must(
    daemon: Daemon, folder: Path
) -> None:
    (folder / "deep").mkdir()
    for index in range(20):
        (folder / "deep" / f"{index}.md").write_text(f"# Note {index}\n\nWord{index} stands here.\n")
    add(daemon, folder)
    assert daemon.indexed() == texts(folder)
    assert daemon.call("status")["work"]["parses"] == 20

    (folder / "deep").rename(folder / "moved")
    status = daemon.wait()
    assert daemon.indexed() == texts(folder)
    assert status["work"]["parses"] == 20

    (folder / "moved" / "3.md").write_text("# Note 3\n\nQuite another text.\n")
    shutil.copy(folder / "moved" / "4.md", folder / "copy of 4.md")
    (folder / "moved" / "5.md").unlink()
    (folder / "moved" / "6.md").touch()
    status = daemon.wait()
    assert daemon.indexed() == texts(folder)
    assert status["work"]["parses"] == 21

    daemon.call("rm", paths=[str(folder)])
    assert daemon.indexed() == {}
    assert all(check["state"] == "ok" for check in daemon.call("doctor")["checks"])


def test_changes_are_noticed_without_being_asked(daemon: Daemon, folder: Path) -> None:
    (folder / "a.md").write_text("first version\n")
    add(daemon, folder)
    with daemon.connect() as link:
        lines = link.makefile("rb")
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
        temporary = folder / "a.md~new"
        temporary.write_text("second version came by a rename\n")
        temporary.replace(folder / "a.md")
        while found(daemon, "rename") != ["a.md"]:
            assert lines.readline()


def test_a_rename_that_is_seen_as_it_happens_costs_no_parse(daemon: Daemon, folder: Path) -> None:
    (folder / "deep").mkdir()
    for index in range(20):
        (folder / "deep" / f"{index}.md").write_text(f"Note {index}.\n")
    add(daemon, folder)
    with daemon.connect() as link:
        lines = link.makefile("rb")
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
        (folder / "deep").rename(folder / "other")
        while daemon.indexed() != texts(folder):
            assert lines.readline()
    assert daemon.wait()["work"]["parses"] == 20


def test_changes_while_it_was_off_are_found_at_the_next_start(daemon: Daemon, folder: Path) -> None:
    for name in ("kept", "edited", "removed", "renamed"):
        (folder / f"{name}.md").write_text(f"The note {name}.\n")
    add(daemon, folder)
    daemon.stop()
    (folder / "removed.md").unlink()
    (folder / "renamed.md").rename(folder / "new name.md")
    (folder / "edited.md").write_text("Changed.\n")
    (folder / "added.md").write_text("New.\n")
    assert daemon.start() == "ready"
    work = daemon.wait()["work"]
    assert daemon.indexed() == texts(folder)
    assert work["parses"] == 6


def test_a_second_start_with_nothing_changed_computes_nothing(daemon: Daemon, folder: Path) -> None:
    for index in range(10):
        (folder / f"{index}.md").write_text(f"Note {index}.\n")
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    before = daemon.wait("summarised")["work"]
    daemon.stop()
    assert daemon.start() == "ready"
    daemon.wait("embedded")
    assert daemon.wait("summarised")["work"] == before


def test_a_folder_inside_a_watched_one_is_covered_and_one_around_it_takes_over(
    daemon: Daemon, folder: Path
) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "a.md").write_text("inside\n")
    (folder / "b.md").write_text("outside\n")
    add(daemon, inner)
    add(daemon, folder)
    assert [f["path"] for f in daemon.call("status")["folders"]] == [str(folder)]
    add(daemon, inner)
    assert [f["path"] for f in daemon.call("status")["folders"]] == [str(folder)]
    assert daemon.indexed() == texts(folder)
    assert daemon.call("status")["work"]["parses"] == 2


def test_a_watched_folder_that_vanishes_is_away_and_comes_back_without_parsing(
    daemon: Daemon, folder: Path
) -> None:
    (folder / "a.md").write_text("still known\n")
    add(daemon, folder)
    folder.rename(folder.with_name("unmounted"))
    daemon.wait()
    assert daemon.call("ls")["documents"][0]["status"] == "away"
    folder.with_name("unmounted").rename(folder)
    status = daemon.wait()
    assert daemon.indexed() == texts(folder)
    assert status["work"]["parses"] == 1


def test_a_single_file_can_be_watched(daemon: Daemon, folder: Path) -> None:
    (folder / "one.md").write_text("the one\n")
    (folder / "other.md").write_text("the other\n")
    add(daemon, folder / "one.md")
    assert list(daemon.indexed()) == [str(folder / "one.md")]
    (folder / "one.md").unlink()
    daemon.wait()
    assert daemon.call("ls")["documents"][0]["status"] == "away"


def test_names_that_are_not_utf8_are_indexed_and_shown_safely(daemon: Daemon, folder: Path) -> None:
    path = os.fsencode(folder) + b"/caf\xe9 \x1b[31m.txt"
    Path(os.fsdecode(path)).write_text("the strangely named note\n")
    add(daemon, folder)
    row = daemon.call("ls")["documents"][0]
    assert row["status"] == "ok"
    assert row["path"] == f"{folder}/caf\ufffd \ufffd[31m.txt"
    assert found(daemon, "strangely") == ["caf\ufffd \ufffd[31m.txt"]


def test_places_can_be_read_by_id_path_range_and_passage(daemon: Daemon, folder: Path) -> None:
    text = "# Title\n\nFirst line.\nSecond line with 記憶.\n"
    (folder / "note.md").write_text(text)
    add(daemon, folder)
    row = daemon.call("ls")["documents"][0]
    assert daemon.call("get", place=str(row["id"]))["text"] == text
    assert daemon.call("get", place="note.md")["text"] == text
    part = daemon.call("get", place=f"{folder}/note.md:21-32")
    assert (part["text"], part["line"], part["heading"]) == (text[21:32], 4, ["Title"])
    assert daemon.call("get", place=f"{folder}/note.md:3")["text"] == "First line."
    assert daemon.call("get", place="note.md:4")["text"] == "Second line with 記憶."
    hit = daemon.call("search", query="記憶")["results"][0]
    assert daemon.call("get", place=f"p{hit['passage_id']}")["text"] == hit["text"]
    beyond = ("note.md:9-3", "note.md:5", "note.md p. 1", "note.md:99-100")
    for wrong in ("p999999", "other.md", *beyond, "", "\ud800"):
        with pytest.raises(NotFound):
            daemon.call("get", place=wrong)


def same_times(path: Path, other: os.stat_result) -> None:
    os.utime(path, ns=(other.st_atime_ns, other.st_mtime_ns))


def test_another_file_with_the_old_ones_inode_size_and_time_is_not_taken_for_it(
    daemon: Daemon, folder: Path
) -> None:
    old = folder / "old.md"
    old.write_text("The old treaty was signed at Vienna.\n")
    add(daemon, folder)
    status = old.stat()
    # What a file system does that gives a new file the freed inode: same number, size and time.
    old.write_text("The new treaty was signed at Berlin.\n")
    same_times(old, status)
    old.rename(folder / "new.md")
    daemon.wait()
    assert daemon.indexed() == texts(folder)


def test_a_rename_to_another_type_is_read_as_that_type(daemon: Daemon, folder: Path) -> None:
    (folder / "note.txt").write_text("---\ntags: [garden]\n---\n# Ferrets\n\nTwo ferrets.\n")
    (folder / "table.xlsx").write_text("really a text about otters\n")
    add(daemon, folder)
    assert daemon.call("search", query="ferrets", tag="garden")["results"] == []
    (folder / "note.txt").rename(folder / "note.md")
    (folder / "table.xlsx").rename(folder / "table.txt")
    daemon.wait()
    assert daemon.call("search", query="ferrets", tag="garden")["results"]
    assert "table.txt" in found(daemon, "otters")


def test_a_root_that_is_replaced_by_another_folder_is_watched_again(daemon: Daemon, folder: Path) -> None:
    (folder / "x.md").write_text("one\n")
    add(daemon, folder)
    folder.rename(folder.with_name("old"))
    folder.mkdir()
    (folder / "x.md").write_text("two\n")
    daemon.wait()
    with daemon.connect() as link:
        lines = link.makefile("rb")
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
        (folder / "x.md").write_text("three\n")
        while daemon.indexed() != {str(folder / "x.md"): "three\n"}:
            assert lines.readline()


def test_a_changed_ignore_file_takes_effect_at_once(daemon: Daemon, folder: Path) -> None:
    (folder / "kept.md").write_text("kept\n")
    (folder / "hidden.md").write_text("hidden\n")
    add(daemon, folder)
    with daemon.connect() as link:
        lines = link.makefile("rb")
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
        (folder / ".mindscapeignore").write_text("hidden.md\n")
        while len(daemon.indexed()) != 1:
            assert lines.readline()
        (folder / ".mindscapeignore").unlink()
        while len(daemon.indexed()) != 2:
            assert lines.readline()


def test_a_scope_holds_for_what_is_found_by_name_too(daemon: Daemon, folder: Path) -> None:
    (folder / "tomatoes.md").write_text("They need warmth.\n")
    add(daemon, folder)
    assert found(daemon, "tomatoes") == ["tomatoes.md"]
    assert daemon.call("search", query="tomatoes", tag="nosuch")["results"] == []
    assert daemon.call("search", query="tomatoes", since="2099-01-01")["results"] == []


def many(folder: Path, files: int) -> None:
    """So many small files, a hundred in a folder."""
    for number in range(files):
        path = folder / str(number // 100) / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Herring {number}.\n")


def test_a_folder_removed_while_it_is_scanned_leaves_no_documents_and_no_jobs(
    daemon: Daemon, folder: Path, tmp_path: Path
) -> None:
    (folder / "mine.md").write_text("Mine.\n")
    add(daemon, folder)
    big = tmp_path / "big"
    many(big, 5_000)
    daemon.call("add", paths=[str(big)])
    daemon.call("rm", paths=[str(big)])
    status = daemon.call("status")
    assert [root["path"] for root in status["folders"]] == [str(folder)]
    assert sum(status["jobs"].values()) == 0
    assert sorted(texts(folder).values()) == sorted(daemon.indexed().values())
    assert not {path.name for path in big.rglob("*.md")} & set(found(daemon, "herring"))
    daemon.call("add", paths=[str(big / "0")])
    daemon.wait()
    assert len(daemon.indexed()) == len(texts(folder)) + 100


def test_a_kill_after_a_folder_was_removed_does_not_bring_it_back(
    daemon: Daemon, folder: Path, tmp_path: Path
) -> None:
    big = tmp_path / "big"
    many(big, 1_000)
    (folder / "mine.md").write_text("Mine.\n")
    add(daemon, big)
    daemon.call("rm", paths=[str(big)])
    daemon.kill()
    daemon.start()
    add(daemon, folder)
    assert daemon.indexed() == texts(folder)
    assert sum(daemon.call("status")["jobs"].values()) == 0
    while rows := left_behind(daemon):
        assert daemon.process is not None
        assert daemon.process.poll() is None, rows


def left_behind(daemon: Daemon) -> int:
    """Rows of removed folders that are still to go."""
    reader = open_reader(daemon.paths.database)
    try:
        return value(reader, "SELECT count(*) FROM roots WHERE path < x'01'")
    finally:
        reader.close()
