"""An embedder that takes mindscapes in, in a real daemon: what it is asked beside, and what that needs."""

from __future__ import annotations

import random
from pathlib import Path

from mindscape.protocol import Json
from mindscape_models.bundle import MANIFEST, shipped_folder
from tests.daemon.harness import Daemon
from tests.daemon.prose import novel, write

SHIPPED = shipped_folder() / "all-minilm-l6-v2-int8"
QUESTION = "When does the ferry leave?"


def give_mixing(daemon: Daemon) -> None:
    """Use an embedder like the shipped one that mixes a mindscape in."""
    bundle = daemon.paths.models / "mixing"
    bundle.mkdir(parents=True)
    manifest = (SHIPPED / MANIFEST).read_text(encoding="utf-8")
    manifest = manifest.replace(f'name = "{SHIPPED.name}"', 'name = "mixing"')
    (bundle / MANIFEST).write_text(manifest.replace('mindscape = "none"', 'mindscape = "residual"'))
    for file in SHIPPED.iterdir():
        if file.name != MANIFEST:
            (bundle / file.name).symlink_to(file)
    daemon.call("models.use", name="mixing")


def ask(daemon: Daemon, **more: str) -> Json:
    return daemon.call("ask", question=QUESTION, stream=False, **more)


def test_a_question_is_asked_beside_its_signature_or_the_mindscape_of_its_document(
    daemon: Daemon, folder: Path
) -> None:
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves the north quay at 07:40 on Saturdays.\n")
    write(folder / "mill.md", novel(random.Random(1), 60))
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    daemon.wait("summarised")
    shipped = ask(daemon)
    assert (shipped["signature"], "conditioned" in shipped["coverage"]["legs"]) == ([], False)

    give_mixing(daemon)
    daemon.wait("embedded")
    found = ask(daemon)
    ids = {row["path"].rsplit("/", 1)[-1]: f"d{row['id']}" for row in daemon.call("ls")["documents"]}
    assert ids["ferry.md"] in found["signature"]
    assert len(found["signature"]) <= 5
    assert found["coverage"]["legs"] == ["words", "vector", "conditioned"]
    assert "07:40" in found["answer"]
    for node in found["signature"]:
        assert daemon.call("node", id=node)["summary"]

    narrow = ask(daemon, scope="mill.md")
    assert narrow["signature"]
    assert {node.split(".")[0] for node in narrow["signature"]} == {ids["mill.md"]}
