"""Questions over the socket with the real engine: quoted, written by a model, cancelled, cut short."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from mindscape.protocol import Json, encode
from mindscape_models.bundle import MANIFEST
from mindscape_models.catalogue import installed_folder
from tests.daemon.harness import Daemon

STARTER = installed_folder() / "smollm2-135m-instruct"
FERRY = "The ferry to Skarne leaves the north quay at 07:40 on Saturdays."


@pytest.fixture
def asked(daemon: Daemon, folder: Path) -> Daemon:
    """A daemon whose library holds two notes, embedded."""
    (folder / "ferry.md").write_text(f"# Ferry\n\n{FERRY} It takes 84 passengers.\n")
    (folder / "bread.md").write_text("# Bread\n\nThe dough rests for twelve hours in a cold room.\n")
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    return daemon


@pytest.fixture
def writing(asked: Daemon) -> Daemon:
    """The same with a generator that is allowed to answer, whatever it is worth."""
    if not (STARTER / MANIFEST).exists():
        pytest.skip("the starter generator is not installed; `make install` brings it")
    bundle = asked.paths.models / "starter-writes"
    bundle.mkdir(parents=True)
    manifest = (STARTER / MANIFEST).read_text()
    manifest = manifest.replace('name = "smollm2-135m-instruct"', 'name = "starter-writes"')
    (bundle / MANIFEST).write_text(manifest.replace("capabilities = []", 'capabilities = ["answer"]'))
    for weights in STARTER.glob("*.gguf"):
        (bundle / weights.name).symlink_to(weights)
    asked.call("models.use", name="starter-writes")
    return asked


def send(link: socket.socket, method: str, **params: Any) -> None:
    link.sendall(encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))


def read_until(lines: Any, wanted: Callable[[Json], bool]) -> Json:
    for line in lines:
        message = json.loads(line)
        if wanted(message):
            return message
    raise AssertionError("the connection closed")


def is_token(message: Json) -> bool:
    return "token" in message.get("params", {})


def test_without_a_capable_model_the_answer_is_quoted_from_the_place(asked: Daemon) -> None:
    answer = asked.call("ask", question="When does the ferry to Skarne leave?")
    assert answer["answered"]
    assert answer["model"] is None
    citation = answer["citations"][0]
    assert citation["quote"] == FERRY
    assert citation["heading"] == ["Ferry"]
    place = f"{citation['path']}:{citation['start']}-{citation['end']}"
    assert asked.call("get", place=place)["text"] == FERRY


def test_what_is_not_there_is_said_not_to_be_there(asked: Daemon) -> None:
    answer = asked.call("ask", question="Which vaccine does a parrot need against psittacosis?")
    assert not answer["answered"]
    assert answer["citations"] == []


def test_an_edit_changes_the_answer_and_the_old_one_is_gone(asked: Daemon, folder: Path) -> None:
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry to Skarne leaves the north quay at 09:15.\n")
    asked.wait("embedded")
    answer = asked.call("ask", question="When does the ferry to Skarne leave?")
    assert "09:15" in answer["citations"][0]["quote"]
    assert "07:40" not in json.dumps(answer)


@pytest.mark.model
def test_a_written_answer_streams_and_the_pieces_are_the_answer(writing: Daemon) -> None:
    with writing.connect() as link, link.makefile("rb") as lines:
        send(link, "ask", question="When does the ferry to Skarne leave?")
        pieces: list[str] = []
        while "result" not in (message := json.loads(lines.readline())):
            pieces.append(message["params"].get("token", ""))
    answer = message["result"]
    assert answer["model"] == "starter-writes"
    assert "".join(pieces) == answer["answer"]


@pytest.mark.model
def test_cancelling_stops_the_model_and_the_next_question_is_answered(writing: Daemon) -> None:
    with writing.connect() as link, link.makefile("rb") as lines:
        send(link, "ask", question="When does the ferry to Skarne leave?")
        read_until(lines, is_token)
        link.sendall(encode({"method": "$/cancel", "params": {"id": 1}}))
        assert read_until(lines, lambda m: "error" in m)["error"]["code"] == -32800
    assert writing.call("ask", question="How long does the dough rest?")["answer"]


@pytest.mark.model
def test_it_stops_in_the_middle_of_an_answer_and_leaves_no_process(writing: Daemon) -> None:
    assert writing.process is not None
    with writing.connect() as link:
        send(link, "ask", question="When does the ferry to Skarne leave?")
        read_until(link.makefile("rb"), is_token)
        children = psutil.Process(writing.process.pid).children(recursive=True)
        assert children
        began = time.monotonic()
        assert writing.stop() == 0
        assert time.monotonic() - began < 2.0 * max(1.0, os.getloadavg()[0] / 2)
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


@pytest.mark.model
def test_when_the_engine_dies_the_answer_is_quoted_and_it_is_started_again(writing: Daemon) -> None:
    assert writing.process is not None
    with writing.connect() as link, link.makefile("rb") as lines:
        send(link, "ask", question="When does the ferry to Skarne leave?")
        read_until(lines, is_token)
        for child in psutil.Process(writing.process.pid).children():
            if "mindscape.engine" in child.cmdline():
                child.send_signal(signal.SIGKILL)
        answer = read_until(lines, lambda m: "result" in m)["result"]
    assert "stopped before it was done" in answer["answer"]
    assert FERRY in [citation["quote"] for citation in answer["citations"]]
    again = writing.call("ask", question="How long does the dough rest?")
    assert again["model"] == "starter-writes"


def test_a_client_that_goes_away_leaves_nothing_running(asked: Daemon) -> None:
    with asked.connect() as link:
        send(link, "ask", question="When does the ferry to Skarne leave?")
    assert asked.call("ask", question="How long does the dough rest?")["answered"]


def test_every_query_is_valid(asked: Daemon) -> None:
    for query in (
        "",
        " ",
        '"',
        "a OR",
        "(",
        "NEAR(",
        "*",
        "\0",
        "-ferry",
        "ferry:",
        "' OR 1=1 --",
        "記",
        "x " * 9000,
    ):
        assert isinstance(asked.call("search", query=query)["results"], list)


def test_a_file_that_is_no_model_is_refused_with_a_sentence(asked: Daemon, tmp_path: Path) -> None:
    fake = tmp_path / "model.gguf"
    fake.write_bytes(b"GGUF" + os.urandom(100))
    with pytest.raises(Exception, match=r"model\.gguf"):
        asked.call("models.use", path=str(fake))
    shutil.rmtree(asked.paths.models)
    with pytest.raises(Exception, match="There is no model 'nonsense'"):
        asked.call("models.use", name="nonsense")
