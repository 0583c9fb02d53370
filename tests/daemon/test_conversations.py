"""Conversations with a real daemon: begun, gone on with, listed, deleted, and true after edits."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindscape.daemon.conversations import PAGE
from mindscape.errors import NotFound, UsageError
from mindscape.protocol import encode
from mindscape_models.bundle import MANIFEST
from mindscape_models.catalogue import installed_folder
from mindscape_storage.conversations import NewTurn, save_turn
from mindscape_storage.database import open_writer, transaction
from tests.daemon.harness import Daemon

STARTER = installed_folder() / "smollm2-135m-instruct"
FERRY = "The ferry to Skarne leaves the north quay at 07:40 on Saturdays."
WHEN = "When does the ferry to Skarne leave?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two notes."""
    folder = tmp_path_factory.mktemp("talked") / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text(f"# Ferry\n\n{FERRY}\n")
    (folder / "bread.md").write_text("# Bread\n\nThe dough rests for twelve hours in a cold room.\n")
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Daemon]:
    """One daemon for all of this: what it holds of conversations is deleted in between."""
    daemon = Daemon(folder.parent / "home", workers="1")
    assert daemon.start() == "ready"
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    yield daemon
    daemon.stop()


@pytest.fixture
def asked(running: Daemon) -> Daemon:
    """The daemon, without a conversation."""
    for one in running.call("conversations.list")["conversations"]:
        running.call("conversations.delete", id=one["id"])
    return running


def test_a_question_begins_a_conversation_and_others_join_it(asked: Daemon) -> None:
    assert asked.call("ask", question=WHEN)["conversation"] is None
    assert asked.call("conversations.list") == {"conversations": [], "total": 0}
    talk = asked.call("ask", question=WHEN, conversation="new")["conversation"]
    assert (
        asked.call("ask", question="How long does the dough rest?", conversation=talk)["conversation"] == talk
    )
    assert asked.call("ask", question="Which vaccine?", conversation="last")["conversation"] == talk
    listed = asked.call("conversations.list")["conversations"]
    assert [(one["id"], one["title"], one["questions"]) for one in listed] == [(talk, WHEN, 3)]
    turns = asked.call("conversations.get", id=talk)["turns"]
    assert [turn["question"] for turn in turns][:2] == [WHEN, "How long does the dough rest?"]
    citation = turns[0]["citations"][0]
    assert (citation["quote"], citation["current"], citation["heading"]) == (FERRY, True, ["Ferry"])
    assert asked.call("get", place=f"p{citation['passage_id']}")["text"].strip().endswith(FERRY)
    asked.call("conversations.delete", id=talk)
    assert asked.call("conversations.list")["total"] == 0


def test_conversations_survive_a_restart(asked: Daemon) -> None:
    talk = asked.call("ask", question=WHEN, conversation="new")["conversation"]
    before = asked.call("conversations.get", id=talk)
    asked.kill()
    asked.start()
    assert asked.call("conversations.get", id=talk) == before


def test_what_is_no_conversation_is_said_in_a_sentence(asked: Daemon) -> None:
    with pytest.raises(NotFound, match="There is no conversation c7"):
        asked.call("ask", question=WHEN, conversation="c7")
    for given in ("7", "c", "c7 or c8", "c" + "9" * 30, ""):
        with pytest.raises(UsageError, match="is no conversation"):
            asked.call("ask", question=WHEN, conversation=given)
    with pytest.raises(UsageError, match="conversation must be given, as text"):
        asked.call("ask", question=WHEN, conversation=7)
    with pytest.raises(NotFound, match="no conversation yet"):
        asked.call("ask", question=WHEN, conversation="last")
    for method in ("conversations.get", "conversations.delete"):
        with pytest.raises(NotFound, match="There is no conversation c7"):
            asked.call(method, id="c7")


