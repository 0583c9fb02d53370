"""stdout is data, stderr is narration, and nothing from a document reaches a terminal as a command."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import ANSWER, CITATION, HIT, STATUS, FakeDaemon, Run

Json = dict[str, Any]
HOSTILE = [
    "\x1b[2Jclear",
    "\x1b]0;title\x07",
    "\x1b]52;c;cHduZWQ=\x07",
    "bell\x07",
    "back\b\bspace",
    "carriage\rreturn",
    "nul\x00x",
    "\u202egnp.exe",
    "\x9b31mred",
    "[bold red]not styled[/] [/x] [@click=app.quit]x[/]",
    "lone \ud83d surrogate",
]
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def fill(daemon: FakeDaemon, text: str) -> None:
    """Put the text everywhere a document or the daemon can put text."""
    hit = {**HIT, "text": text, "heading": [text], "document": {"id": 1, "path": f"/x/{text}", "title": text}}
    daemon.gives("search", {"query": text, "took_ms": 1, "results": [hit], "coverage": {}})
    answer = {**ANSWER, "answer": text, "citations": [{**CITATION, "path": text, "quote": text}]}
    daemon.streams("ask", [{"stage": text}, *({"token": character} for character in text)], answer)
    daemon.gives("get", {**HIT, "text": text})
    row = {"id": 1, "path": text, "status": text, "reason": text, "tier": None, "passages": 1}
    daemon.gives("ls", {"documents": [row]})
    daemon.gives("status", {**STATUS, "folders": [{"path": text, "mode": text, "documents": 1}]})
    daemon.gives("doctor", {"checks": [{"name": text, "state": "fail", "message": text, "fix": text}]})
    model = {"name": text, "kind": text, "capabilities": [text], "quality": {text: text}, "licence": text}
    daemon.gives("models.list", {"models": [model]})
    daemon.gives("add", {"folders": [{"path": text, "mode": "events", "documents": 0}]})


COMMANDS: list[list[str]] = [
    ["search", "x"],
    ["ask", "x"],
    ["get", "1"],
    ["ls"],
    ["status"],
    ["doctor"],
    ["models"],
    ["add", "x"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_no_text_is_obeyed_by_a_terminal_and_json_keeps_it_whole(
    daemon: FakeDaemon, mindscape: Run, words: list[str]
) -> None:
    for text in HOSTILE:
        fill(daemon, text)
        ran = mindscape(*words)
        assert ran.code in (0, 1)
        assert not OBEYED.search(ran.stdout + ran.stderr)
        ran = mindscape(*words, "--json")
        assert not OBEYED.search(ran.stdout + ran.stderr)
        last = json.loads(ran.stdout.splitlines()[-1])
        if "\ud83d" not in text:  # the wire is UTF-8, which has no lone surrogates
            assert text in _strings(last)


def _strings(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(_strings(item) for item in value.values())
    return "".join(_strings(item) for item in value) if isinstance(value, list) else str(value)


def test_markup_is_printed_as_it_is(daemon: FakeDaemon, mindscape: Run) -> None:
    fill(daemon, "[bold red]not styled[/]")
    assert "[bold red]not styled[/]" in mindscape("search", "x").stdout


def test_a_terminal_sees_the_matching_words_emphasised(
    daemon: FakeDaemon, on_terminal: Callable[..., tuple[int, str]]
) -> None:
    daemon.gives("search", {"query": "ferry", "took_ms": 1, "results": [HIT], "coverage": {}})
    code, screen = on_terminal("search", "ferry")
    assert code == 0
    assert "\x1b[1mferry\x1b[0m leaves" in screen


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none_and_no_animation(
    daemon: FakeDaemon, on_terminal: Callable[..., tuple[int, str]], environ: dict[str, str]
) -> None:
    daemon.gives("search", {"query": "ferry", "took_ms": 1, "results": [HIT], "coverage": {}})
    daemon.streams("ask", [{"stage": "searching"}, {"token": "Every twenty minutes [1]."}], ANSWER)
    daemon.streams("wait", [{"progress": {"done": 1, "total": 2, "what": "x"}}], STATUS)
    for words in (["search", "ferry"], ["ask", "ferry"], ["status", "--wait", "embedded"]):
        code, screen = on_terminal(*words, **environ)
        assert code == 0
        assert "\x1b" not in screen


def test_waiting_on_a_terminal_shows_a_bar_that_is_gone_afterwards(
    daemon: FakeDaemon, on_terminal: Callable[..., tuple[int, str]]
) -> None:
    daemon.streams("wait", [{"progress": {"done": 1, "total": 2, "what": "[/] pages"}}], STATUS)
    code, screen = on_terminal("status", "--wait", "embedded")
    assert code == 0
    assert "[/] pages" in screen
    assert "1/2" in screen


def test_an_answer_is_printed_once_then_its_sources(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.streams("ask", [{"token": "Every twenty "}, {"token": "minutes [1]."}], ANSWER)
    ran = mindscape("ask", "When?")
    assert ran.stdout.startswith("Every twenty minutes [1].\n\nSources\n")
    assert "  [1] /library/trips/lisbon.md:42\n" in ran.stdout
    assert ran.stderr == ""


def test_without_an_answer_the_closest_passages_follow(daemon: FakeDaemon, mindscape: Run) -> None:
    refusal = {**ANSWER, "answer": "Not there.", "answered": False, "citations": [], "near": [CITATION]}
    daemon.streams("ask", [{"token": "Not there."}], refusal)
    ran = mindscape("ask", "When?")
    assert ran.code == 1
    assert ran.stdout.startswith("Not there.\n\nClosest passages\n  [1] /library/trips/lisbon.md:42\n")


def test_a_draft_that_did_not_hold_is_followed_by_the_answer(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.streams("ask", [{"token": "Every hour."}], ANSWER)
    ran = mindscape("ask", "When?")
    assert ran.stdout.startswith("Every hour.\nEvery twenty minutes [1].\n")
    assert "draft" in ran.stderr


def test_what_an_answer_could_not_see_is_said_on_stderr(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("ask", {**ANSWER, "coverage": {"notes": ["3 documents are being read."], "without_text": 1}})
    ran = mindscape("ask", "--no-stream", "When?")
    assert ran.stderr == "3 documents are being read. 1 document has no text that can be searched.\n"


def test_a_reader_that_leaves_early_is_no_error(daemon: FakeDaemon) -> None:
    row = {"id": 1, "path": "/library/a.md", "status": "ready", "reason": None, "tier": "embedded"}
    daemon.gives("ls", {"documents": [{**row, "passages": n} for n in range(20_000)]})
    process = subprocess.Popen(
        [sys.executable, "-m", "mindscape", "ls"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 141


def test_ctrl_c_cancels_the_question_and_ends_with_130(daemon: FakeDaemon) -> None:
    ended = threading.Event()

    def answer(_params: Json, stream: Callable[[Json], None]) -> Json:
        stream({"token": "Every\n"})
        ended.wait()
        return ANSWER

    daemon.answers["ask"] = answer
    program = (  # a test run in the background ignores SIGINT, and so would its children
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from mindscape.cli import main; sys.exit(main(['ask', 'When?']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"Every\n"
        process.send_signal(signal.SIGINT)
        stderr = process.stderr.read()
    ended.set()
    assert (process.returncode, stderr) == (130, b"")
    assert daemon.cancelled.wait(10)


@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (">&-", "mindscape: The output is closed. To discard it, add: > /dev/null\n"),
        (">/dev/full", "mindscape: The output cannot be written: No space left on device.\n"),
    ],
)
@pytest.mark.parametrize("command", ["ls", "ls --json"])
def test_output_that_cannot_be_written_is_a_sentence(
    daemon: FakeDaemon, command: str, redirection: str, said: str
) -> None:
    row = {"id": 1, "path": "/library/a.md", "status": "ready", "reason": None, "tier": "embedded"}
    daemon.gives("ls", {"documents": [{**row, "passages": 1}]})
    line = f"exec {sys.executable} -m mindscape {command} {redirection}"
    ran = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True)
    assert (ran.returncode, ran.stderr) == (4, said)


def test_closed_messages_and_input_are_no_fault(daemon: FakeDaemon) -> None:
    daemon.gives("ls", {"documents": []})
    line = f"exec {sys.executable} -m mindscape ls <&- 2>&-"
    assert subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE).returncode == 1


def test_a_daemon_that_dies_before_it_answers_is_said(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.resets = True
    ran = mindscape("search", "x")
    assert (ran.code, ran.stdout) == (3, "")
    assert ran.stderr.startswith("mindscape: The daemon stopped before it answered.")
