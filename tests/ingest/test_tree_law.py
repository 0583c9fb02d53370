"""The tree law: after any history the mindscape is that of a fresh build, and costs what is new in it."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.ingest.forest import ROOT, Memo, build, grow_document, grow_folder, keys_of, root_of, summary_of
from tests.storage import build as made

from mindscape.ingest.growth import Wanted
from mindscape.ingest.summarise import Kind
from mindscape.ingest.upkeep import Upkeep
from mindscape.library import Library
from mindscape_storage import contents, documents
from mindscape_storage.check import run_checks
from mindscape_storage.counters import read_counters
from mindscape_storage.database import Connection
from mindscape_storage.dump import canonical_dump
from mindscape_storage.records import Child, NewPassage
from mindscape_storage.summaries import digest_of

T = TypeVar("T")
Paragraphs = list[tuple[str, tuple[str, ...]]]

SUBJECTS = ("The keeper", "A miller", "Old Tom", "The ferry", "Her brother", "Mara", "The widow", "水車")
DEEDS = ("mended the sluice", "sold nine barrels", "crossed the bay", "wrote to the town", "lit the lamp")
TIMES = ("before the storm", "in the dry year", "at low tide", "on the third day", "for a wage of rye")


def paragraph(rng: random.Random, heading: tuple[str, ...] = ()) -> tuple[str, tuple[str, ...]]:
    """A few sentences, so many that a summary of six has to choose."""
    sentences = (
        f"{rng.choice(SUBJECTS)} {rng.choice(DEEDS)} {rng.choice(TIMES)}, as page {rng.randrange(400)} tells."
        for _ in range(rng.randint(1, 5))
    )
    return " ".join(sentences) + "\n", heading


def passages_of(paragraphs: Paragraphs) -> list[NewPassage]:
    start, found = 0, list[NewPassage]()
    for number, (text, heading) in enumerate(paragraphs):
        found.append(NewPassage(number, start, start + len(text), text, 1, heading))
        start += len(text)
    return found


class Kept:
    """A library with its upkeep, and without a daemon."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = Library(path)
        self.upkeep = Upkeep(self.library)
        self._loop = asyncio.new_event_loop()
        self.do(lambda c: made.root_of(c, ROOT))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    def do(self, work: Callable[[Connection], Any]) -> Any:
        return self.run(self.library.write(work))

    def put(self, path: bytes, paragraphs: Paragraphs) -> None:
        self.do(lambda c: made.put(c, path, passages_of(paragraphs)))

    def remove(self, path: bytes) -> None:
        self.do(lambda c: made.remove(c, path))

    def move(self, moves: Sequence[tuple[bytes, bytes]]) -> None:
        def work(connection: Connection) -> None:
            found = [(documents.find_document(connection, old), new) for old, new in moves]
            rows = [(one.id, new, new.decode(), made.STAT) for one, new in found if one is not None]
            documents.move_documents(connection, made.root_of(connection), rows)

        self.do(work)

    def settle(self) -> int:
        """Bring everything to tier summarised; returns how many summaries that took."""
        before = self.calls
        self.run(self._settle())
        return self.calls - before

    async def _settle(self) -> None:
        while await self.upkeep.contents(here) or await self.upkeep.folders(here):
            pass

    @property
    def calls(self) -> int:
        return self.run(self.library.read(read_counters))["extractive"]

    def dump(self) -> dict[str, Any]:
        return self.run(self.library.read(canonical_dump))

    def failed(self) -> list[str]:
        checks = self.run(self.library.read(lambda c: run_checks(c, self.path)))
        return [check.message for check in checks if check.state != "ok"]

    def trace(self, trace: Any) -> None:
        self.run(self.library.maintain(lambda c: c.set_exec_trace(trace)))

    def close(self) -> None:
        self.library.close()
        self._loop.close()


async def here(asked: Sequence[Wanted]) -> list[str]:
    """What the worker does."""
    return [summary_of(one.children, one.kind) for one in asked]


@contextmanager
def kept(path: Path) -> Generator[Kept]:
    library = Kept(path)
    try:
        yield library
    finally:
        library.close()


def dump_of_fresh(path: Path, disk: dict[bytes, Paragraphs]) -> dict[str, Any]:
    with kept(path) as fresh:
        for name in sorted(disk):
            fresh.put(name, disk[name])
        fresh.settle()
        return fresh.dump()


NAMES = st.sampled_from(
    [ROOT + b"/" + name for name in (b"a.md", b"b.md", b"in/a.md", b"in/deep/c.md", "öl/d.md".encode())]
)
SEEDS = st.integers(0, 10**6)


