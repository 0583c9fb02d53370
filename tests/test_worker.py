"""The worker reads a file once, whole and unchanged, and says what is in it in messages of bounded size."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mindscape.ingest.bounds import bounded
from mindscape.ingest.extract import extract
from mindscape.ingest.formats.outline import Heading, sections_of
from mindscape.ingest.media_types import MARKDOWN
from mindscape.ingest.parse import LIMITS
from mindscape.ingest.parsed import Block, Parsed, ParseFailure, Source
from mindscape.ingest.reading import OpenFile
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode
from mindscape.worker import Worker
from mindscape_storage.records import Mark, Status

MAX_FILE = 100_000_000


def call(worker: Worker, method: str, params: Json) -> Json:
    async def stream(params: Any) -> None:
        raise AssertionError(params)

    answer = asyncio.run(worker.handle(method, params, stream))
    assert len(encode({"jsonrpc": "2.0", "id": 1, "result": answer})) <= MAX_MESSAGE_BYTES
    return json.loads(json.dumps(answer))


def inspect(worker: Worker, *paths: Path) -> list[Json]:
    encoded = [base64.b64encode(os.fsencode(path)).decode() for path in paths]
    return call(worker, "inspect", {"paths_b64": encoded})["files"]


def read_all(path: Path) -> tuple[Json, dict[str, list[Any]]]:
    """What is said of the file as a whole, and all rows of all batches by their kind."""
    worker = Worker(MAX_FILE)
    assert "status" not in inspect(worker, path)[0]
    rows: dict[str, list[Any]] = {"passages": []}
    batch = call(worker, "parse", {"files": [0]})
    done: Json = {}
    while True:
        for part in batch["files"]:
            assert "status" not in part, part
            done = part.pop("done", done)
            for kind in set(part) - {"file", "text_like"}:
                rows.setdefault(kind, []).extend(part[kind])
        if "last" in batch:
            return done, rows
        batch = call(worker, "more", {})


def tiled(rows: dict[str, list[Any]]) -> str:
    # What is embedded is never blank: an embedder refuses that.
    assert all((passage[3] + passage[6]).strip() for passage in rows["passages"])
    return "".join(passage[3] for passage in rows["passages"])


def test_a_table_of_thousands_of_columns_is_read(tmp_path: Path) -> None:
    names = [f"field {n}" for n in range(5_000)]
    rows = [names, *([str(row * 7 + n % 9) for n in range(5_000)] for row in range(20))]
    (tmp_path / "wide.csv").write_text("\n".join(",".join(row) for row in rows))
    parsed, found = read_all(tmp_path / "wide.csv")
    assert len(tiled(found)) == parsed["length"]
    prefixes = {passage[6] for passage in found["passages"]}
    assert max(map(len, prefixes)) <= 300
    longest = max(prefixes, key=len)
    assert set(longest.split(",")) <= set(names)


def test_more_headings_and_links_than_fit_into_a_message_are_read(tmp_path: Path) -> None:
    text = "".join(f"# Heading {n} {'of a long name ' * 15}\n\nIt.\n\n" for n in range(900))
    links = "".join(f"[{n}]: https://example.org/{n}/{'x' * 950}\n" for n in range(9_000))
    (tmp_path / "long.md").write_text(text + links)
    _, found = read_all(tmp_path / "long.md")
    assert tiled(found) == text + links
    assert len(found["sections"]) == 900
    assert len(found["links"]) == 9_000


@pytest.mark.parametrize(("filling", "times"), [(b" ", 300_000), (b"\0", 300_000), (b"\n", 4_300_000)])
def test_long_runs_of_nothing_are_cut_too(tmp_path: Path, filling: bytes, times: int) -> None:
    data = b"The keeper wrote it down.\n" + filling * times
    (tmp_path / "note.txt").write_bytes(data)
    _, found = read_all(tmp_path / "note.txt")
    assert tiled(found) == data.decode().replace("\0", " ")
    assert max(len(passage[3]) for passage in found["passages"]) <= 20_000


@pytest.mark.parametrize("value", ["nan", "-inf", "0x" + "f" * 9_000])
def test_a_number_that_json_has_no_word_for_becomes_text(tmp_path: Path, value: str) -> None:
    (tmp_path / "note.md").write_text(f"+++\nrating = {value}\nstars = 4\n+++\nThe ferry.\n")
    parsed, _ = read_all(tmp_path / "note.md")
    properties = parsed["info"]["metadata"]["properties"]
    assert isinstance(properties["rating"], str)
    assert properties["stars"] == 4


def test_properties_too_large_are_left_out_with_a_warning(tmp_path: Path) -> None:
    tags = " ".join(f"#tag{n}of{'x' * 40}" for n in range(20_000))
    (tmp_path / "note.md").write_text(f"---\nauthor: Ada\n---\n{tags}\n")
    parsed, _ = read_all(tmp_path / "note.md")
    assert parsed["info"]["metadata"]["author"] == "Ada"
    assert "tags" not in parsed["info"]["metadata"]
    assert any("tags" in warning for warning in parsed["info"]["warnings"])


LONG = st.tuples(st.text(min_size=1, max_size=3), st.sampled_from([1, 20_000]))
"""A text and how often it is repeated: what is drawn stays small."""


@settings(max_examples=20, deadline=None)
@given(
    pieces=st.lists(LONG, min_size=1, max_size=3),
    name_pieces=st.lists(LONG, max_size=3),
    levels=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    kind=st.sampled_from(["paragraph", "table", "code", "item"]),
)
@example([("x", 10)], [("w", 300_000)] * 3, list(range(1, 10)) * 4, "table")
def test_every_message_about_any_file_can_be_sent(
    pieces: list[tuple[str, int]], name_pieces: list[tuple[str, int]], levels: list[int], kind: Any
) -> None:
    text = "".join(unit * times for unit, times in pieces)
    names = [unit * times for unit, times in name_pieces]
    name = "".join(names)
    headings = [Heading(level, name, at) for at, level in enumerate(levels) if at < len(text)]
    parsed = bounded(
        Parsed(
            text,
            "text/plain",
            text_like=True,
            blocks=(Block(kind, 0, len(text), header=name),),
            sections=sections_of(headings, len(text)),
            marks=tuple(Mark("page", name, 0) for _ in levels),
            title=name,
            metadata={"author": name, **{str(level): name for level in levels}},
            links=tuple(names * 20),
            warnings=tuple(names * 20),
        )
    )
    found = read_parsed(parsed)
    assert tiled(found) == (text if text.strip() else "")


def read_parsed(parsed: Parsed) -> dict[str, list[Any]]:
    def made(source: Source) -> Parsed:
        assert source.data
        return parsed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mindscape.worker.parse", made)
        return read_all(Path(__file__))[1]


def test_several_files_are_told_apart_and_a_bad_one_hurts_no_other(tmp_path: Path) -> None:
    texts = {"a.txt": "The tide.", "b.pdf": "%PDF-1.7 cut", "c.md": "# Mill\n\nThe mill.", "d.txt": ""}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    worker = Worker(MAX_FILE)
    seen = inspect(worker, *(tmp_path / name for name in texts), tmp_path / "gone.txt")
    assert [one.get("status") for one in seen] == [None, None, None, "empty", "pending"]
    parts = call(worker, "parse", {"files": [2, 1, 0]})["files"]
    assert [part["file"] for part in parts] == [2, 1, 0]
    assert [part.get("status") for part in parts] == [None, "damaged", None]
    assert ["".join(row[3] for row in part.get("passages", ())) for part in parts] == [
        texts["c.md"],
        "",
        texts["a.txt"],
    ]


def test_a_long_text_is_read_in_pieces_with_its_encoding_and_its_chapters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mindscape.ingest.parse.STREAM_BYTES", 100_000)
    text = "CHAPTER I\n\nA heron stood in the reeds.\n\n" * 10_000
    text += "ГЛАВА\n\nКлюч от маяка лежит в ящике стола, под старой картой побережья.\n\n" * 300
    path = tmp_path / "long.txt"
    path.write_bytes(text.encode("cp1251"))
    done, found = read_all(path)
    same = tiled(found) == text  # pytest would compare megabytes line by line
    assert same
    assert done["length"] == len(text)
    assert done["info"]["encoding"] == "cp1251"
    assert len(found["sections"]) == 10_000


def test_a_long_file_of_white_space_only_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindscape.ingest.parse.STREAM_BYTES", 100_000)
    (tmp_path / "blank.txt").write_bytes(b" \n" * 2_000_000)
    worker = Worker(MAX_FILE)
    inspect(worker, tmp_path / "blank.txt")
    (said,) = call(worker, "parse", {"files": [0]})["files"]
    assert said["status"] == "empty"


def test_a_long_file_that_changes_between_its_two_readings_is_never_mixed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mindscape.ingest.parse.STREAM_BYTES", 100_000)
    path = tmp_path / "changing.log"
    path.write_bytes(b"The first version.\n" * 400_000)
    before = path.stat()
    worker = Worker(MAX_FILE)
    inspect(worker, path)
    batch = call(worker, "parse", {"files": [0]})
    with path.open("r+b") as file:
        file.seek(-19, os.SEEK_END)
        file.write(b"The other version.\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    while "last" not in batch:
        batch = call(worker, "more", {})
    (said,) = batch["files"]
    assert "done" not in said
    assert said["status"] == "pending"
    assert "changed" in said["reason"]


def test_markdown_too_large_for_its_parser_is_read_as_plain_text_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, MARKDOWN, 1 << 20)
    text = "# Heading\n\nThe keeper wrote it down.\n\n" * 40_000
    (tmp_path / "long.md").write_text(text)
    done, found = read_all(tmp_path / "long.md")
    same = tiled(found) == text  # pytest would compare megabytes line by line
    assert same
    assert "sections" not in found
    assert "as plain text" in done["info"]["warnings"][0]


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="there is no /proc here")
def test_a_file_whose_size_is_made_up_is_unreadable_and_says_so() -> None:
    file = OpenFile(b"/proc/version", MAX_FILE)
    with closing(file), pytest.raises(ParseFailure, match="said to be its size") as failure:
        file.read()
    assert failure.value.status is Status.UNREADABLE


def test_summaries_are_made_of_several_nodes_at_a_time() -> None:
    texts = [f"The keeper lit lamp {number} before the storm came in." for number in range(40)]
    nodes = [
        {"kind": "passages", "children": texts},
        {"kind": "children", "children": ["# Mill\n\nThe mill at the weir grinds rye.", "# Quay"]},
    ]
    answer = call(Worker(MAX_FILE), "summarise", {"nodes": nodes})
    assert answer["summaries"] == [
        extract(texts, 96),
        "\u2022 Mill \u2014 The mill at the weir grinds rye.\n\u2022 Quay",
    ]


def test_an_empty_file_is_read_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    with closing(OpenFile(os.fsencode(path), MAX_FILE)) as file:
        assert (file.read(), file.stat.size) == (b"", 0)
