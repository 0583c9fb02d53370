"""Watching under real use: however files change, and whatever the system withholds, the index follows."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from mindscape.errors import NotFound
from mindscape.protocol import Json
from mindscape_storage.database import open_writer, transaction
from tests.daemon.editors import emacs, from_outside, gtk, other_extension, sed, vim
from tests.daemon.harness import Daemon


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    it = Daemon(tmp_path_factory.mktemp("watching") / "home", workers="1")
    yield it
    it.stop()


@pytest.fixture
def daemon(running: Daemon) -> Iterator[Daemon]:
    """A running daemon with an empty library, the same one in each test."""
    yield from lent(running)


def lent(daemon: Daemon) -> Iterator[Daemon]:
    """Start it where it does not run, and leave nothing of a test in its library."""
    if daemon.process is None or daemon.process.poll() is not None:
        assert daemon.start() == "ready"
    yield daemon
    if added := [root["path"] for root in daemon.call("status")["folders"]]:
        daemon.call("rm", paths=added, forget=True)


def texts(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in sorted(folder.rglob("*.md"))}


def add(daemon: Daemon, folder: Path) -> Json:
    daemon.call("add", paths=[str(folder)])
    return daemon.wait()


def rows(daemon: Daemon) -> dict[str, Json]:
    return {Path(row["path"]).name: row for row in daemon.call("ls")["documents"]}


def until(daemon: Daemon, happened: Callable[[], bool]) -> None:
    """Wait, without asking for a scan, until something is so."""
    with daemon.connect() as link:
        lines = link.makefile("rb")
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
        while not happened():
            assert lines.readline()


def follows(daemon: Daemon, folder: Path) -> None:
    """Wait, without asking for a scan, until the index equals the folder."""

    def same() -> bool:
        try:
            return daemon.indexed() == texts(folder)
        except NotFound:  # removed between the list and the look at it
            return False

    until(daemon, same)


def work(status: Json) -> Json:
    """What was read, parsed and embedded; summaries follow in their own time."""
    return {kind: count for kind, count in status["work"].items() if kind != "extractive"}


def parses(daemon: Daemon) -> int:
    return daemon.call("status")["work"].get("parses", 0)


# --- how programs save, move and rename ---


def test_every_way_of_saving_is_one_edit_of_one_document(daemon: Daemon, folder: Path) -> None:
    note = folder / "bread.md"
    note.write_text("The starter lives in the cellar.\n")
    add(daemon, folder)
    before = parses(daemon)
    for number, save in enumerate((vim, gtk, sed, emacs, other_extension, from_outside), 1):
        save(note, f"The starter lives in the attic now, as {save.__name__} says.\n")
        follows(daemon, folder)
        daemon.wait()
        assert list(rows(daemon)) == ["bread.md"]
        assert parses(daemon) == before + number


def test_folders_moved_in_about_and_out_are_followed(daemon: Daemon, folder: Path) -> None:
    outside = folder.with_name("outside")
    (outside / "trip" / "day1").mkdir(parents=True)
    for index in range(10):
        (outside / "trip" / f"{index}.md").write_text(f"Trip note {index}.\n")
    (outside / "trip" / "day1" / "deep.md").write_text("Deep.\n")
    for name in ("sub", "sub2"):
        (folder / name).mkdir()
        (folder / name / "a.md").write_text(f"Note of {name}.\n")
    add(daemon, folder)
    (outside / "trip").rename(folder / "trip")
    follows(daemon, folder)
    (folder / "trip" / "day1" / "deep.md").write_text("Deep, edited after the move.\n")
    (folder / "trip" / "0.md").unlink()
    (folder / "trip" / "day1" / "new.md").write_text("New after the move.\n")
    follows(daemon, folder)
    before = daemon.wait()["work"]["parses"]
    (folder / "trip").rename(folder / "journey")
    follows(daemon, folder)
    assert parses(daemon) == before
    (folder / "journey" / "day1" / "deep.md").write_text("Edited once more.\n")
    follows(daemon, folder)
    (folder / "journey").rename(outside / "journey")
    (folder / "sub").rename(outside / "sub")
    follows(daemon, folder)
    (outside / "journey" / "day1" / "deep.md").write_text("A ghost's edit.\n")
    for path in ("x/y/z", "x/y/w"):
        (folder / path).mkdir(parents=True)
        (folder / path / "q.md").write_text(f"Burst {path}.\n")
    follows(daemon, folder)
    daemon.wait()
    assert daemon.indexed() == texts(folder)


def test_renames_in_a_chain_and_a_swap_cost_no_parse(daemon: Daemon, folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"This was first {name}.\n")
    before = add(daemon, folder)["work"]["parses"]
    (folder / "c.md").rename(folder / "d.md")
    (folder / "b.md").rename(folder / "c.md")
    (folder / "a.md").rename(folder / "b.md")
    follows(daemon, folder)
    (folder / "b.md").rename(folder / "x")
    (folder / "c.md").rename(folder / "b.md")
    (folder / "x").rename(folder / "c.md")
    follows(daemon, folder)
    assert daemon.wait()["work"]["parses"] == before


def test_a_rename_of_case_or_spelling_leaves_one_document(daemon: Daemon, folder: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Übung.md") for form in ("NFC", "NFD"))
    (folder / "notes.md").write_text("One note.\n")
    (folder / "Trip").mkdir()
    (folder / "Trip" / "a.md").write_text("A trip.\n")
    (folder / decomposed).write_text("Practice.\n")
    before = add(daemon, folder)["work"]["parses"]
    (folder / "notes.md").rename(folder / "Notes.md")
    (folder / "Trip").rename(folder / "trip")
    (folder / decomposed).rename(folder / composed)
    follows(daemon, folder)
    assert daemon.wait()["work"]["parses"] == before
    assert daemon.call("get", place=decomposed)["text"] == "Practice.\n"
    # Where the disk holds both, they are two, and `ls` tells them apart.
    (folder / "notes.md").write_text("Another note.\n")
    (folder / decomposed).write_text("The other practice.\n")
    follows(daemon, folder)
    told = {row["path"]: row["spelling"] for row in daemon.call("ls")["documents"] if row["spelling"]}
    assert told == {f"{folder}/{composed}": "composed", f"{folder}/{decomposed}": "decomposed"}
    assert daemon.call("get", place=f"{folder}/{decomposed}")["text"] == "The other practice.\n"


def test_links_special_files_and_odd_names_hurt_nothing(daemon: Daemon, folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "note.md").write_text("The lamp is cleaned on Mondays.\n")
    (folder.parent / "secret.md").write_text("Outside.\n")
    for name, target in (("up", ".."), ("self", "."), ("exit", "../.."), ("exit.md", "../../secret.md")):
        (folder / "a" / name).symlink_to(target)
    for name, target in (
        ("dangling.md", "nowhere"),
        ("zero.txt", "/dev/zero"),
        ("one", "two"),
        ("two", "one"),
    ):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "sock.md"))
    odd = os.fsencode(folder) + b"/two\nlines\t\x1b[2J.md"
    Path(os.fsdecode(odd)).write_text("")
    os.utime(odd, (0, 0))
    (folder / "folder.md").mkdir()
    (folder / "folder.md" / "child.md").write_text("In a folder that looks like a note.\n")
    add(daemon, folder)
    found = rows(daemon)
    assert {name: row["status"] for name, row in found.items()} == {
        "note.md": "ok",
        "child.md": "ok",
        "pipe.md": "unsupported",
        "sock.md": "unsupported",
        "two\ufffdlines\ufffd\ufffd[2J.md": "empty",
    }
    assert all("\n" not in (row["reason"] or "") for row in found.values())


def test_machine_folders_and_what_ignore_files_name_are_neither_indexed_nor_watched(
    daemon: Daemon, folder: Path
) -> None:
    noise = (
        ".obsidian/plugins/x",
        ".git/logs",
        "node_modules/pkg/deep",
        "__pycache__",
        ".venv/lib",
        "drafts/old",
    )
    for path in noise:
        (folder / path).mkdir(parents=True)
        (folder / path / "noise.md").write_text("noise\n")
    (folder / "sub").mkdir()
    (folder / ".gitignore").write_text("drafts/\n*.private.md\n!keep.private.md\n")
    (folder / "sub" / ".gitignore").write_text("x.md\n")
    for name in ("Garden.md", "a.private.md", "keep.private.md", "sub/x.md", "x.md", "~$letter.md"):
        (folder / name).write_text(f"{name}\n")
    add(daemon, folder)
    assert sorted(rows(daemon)) == ["Garden.md", "keep.private.md", "x.md"]
    if sys.platform == "linux":
        # The root, sub, and the folder that holds the root.
        assert watches(daemon) == 3


def watches(daemon: Daemon) -> int:
    assert daemon.process is not None
    count = 0
    for info in Path(f"/proc/{daemon.process.pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            count += info.read_text().count("inotify wd:")
    return count


def test_edits_whose_events_were_lost_in_an_overflow_are_found(daemon: Daemon, folder: Path) -> None:
    for index in range(5):
        (folder / f"{index}.md").write_text(f"Before {index}.\n")
    add(daemon, folder)
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGSTOP)
    noise = folder / "noise.tmp"
    for _ in range(6_000):  # three events each: more than the 16,384 that the kernel keeps for a reader
        noise.touch()
        noise.unlink()
    (folder / "0.md").write_text("After.\n")
    (folder / "1.md").unlink()
    (folder / "2.md").rename(folder / "new name.md")
    (folder / "deep").mkdir()
    (folder / "deep" / "3.md").write_text("In a folder nobody told of.\n")
    daemon.process.send_signal(signal.SIGCONT)
    follows(daemon, folder)
    if sys.platform == "linux":
        assert "queue of file events overflowed" in daemon.paths.log.read_text()
    (folder / "deep" / "3.md").write_text("And which is watched since.\n")
    follows(daemon, folder)


def check_out(folder: Path, branch: str, count: int) -> None:
    for index in range(count):
        page = folder / f"part {index // 200}" / f"{index}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"Page {index} of the branch {branch}.\n")


@pytest.mark.slow
def test_a_checkout_of_twenty_thousand_files_and_back_is_followed_while_questions_are_answered(
    tmp_path: Path, folder: Path
) -> None:
    count = 20_000
    daemon = Daemon(tmp_path / "home", workers="2")
    stable = folder / "stable.md"
    stable.write_text("The stable note about the lighthouse.\n")

    def settled() -> None:
        status = daemon.call("wait", tier="searchable", timeout=900)
        on_disk = {str(path) for path in folder.rglob("*.md")}
        listed = {row["path"] for row in daemon.call("ls")["documents"] if row["status"] == "ok"}
        assert listed == on_disk
        assert status["documents"]["total"] == len(on_disk)

    try:
        assert daemon.start() == "ready"
        add(daemon, folder)
        with ThreadPoolExecutor(1) as writer:
            for branch in ("a", "b"):
                writing = writer.submit(check_out, folder, branch, count)
                while not writing.done():
                    found = daemon.call("search", query="stable lighthouse")["results"]
                    assert found[0]["document"]["path"] == str(stable)
                writing.result()
        for index in range(0, count, 4):
            (folder / f"part {index // 200}" / f"{index}.md").unlink()
        settled()
        assert "branch b" in daemon.call("get", place=f"{folder}/part 0/1.md")["text"]
        assert not [
            r
            for r in daemon.call("search", query="branch a page 19999")["results"]
            if "branch a" in r["text"]
        ]
        before = daemon.call("status")
        daemon.wait()
        assert daemon.call("status")["work"]["parses"] == before["work"]["parses"]
        for part in folder.glob("part *"):
            shutil.rmtree(part)
        settled()
        assert [check for check in daemon.call("doctor")["checks"] if check["state"] != "ok"] == []
    finally:
        daemon.stop()


# --- what is not a change ---


def test_reading_touching_and_changing_permissions_cost_at_most_a_hash(daemon: Daemon, folder: Path) -> None:
    for index in range(30):
        (folder / f"{index}.md").write_text(f"Idle note {index}.\n")
    daemon.call("add", paths=[str(folder)])
    before = work(daemon.wait("embedded"))
    for path in folder.iterdir():
        path.read_bytes()
        path.touch()
    (folder / "1.md").chmod(0o600)
    with (folder / "2.md").open("r+"):
        pass
    (folder / "last.md").write_text("Now all the others were heard of.\n")
    until(daemon, lambda: "last.md" in rows(daemon) and rows(daemon)["last.md"]["status"] == "ok")
    after = work(daemon.wait("embedded"))
    assert after == before | {key: before[key] + 1 for key in ("parses", "passage_embeddings")}


def test_a_library_moved_to_another_place_is_read_but_not_parsed_or_embedded_again(
    daemon: Daemon, folder: Path
) -> None:
    for index in range(10):
        (folder / f"{index}.md").write_text(f"Note {index}.\n")
    daemon.call("add", paths=[str(folder)])
    before = work(daemon.wait("embedded"))
    moved = folder.with_name("moved")
    folder.rename(moved)
    until(daemon, lambda: daemon.call("status")["folders"][0]["mode"] == "away")
    daemon.call("add", paths=[str(moved)])
    assert work(daemon.wait("embedded")) == before
    daemon.call("rm", paths=[str(folder)])
    assert work(daemon.wait("embedded")) == before
    assert daemon.indexed() == texts(moved)


# --- what times do not tell ---


def with_times_of(path: Path, text: str) -> None:
    """Write as a tool does that restores the times."""
    status = path.stat()
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_times_that_stand_still_go_back_or_lie_in_the_future_hide_no_edit(
    daemon: Daemon, folder: Path
) -> None:
    notes = [folder / f"{name}.md" for name in ("same", "past", "future", "restored")]
    for note in notes:
        note.write_text("One text of this length.\n")
    add(daemon, folder)
    with_times_of(notes[0], "Two texts of one length.\n")
    notes[1].write_text("An older backup.\n")
    os.utime(notes[1], (0, 0))
    notes[2].write_text("From the future.\n")
    os.utime(notes[2], (2**33, 2**33))
    restored = folder.with_name("restored")
    restored.write_text("Copied over, as old as it is.\n")
    os.utime(restored, (1_000_000, 1_000_000))
    restored.replace(notes[3])
    follows(daemon, folder)
    daemon.stop()
    with_times_of(notes[0], "Six texts of one length.\n")
    assert daemon.start() == "ready"
    daemon.wait()
    assert daemon.indexed() == texts(folder)


def test_an_edit_that_nothing_tells_of_is_found_by_reading_again(tmp_path: Path, folder: Path) -> None:
    daemon = Daemon(tmp_path / "home", workers="1", poll_seconds="1", reconcile_minutes="0")
    note = folder / "a.md"
    note.write_text("One text of this length.\n")
    try:
        assert daemon.start() == "ready"
        add(daemon, folder)
        daemon.stop()
        with_times_of(note, "Two texts of one length.\n")
        behind_its_back(daemon, "UPDATE documents SET ctime_ns = ?", note.stat().st_ctime_ns)
        assert daemon.start() == "ready"
        follows(daemon, folder)
    finally:
        daemon.stop()


def behind_its_back(daemon: Daemon, sql: str, *values: int) -> None:
    """Change the library of a daemon that is not running."""
    connection = open_writer(daemon.paths.database)
    with transaction(connection):
        connection.execute(sql, values)
    connection.close()


# --- files that are not finished ---


def test_a_file_that_arrives_in_pieces_ends_as_the_whole(daemon: Daemon, folder: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas  # only here: it takes a while to load

    made = folder.with_name("made.pdf")
    canvas = Canvas(str(made))
    canvas.drawString(72, 700, "The harbour dues were raised in spring.")
    canvas.save()
    whole = made.read_bytes()
    add(daemon, folder)
    with (folder / "slow.pdf").open("wb") as file:
        until(daemon, lambda: rows(daemon).get("slow.pdf", {}).get("status") == "empty")
        file.write(whole[: len(whole) // 2])
        file.flush()
        until(daemon, lambda: rows(daemon)["slow.pdf"]["status"] == "damaged")
        file.write(whole[len(whole) // 2 :])
    until(daemon, lambda: rows(daemon)["slow.pdf"]["status"] == "ok")
    for name in ("b.pdf.part", "c.pdf.crdownload"):
        (folder / name).write_bytes(whole[:100])
        (folder / name).write_bytes(whole)
        (folder / name).rename(folder / name[:5])
    until(
        daemon,
        lambda: (
            {n: r["status"] for n, r in rows(daemon).items()}
            == dict.fromkeys(("slow.pdf", "b.pdf", "c.pdf"), "ok")
        ),
    )


def test_waiting_does_not_end_with_a_file_that_is_still_being_written(daemon: Daemon, folder: Path) -> None:
    (folder / "note.docx").write_bytes(b"PK\x03\x04 the first bytes of an archive")
    daemon.call("add", paths=[str(folder)])
    until(daemon, lambda: "note.docx" in rows(daemon))
    status = rows(daemon)["note.docx"]["status"]
    age = (os.times().elapsed, (folder / "note.docx").stat().st_mtime)
    assert status == "pending", f"it was taken at its word at once: {age}"
    daemon.wait()
    assert rows(daemon)["note.docx"]["status"] == "damaged"


@pytest.mark.slow
def test_what_is_removed_while_it_is_embedded_is_embedded_no_further(daemon: Daemon, folder: Path) -> None:
    words = [f"word{index}" for index in range(20_000)]
    (folder / "large.md").write_text(
        "\n\n".join(" ".join(words[at : at + 90]) for at in range(0, 20_000, 20))
    )
    (folder / "small.md").write_text("The small note.\n")
    passages = sum(row["passages"] for row in (add(daemon, folder), rows(daemon))[1].values())
    (folder / "large.md").unlink()
    follows(daemon, folder)
    done = daemon.wait("embedded")["work"]["passage_embeddings"]
    assert done < passages
    assert daemon.call("status")["documents"]["embedded"] == 1
    assert [check for check in daemon.call("doctor")["checks"] if check["state"] != "ok"] == []


# --- what the system withholds ---


class Contained(Daemon):
    """A daemon in name spaces of its own, in which it can be mounted, and limits be set, at will."""

    def __init__(self, home: Path, before: str = "true", **settings: str) -> None:
        super().__init__(home, workers="1", **settings)
        self._before = before

    def command(self) -> list[str]:
        return [
            "unshare",
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            f'{self._before} && exec "$@"',
            "sh",
            *super().command(),
        ]

    def run(self, *command: str) -> None:
        assert self.process is not None
        inside = ["nsenter", f"--target={self.process.pid}", "--user", "--mount", "--preserve-credentials"]
        subprocess.run([*inside, *command], check=True)

    def seen(self, path: Path) -> Path:
        """A path as the daemon sees it."""
        assert self.process is not None
        return Path(f"/proc/{self.process.pid}/root{path}")


def can_contain() -> bool:
    try:
        command = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


contained = pytest.mark.skipif(not can_contain(), reason="needs user name spaces (unshare), as on Linux")


@pytest.fixture
def make_contained(tmp_path: Path) -> Iterator[Callable[..., Contained]]:
    made: list[Contained] = []

    def make(before: str = "true", **settings: str) -> Contained:
        made.append(Contained(tmp_path / "home", before, **settings))
        assert made[-1].start() == "ready"
        return made[-1]

    yield make
    for daemon in made:
        daemon.stop()


@pytest.fixture(scope="module")
def running_contained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contained]:
    it = Contained(tmp_path_factory.mktemp("contained") / "home", poll_seconds="1")
    yield it
    it.stop()


@pytest.fixture
def contained_daemon(running_contained: Contained) -> Iterator[Contained]:
    for _ in lent(running_contained):
        yield running_contained


@contained
@pytest.mark.parametrize("limit", ["max_inotify_watches", "max_inotify_instances"])
def test_at_the_limit_of_watches_a_root_is_polled_and_says_how_to_raise_it(
    make_contained: Callable[..., Contained], folder: Path, limit: str
) -> None:
    for index in range(60):
        (folder / f"d{index}").mkdir()
    last = folder / "d59" / "last.md"
    last.write_text("The last folder.\n")
    allowed = 40 if limit == "max_inotify_watches" else 0
    daemon = make_contained(f"echo {allowed} > /proc/sys/user/{limit}", poll_seconds="1")
    shown = add(daemon, folder)["folders"][0]
    assert shown["mode"] == "polling"
    assert f"sudo sysctl fs.inotify.{limit.replace('inotify', 'user')}=" in shown["reason"]
    assert "scanned every 1 seconds" in shown["reason"]
    assert watches(daemon) == 0
    last.write_text("An edit that polling finds.\n")
    follows(daemon, folder)


@contained
def test_a_mount_that_vanishes_is_away_and_comes_back_for_nothing(
    contained_daemon: Contained, folder: Path
) -> None:
    daemon = contained_daemon
    nas = folder / "nas"
    nas.mkdir()
    (folder / "local.md").write_text("On the own disk.\n")
    daemon.call("add", paths=[str(folder)])
    disk = folder.with_name("disk")
    disk.mkdir()
    daemon.run("mount", "-t", "tmpfs", "books", str(disk))
    daemon.run("mount", "--bind", str(disk), str(nas))
    for index in range(3):
        (daemon.seen(nas) / f"book {index}.md").write_text(f"Book {index} of the other disk.\n")
    daemon.wait()
    until(daemon, lambda: len(daemon.indexed()) == 4)
    before = work(daemon.wait("embedded"))
    # The disk goes without a word, and the empty folder below it shows.
    daemon.run("umount", str(nas))
    until(daemon, lambda: [row["status"] for row in rows(daemon).values()].count("away") == 3)
    book = rows(daemon)["book 1.md"]
    assert book["reason"] == f"Its disk is not there: no tmpfs is mounted at {nas} as before."
    result = next(
        result
        for result in daemon.call("search", query="book of the other disk")["results"]
        if result["document"]["path"].endswith(".md") and "away" in result["document"]
    )
    assert result["document"]["away"] == book["reason"]
    coverage = daemon.call("search", query="x")["coverage"]
    assert coverage["documents"] == 4
    assert any("3 documents are away" in note for note in coverage["notes"])
    assert rows(daemon)["local.md"]["status"] == "ok"
    daemon.wait("embedded")
    daemon.run("mount", "--bind", str(disk), str(nas))
    until(daemon, lambda: len(daemon.indexed()) == 4)
    assert work(daemon.wait("embedded")) == before


@contained
def test_a_root_whose_mount_vanishes_is_away_and_no_file_of_it_is_gone(
    contained_daemon: Contained, folder: Path
) -> None:
    daemon = contained_daemon
    daemon.run("mount", "-t", "tmpfs", "stick", str(folder))
    root = folder / "inner"
    daemon.seen(root).mkdir()
    (daemon.seen(root) / "a.md").write_text("On the stick.\n")
    add(daemon, root)
    before = work(daemon.wait("embedded"))
    daemon.run("mount", "-t", "tmpfs", "cover", str(folder))
    until(daemon, lambda: daemon.call("status")["folders"][0]["mode"] == "away")
    daemon.run("mkdir", str(root))
    status = daemon.wait()
    assert status["folders"][0]["mode"] == "away"
    assert "no tmpfs is mounted" in status["folders"][0]["reason"]
    assert [row["status"] for row in rows(daemon).values()] == ["away"]
    daemon.run("umount", str(folder))
    until(daemon, lambda: daemon.call("status")["folders"][0]["mode"] == "events")
    assert work(daemon.wait()) == before
    assert list(daemon.indexed().values()) == ["On the stick.\n"]


@contained
@pytest.mark.parametrize("at", ["notes/nas", "notes", ""])
def test_a_network_mount_in_or_around_a_root_is_polled_and_said_so(
    contained_daemon: Contained, folder: Path, tmp_path: Path, at: str
) -> None:
    (folder / "nas").mkdir()
    (folder / "nas" / "a.md").write_text("From the server.\n")
    place = tmp_path / at
    table = tmp_path / "mountinfo"
    table.write_text(
        "36 35 98:0 / / rw shared:1 - ext4 /dev/vda1 rw\n"
        f"91 36 0:52 / {place} rw shared:40 - nfs4 server:/docs rw\n"
    )
    daemon = contained_daemon
    mountinfo = f"/proc/{daemon.process and daemon.process.pid}/mountinfo"
    daemon.run("mount", "--bind", str(table), mountinfo)
    try:
        shown = add(daemon, folder)["folders"][0]
        assert shown["mode"] == "polling"
        assert shown["reason"] == (
            f"{place} (nfs4) tells of no changes made elsewhere; it is scanned every 1 seconds instead."
        )
        # So an unmount looks: the table has lost it, and its files are hidden.
        table.write_text("36 35 98:0 / / rw shared:1 - ext4 /dev/vda1 rw\n")
        (folder / "nas" / "a.md").unlink()
        until(daemon, lambda: [row["status"] for row in rows(daemon).values()] == ["away"])
    finally:
        daemon.run("umount", mountinfo)


@contained
def test_a_root_that_cannot_be_written_is_indexed(contained_daemon: Contained, folder: Path) -> None:
    (folder / "a.md").write_text("Read only.\n")
    daemon = contained_daemon
    daemon.run("mount", "--bind", str(folder), str(folder))
    daemon.run("mount", "-o", "remount,ro,bind", str(folder))
    status = add(daemon, folder)
    assert status["folders"][0]["mode"] == "events"
    assert daemon.indexed() == texts(folder)


# --- gone or away ---


def test_an_empty_folder_in_the_place_of_a_full_one_is_away_for_a_day(daemon: Daemon, folder: Path) -> None:
    nas, hidden = folder / "nas", folder.with_name("hidden")
    nas.mkdir()
    for index in range(25):
        (nas / f"{index}.md").write_text(f"Book {index}.\n")
    (folder / "local.md").write_text("Local.\n")
    daemon.call("add", paths=[str(folder)])
    before = work(daemon.wait("embedded"))
    nas.rename(hidden)
    nas.mkdir()
    until(daemon, lambda: [row["status"] for row in rows(daemon).values()].count("away") == 25)
    assert "forgotten after a day" in rows(daemon)["1.md"]["reason"]
    nas.rmdir()
    hidden.rename(nas)
    follows(daemon, folder)
    assert work(daemon.wait("embedded")) == before
    nas.rename(hidden)
    nas.mkdir()
    until(daemon, lambda: "away" in {row["status"] for row in rows(daemon).values()})
    daemon.stop()
    behind_its_back(daemon, "UPDATE absences SET since = since - 90000")
    assert daemon.start() == "ready"
    daemon.wait()
    assert list(rows(daemon)) == ["local.md"]


def test_what_the_user_deletes_is_gone_at_once(daemon: Daemon, folder: Path) -> None:
    for name in ("emptied", "removed"):
        (folder / name).mkdir()
        for index in range(25):
            (folder / name / f"{index}.md").write_text(f"Note {index} of {name}.\n")
    add(daemon, folder)
    for path in (folder / "emptied").iterdir():
        path.unlink()
    shutil.rmtree(folder / "removed")
    until(daemon, lambda: rows(daemon) == {})


def test_a_root_that_is_deleted_made_anew_or_exchanged_is_followed(daemon: Daemon, folder: Path) -> None:
    (folder / "a.md").write_text("The first.\n")
    add(daemon, folder)
    shutil.rmtree(folder)
    until(daemon, lambda: daemon.call("status")["folders"][0]["mode"] == "away")
    folder.mkdir()
    (folder / "b.md").write_text("Made anew.\n")
    follows(daemon, folder)
    other = folder.with_name("other")
    other.mkdir()
    (other / "c.md").write_text("Exchanged.\n")
    folder.rename(folder.with_name("old"))
    other.rename(folder)
    follows(daemon, folder)
    (folder / "d.md").write_text("Written after the exchange.\n")
    follows(daemon, folder)
    assert daemon.call("status")["folders"][0]["mode"] == "events"


def test_a_root_given_as_a_link_is_watched_where_it_really_is(daemon: Daemon, folder: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    (folder / "a.md").write_text("Through a link.\n")
    shown = add(daemon, link)["folders"]
    assert [root["path"] for root in shown] == [str(folder)]
    (folder / "a.md").write_text("Edited where it is.\n")
    follows(daemon, folder)


def test_a_root_inside_what_another_leaves_out_is_watched_for_itself(daemon: Daemon, folder: Path) -> None:
    inner = folder / ".journal"
    inner.mkdir()
    (inner / "a.md").write_text("Hidden from the outer.\n")
    (folder / "b.md").write_text("Open.\n")
    add(daemon, folder)
    add(daemon, inner)
    (inner / "a.md").write_text("Hidden and edited.\n")
    (folder / "b.md").write_text("Open and edited.\n")
    follows(daemon, folder)
    daemon.call("rm", paths=[str(folder)])
    (inner / "a.md").write_text("Still watched.\n")
    follows(daemon, inner)


def test_counts_add_up_to_the_files_seen(daemon: Daemon, folder: Path) -> None:
    (folder / "good.md").write_text("Good.\n")
    (folder / "bad.docx").write_bytes(b"PK\x03\x04 broken")
    (folder / "none.md").write_text("")
    (folder / "program.bin").write_bytes(b"\x7fELF" + bytes(range(256)) * 20)
    status = add(daemon, folder)
    by_status = status["documents"]["by_status"]
    assert by_status == {"damaged": 1, "empty": 1, "ok": 1, "unsupported": 1}
    assert sum(by_status.values()) == status["documents"]["total"] == len(list(folder.iterdir()))
    daemon.stop()
    assert daemon.start() == "ready"
    assert daemon.wait()["documents"] == status["documents"]
    assert work(daemon.call("status")) == work(status)


@contained
def test_what_may_not_be_read_is_said_and_read_once_it_may(tmp_path: Path, folder: Path) -> None:
    class Powerless(Daemon):
        """Without the power over all files that root has."""

        def command(self) -> list[str]:
            return ["unshare", "--user", *super().command()]

    (folder / "closed").mkdir()
    for name in ("good.md", "secret.md", "closed/inner.md"):
        (folder / name).write_text(f"Text of {name}.\n")
    (folder / "secret.md").chmod(0)
    (folder / "closed").chmod(0)
    daemon = Powerless(tmp_path / "home", workers="1")
    try:
        assert daemon.start() == "ready"
        add(daemon, folder)
        assert {name: row["status"] for name, row in rows(daemon).items()} == {
            "good.md": "ok",
            "secret.md": "unreadable",
            "closed": "unreadable",
        }
        (folder / "secret.md").chmod(0o644)
        (folder / "closed").chmod(0o755)
        follows(daemon, folder)
    finally:
        daemon.stop()
