"""What a change costs in a library of 1,000 documents, beside building it: calls, seconds, bytes written.

    python tests/quality/measure_edits.py DATA

DATA is the folder with notes/, eval/ and train_sets/. The documents are the notes, stories and novels there,
and as many parts of meetings as make 1,000; of a tale the first words, so that embedding takes minutes.
A real daemon with the shipped embedder watches them; each change is measured from the moment it is made until
everything is embedded and summarised.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import psutil
from tests.benchmarks.table import machine
from tests.daemon.harness import Daemon

from mindscape_storage.database import open_reader, value

DOCUMENTS = 1_000
MEETING_WORDS = 400
TALE_WORDS = 600
MOVED = 200
WAIT_SECONDS = 7200
COUNTED = ("parses", "passage_embeddings", "extractive")
PARAGRAPH = (
    "In the morning the surveyor came back from the harbour with his maps under his arm. Nobody expected "
    "him before Thursday, and the clerk hid the ledger. He asked for tea, counted the barrels twice, and "
    "said that the third lock would have to be opened after all. Then he went out again without his hat."
)


class Cost(NamedTuple):
    """Of one change, until everything is at rest again."""

    what: str
    calls: tuple[int, ...]
    seconds: float
    written: int


def main() -> None:
    """Build, change, print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library"
        fill(library, given.data)
        daemon = Daemon(Path(folder) / "home", workers="1", idle_minutes="600")
        assert daemon.start() == "ready"
        try:
            print(table(daemon, library))
        finally:
            daemon.stop()


