"""What the refiner does when a model fails, is exchanged, or nobody lets it write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from mindscape.daemon import refiner
from mindscape.daemon.estimate import Estimate
from mindscape.daemon.models import Models
from mindscape.daemon.pausing import Gate, Paused
from mindscape.daemon.progress import Progress
from mindscape.daemon.refiner import Refiner
from mindscape.errors import MindscapeError
from mindscape.ingest.growth import Wanted
from mindscape.ingest.summarise import summary
from mindscape.ingest.upkeep import Upkeep
from mindscape.library import Library
from mindscape_models.bundle import Bundle, BundleFile
from mindscape_storage.counters import read_counters
from mindscape_storage.database import Connection, fetch
from mindscape_storage.refined import left
from tests.storage import build

BUNDLE = Bundle(
    folder=Path("/nowhere"),
    name="a-model",
    kind="generator",
    files=(BundleFile("model.gguf", "0" * 64, 1),),
    licence="MIT",
    provenance={},
    limits={},
    capabilities=("summarise",),
    quality={},
    encoder=None,
)
TEXT = (
    "The miller of Rooksend mended the sluice before the spring flood, and he wrote to the town about it. "
    "Mara sold nine barrels of salted herring at the market and gave the money to her brother. "
    "Old Tom lit the lamp on the third day although nobody had asked him to, and the ferry came in at dawn. "
)
SUMMARY = "The miller mended the sluice, Mara sold nine barrels of herring, and Old Tom lit the lamp."


def never(number: int) -> bool:
    return number < 0


class Model:
    """Writes the same of everything, or fails."""

    def __init__(self) -> None:
        self.bundle: Bundle | None = BUNDLE
        self.asked = 0
        self.fails: Callable[[int], bool] = never

    def summariser(self) -> Bundle | None:
        return self.bundle

    async def write_in_background(self, bundle: Bundle, messages: object, max_tokens: int) -> str:
        self.asked += 1
        if self.fails(self.asked):
            raise MindscapeError("The engine was ended by SIGKILL.")
        return SUMMARY


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    """Three documents, with their trees."""
    it = Library(tmp_path / "library.db")

    def fill(connection: Connection) -> None:
        for number in range(3):
            passages = build.cut("\n".join(f"Page {number} {part}. {TEXT}" for part in range(3)), 340)
            build.put(connection, f"/notes/{number}.md".encode(), passages)

    await it.write(fill)
    upkeep = Upkeep(it)

    async def here(asked: Sequence[Wanted]) -> list[str]:
        return [summary(one.kind, one.children) for one in asked]

    while await upkeep.contents(here) or await upkeep.folders(here):
        pass
    yield it
    it.close()


def refiner_of(
    library: Library, model: Model, *, unchanged: float = 1_000.0, paused: bool = False
) -> Refiner:
    async def at_once() -> None: ...

    progress = Progress()
    gate = Gate(library, progress, lambda: False, paused=paused)
    models, estimate = cast("Models", model), Estimate(library)
    return Refiner(library, models, estimate, gate, progress, at_once, lambda: unchanged)


async def made_by(library: Library) -> dict[str, int]:
    sql = "SELECT made_by, count(*) FROM summaries WHERE id IN (SELECT model FROM nodes) GROUP BY 1"
    return dict(await library.read(lambda c: fetch(c, sql)))


async def test_without_a_capable_model_there_is_nothing_to_refine(library: Library) -> None:
    model = Model()
    model.bundle = None
    assert await refiner_of(library, model).some() is False
    assert await library.read(left) is None


async def test_a_model_goes_through_documents_and_folders_until_nothing_is_left(library: Library) -> None:
    it = refiner_of(library, Model())
    while await it.some():
        pass
    assert await made_by(library) == {"a-model": 3}
    assert await library.read(left) == (0, 0, 0)


async def test_a_model_that_cannot_write_at_all_rejects_nothing(library: Library) -> None:
    model = Model()
    model.fails = lambda number: number > 0
    it = refiner_of(library, model)
    for _ in range(5):
        with pytest.raises(MindscapeError, match="SIGKILL"):
            await it.some()
    assert (await library.read(read_counters))["model_summaries"] == 0


async def test_a_node_at_which_a_model_fails_twice_does_not_stop_the_others(library: Library) -> None:
    model = Model()
    it = refiner_of(library, model)
    assert await it.some() is True
    model.fails = lambda number: number in (2, 3)
    with pytest.raises(MindscapeError):
        await it.some()
    while await it.some():
        pass
    assert await made_by(library) == {"a-model": 2, "rejected": 1}


async def test_an_outage_rejects_nothing_though_the_model_wrote_before_it(library: Library) -> None:
    model = Model()
    it = refiner_of(library, model)
    assert await it.some() is True
    model.fails = lambda number: number > 1
    for _ in range(4):
        with pytest.raises(MindscapeError, match="SIGKILL"):
            await it.some()
    model.fails = never
    while await it.some():
        pass
    assert await made_by(library) == {"a-model": 3}


async def test_what_is_left_to_another_model_is_known_before_it_is_asked(library: Library) -> None:
    model = Model()
    it = refiner_of(library, model)
    while await it.some():
        pass
    model.bundle = replace(BUNDLE, files=(BundleFile("model.gguf", "1" * 64, 1),))
    await it.adopt()
    found = await library.read(left)
    assert found is not None
    assert (found.contents, found.folders) == (3, 2)
    assert found.nodes >= 3
    model.bundle = None
    assert await it.adopt() is None
    assert await library.read(left) is None


async def test_another_model_begins_anew_and_what_the_first_wrote_is_served_until_then(
    library: Library,
) -> None:
    model = Model()
    it = refiner_of(library, model)
    while await it.some():
        pass
    before = model.asked
    model.bundle = replace(BUNDLE, files=(BundleFile("model.gguf", "1" * 64, 1),))
    assert await it.some() is True
    assert await made_by(library) == {"a-model": 3}
    while await it.some():
        pass
    assert model.asked == 2 * before


async def test_a_model_that_is_exchanged_in_the_middle_of_a_tree_writes_no_more_of_it(
    library: Library,
) -> None:
    model = Model()
    it = refiner_of(library, model)
    other = replace(BUNDLE, files=(BundleFile("model.gguf", "1" * 64, 1),))

    def exchange(number: int) -> bool:
        model.bundle = other
        return False

    model.fails = exchange
    while await it.some():
        pass
    assert await made_by(library) == {"a-model": 3}
    keys = await library.read(lambda c: fetch(c, "SELECT how FROM refined_by"))
    assert keys == [(refiner.asked(other),)]


async def test_a_pause_stops_it_before_the_next_call(library: Library) -> None:
    model = Model()
    with pytest.raises(Paused):
        await refiner_of(library, model, paused=True).some()
    assert model.asked == 0


async def test_folders_wait_until_nothing_has_changed_for_a_while_or_somebody_waits(library: Library) -> None:
    model = Model()
    it = refiner_of(library, model, unchanged=0.0)
    for _ in range(3):
        assert await it.some() is True
    waiting = asyncio.create_task(it.some())
    await asyncio.wait([waiting], timeout=0.3)
    assert not waiting.done()
    with it._gate.wanted():  # pyright: ignore[reportPrivateUsage]
        assert await waiting is True  # it looks again
        assert await it.some() is True
    found = await library.read(left)
    assert found is not None
    assert (found.contents, found.folders) == (0, 1)  # the library itself comes next
