"""An edit of one document reads no large table from end to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from mindscape_storage import documents, folders, jobs, nodes, refined, summaries, vectors
from mindscape_storage.database import Connection
from tests.storage.build import (
    ENCODER,
    STAT,
    WIDTH,
    cut,
    embed,
    lines,
    put,
    refine,
    remove,
    root_of,
    summarise,
)

EDITS: dict[str, Callable[[Connection], object]] = {
    "add": lambda c: put(c, b"/notes/new.md", cut("a new note about the mill and its wheel")),
    "edit": lambda c: put(c, b"/notes/5.md", cut("note 5, said in other words entirely")),
    "revert": lambda c: (put(c, b"/notes/5.md", lines("x")), put(c, b"/notes/5.md", lines("note 5"))),
    "remove": lambda c: remove(c, b"/notes/6.md"),
    "move": lambda c: documents.move_documents(c, root_of(c), [(7, b"/notes/z.md", "/notes/z.md", STAT)]),
    "go away": lambda c: documents.set_away(c, [8], "It is not there now."),
    "embed": lambda c: (put(c, b"/notes/9.md", lines("fresh")), embed(c)),
    "nothing to embed": lambda c: vectors.missing_inputs(c, vectors.encoder_id(c, ENCODER, WIDTH), 32),
    "job": lambda c: (jobs.enqueue(c, "index", "x", 1), jobs.finish_job(c, _claimed(c))),
    "summarise": lambda c: (put(c, b"/notes/5.md", lines("said otherwise")), summarise(c)),
    "nothing to summarise": summarise,
    "summarise above": lambda c: (remove(c, b"/notes/6.md"), summarise(c)),
    "what is summarised": lambda c: (
        put(c, b"/notes/5.md", lines("said otherwise")),
        folders.not_summarised(c),
        folders.documents_behind(c),
        folders.folders_behind(c),
    ),
    "texts of children": lambda c: (
        nodes.passage_texts(c, 5, 0, 9),
        summaries.digests_by_key(c, [node.key for node in nodes.nodes_between(c, 5, 1, 0, 1_000)]),
    ),
    "refine": lambda c: (put(c, b"/notes/5.md", lines("said otherwise")), summarise(c), refine(c)),
    "nothing to refine": refine,
    "what is refined": lambda c: (
        put(c, b"/notes/5.md", lines("said otherwise")),
        summarise(c),
        refined.not_refined(c),
        refined.left(c),
    ),
    "find": lambda c: documents.find_document(c, b"/notes/3.md"),
}
SMALL = ("roots", "encoders", "sqlite_schema", "meta", "refined_by", "_segdir", "_config", "_idx", "_info")


def _claimed(conn: Connection) -> int:
    job = jobs.claim(conn, ["index"])
    assert job is not None
    return job.id


@pytest.mark.parametrize("name", EDITS)
def test_no_statement_of_an_edit_scans_a_table(conn: Connection, path: Path, name: str) -> None:
    for number in range(40):
        put(conn, f"/notes/{number}.md".encode(), lines(f"note {number}"))
    embed(conn)
    summarise(conn)
    refine(conn)
    scans: list[tuple[int, str]] = []

    def note(event: dict[str, Any]) -> None:
        steps = event["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"]
        sql = event.get("sql") or ""
        if steps and not any(f" {small}" in sql for small in SMALL):
            scans.append((steps, sql))

    conn.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    EDITS[name](conn)
    conn.trace_v2(0, None)
    assert scans == []