def fill(library: Path, data: Path) -> None:
    """Write the documents."""
    texts = chain(_novels(data), _stories(data), _notes(data), _meetings(data))
    for name, text in islice(texts, DOCUMENTS):
        path = library / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _novels(data: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((data / "eval/clipper_dev/docs").iterdir()):
        yield f"novels/{path.name}", path.read_text("utf-8")


def _stories(data: Path) -> Iterator[tuple[str, str]]:
    folders = [data / "eval/fairytaleqa/docs", data / "train_sets/fairytaleqa_train/docs"]
    tales = sorted(path for folder in folders for path in folder.iterdir())
    for number, path in enumerate(tales):
        words = path.read_text("utf-8").split(" ")
        yield f"stories/{'tales' if number < MOVED else 'more'}/{path.name}", " ".join(words[:TALE_WORDS])
    for path in sorted((data / "eval/squality_dev/docs").iterdir()):
        yield f"stories/long/{path.name}", path.read_text("utf-8")


def _notes(data: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((data / "notes").rglob("*.md")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(data).parts):
            yield str(path.relative_to(data)), path.read_text("utf-8", "replace")


def _meetings(data: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((data / "eval/qmsum/docs").iterdir()):
        words = path.read_text("utf-8").split(" ")
        for number, at in enumerate(range(0, len(words), MEETING_WORDS)):
            yield f"meetings/{path.stem}/{number:03}.txt", " ".join(words[at : at + MEETING_WORDS])


def table(daemon: Daemon, library: Path) -> str:
    """Every change in turn, as rows of Markdown."""
    build = measured(
        daemon, "the whole library, from nothing", lambda: daemon.call("add", paths=[str(library)])
    )
    novels = sorted((library / "novels").iterdir())
    old = novels[0].read_text("utf-8")
    most = 2 * depth(daemon, novels[0]) + 6
    rows = [
        (measured(daemon, "one paragraph edited in a novel", lambda: edit(novels[0])), (1, 12, most)),
        (measured(daemon, "one inserted at its start", lambda: insert(novels[1])), (1, 12, most)),
        (measured(daemon, "a note renamed", lambda: rename(library)), (0, 0, most)),
        (measured(daemon, f"a folder of {MOVED} moved", lambda: move(library)), (0, 0, 2 * most)),
        (
            measured(daemon, "the edited novel reverted", lambda: novels[0].write_text(old, "utf-8")),
            (1, 0, 0),
        ),
        (restarted(daemon), (0, 0, 0)),
    ]
    counts = daemon.call("status")["documents"]
    passages = _passages(daemon)
    lines = [
        machine(),
        f"{counts['total']:,} documents of {passages:,} passages; {depth(daemon, novels[0])} levels above a "
        "passage of the novel.",
        "",
        "| change | parses | embeddings | summaries | seconds | MB written | bounds | met |",
        "|---|---|---|---|---|---|---|---|",
        f"{_row(build)} - | - |",
    ]
    for cost, bounds in rows:
        met = all(call <= bound for call, bound in zip(cost.calls, bounds, strict=True))
        lines.append(f"{_row(cost)} {', '.join(map(str, bounds))} | {'yes' if met else '**no**'} |")
    return "\n".join(lines)


def _row(cost: Cost) -> str:
    calls = " | ".join(f"{call:,}" for call in cost.calls)
    return f"| {cost.what} | {calls} | {cost.seconds:,.1f} | {cost.written / 1e6:,.1f} |"


def measured(daemon: Daemon, what: str, change: Callable[[], object]) -> Cost:
    """Make a change and wait until everything is at rest."""
    before, wrote = _work(daemon), _written(daemon)
    began = time.perf_counter()
    change()
    _settle(daemon)
    seconds = time.perf_counter() - began
    after = _work(daemon)
    calls = tuple(now - then for now, then in zip(after, before, strict=True))
    cost = Cost(what, calls, seconds, _written(daemon) - wrote)
    print(cost, file=sys.stderr, flush=True)
    return cost


def restarted(daemon: Daemon) -> Cost:
    """Stop the daemon, and start it again: counted from its start."""
    before = _work(daemon)
    daemon.stop()
    began = time.perf_counter()
    assert daemon.start() == "ready"
    _settle(daemon)
    seconds = time.perf_counter() - began
    calls = tuple(now - then for now, then in zip(_work(daemon), before, strict=True))
    return Cost("a restart", calls, seconds, _written(daemon))


def edit(path: Path) -> None:
    """Another paragraph in the middle of a document."""
    paragraphs = path.read_text("utf-8").split("\n\n")
    paragraphs[len(paragraphs) // 2] = PARAGRAPH
    path.write_text("\n\n".join(paragraphs), "utf-8")


def insert(path: Path) -> None:
    """A paragraph more, at the start."""
    path.write_text(f"{PARAGRAPH}\n\n{path.read_text('utf-8')}", "utf-8")


def rename(library: Path) -> None:
    """Give one of the notes another name."""
    note = sorted((library / "notes").rglob("*.md"))[7]
    note.rename(note.with_name("another name.md"))


def move(library: Path) -> None:
    """Move the folder of tales to another place in the library."""
    (library / "read").mkdir()
    shutil.move(library / "stories/tales", library / "read/tales")


def depth(daemon: Daemon, path: Path) -> int:
    """Levels of nodes from a passage of the document to the root of the library."""
    connection = open_reader(daemon.paths.database)
    try:
        document = value(
            connection,
            "SELECT max(level) FROM nodes n JOIN documents d USING (content_id) WHERE d.path = ?",
            (bytes(path),),
        )
        above = value(
            connection,
            """
            WITH RECURSIVE up (id, parent) AS (
                SELECT f.id, f.parent FROM folders f JOIN documents d ON d.folder_id = f.id WHERE d.path = ?1
                UNION SELECT f.id, f.parent FROM folders f JOIN up ON f.id = up.parent)
            SELECT sum(top) FROM
                (SELECT max(level) AS top FROM folder_nodes WHERE folder_id IN (SELECT id FROM up)
                 GROUP BY folder_id)
            """,
            (bytes(path),),
        )
    finally:
        connection.close()
    return int(document) + int(above)


def _passages(daemon: Daemon) -> int:
    connection = open_reader(daemon.paths.database)
    try:
        return int(value(connection, "SELECT count(*) FROM passages"))
    finally:
        connection.close()


def _settle(daemon: Daemon) -> None:
    for tier in ("embedded", "summarised"):
        daemon.call("wait", tier=tier, timeout=WAIT_SECONDS)


def _work(daemon: Daemon) -> tuple[int, ...]:
    work = daemon.call("status")["work"]
    return tuple(work[name] for name in COUNTED)


def _written(daemon: Daemon) -> int:
    """Bytes that the daemon had written to the disk: it alone writes the library."""
    assert daemon.process is not None
    return psutil.Process(daemon.process.pid).io_counters().write_bytes


if __name__ == "__main__":
    main()