class TreeLaw(RuleBasedStateMachine):
    """Files change in every way; now and then the library catches up."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.kept = Kept(self.folder / "lived.db")
        self.disk: dict[bytes, Paragraphs] = {}
        self.past: list[tuple[bytes, Paragraphs]] = []
        self.memo = Memo()
        self.fresh = 0
        self.settled = True

    def write(self, path: bytes, paragraphs: Paragraphs) -> None:
        self.past.append((path, paragraphs))
        self.disk[path] = paragraphs
        self.kept.put(path, paragraphs)
        self.settled = False

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.add(ROOT + b"/a.md", seed, 30)

    @rule(path=NAMES, seed=SEEDS, size=st.sampled_from([0, 1, 2, 7, 40]))
    def add(self, path: bytes, seed: int, size: int) -> None:
        rng = random.Random(seed)
        self.write(path, [paragraph(rng, (f"Part {at // 9}",)) for at in range(size)])

    @precondition(lambda self: self.disk)
    @rule(at=SEEDS, seed=SEEDS, how=st.sampled_from(["edit", "append", "insert", "start", "split", "delete"]))
    def edit(self, at: int, seed: int, how: str) -> None:
        path = sorted(self.disk)[at % len(self.disk)]
        now, rng = list(self.disk[path]), random.Random(seed)
        place = rng.randrange(len(now)) if now else 0
        heading = now[place][1] if now else ()
        if how == "append":
            now.append(paragraph(rng, heading))
        elif how == "start":
            now.insert(0, paragraph(rng, heading))
        elif how == "insert" or not now:
            now.insert(place, paragraph(rng, heading))
        elif how == "edit":
            now[place] = paragraph(rng, heading)
        elif how == "split" and len(text := now[place][0]) > 1:
            half = len(text) // 2
            now[place : place + 1] = [(text[:half], heading), (text[half:], heading)]
        else:
            del now[place]
        self.write(path, now)

    @precondition(lambda self: self.disk)
    @rule(at=SEEDS)
    def delete(self, at: int) -> None:
        path = sorted(self.disk)[at % len(self.disk)]
        del self.disk[path]
        self.kept.remove(path)
        self.settled = False

    @precondition(lambda self: self.disk)
    @rule(at=SEEDS, to=NAMES)
    def move(self, at: int, to: bytes) -> None:
        path = sorted(self.disk)[at % len(self.disk)]
        if path != to:
            self.disk[to] = self.disk.pop(path)
            self.kept.move([(path, to)])
            self.settled = False

    @precondition(lambda self: self.disk)
    @rule(at=SEEDS, to=NAMES)
    def duplicate(self, at: int, to: bytes) -> None:
        self.write(to, self.disk[sorted(self.disk)[at % len(self.disk)]])

    @precondition(lambda self: self.past)
    @rule(at=SEEDS)
    def revert(self, at: int) -> None:
        path, paragraphs = self.past[at % len(self.past)]
        self.write(path, paragraphs)

    @rule()
    def settle(self) -> None:
        known = set(self.memo.texts)
        now = build(self.disk, self.memo)
        assert self.kept.settle() == len(now - known)
        self.settled = True
        dump = self.kept.dump()
        assert {bytes.fromhex(key) for key in dump["summaries"]} == now
        assert all(row[3] == self.memo.texts[bytes.fromhex(key)] for key, row in dump["summaries"].items())
        self.fresh += 1
        assert dump == dump_of_fresh(self.folder / f"{self.fresh}.db", self.disk)
        assert self.kept.failed() == []

    @precondition(lambda self: self.settled)
    @invariant()
    def nothing_is_left_to_do(self) -> None:
        assert self.kept.settle() == 0

    def teardown(self) -> None:
        self.settle()
        self.kept.close()
        shutil.rmtree(self.folder)


TestTreeLaw = TreeLaw.TestCase
TestTreeLaw.settings = settings(max_examples=15, stateful_step_count=14, deadline=None)


def many(rng: random.Random, size: int) -> Paragraphs:
    return [paragraph(rng, (f"Part {at // 9}",)) for at in range(size)]


@pytest.fixture
def lived(tmp_path: Path) -> Iterator[Kept]:
    with kept(tmp_path / "lived.db") as library:
        yield library


class Camera:
    """Before each write, copies the files as a kill would leave them."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder, self.taken = path, folder, list[Path]()

    def __call__(self, cursor: apsw.Cursor, sql: str, values: object) -> bool:
        if sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "COMMIT", "BEGIN")):
            copy = self.folder / f"copy {len(self.taken)}.db"
            shutil.copyfile(self.path, copy)
            shutil.copyfile(f"{self.path}-wal", f"{copy}-wal")
            self.taken.append(copy)
        return True


def test_what_a_kill_at_any_write_leaves_undone_is_caught_up_at_the_next_start(
    lived: Kept, tmp_path: Path
) -> None:
    rng = random.Random(3)
    disk = {ROOT + b"/a.md": many(rng, 40), ROOT + b"/in/b.md": many(rng, 3)}
    for path, paragraphs in disk.items():
        lived.put(path, paragraphs)
    camera = Camera(lived.path, tmp_path)
    lived.trace(camera)
    lived.settle()
    disk[ROOT + b"/a.md"][7] = paragraph(rng)
    lived.put(ROOT + b"/a.md", disk[ROOT + b"/a.md"])
    lived.move([(ROOT + b"/in/b.md", ROOT + b"/out/b.md")])
    lived.settle()
    lived.trace(None)
    disk = {ROOT + b"/a.md": disk[ROOT + b"/a.md"], ROOT + b"/out/b.md": disk[ROOT + b"/in/b.md"]}
    expected = lived.dump()
    assert expected == dump_of_fresh(tmp_path / "fresh.db", disk)
    assert len(camera.taken) > 60
    for copy in camera.taken[::5]:
        with kept(copy) as again:
            again.do(contents.discard_staged)
            for path, paragraphs in disk.items():
                again.put(path, paragraphs)  # as the scan at the start finds them
            for path in (ROOT + b"/in/b.md",):
                again.remove(path)
            again.settle()
            assert again.dump() == expected, copy.name
            assert again.failed() == []


