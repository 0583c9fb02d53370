"""A library filled as the ingest pipeline fills one, from texts cut every few characters."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from mindscape_storage import contents, documents, folders, nodes, refined, roots, summaries, vectors
from mindscape_storage.database import Connection, transaction
from mindscape_storage.records import (
    ContentInfo,
    FileStat,
    FolderNode,
    Mark,
    NewPassage,
    Node,
    Section,
    Status,
    Summary,
)

WIDTH = 16
ENCODER = "fake-encoder"
VERSION = "1"
STAT = FileStat(size=1, mtime_ns=1_700_000_000_000_000_000, ctime_ns=2, inode=3)


def cut(text: str, size: int = 12) -> list[NewPassage]:
    """Passages of `size` characters that tile the text."""
    starts = range(0, len(text), size)
    return [
        NewPassage(n, start, min(start + size, len(text)), text[start : start + size], 1, ("Top",))
        for n, start in enumerate(starts)
    ]


def lines(*texts: str) -> list[NewPassage]:
    """One passage for each text."""
    passages: list[NewPassage] = []
    start = 0
    for number, text in enumerate(texts):
        passages.append(NewPassage(number, start, start + len(text), text, 1, ()))
        start += len(text)
    return passages


def store(
    conn: Connection,
    passages: list[NewPassage],
    info: ContentInfo | None = None,
    sections: list[Section] | None = None,
    marks: list[Mark] | None = None,
) -> int:
    """The content with these passages, staged and completed unless it is there already."""
    text = "".join(passage.text for passage in passages)
    inputs = "\0".join(passage.embed_input for passage in passages) + repr(info)
    key = "sha256:" + hashlib.sha256(inputs.encode()).hexdigest()
    known = contents.find_content(conn, key, "text/plain", "1")
    if known is not None:
        return known
    content_id = contents.begin_content(conn, key, "text/plain", "1", text_like=True)
    contents.add_passages(conn, content_id, passages)
    contents.finish_content(conn, content_id, len(text), info or ContentInfo(), sections or [], marks or [])
    return content_id


def root_of(conn: Connection, path: bytes = b"/notes") -> int:
    return roots.add_root(conn, path).id


def put(conn: Connection, path: bytes, passages: list[NewPassage], info: ContentInfo | None = None) -> int:
    """Add or edit a file; returns the document id."""
    with transaction(conn):
        document_id = documents.upsert_pending(
            conn, root_of(conn), path, path.decode("utf-8", "replace"), STAT
        )
    with transaction(conn):
        content_id = store(conn, passages, info)
        documents.finish(conn, document_id, STAT, Status.OK, None, content_id)
    return document_id


def remove(conn: Connection, path: bytes) -> None:
    found = documents.find_document(conn, path)
    if found is not None:
        documents.remove_documents(conn, [found.id])


def embedded(texts: list[str]) -> NDArray[np.float32]:
    """A unit vector for each text, the same every time."""
    rows: list[NDArray[np.float64]] = []
    for text in texts:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        rows.append(np.random.default_rng(seed).normal(size=WIDTH))
    array = np.array(rows).reshape(len(texts), WIDTH)
    return (array / np.linalg.norm(array, axis=1, keepdims=True)).astype(np.float32)


def embed(conn: Connection, name: str = ENCODER) -> int:
    """Embed everything missing; returns how many inputs that took."""
    encoder = vectors.encoder_id(conn, name, WIDTH)
    missing = vectors.missing_inputs(conn, encoder, 10_000)
    vectors.add_vectors(conn, encoder, [key for key, _ in missing], embedded([text for _, text in missing]))
    return len(missing)


def summarise(conn: Connection) -> int:
    """One node over each content and folder, that says what is below it; returns how many were new."""
    made = 0
    for content in nodes.without_tree(conn, 1000, 10**6):
        passages = list(contents.passages_of(conn, content))
        text = "|".join(passage.text for passage in passages)
        key = summaries.digest_of(f"content {text}")
        made += summaries.add_summaries(conn, [Summary(key, text, 1, "extractive")])
        node = Node(1, 0, 0, len(passages), 0, passages[-1].end, key)
        assert nodes.set_tree(conn, content, VERSION, [node])
    while changed := folders.changed_folders(conn, 100):
        for folder in changed:
            children = sorted(folders.children_of(conn, folder.id), key=lambda child: child.name)
            found = summaries.texts_by_key(conn, [child.key for child in children])
            text = "/".join(f"{child.name.decode()}={found[child.key]}" for child in children)
            key = summaries.digest_of(f"folder {text}")
            above: list[FolderNode] = []
            if children:
                made += summaries.add_summaries(conn, [Summary(key, text, 1, "extractive")])
                above = [FolderNode(1, children[0].name, children[-1].name, key)]
            assert folders.set_folder_tree(conn, folder, above)
    return made


def refine(conn: Connection, text: str = "by a model") -> None:
    """Let a model go through every tree that it has not been through; of each top it says `text`."""
    made = Summary(summaries.digest_of(f"model {text}"), text, 3, "a model")
    refined.use(conn, "a model, as it is asked")
    summaries.add_summaries(conn, [made])
    while (content := refined.next_content(conn)) is not None:
        top = nodes.top_of(conn, content)
        assert top is not None
        assert refined.set_content(conn, content, {(top.level, top.ordinal): made.key})
    while (folder := refined.next_folder(conn)) is not None:
        assert refined.set_folder(conn, folder, {})
