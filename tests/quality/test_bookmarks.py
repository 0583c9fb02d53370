"""A book read halfway is not spoiled: eight novels at twenty bookmarks each, through the real daemon.

The novels are not part of the project: they are looked for in `../shared/data/eval/clipper_dev`, or below
MINDSCAPE_SHARED.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.daemon.harness import Daemon

from mindscape.protocol import Json
from mindscape.sentences import sentences

SHARED = Path(os.environ.get("MINDSCAPE_SHARED") or Path(__file__).parents[2].parent / "shared")
NOVELS = SHARED / "data/eval/clipper_dev/docs"
BOOKMARKS = 20
LEAST = 25
"""Letters of a sentence that is looked for: shorter ones ("Yes.") stand everywhere."""
TOKENS = 1_000

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not NOVELS.is_dir(), reason=f"{NOVELS} is handed out apart from the project."),
]


@pytest.fixture(scope="module")
def novels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path_factory.mktemp("home"), workers="1")
    assert daemon.start() == "ready"
    daemon.call("add", paths=[str(NOVELS)])
    daemon.call("wait", tier="summarised", timeout=600)
    yield daemon
    daemon.stop()


def letters(text: str) -> str:
    """The text without what a summary may leave out or change: marks and white space."""
    return " ".join(re.split(r"[\W_]+", text))


def spoilers(text: str, upto: int) -> list[str]:
    """The sentences after a place that are not said before it too."""
    before, after = letters(text[:upto]), text[upto:]
    found = {letters(after[start:end]) for start, end in sentences(after)}
    return [one for one in found if len(one) >= LEAST and one not in before]


def every(node: Json) -> Iterator[Json]:
    yield node
    for child in node["children"] or ():
        yield from every(child)


def check_passages(passages: Iterable[Json], told: str, text: str, upto: int) -> None:
    for one in passages:
        assert one["end"] <= upto
        assert one[told] == text[one["start"] : one["end"]]


def test_nothing_from_beyond_a_bookmark_is_told(novels: Daemon) -> None:
    rng, slowest, looked_for = random.Random(4), 0.0, 0
    work = novels.call("status")["work"]
    documents: list[Json] = novels.call("ls")["documents"]
    assert len(documents) == 8
    for document in documents:
        text: str = novels.call("get", place=str(document["id"]))["text"]
        for upto in sorted(rng.randrange(1, len(text)) for _ in range(BOOKMARKS)):
            place = f"{document['path']}:0-{upto}"
            began = time.perf_counter()
            cut = novels.call("range", upto=place, scope=str(document["id"]), tokens=TOKENS)
            slowest = max(slowest, time.perf_counter() - began)
            assert cut["tokens"] <= TOKENS
            edges = [0, *(one["end"] for one in cut["nodes"])]
            assert edges[-1] <= upto
            if not cut["truncated"]:
                assert edges == [*(one["start"] for one in cut["nodes"]), upto]
            read = list(every(novels.call("tree", upto=place, depth=20)))
            check_passages([one for one in read if one["kind"] == "passage"], "summary", text, upto)
            asked = spoilers(text, upto)
            looked_for += len(asked)
            # What is asked for stands only after the bookmark.
            query = rng.choice(asked) if asked else text[-200:]
            found = novels.call("search", query=query, k=100, upto=place)["results"]
            assert {one["document"]["id"] for one in found} <= {document["id"]}
            check_passages(found, "text", text, upto)
            sections = [one for one in read if one["kind"] != "passage"]
            titles = [one["title"] for one in read if one["kind"] != "document"]
            told = letters(" ".join([*(one["summary"] for one in (*sections, *cut["nodes"])), *titles]))
            assert not [one for one in asked if one in told]
    after = novels.call("status")["work"]
    assert {name: after[name] for name in after if "embed" not in name} == {
        name: work[name] for name in work if "embed" not in name
    }
    assert looked_for > 100_000
    print(f"{looked_for} sentences looked for; slowest cut {slowest * 1000:.1f} ms")
