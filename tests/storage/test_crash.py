"""The process may die at any write: what is on disk then opens as the library before or after a step."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from mindscape_storage import contents, documents, jobs, roots
from mindscape_storage.check import run_checks
from mindscape_storage.counters import bump
from mindscape_storage.database import Connection, open_reader, open_writer
from mindscape_storage.dump import canonical_dump
from tests.storage.build import STAT, cut, embed, lines, put, remove, root_of, summarise

WRITES = (
    "INSERT",
    "UPDATE",
    "DELETE",
    "REPLACE",
    "CREATE",
    "DROP",
    "COMMIT",
    "BEGIN",
    "RELEASE",
    "PRAGMA user",
)

STEPS: list[Callable[[Connection], object]] = [
    lambda c: put(c, b"/notes/a.md", cut("the mill grinds wheat for the valley")),
    lambda c: put(c, b"/notes/b.md", lines("herring", "barrels")),
    embed,
    lambda c: put(c, b"/notes/a.md", cut("the mill grinds barley for the valley")),
    lambda c: documents.move_documents(c, root_of(c), [(2, b"/notes/sub/b.md", "/notes/sub/b.md", STAT)]),
    embed,
    summarise,
    lambda c: put(c, b"/notes/a.md", cut("the mill grinds wheat for the valley")),
    summarise,
    lambda c: jobs.enqueue(c, "index", "a", 1),
    lambda c: bump(c, "parses"),
    lambda c: remove(c, b"/notes/sub/b.md"),
    lambda c: roots.remove_root(c, 1, forget=True),
]


class Camera:
    """Before each write, copies the files as a kill would leave them, and notes what was committed."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.reader = open_reader(path)
        self.taken: list[tuple[int, Path, dict[str, Any]]] = []
        self.step = 0

    def __call__(self, cursor: apsw.Cursor, sql: str, values: object) -> bool:
        if sql.lstrip().upper().startswith(WRITES):
            copy = self.folder / f"{len(self.taken)}.db"
            shutil.copyfile(self.path, copy)
            shutil.copyfile(f"{self.path}-wal", f"{copy}-wal")
            self.taken.append((self.step, copy, canonical_dump(self.reader)))
        return True


def test_a_kill_at_any_write_loses_nothing_committed_and_the_step_can_be_done_again(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    conn = open_writer(path)
    root_of(conn)
    conn.execute("PRAGMA cache_size = 5")  # pages spill into the log before a commit, as in long transactions
    camera = Camera(path, tmp_path)
    after: list[dict[str, Any]] = []
    for camera.step, step in enumerate(STEPS):
        conn.set_exec_trace(camera)
        step(conn)
        conn.set_exec_trace(None)
        after.append(canonical_dump(conn))
    camera.reader.close()
    conn.close()
    assert len(camera.taken) > 100
    for number, copy, committed in camera.taken:
        reopened = open_writer(copy)
        assert canonical_dump(reopened) == committed, f"step {number}, {copy.name}"
        contents.discard_staged(reopened)
        assert {check.state for check in run_checks(reopened, copy)} == {"ok"}
        STEPS[number](reopened)
        assert canonical_dump(reopened) == after[number], f"step {number}, {copy.name}"
        reopened.close()
