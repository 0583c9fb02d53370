"""The tree law on the model's track: whatever happens, what it wrote is what a fresh build is told."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.ingest import forest_model
from tests.ingest.forest import ROOT
from tests.ingest.test_tree_law import Camera, Kept, Paragraphs, TreeLaw, kept, many, paragraph

from mindscape.ingest.summarise import Kind
from mindscape.ingest.upkeep import ModelUpkeep
from mindscape_storage import contents, documents, folders, refined, summaries
from mindscape_storage.check_tree import repair_tree
from mindscape_storage.database import Connection, fetch
from mindscape_storage.summaries import digest_of

HOW = "a model, as it is asked"


def wrote(children: Sequence[str], kind: Kind) -> str | None:
    """What the model writes: often the same for other children, and now and then nothing that passes."""
    number = digest_of("\0".join(children))[0]
    if number % 5 == 0:
        return None
    return f"{kind}: what is told here is story {number % 7}, and little else is."


class Told:
    """Lets a model go through a library."""

    def __init__(self, library: Kept, how: str = HOW, writes: forest_model.Write = wrote) -> None:
        self.library, self.how, self._writes = library, how, writes
        self._upkeep = ModelUpkeep(library.library)
        self.ever: set[bytes] = set()
        library.do(lambda c: refined.use(c, how))

    async def _write(self, key: bytes, kind: Kind, children: Sequence[str]) -> str | None:
        assert key not in self.ever, "nothing is asked twice"
        self.ever.add(key)
        return self._writes(children, kind)

    async def some(self, *, upwards: bool) -> bool:
        return await self._upkeep.some(self.how, "model", self._write, upwards=upwards)

    def settle(self) -> int:
        """Bring everything to tier refined; returns how many calls that took."""
        before = len(self.ever)

        async def all_of_it() -> None:
            while await self.some(upwards=True):
                pass

        self.library.run(all_of_it())
        return len(self.ever) - before


def dump_of_fresh(path: Path, disk: dict[bytes, Paragraphs], how: str = HOW) -> dict[str, Any]:
    with kept(path) as fresh:
        for name in sorted(disk):
            fresh.put(name, disk[name])
        fresh.settle()
        Told(fresh, how).settle()
        return fresh.dump()


def models_in(dump: dict[str, Any]) -> set[bytes]:
    rows = [row for content in dump["contents"] for row in content[-1]["nodes"]]
    rows += [row for folder in dump["folders"] for row in folder[-1]]
    return {bytes.fromhex(row[-1]) for row in rows if row[-1]}


class ModelLaw(TreeLaw):
    """Files change in every way; now and then the model catches up, sometimes only in part."""

    def __init__(self) -> None:
        super().__init__()
        self.how = HOW
        self.told = Told(self.kept)
        self.tellers = {HOW: self.told}
        self.model = forest_model.Model(wrote, HOW, self.memo)

    @precondition(lambda self: self.disk)
    @rule()
    def only_extract(self) -> None:
        self.kept.settle()

    @precondition(lambda self: self.disk)
    @rule()
    def only_documents(self) -> None:
        self.kept.settle()
        self.kept.run(self.told.some(upwards=False))

    @rule(how=st.sampled_from([HOW, "another prompt"]))
    def ask(self, how: str) -> None:
        if how != self.how:
            self.how, self.told = how, self.tellers.setdefault(how, Told(self.kept, how))
            self.kept.do(lambda c: refined.use(c, how))
            self.model = forest_model.Model(wrote, how, self.memo)
            self.settled = False

    @rule()
    def settle(self) -> None:
        self.kept.settle()
        self.told.settle()
        dump = self.kept.dump()
        assert models_in(dump) == forest_model.build(self.disk, self.model)
        for key, text in self.model.texts.items():
            if (row := dump["summaries"].get(key.hex().upper())) is not None:
                assert row[3] == (text or "")
        self.fresh += 1
        assert dump == dump_of_fresh(self.folder / f"{self.fresh}.db", self.disk, self.how)
        assert self.kept.failed() == []
        assert self.kept.settle() + self.told.settle() == 0
        self.settled = True


TestModelLaw = ModelLaw.TestCase
TestModelLaw.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)


def test_what_a_kill_at_any_write_leaves_undone_is_caught_up_without_asking_again(tmp_path: Path) -> None:
    rng = random.Random(3)
    disk = {ROOT + b"/a.md": many(rng, 40), ROOT + b"/in/b.md": many(rng, 9)}
    with kept(tmp_path / "lived.db") as lived:
        for path, paragraphs in disk.items():
            lived.put(path, paragraphs)
        lived.settle()
        camera = Camera(lived.path, tmp_path)
        lived.trace(camera)
        told = Told(lived)
        told.settle()
        disk[ROOT + b"/a.md"][7] = paragraph(rng)
        lived.put(ROOT + b"/a.md", disk[ROOT + b"/a.md"])
        lived.settle()
        told.settle()
        lived.trace(None)
        expected, ever = lived.dump(), told.ever
    assert len(camera.taken) > 60
    for copy in camera.taken[::5]:
        with kept(copy) as again:
            again.do(contents.discard_staged)
            for path, paragraphs in disk.items():
                again.put(path, paragraphs)
            again.settle()
            stored = {row[0] for row in again.do(lambda c: fetch(c, "SELECT key FROM summaries"))}
            late = Told(again)
            late.settle()
            assert not late.ever & stored, copy.name
            assert late.ever <= ever, copy.name
            assert again.dump() == expected, copy.name
            assert again.failed() == []


def test_a_reverted_edit_and_a_model_that_comes_back_cost_no_call(tmp_path: Path) -> None:
    rng = random.Random(1)
    before = many(rng, 60)
    after = [*before[:20], paragraph(rng), *before[21:]]
    with kept(tmp_path / "lived.db") as lived:
        told = Told(lived)

        def calls(paragraphs: Paragraphs) -> int:
            lived.put(ROOT + b"/a.md", paragraphs)
            lived.settle()
            return told.settle()

        assert calls(before) > 10
        assert 0 < calls(after) < 10
        assert calls(before) == calls(after) == 0
        with_model = lived.dump()
        lived.do(lambda c: refined.use(c, None))
        assert models_in(lived.dump()) == set()
        assert lived.failed() == []
        lived.do(lambda c: refined.use(c, HOW))
        assert told.settle() == 0
        assert lived.dump() == with_model


def test_while_a_change_is_on_its_way_up_no_folder_serves_what_the_model_wrote_before_it(
    tmp_path: Path,
) -> None:
    rng = random.Random(2)
    with kept(tmp_path / "lived.db") as lived:
        told = Told(lived)
        for name in (b"a", b"b", b"c", b"d"):
            lived.put(ROOT + b"/in/deep/" + name, many(rng, 30))
            lived.put(ROOT + b"/" + name, many(rng, 30))
        lived.settle()
        told.settle()

        def served() -> dict[int, set[str]]:
            def read(connection: Connection) -> dict[int, set[str]]:
                return {
                    folder: {
                        one.made_by
                        for one in summaries.told_by_key(
                            connection, [node.key for node in folders.folder_nodes_of(connection, folder)]
                        ).values()
                    }
                    for (folder,) in fetch(connection, "SELECT id FROM folders")
                }

            return lived.do(read)

        assert any("model" in makers for makers in served().values())
        lived.put(ROOT + b"/in/deep/b", many(rng, 30))
        lived.settle()
        assert all(makers == {"extractive"} for makers in served().values())
        told.settle()
        assert any("model" in makers for makers in served().values())


def test_what_a_model_wrote_of_a_forgotten_document_is_gone_from_every_folder_above(tmp_path: Path) -> None:
    rng = random.Random(5)
    with kept(tmp_path / "lived.db") as lived:
        told = Told(
            lived, writes=lambda children, kind: f"quillwort in {kind}" + digest_of(children[0]).hex()
        )
        for number in range(14):
            lived.put(ROOT + b"/in/%d.md" % number, many(rng, 30))
        lived.settle()
        told.settle()

        def of_folders(connection: Connection) -> list[Any]:
            return fetch(connection, "SELECT 1 FROM folder_nodes WHERE model IS NOT NULL")

        def stored(connection: Connection) -> int:
            return len(fetch(connection, "SELECT 1 FROM summaries WHERE text LIKE 'quillwort%'"))

        def used(connection: Connection) -> int:
            return len(fetch(connection, "SELECT DISTINCT model FROM nodes WHERE model IS NOT NULL"))

        assert lived.do(of_folders) != []
        (one,) = lived.do(lambda c: fetch(c, "SELECT min(id) FROM documents"))[0]
        lived.do(lambda c: documents.remove_documents(c, [one], forget=True))
        assert lived.do(of_folders) == []
        assert lived.do(stored) == lived.do(used)


def test_a_tree_that_lacks_an_extractive_summary_is_made_again_before_the_model_goes_through_it(
    tmp_path: Path,
) -> None:
    rng = random.Random(6)
    with kept(tmp_path / "lived.db") as lived:
        for number in range(3):
            lived.put(ROOT + b"/%d.md" % number, many(rng, 60))
        lived.settle()
        told = Told(lived)
        told.settle()
        expected = lived.dump()
        lived.do(lambda c: refined.use(c, None))
        lived.do(lambda c: c.execute("UPDATE summaries SET key = randomblob(32) WHERE id IN (1, 2)"))
        lived.do(lambda c: refined.use(c, HOW))
        for _ in range(3):
            lived.run(told.some(upwards=True))
            lived.settle()
        told.settle()
        assert lived.dump() == expected


def test_a_summary_by_a_model_that_was_damaged_is_asked_for_again(tmp_path: Path) -> None:
    rng = random.Random(4)
    with kept(tmp_path / "lived.db") as lived:
        told = Told(lived)
        lived.put(ROOT + b"/a.md", many(rng, 60))
        lived.settle()
        told.settle()
        expected = lived.dump()
        lived.do(lambda c: c.execute("UPDATE summaries SET text = 'x' WHERE made_by = 'model'"))
        assert lived.failed() != []
        lived.do(repair_tree)
        lived.settle()
        Told(lived).settle()
        assert lived.failed() == []
        assert lived.dump() == expected