def test_a_reverted_edit_costs_no_summary(lived: Kept) -> None:
    rng = random.Random(1)
    before = many(rng, 60)
    lived.put(ROOT + b"/a.md", before)
    lived.settle()
    after = [*before[:20], paragraph(rng), *before[21:]]
    lived.put(ROOT + b"/a.md", after)
    assert lived.settle() > 0
    lived.put(ROOT + b"/a.md", before)
    assert lived.settle() == 0
    lived.put(ROOT + b"/a.md", after)
    assert lived.settle() == 0


def test_the_folder_of_a_thousand_documents_that_is_renamed_costs_summaries_above_it_only(
    lived: Kept,
) -> None:
    rng = random.Random(5)
    names = [b"note %d.md" % number for number in range(1_000)]
    for name in names:
        lived.put(ROOT + b"/in/old/" + name, [paragraph(rng)])
    for number in range(30):
        lived.put(ROOT + b"/in/shelf %d/x.md" % number, [paragraph(rng)])
        lived.put(ROOT + b"/y %d.md" % number, [paragraph(rng)])
    lived.settle()
    lived.move([(ROOT + b"/in/old/" + name, ROOT + b"/in/new/" + name) for name in names])
    # Groups of `in` and of the root around the two names, up to the library.
    assert lived.settle() <= 12
    assert lived.failed() == []


def test_a_mass_change_makes_each_folder_once(lived: Kept) -> None:
    rng = random.Random(6)
    disk = {
        ROOT + b"/in %d/%d.md" % (number % 7, number): [paragraph(rng), paragraph(rng)]
        for number in range(210)
    }
    for path, paragraphs in disk.items():
        lived.put(path, paragraphs)
    assert lived.settle() == len(build(disk, Memo()))


@dataclass
class Growing:
    """A document of many passages or a folder of many files, with all above it, and the cost of edits."""

    memo: Memo = field(default_factory=lambda: Memo(summarise=apart))
    known: set[bytes] = field(default_factory=set[bytes])
    costs: list[int] = field(default_factory=list[int])
    depths: list[int] = field(default_factory=list[int])

    def see(self, keys: set[bytes], depth: int) -> None:
        self.costs.append(len(keys - self.known))
        self.depths.append(depth)
        self.known = keys

    def check(self) -> None:
        costs, depths = self.costs[1:], self.depths[1:]
        assert fmean(costs) <= fmean(depths) + 2
        assert all(cost <= 2 * depth + 6 for cost, depth in zip(costs, depths, strict=True))


def apart(children: Sequence[str], kind: Kind) -> str:
    """Another summary for whatever is not the same: no change stops on its way up."""
    return digest_of("\0".join(children)).hex()


def child(memo: Memo, name: bytes, text: tuple[str, tuple[str, ...]]) -> Child:
    key = root_of(grow_document(memo, [text]))
    return Child(name, None, key, digest_of(memo.texts[key]))


@pytest.mark.parametrize("size", [10, 60, 400, 5_000])
def test_an_edit_of_a_document_makes_little_more_than_its_path_to_the_root(size: int) -> None:
    rng = random.Random(size)
    it = Growing()
    now = many(rng, size)
    for _ in range(201 if size < 5_000 else 61):
        derived = grow_document(it.memo, now)
        it.see(keys_of(derived), len(derived.levels))
        place, heading = rng.randrange(len(now)), now[0][1]
        new = [paragraph(rng, heading) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
        now = [*now[:place], *new, *now[place + rng.choice((0, 1)) :]] or many(rng, 3)
    it.check()


@pytest.mark.parametrize("size", [10, 400, 5_000])
def test_an_edit_in_a_folder_of_many_files_makes_little_more_than_its_path_to_the_root(size: int) -> None:
    rng = random.Random(size)
    it = Growing()
    files: dict[bytes, Child] = {}

    def write() -> None:
        name = b"note %d.md" % rng.getrandbits(40)
        files[name] = child(it.memo, name, paragraph(rng))

    for _ in range(size):
        write()
    for _ in range(201 if size < 5_000 else 61):
        derived = grow_folder(it.memo, files.values())
        it.see(keys_of(derived), len(derived.levels))
        how, name = rng.random(), rng.choice(list(files))
        if how < 0.7:
            files[name] = child(it.memo, name, paragraph(rng))
        elif how < 0.85 or len(files) < 5:
            write()
        else:
            del files[name]
    it.check()
