"""Files read together: each settles by itself, copies cost one parse, a dead worker leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mindscape.errors import MindscapeError
from mindscape.ingest.pipeline import Indexer, Settle
from mindscape.ingest.reading import OpenFile
from mindscape.ingest.staging import Unsettled
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape.worker import Worker
from mindscape_storage import contents, counters, documents, roots
from mindscape_storage.database import Connection, value
from mindscape_storage.records import FileStat, Status

STAT = FileStat(1, 1, 1, 1)
OLD = 1_000_000_000


class Reader:
    """A worker in this process; `dies_at` is the call it does not answer."""

    def __init__(self, dies_at: str = "") -> None:
        self._worker = Worker(100_000_000)
        self._dies_at = dies_at
        self.calls: list[str] = []

    async def __call__(self, method: str, params: Json, /) -> Any:
        self.calls.append(method)
        if method == self._dies_at:
            raise MindscapeError("The worker died.")
        return await self._worker.handle(method, params, reply)


async def reply(piece: Json) -> None:
    raise AssertionError(piece)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    it = Library(tmp_path / "library.db")
    yield it
    it.close()


def put(library_files: dict[str, bytes], folder: Path) -> None:
    folder.mkdir()
    for name, data in library_files.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, (OLD, OLD))


async def index(
    library: Library, folder: Path, reader: Reader, settled: list[str]
) -> tuple[dict[int, Settle], dict[int, Unsettled]]:
    """Queue every file of the folder as one group, and one that nobody knows; what is left, what changes."""

    def noting(name: str) -> Settle:
        def settle(connection: Connection) -> None:
            assert connection.in_transaction
            settled.append(name)

        return settle

    def queue(connection: Connection) -> dict[int, Settle]:
        root = roots.add_root(connection, os.fsencode(folder)).id
        wanted = {99: noting("unknown")}
        for path in sorted(folder.iterdir()):
            number = documents.upsert_pending(connection, root, os.fsencode(path), str(path), STAT)
            wanted[number] = noting(path.name)
        return wanted

    wanted = await library.write(queue)
    try:
        changing = await Indexer(library).index(wanted, reader)
    except MindscapeError:
        changing = {}
    return wanted, changing


async def statuses(library: Library) -> dict[str, Status]:
    found = await library.read(documents.list_documents)
    return {Path(document.display).name: document.status for document in found}


async def test_files_read_together_settle_each_by_itself(library: Library, tmp_path: Path) -> None:
    put({"a.md": b"The tide.", "b.bin": b"\x7fELF\2\1\1", "c.png": b"\x89PNG\r\n\x1a\n"}, tmp_path / "notes")
    (tmp_path / "notes" / "gone.txt").symlink_to(tmp_path / "nowhere")
    settled: list[str] = []
    wanted, changing = await index(library, tmp_path / "notes", Reader(), settled)
    assert sorted(settled) == ["a.md", "b.bin", "c.png", "gone.txt", "unknown"]
    assert (wanted, changing) == ({}, {})
    found = await statuses(library)
    assert found["a.md"] is Status.OK
    assert {found[name] for name in ("b.bin", "c.png", "gone.txt")} <= set(Status) - {
        Status.OK,
        Status.PENDING,
    }


async def test_copies_read_together_are_parsed_once(library: Library, tmp_path: Path) -> None:
    put(dict.fromkeys(("a.md", "b.md", "c.md"), b"The tide carried twelve boats."), tmp_path / "notes")
    wanted, changing = await index(library, tmp_path / "notes", Reader(), [])
    assert (wanted, changing) == ({}, {})
    assert set((await statuses(library)).values()) == {Status.OK}
    assert (await library.read(counters.read_counters))["parses"] == 1
    assert await library.read(lambda c: value(c, "SELECT count(*) FROM contents")) == 1


async def test_a_file_that_changes_while_it_is_read_stays_wanted(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put({"a.md": b"The tide.", "b.md": b"The mill."}, tmp_path / "notes")
    read = OpenFile.read

    def read_and_change(file: OpenFile) -> bytes:
        if file.name == "b.md":
            (tmp_path / "notes" / "b.md").write_bytes(b"The mill, and more.")
        return read(file)

    monkeypatch.setattr(OpenFile, "read", read_and_change)
    settled: list[str] = []
    wanted, changing = await index(library, tmp_path / "notes", Reader(), settled)
    assert sorted(settled) == ["a.md", "unknown"]
    assert len(wanted) == 1
    assert list(changing) == list(wanted)
    assert "changed" in str(next(iter(changing.values())))
    assert (await statuses(library))["b.md"] is Status.PENDING


@pytest.mark.parametrize("call", ["inspect", "parse", "more"])
async def test_a_worker_that_dies_leaves_nothing_half_done(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr("mindscape.worker.BATCH_ROWS", 5)
    monkeypatch.setattr("mindscape.ingest.staging.FLUSH_PASSAGES", 2)
    long = "\n\n".join(f"# Part {n}\n\nThe tide carried {n} boats." for n in range(40))
    put({"a.md": b"The mill.", "long.md": long.encode()}, tmp_path / "notes")
    wanted, changing = await index(library, tmp_path / "notes", Reader(dies_at=call), [])
    assert wanted
    assert changing == {}
    assert await library.read(lambda c: value(c, "SELECT count(*) FROM contents WHERE complete = 0")) == 0
    left = await Indexer(library).index(wanted, Reader())
    assert (wanted, left) == ({}, {})
    assert set((await statuses(library)).values()) == {Status.OK}
    (document,) = [one for one in await library.read(documents.list_documents) if "long" in one.display]
    text = await library.read(lambda c: contents.slice_text(c, document.content_id or 0, 0, len(long) + 1))
    assert text == long
