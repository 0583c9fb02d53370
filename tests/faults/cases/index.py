"""What the cases of group D say in prose."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.faults.cases.claims import Claim, elsewhere, plays, says
from tests.faults.cases.keys import without_comment
from tests.faults.cases.scene import CaseDaemon, Scene

from mindscape.errors import Refused

INTERNALS = ("fts5", "no such column", "syntax error", "sqlite")


def queries(scene: Scene) -> list[dict[str, Any]]:
    lines = (scene.source / scene.expected["queries_file"]).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@says("D01-fts-queries", "no query raises", "expect_file null = any result or none, but no error and < 1 s")
def every_query_is_answered(scene: Scene, claim: Claim) -> None:
    for query in queries(scene):
        answer = scene.daemon.call("search", query=query["q"], scope=str(scene.root))
        said = json.dumps([answer["coverage"], answer["query"]]).lower()
        assert not any(word in said for word in INTERNALS if word not in query["q"].lower()), query


@says("D01-fts-queries", "keyword search alone (vectors off) already gives the expected file in the first 3")
def words_alone_find_it(scene: Scene, claim: Claim) -> None:
    for query in queries(scene):
        wanted = query["expect_file"] or ""
        if wanted and "or nothing" not in wanted:
            assert without_comment(wanted) in scene.files(query["q"], k=3), query["q"]


elsewhere(
    "D03-fts-desync",
    ("tests/storage/test_check.py::test_derived_damage_is_found_and_repaired",),
    "our 'doctor/health' command must detect the same state in our schema",
)


elsewhere(
    "D03-fts-desync",
    ("tests/storage/test_forget.py::test_a_file_edited_two_hundred_times_keeps_one_set_of_vectors",),
    "updating/deleting a document 100 times leaves FTS 'integrity-check'",
)


def sound(daemon: CaseDaemon) -> bool:
    """Whether `doctor` finds nothing wrong: the file, the indexes row by row, the vectors, the texts."""
    return [one for one in daemon.call("doctor")["checks"] if one["state"] == "fail"] == []


@plays("D06-wal-pin")
def a_client_that_does_not_read(scene: Scene) -> None:
    """Index some megabytes while a client that asked for everything reads nothing of it."""
    scene.root.mkdir()
    for number in range(4):
        lines = (f"Line {line} of file {number}, about a lock and its keeper.\n" for line in range(20_000))
        (scene.root / f"{number}.txt").write_text("".join(lines))
    daemon = scene.start_own(scene.root.with_name("home"))
    with daemon.connect() as link:
        for number in range(50):
            link.sendall(b'{"jsonrpc":"2.0","id":%d,"method":"ls","params":{}}\n' % number)
        link.sendall(b'{"jsonrpc":"2.0","id":99,"method":"subscribe","params":{}}\n')
        scene.watch()
        scene.seen["during"] = wal_bytes(daemon)
        # Nobody holds an old version open, or the log could not be emptied here.
        with closing(apsw.Connection(str(daemon.paths.database))) as other:
            other.set_busy_timeout(10_000)
            other.execute("SELECT count(*) FROM documents").fetchall()
            other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        scene.seen["after"] = wal_bytes(daemon)


def wal_bytes(daemon: CaseDaemon) -> int:
    return Path(f"{daemon.paths.database}-wal").stat().st_size


@says("D06-wal-pin", "a client that starts a streamed search/list and stops reading must not pin the WAL")
def the_log_can_be_emptied(scene: Scene, claim: Claim) -> None:
    assert scene.seen["during"] > scene.seen["after"] == 0


elsewhere(
    "D06-wal-pin",
    ("tests/storage/test_database.py::test_the_log_is_empty_after_a_checkpoint_with_no_reader_open",),
    "after the indexing run settles -wal is < 8 MB without a restart",
)


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[Path]:
    """A file system of its own; skips the test where we may not make one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@plays("D08-disk-full")
