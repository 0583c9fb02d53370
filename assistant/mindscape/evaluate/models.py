"""The models that are measured: those in use here, opened in this process."""

from __future__ import annotations

from collections.abc import Generator as Generating
from contextlib import contextmanager
from dataclasses import dataclass

from mindscape.ask.conditioning import Conditioning
from mindscape.ask.pipeline import Writer
from mindscape.errors import Refused
from mindscape.evaluate.answers import conditioning, writing
from mindscape.evaluate.library import Encoder
from mindscape.paths import Paths
from mindscape_models.bundle import find_bundles, shipped_folder
from mindscape_models.catalogue import ANSWER, installed_folder, pick
from mindscape_models.embedding import open_embedder
from mindscape_models.errors import BundleError
from mindscape_models.generation import open_generator
from mindscape_storage import choices
from mindscape_storage.database import open_reader


@dataclass(frozen=True, slots=True)
class Models:
    """An embedder, and a generator where one was measured good enough to answer."""

    embedder: Encoder
    writer: Writer | None
    conditioning: Conditioning | None
    """For an embedder that takes in what a question is about."""
    bundle: dict[str, str | None]
    """Kind -> name and hash of what is used; None where answers are quotes."""


@contextmanager
def opened(paths: Paths, *, answering: bool) -> Generating[Models]:
    """The models that the user's daemon would use; the generator only for `answering`.

    Raises Refused without an embedder, ModelError when one cannot be opened, StorageError when the library
    that holds the user's choice cannot be read.
    """
    chosen = _chosen(paths)
    bundles = find_bundles(paths.models, shipped_folder(), installed_folder(), broken=list[BundleError]())
    embedding, generating = (pick(bundles, kind, chosen.get(kind)) for kind in ("embedder", "generator"))
    if embedding is None:
        raise Refused("No embedder is installed.")
    embedder = open_embedder(embedding)
    takes = embedding.encoder is not None and embedding.encoder.mindscape != "none"
    second = conditioning(embedder) if takes else None
    used = {"embedder": embedding.encoder_name, "generator": None}
    if generating is None or not answering or ANSWER not in generating.capabilities:
        yield Models(embedder, None, second, used)
        return
    with open_generator(generating) as generator:
        name = f"{generating.name}@{generating.files[0].sha256[:12]}"
        yield Models(embedder, writing(generator), second, {**used, "generator": name})


def _chosen(paths: Paths) -> dict[str, str]:
    """Kind -> name, as the user chose; nothing where there is no library yet."""
    if not paths.database.exists():
        return {}
    conn = open_reader(paths.database)
    try:
        return choices.chosen_models(conn)
    finally:
        conn.close()
