"""A node that ends its worker costs no other node its summary, and does not hold up the rest."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from mindscape.daemon.children import ChildDied, Pool
from mindscape.daemon.estimate import Pace
from mindscape.daemon.summariser import ATTEMPTS, Summariser
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage import folders
from mindscape_storage.dump import canonical_dump
from tests.storage.build import lines, put


class Workers:
    """A pool whose worker dies of certain texts."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.poison = "poison"

    @asynccontextmanager
    async def lend(self) -> AsyncGenerator[Workers]:
        yield self

    async def call(self, method: str, params: Json, seconds: float | None = None) -> Any:
        assert (method, seconds) == ("summarise", 9.0)
        self.calls.append(len(params["nodes"]))
        children: Sequence[str] = [text for node in params["nodes"] for text in node["children"]]
        if self.poison in children:
            raise ChildDied("The worker was ended by SIGSEGV.")
        return {"summaries": [node["children"][0] for node in params["nodes"]]}


async def gently(seconds: float) -> None:
    assert seconds >= 0


@pytest.mark.parametrize("poison", ["poison", "note 1"])
async def test_only_the_node_at_fault_goes_without(tmp_path: Path, poison: str) -> None:
    library, workers = Library(tmp_path / "library.db"), Workers()
    workers.poison = poison
    summariser = Summariser(library, cast(Pool, workers), 9.0, Pace(), gently)
    for name in (b"note 1", b"note 2", b"poison", b"note 3"):
        path = b"/notes/" + name + b".md"
        await library.write(lambda c, path=path, name=name: put(c, path, lines(name.decode())))
    assert await summariser.some(upwards=False)
    assert workers.calls == [4, *[1] * (3 + ATTEMPTS)]
    assert not await summariser.some(upwards=False)
    while await summariser.some(upwards=True):
        pass
    assert await library.read(folders.folders_behind) == 0
    said = (await library.read(canonical_dump))["summaries"].values()
    assert [row[3] for row in said if row[2] == "nothing"] == [""]
    assert {"note 2", "note 3"} <= {row[3] for row in said}
    library.close()