def test_an_empty_question_joins_nothing_and_a_pasted_book_is_bounded(asked: Daemon) -> None:
    with pytest.raises(UsageError, match="The question is empty"):
        asked.call("ask", question=" \n", conversation="new")
    assert asked.call("conversations.list")["total"] == 0
    pasted = f"{WHEN} " + "word " * 20_000
    talk = asked.call("ask", question=pasted, conversation="new")["conversation"]
    assert len(json.dumps(asked.call("conversations.get", id=talk))) < 200_000


def test_two_clients_in_one_conversation_are_both_kept(asked: Daemon) -> None:
    talk = asked.call("ask", question=WHEN, conversation="new")["conversation"]
    questions = [f"How long does the dough rest, number {number}?" for number in range(6)]
    threads = [
        threading.Thread(target=asked.call, args=("ask",), kwargs={"question": one, "conversation": talk})
        for one in questions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = asked.call("conversations.get", id=talk)["turns"]
    assert [turn["ordinal"] for turn in turns] == list(range(7))
    assert {turn["question"] for turn in turns} == {WHEN, *questions}


def test_a_question_that_leans_on_the_last_finds_what_it_is_about(asked: Daemon, folder: Path) -> None:
    (folder / "people.md").write_text(
        "# People\n\nCaptain Lindqvist bought the blue barge in 1987.\n\nOld Berg bought nothing.\n"
    )
    (folder / "births.md").write_text(
        "# Births\n\nBerg was born in Malung in 1930.\n\nLindqvist was born in Kiruna in 1950.\n"
    )
    asked.wait("embedded")
    talk = asked.call("ask", question="Who bought the blue barge?", conversation="new")["conversation"]
    answer = asked.call("ask", question="Where was he born?", conversation=talk)
    assert answer["rewritten"].endswith(": Where was he born?")
    assert "Lindqvist" in answer["rewritten"]
    assert "Kiruna" in answer["citations"][0]["quote"]
    assert answer["question"] == "Where was he born?"
    assert asked.call("ask", question=WHEN, conversation=talk)["rewritten"] is None
    saved = asked.call("conversations.get", id=talk)["turns"]
    assert [turn["rewritten"] for turn in saved] == [None, answer["rewritten"], None]
    alone = asked.call("ask", question="Where was he born?")
    assert alone["rewritten"] is None


@pytest.mark.model
def test_a_generator_that_may_rewrite_is_asked_for_a_question_that_leans(asked: Daemon) -> None:
    if not (STARTER / MANIFEST).exists():
        pytest.skip("the starter generator is not installed; `make install` brings it")
    bundle = asked.paths.models / "starter-rewrites"
    bundle.mkdir(parents=True)
    manifest = (
        (STARTER / MANIFEST).read_text().replace('name = "smollm2-135m-instruct"', f'name = "{bundle.name}"')
    )
    (bundle / MANIFEST).write_text(manifest.replace("capabilities = []", 'capabilities = ["rewrite"]'))
    for weights in STARTER.glob("*.gguf"):
        (bundle / weights.name).symlink_to(weights)
    asked.call("models.use", name=bundle.name)
    talk = asked.call("ask", question=WHEN, conversation="new")["conversation"]
    answer = asked.call("ask", question="And on Sundays?", conversation=talk)
    assert [one["calls"] for one in answer["ledger"] if one["stage"] == "rewrite"] == [1]
    assert not any(one.get("failed") for one in answer["ledger"])
    assert (answer["model"], answer["made_by"]) == (None, "quotes")
    asked.call("models.use", name="smollm2-135m-instruct")


def test_a_cancelled_question_leaves_nothing_or_all_of_its_turn(asked: Daemon) -> None:
    with asked.connect() as link, link.makefile("rb") as lines:
        params = {"question": WHEN, "conversation": "new"}
        link.sendall(encode({"jsonrpc": "2.0", "id": 1, "method": "ask", "params": params}))
        link.sendall(encode({"method": "$/cancel", "params": {"id": 1}}))
        while "error" not in (message := json.loads(lines.readline())):
            assert "result" not in message
    for one in asked.call("conversations.list")["conversations"]:
        turns = asked.call("conversations.get", id=one["id"])["turns"]
        assert [turn["citations"][0]["quote"] for turn in turns] == [FERRY]


def test_an_answer_whose_conversation_was_deleted_meanwhile_is_still_given(asked: Daemon) -> None:
    talk = asked.call("ask", question=WHEN, conversation="new")["conversation"]
    answer: dict[str, Any] = {}
    with asked.connect() as link, link.makefile("rb") as lines:
        params = {"question": WHEN, "conversation": talk}
        link.sendall(encode({"jsonrpc": "2.0", "id": 1, "method": "ask", "params": params}))
        first = json.loads(lines.readline())
        assert "stage" in first["params"]
        asked.call("conversations.delete", id=talk)
        while "result" not in answer:
            answer = json.loads(lines.readline())
    assert answer["result"]["answered"]
    left = [one["id"] for one in asked.call("conversations.list")["conversations"]]
    assert answer["result"]["conversation"] in (None, *left)


def test_a_long_conversation_is_given_page_by_page(asked: Daemon) -> None:
    asked.stop()
    conn = open_writer(asked.paths.database)
    talk = None
    with transaction(conn):
        for number in range(500):
            turn = NewTurn(f"Q{number}?", None, "x" * 3000, False, "passages", "none", None, [], [])
            talk = save_turn(conn, talk, turn, number)
    conn.close()
    asked.start()
    seen: list[int] = []
    page = asked.call("conversations.get", id=f"c{talk}")
    while True:
        assert len(page["turns"]) <= PAGE
        seen = [turn["ordinal"] for turn in page["turns"]] + seen
        if not page["earlier"]:
            break
        page = asked.call("conversations.get", id=f"c{talk}", before=page["earlier"])
    assert seen == list(range(500))
    assert asked.call("ask", question=WHEN, conversation=f"c{talk}")["answered"]


def test_after_an_edit_the_saved_citation_is_not_current(asked: Daemon, folder: Path) -> None:
    (folder / "tram.md").write_text("# Tram\n\nThe tram to Vinga stops at the old brewery.\n")
    asked.wait("embedded")
    answer = asked.call("ask", question="Where does the tram to Vinga stop?", conversation="new")
    talk = answer["conversation"]
    (folder / "tram.md").write_text("# Tram\n\nThe tram to Vinga stops at the new brewery.\n")
    asked.wait("searchable")
    turn = asked.call("conversations.get", id=talk)["turns"][0]
    assert (turn["current"], turn["citations"][0]["current"]) == (False, False)


@pytest.mark.parametrize("removed_before", [False, True])
def test_what_is_forgotten_is_in_no_saved_answer_nor_in_the_file(
    asked: Daemon, folder: Path, removed_before: bool
) -> None:
    (folder.parent / "secret").mkdir(exist_ok=True)
    (folder.parent / "secret" / "vault.md").write_text(
        "# Vault\n\nThe vault opens with the word Xyzzyplugh.\n"
    )
    asked.call("add", paths=[str(folder.parent / "secret")])
    asked.wait("embedded")
    answer = asked.call("ask", question="With which word does the vault open?", conversation="new")
    assert "Xyzzyplugh" in answer["answer"]
    paths = [str(folder.parent / "secret")]
    if removed_before:
        asked.call("rm", paths=paths)
    gone = asked.call("rm", paths=paths, forget=True)
    assert gone["not_watched"] == (paths if removed_before else [])
    saved = asked.call("conversations.get", id=answer["conversation"])
    assert "Xyzzyplugh" not in json.dumps(saved)
    assert saved["turns"][0]["answer"] is None
    asked.stop()
    for file in asked.paths.database.parent.glob(f"{asked.paths.database.name}*"):
        assert b"Xyzzyplugh" not in file.read_bytes()
    asked.start()
