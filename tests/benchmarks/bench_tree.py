"""The extractive tree of a novel, against embedding its passages, on the book of the demo."""

from __future__ import annotations

from pathlib import Path

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Source
from mindscape.ingest.passages import cut
from mindscape.ingest.summarise import Kind, passage_leaves
from mindscape_models.bundle import open_bundle, shipped_folder
from mindscape_models.embedding import open_embedder
from mindscape_storage.records import NewPassage
from tests.benchmarks.bench_embedding import in_turns, timed
from tests.benchmarks.table import Row, markdown
from tests.demo.epub import read_chapters
from tests.ingest.forest import Memo, grow

BOOK = Path(__file__).parents[1] / "demo/book"


def run() -> list[Row]:
    """The row of this part."""
    passages = novel()
    texts = [one.text for one in passages]
    leaves = passage_leaves((one.text, one.heading, one.start, one.end) for one in passages)
    embedder = open_embedder(open_bundle(shipped_folder() / "all-minilm-l6-v2-int8"), device="cpu")
    tree, embedding = in_turns(
        lambda: timed(lambda: grow(Memo(), leaves, Kind.PASSAGES, texts)),
        lambda: timed(lambda: embedder.encode_passages(texts)),
    )
    ratio = tree / embedding
    measured = f"{ratio:.3f}x ({tree:.2f} against {embedding:.2f} s, {len(texts)} passages)"
    return [Row("extractive tree of a novel, against embedding it", measured, "at most 0.2x", ratio <= 0.2)]


def novel() -> list[NewPassage]:
    """All chapters in one document."""
    text = "\n\n".join(chapter.markdown for chapter in read_chapters(BOOK))
    return list(cut(parse(Source(Path("novel.md"), text.encode()))))


if __name__ == "__main__":
    print(markdown(run()))
