"""A model writes summaries behind the real daemon: what it has written is never asked for again."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mindscape.protocol import Json
from mindscape_models import summary_exam
from mindscape_models.catalogue import installed_folder
from tests.daemon.harness import Daemon
from tests.daemon.prose import novel, write
from tests.daemon.test_tree import mindscape_of

MODEL = "smollm2-135m-instruct"
# What writes in the background gets what others leave of the machine: beside other tests that is little.
pytestmark = pytest.mark.slow


def make_capable(home: Path) -> None:
    """A bundle in the user's own folder wins over the installed one of its name; this one may write."""
    own = home / "models" / MODEL
    shutil.copytree(installed_folder() / MODEL, own, copy_function=lambda a, b: Path(b).hardlink_to(a))
    manifest = own / "manifest.toml"
    text = manifest.read_text()
    manifest.unlink()
    manifest.write_text(
        re.sub(r"^capabilities = .*$", 'capabilities = ["summarise"]', text, flags=re.MULTILINE)
    )


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon with a small model that may write summaries."""
    daemon = Daemon(tmp_path / "home")
    make_capable(daemon.home)
    assert daemon.start() == "ready"
    yield daemon
    daemon.stop()


def refined(daemon: Daemon) -> Json:
    """The status once the model has been through everything, however little of the machine it gets."""
    return daemon.call("wait", tier="refined", timeout=1_800)


def calls(status: Json) -> int:
    return status["work"]["model_summaries"]


def makers(node: Json) -> set[str]:
    return {node["made_by"]}.union(*(makers(child) for child in node["children"] or ()))


def test_a_model_goes_through_a_library_once_and_through_a_change_along_its_path(
    writing: Daemon, folder: Path
) -> None:
    book, *notes = (folder / f"{number}.md" for number in range(4))
    for path, text in zip((book, *notes), summary_exam.texts(), strict=False):
        write(path, list(text.passages))
    writing.call("add", paths=[str(folder)])
    first = refined(writing)
    assert first["documents"]["refined"] == first["documents"]["total"] == 4
    assert first["work_left"]["refined"]["items"] == 0
    assert {row["tier"] for row in writing.call("ls")["documents"]} == {"refined"}
    assert calls(first) >= 4
    assert MODEL in makers(writing.call("tree", depth=9))
    before, at_rest = book.read_text(), mindscape_of(writing)

    book.write_text(
        before + "\nIn the last winter the mill of Rooksend burnt down, and nobody built it again.\n"
    )
    second = refined(writing)
    assert 0 < calls(second) - calls(first) < calls(first)
    book.write_text(before)
    assert calls(refined(writing)) == calls(second)
    assert mindscape_of(writing) == at_rest

    writing.kill()
    assert writing.start() == "ready"
    assert calls(refined(writing)) == calls(second)
    assert [c for c in writing.call("doctor")["checks"] if c["state"] != "ok"] == []


def test_what_a_model_had_written_when_the_daemon_was_killed_is_not_written_again(
    writing: Daemon, folder: Path
) -> None:
    write(folder / "book.md", novel(random.Random(2), 30))
    writing.call("add", paths=[str(folder)])
    writing.wait("summarised")
    while calls(status := writing.call("status")) < 2:
        writing.call("wait", tier="summarised", timeout=60)
    known = calls(status)
    assert status["documents"]["refined"] == 0
    writing.kill()
    assert writing.start() == "ready"
    whole = calls(refined(writing))
    assert whole > known
    shutil.rmtree(writing.home / "models")
    writing.stop()
    assert writing.start() == "ready"
    status = writing.wait("summarised")
    assert status["work_left"]["refined"]["items"] is None
    make_capable(writing.home)
    writing.call("models.use", name=MODEL)
    assert calls(refined(writing)) == whole