def a_disk_that_fills(scene: Scene) -> None:
    """Index until the disk is full, ask, make room, and let it go on by itself."""
    shutil.copytree(scene.source / "tree", scene.root)
    with small_disk(scene.root.parent / "disk", "1m") as disk:
        daemon = scene.start_own(disk / "home")
        try:
            daemon.call("add", paths=[str(scene.root)])
            with pytest.raises(Refused, match="no room left") as refused:
                daemon.wait()
            scene.seen["said"] = str(refused.value) + daemon.call("status")["trouble"]
            scene.seen["answers"] = daemon.call("search", query="diskdoc00")["took_ms"]
            scene.seen["sound"] = sound(daemon)
            scene.seen["half"] = [row for row in daemon.call("ls")["documents"] if row["status"] == "ok"]
            subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
            scene.until(lambda: bool(scene.files("diskdoc39")))
            scene.seen["found"] = scene.files("diskdoc39")
        finally:
            daemon.stop()
    with small_disk(scene.root.parent / "temporary", "64k") as full:
        (full / "filling").write_bytes(b"x" * (60 << 10))
        daemon = scene.start_own(
            scene.root.parent / "home", f"import os; os.environ['TMPDIR'] = {str(full)!r}"
        )
        try:
            scene.watch()
            scene.seen["without room for temporary files"] = scene.files("diskdoc39")
        finally:
            daemon.stop()


@says("D08-disk-full", "with max_page_count (or a 5 MB tmpfs data dir) index tree/")
def a_full_disk_is_said_and_nothing_is_half(scene: Scene, claim: Claim) -> None:
    assert scene.seen["said"].count("no room left") == 2
    assert scene.seen["sound"]
    assert all(row["passages"] for row in scene.seen["half"])


@says("D08-disk-full", "raise the limit: indexing goes on by itself and finds diskdoc39")
def it_goes_on_by_itself(scene: Scene, claim: Claim) -> None:
    assert scene.seen["found"]


@says("D08-disk-full", "TMPDIR on a full tmpfs: same")
def temporary_files_are_not_needed(scene: Scene, claim: Claim) -> None:
    assert scene.seen["without room for temporary files"]


elsewhere(
    "D09-vec-churn",
    ("tests/storage/test_forget.py::test_a_file_edited_two_hundred_times_keeps_one_set_of_vectors",),
    "index, edit and reindex one file 200 times",
)
elsewhere(
    "D09-vec-churn",
    ("tests/storage/test_forget.py::test_a_library_that_shrinks_takes_the_room_of_a_fresh_one",),
    "delete 90 % of a 20 000-chunk library",
)
elsewhere(
    "D09-vec-churn",
    ("tests/storage/test_forget.py::test_nothing_of_what_is_forgotten_stays_in_the_file",),
    "after 'forget', grep the db file for a marker word",
)


@plays("D13-crash-points")
def kills(scene: Scene) -> None:
    """Kill the daemon in the middle of indexing, again and again, then let it finish."""
    shutil.copytree(scene.source / "tree", scene.root)
    daemon = scene.start_own(scene.root.parent / "home")
    scene.seen["starts"] = ["ready"]
    daemon.call("add", paths=[str(scene.root)])
    for number in range(3):
        scene.until(lambda number=number: done(daemon) > 8 * number)
        assert daemon.process is not None
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        scene.seen["starts"].append(daemon.start())
    scene.seen["parses"] = daemon.wait()["work"]["parses"]


def done(daemon: CaseDaemon) -> int:
    return sum(row["status"] == "ok" for row in daemon.call("ls")["documents"])


@says("D13-crash-points", "start works at once")
def it_starts_after_every_kill(scene: Scene, claim: Claim) -> None:
    assert set(scene.seen["starts"]) == {"ready"}


@says("D13-crash-points", "within the usual time all of crash00..crash29 are findable")
def everything_is_found(scene: Scene, claim: Claim) -> None:
    assert all(scene.holds(f"crash{number:02}") for number in range(30))
    assert all(scene.files(f"crash{number:02}") for number in range(30))


@says(
    "D13-crash-points",
    "no document has chunks without vectors or vectors without chunks (count check)",
    "PRAGMA integrity_check ok and FTS integrity-check ok",
)
def the_library_is_whole(scene: Scene, claim: Claim) -> None:
    assert sound(scene.daemon)


@says("D13-crash-points", "unfinished documents are redone, finished ones are not (embed counter)")
def finished_documents_are_not_done_again(scene: Scene, claim: Claim) -> None:
    # At most the one document that was being parsed at each kill is parsed twice.
    assert scene.seen["parses"] <= len(scene.rows()) + 3
