"""Each command: what it asks the daemon, the JSON it prints, and its exit code."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mindscape.errors import DaemonUnreachable, NotFound, Refused

from .conftest import ANSWER, HIT, STATUS, FakeDaemon, Run

Json = dict[str, Any]


def encoded(path: str | bytes | os.PathLike[str]) -> str:
    return base64.b64encode(os.fsencode(path)).decode()


def test_search_asks_with_its_options_and_prints_the_result_as_it_is(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    result = {"query": "ferry time", "took_ms": 3, "results": [HIT], "coverage": {}}
    daemon.gives("search", result)
    ran = mindscape(
        "search", "ferry", "-k", "3", "time", "--tag", "travel", "--since", "2024-01-01", "--json"
    )
    assert (ran.code, json.loads(ran.stdout), ran.stderr) == (0, result, "")
    params = {"query": "ferry time", "k": 3, "scope": None, "upto": None}
    params |= {"tag": "travel", "since": "2024-01-01"}
    assert daemon.asked == [("search", params)]


def test_search_that_finds_nothing_ends_with_one(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("search", {"query": "x", "took_ms": 1, "results": [], "coverage": {}})
    assert mindscape("search", "x", "--json").code == 1
    ran = mindscape("search", "x")
    assert (ran.code, ran.stdout) == (1, "")
    assert "Nothing was found" in ran.stderr


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        ({"documents": 0}, "The library is empty. Add a folder: mindscape add PATH\n"),
        ({"documents": 0, "behind": 3, "notes": ["3 are read."]}, "Nothing was found.\n3 are read.\n"),
        ({"documents": 2}, "Nothing was found.\n"),
    ],
)
def test_a_search_in_an_empty_library_says_so(
    daemon: FakeDaemon, mindscape: Run, coverage: Json, said: str
) -> None:
    daemon.gives("search", {"query": "x", "took_ms": 1, "results": [], "coverage": coverage})
    ran = mindscape("search", "x")
    assert (ran.code, ran.stdout, ran.stderr) == (1, "", said)


def test_words_after_two_dashes_may_start_with_a_dash(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("search", {"query": "", "took_ms": 1, "results": [HIT], "coverage": {}})
    assert mindscape("search", "--", "-k", "[b").code == 0
    assert daemon.asked[0][1]["query"] == "-k [b"


def test_a_scope_that_is_there_is_sent_as_an_absolute_path(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    daemon.gives("search", {"query": "x", "took_ms": 1, "results": [HIT], "coverage": {}})
    mindscape("search", "x", "--in", "notes")
    mindscape("search", "x", "--in", "12")
    assert [params["scope"] for _, params in daemon.asked] == [str(tmp_path / "notes"), "12"]


def test_ask_streams_json_lines_and_ends_with_the_whole_answer(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.streams("ask", [{"stage": "searching"}, {"token": "Every "}, {"token": "twenty"}], ANSWER)
    ran = mindscape("ask", "When?", "--json")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert lines == [{"token": "Every "}, {"token": "twenty"}, ANSWER]
    assert (ran.code, ran.stderr) == (0, "")
    assert daemon.asked == [
        (
            "ask",
            {
                "question": "When?",
                "mode": "auto",
                "stream": True,
                "scope": None,
                "upto": None,
                "conversation": "new",
            },
        )
    ]


def test_ask_without_streaming_prints_one_document(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("ask", {**ANSWER, "answered": False})
    ran = mindscape("ask", "--no-stream", "--json", "When?")
    assert ran.code == 1
    assert json.loads(ran.stdout)["answered"] is False
    assert daemon.asked[0][1]["stream"] is False


def test_add_sends_the_bytes_of_absolute_paths(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = {"folders": [{"path": "/library", "mode": "events", "documents": 0}]}
    daemon.gives("add", result)
    ran = mindscape("add", "notes", "caf\udce9.txt", "--json")
    assert json.loads(ran.stdout) == result
    assert daemon.asked == [
        (
            "add",
            {"paths_b64": [encoded(tmp_path / "notes"), encoded(os.fsencode(tmp_path) + b"/caf\xe9.txt")]},
        )
    ]


@pytest.mark.parametrize(("said", "sent"), [("--ocr", True), ("--no-ocr", False)])
def test_add_passes_on_whether_ocr_reads_the_folder(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, said: str, sent: bool
) -> None:
    daemon.gives("add", {"folders": [{"path": "/library", "mode": "events", "documents": 0, "ocr": sent}]})
    ran = mindscape("add", said, str(tmp_path))
    assert ("by OCR" in ran.stdout) is sent
    assert daemon.asked == [("add", {"paths_b64": [encoded(tmp_path)], "ocr": sent})]


def test_rm_passes_on_whether_to_forget(daemon: FakeDaemon, mindscape: Run, tmp_path: Path) -> None:
    daemon.gives("rm", {"removed": 4})
    ran = mindscape("rm", str(tmp_path), "--forget")
    assert (ran.code, ran.stdout) == (0, "4 documents removed from the library\n")
    assert daemon.asked == [("rm", {"paths_b64": [encoded(tmp_path)], "forget": True})]


def test_status_says_why_a_folder_gives_no_events(daemon: FakeDaemon, mindscape: Run) -> None:
    why = "/library (nfs4) tells of no changes made elsewhere; it is scanned every 60 seconds instead."
    shown = {"path": "/library", "mode": "polling", "reason": why, "documents": 1}
    daemon.gives("status", {**STATUS, "folders": [shown]})
    ran = mindscape("status")
    assert "polling" in ran.stdout
    assert why in " ".join(ran.stdout.split())


def test_rm_says_how_to_leave_out_a_part_of_a_folder(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path
) -> None:
    real = os.path.realpath(tmp_path)
    daemon.refuses("rm", NotFound("It is not watched."))
    daemon.gives("status", {**STATUS, "folders": [{"path": real, "mode": "events", "documents": 1}]})
    ran = mindscape("rm", f"{tmp_path}/a.md")
    assert ran.code == 1
    hint = f"To leave out {tmp_path}/a.md, name it in {real}/.mindscapeignore.\n"
    assert ran.stderr == f"mindscape: It is not watched. {hint}"
    assert mindscape("rm", "/elsewhere").stderr == "mindscape: It is not watched.\n"


def test_ls_prints_the_documents_and_an_empty_library_ends_with_one(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    row = {"id": 3, "path": "/library/a.md", "path_bytes_b64": encoded("/library/a.md"), "status": "failed"}
    row |= {"reason": "It is encrypted.", "tier": None, "passages": 0}
    daemon.gives("ls", {"documents": [row]})
    assert json.loads(mindscape("ls", "--json").stdout) == {"documents": [row]}
    shown = mindscape("ls").stdout
    assert "failed" in shown
    assert "It is encrypted." in shown
    row |= {"status": "ok", "reason": None, "warnings": ["Page 2 has no text layer."]}
    daemon.gives("ls", {"documents": [row]})
    assert "Page 2 has no text layer." in mindscape("ls").stdout
    daemon.gives("ls", {"documents": []})
    assert mindscape("ls").code == 1


def test_status_prints_the_status_and_can_wait_for_a_tier(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("status", STATUS)
    daemon.streams("wait", [{"progress": {"done": 1, "total": 2, "what": "embedding"}}], STATUS)
    assert json.loads(mindscape("status", "--json").stdout) == STATUS
    ran = mindscape("status", "--wait", "embedded", "--timeout", "30", "--json")
    assert (json.loads(ran.stdout), ran.stderr, ran.code) == (STATUS, "", 0)
    assert daemon.asked[-1] == ("wait", {"tier": "embedded", "timeout": 30.0})
    human = mindscape("status").stdout
    assert "25 searchable · 20 embedded" in human
    assert "24 ready · 1 failed" in human


def test_a_tier_that_cannot_be_reached_ends_with_four_and_the_reason(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    daemon.refuses("wait", Refused("No model here can summarise."))
    ran = mindscape("status", "--wait", "summarised")
    assert (ran.code, ran.stdout, ran.stderr) == (4, "", "mindscape: No model here can summarise.\n")


def test_get_prints_the_text_alone(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("x")
    monkeypatch.chdir(tmp_path)
    place = {"document": {"id": 3, "path": "/library/a.md", "title": "A"}, "start": 0, "end": 9}
    place |= {"text": "Ferry\r\nat nine", "page": None, "line": 1, "heading": []}
    daemon.gives("get", place)
    ran = mindscape("get", "a.md:0-9")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "Ferry \nat nine\n", "")
    mindscape("get", "p7")
    assert [params["place"] for _, params in daemon.asked] == [f"{tmp_path}/a.md:0-9", "p7"]
    assert json.loads(mindscape("get", "3", "--json").stdout) == place


def test_a_place_that_is_not_there_ends_with_one(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.refuses("get", NotFound("There is no passage 99."))
    ran = mindscape("get", "p99", "--json")
    assert (ran.code, ran.stdout, ran.stderr) == (1, "", "mindscape: There is no passage 99.\n")


def test_open_starts_the_editor_at_the_line(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "$(touch x); a.md"
    note.write_text("x")
    started: list[list[str]] = []

    def call(command: list[str]) -> int:
        started.append(command)
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    monkeypatch.setenv("EDITOR", "vim -R")
    daemon.gives("get", {"document": {"id": 1, "path": str(note)}, "line": 12, "page": None})
    ran = mindscape("open", "1", "--json")
    assert json.loads(ran.stdout) == {"path": str(note), "line": 12, "page": None}
    assert started == [["vim", "-R", "+12", str(note)]]
    note.unlink()
    assert mindscape("open", "1").code == 1


@pytest.mark.parametrize("place", ["4", "{}/scan.png", "pictures/scan.png"])
def test_open_shows_a_document_without_text_in_a_viewer(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    picture = tmp_path / "pictures" / "scan.png"
    picture.parent.mkdir()
    picture.touch()
    monkeypatch.chdir("/")
    opened: list[Json] = []
    monkeypatch.setattr("mindscape.cli.opener.opening_for", opened.append)
    monkeypatch.setattr("mindscape.cli.opener.launch", list[None]().append)
    daemon.refuses("get", NotFound("It has no text."))
    row = {"id": 4, "path": str(picture), "path_bytes_b64": encoded(picture)}
    daemon.gives("ls", {"documents": [row]})
    ran = mindscape("open", place.format(picture.parent), "--json")
    assert json.loads(ran.stdout) == {"path": str(picture), "line": None, "page": None}
    assert opened == [{"document": row}]
    assert mindscape("open", "9").stderr == "mindscape: It has no text.\n"


def test_rm_forget_says_what_it_did_of_a_path_that_is_not_watched(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("rm", {"removed": 0, "not_watched": ["/gone/notes"]})
    ran = mindscape("rm", "/gone/notes", "--forget")
    assert ran.code == 0
    assert ran.stderr == ("/gone/notes is not watched; what was kept of files that are gone is forgotten.\n")


def test_a_path_that_is_not_utf_8_is_sent_as_the_id_or_the_name_shown(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path
) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    os.mkdir(folder)  # noqa: PTH102 - its name is not UTF-8
    note = f"{folder}/a.md"
    Path(note).touch()
    shown = f"{tmp_path}/caf\ufffd"
    daemon.gives("ls", {"documents": [{"id": 4, "path": f"{shown}/a.md", "path_bytes_b64": encoded(note)}]})
    daemon.gives("get", HIT)
    daemon.gives("search", {"query": "x", "took_ms": 1, "results": [HIT], "coverage": {}})
    mindscape("get", note)
    mindscape("get", f"{note}:7")
    mindscape("search", "x", "--in", note)
    mindscape("search", "x", "--in", folder)
    asked = [params.get("place") or params["scope"] for method, params in daemon.asked if method != "ls"]
    assert asked == ["4", "4:7", "4", shown]


@pytest.mark.parametrize(
    ("needed", "end"), [({"right": 0.75, "refused": 0.5}, "; needed: 75%, 50%.\n"), (None, ".\n")]
)
def test_a_model_that_may_not_answer_is_said_with_what_the_exam_found(
    daemon: FakeDaemon, mindscape: Run, needed: Json | None, end: str
) -> None:
    quality = {"exam_right": 0.75, "exam_refused": 0.0}
    row = {"name": "small", "kind": "generator", "capabilities": [], "quality": quality, "needed": needed}
    daemon.gives("models.use", row)
    ran = mindscape("models", "use", "small.gguf")
    assert ran.stderr.startswith("A model that is not known yet sits an exam first")
    assert ran.stderr.endswith(
        f"\nIt answered 75% of the answerable questions and refused 0% of the others{end}"
    )
    summaries = {"summary_accepted": 1.0, "summary_names": 0.5, "summary_supported": 0.9}
    daemon.gives("models.use", {**row, "quality": quality | summaries})
    said = mindscape("models", "use", "small.gguf").stderr
    assert "\nOf its summaries 100% passed the checks, with 50% of the names and 90% of the sentences" in said
    daemon.gives("models.use", {**row, "capabilities": ["answer"]})
    assert mindscape("models", "use", "small").stderr == ""


def test_models_are_listed_and_chosen_by_name_or_file(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = {"name": "minilm", "kind": "embedder", "active": True, "device": "cpu", "licence": "Apache-2.0"}
    model |= {"capabilities": ["embed"], "path": "/m", "bytes": 25_000_000, "quality": {"recall": 0.7}}
    daemon.gives("models.list", {"models": [model]})
    daemon.gives("models.use", model)
    assert json.loads(mindscape("models", "list", "--json").stdout) == {"models": [model]}
    assert "* minilm  embedder · 25 MB · cpu · Apache-2.0" in mindscape("models").stdout
    assert mindscape("models", "use", "minilm").stdout == "using minilm\n"
    mindscape("models", "use", "big.gguf")
    asked = [params for method, params in daemon.asked if method == "models.use"]
    assert asked == [{"name": "minilm"}, {"path": str(tmp_path / "big.gguf")}]
    daemon.gives("models.list", {"models": []})
    assert mindscape("models").code == 1


@pytest.mark.parametrize(("state", "code"), [("ok", 0), ("warn", 0), ("fail", 1)])
def test_doctor_ends_with_one_when_a_check_failed(
    daemon: FakeDaemon, mindscape: Run, state: str, code: int
) -> None:
    result = {"checks": [{"name": "database", "state": state, "message": "Looked at.", "fix": "Mend it."}]}
    daemon.gives("doctor", result)
    ran = mindscape("doctor", "--json", "--repair")
    assert (ran.code, json.loads(ran.stdout)) == (code, result)
    assert daemon.asked == [("doctor", {"repair": True})]
    assert ("Mend it." in mindscape("doctor").stdout) == (state != "ok")


def test_doctor_of_a_damaged_library_is_a_failed_check_with_what_to_do(
    daemon: FakeDaemon, home: Path, mindscape: Run
) -> None:
    said = f"The library {home}/library.db is damaged (malformed)."
    daemon.refuses("doctor", DaemonUnreachable(said))
    ran = mindscape("doctor", "--json")
    check = json.loads(ran.stdout)["checks"][0]
    assert (ran.code, check["name"], check["state"], check["message"]) == (1, "file", "fail", said)
    assert check["fix"].startswith("Move the file away")
    assert "Move the file away" in mindscape("doctor").stdout
    daemon.refuses("doctor", DaemonUnreachable("It is gone."))
    assert mindscape("doctor", "--json").code == 3


def test_a_running_daemon_reports_its_process(daemon: FakeDaemon, mindscape: Run) -> None:
    for action in ("status", "start"):
        ran = mindscape("daemon", action, "--json")
        assert ran.code == 0
        assert json.loads(ran.stdout)["pid"] == os.getpid()


def test_no_daemon_is_reported_with_three_and_stopping_it_is_no_error(home: Path, mindscape: Run) -> None:
    ran = mindscape("daemon", "status", "--json")
    assert (ran.code, json.loads(ran.stdout)["running"]) == (3, False)
    assert mindscape("daemon", "stop").stdout == "it was not running\n"


def test_stopping_waits_until_the_process_has_ended(daemon: FakeDaemon, mindscape: Run) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        daemon.gives("hello", {"protocol": 1, "version": "0.1.0", "pid": process.pid})

        def shut_down(_params: Json, _stream: Any) -> Json:
            process.terminate()  # nobody reaps it, as when its parent is a careless init
            return {}

        daemon.answers["shutdown"] = shut_down
        assert mindscape("daemon", "stop").stdout == "stopped\n"
        assert process.poll() is not None


def test_the_foreground_daemon_replaces_the_command(mindscape: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[list[str]] = []

    def execv(_program: str, words: list[str]) -> int:
        executed.append(words)
        return 0

    monkeypatch.setattr(os, "execv", execv)
    assert mindscape("daemon", "run").code == 0
    assert executed[0][1:] == ["-P", "-m", "mindscape.daemon"]


def test_logs_print_the_end_of_the_log(home: Path, mindscape: Run) -> None:
    assert mindscape("daemon", "logs").code == 1
    home.mkdir()
    (home / "daemon.log").write_bytes(b"".join(b"line %d \x1b[2J\n" % n for n in range(150)))
    ran = mindscape("daemon", "logs", "--json")
    lines = json.loads(ran.stdout)["lines"]
    assert (len(lines), lines[0]) == (100, "line 50 \ufffd[2J")
    assert mindscape("daemon", "logs").stdout.splitlines() == lines


@pytest.mark.parametrize(("shell", "checker"), [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")])
def test_completion_scripts_name_every_command_and_parse(mindscape: Run, shell: str, checker: str) -> None:
    import shutil

    from mindscape.cli.commands import COMMANDS

    script = mindscape("completion", shell).stdout
    assert all(name in script for name in COMMANDS)
    assert json.loads(mindscape("completion", shell, "--json").stdout)["script"] == script
    if shutil.which(checker):
        assert subprocess.run([checker, "-n"], input=script, text=True).returncode == 0


def tree_node(**more: Any) -> Json:
    node = {
        "id": "d1.2.0",
        "kind": "section",
        "level": 2,
        "title": "The ferry",
        "summary": "",
        "stale": False,
    }
    return {**node, "made_by": "extractive", "start": 0, "end": 9, "children": None, "more": 0, **more}


def test_tree_prints_an_outline_with_ids_and_the_beginnings_of_summaries(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    child = tree_node(summary="The ferry leaves at noon, " * 30, title="The ferry leaves\u2026", more=4)
    other = tree_node(id="p7", title="Late\x1b[2J", summary="word " * 90, stale=True, children=[])
    daemon.gives("tree", tree_node(id="d1", title="Lisbon", summary="All of it.", children=[child, other]))
    ran = mindscape("tree", "12", "--depth", "1", "--upto", "p7")
    assert daemon.asked == [("tree", {"depth": 1, "scope": "12", "upto": "p7"})]
    lines = ran.stdout.splitlines()
    assert lines[:3] == ["Lisbon  d1", "  All of it.", "  The ferry leaves  d1.2.0 +4"]
    assert lines[3].startswith("    at noon, The ferry")
    assert len(lines) == 3 + 3 + 1 + 3
    assert lines[5].endswith("\u2026")
    assert "out of date" in lines[6]
    assert "\x1b" not in ran.stdout
    assert (ran.code, ran.stderr) == (0, "")


def test_tree_gives_each_thing_in_a_folder_a_line_and_no_title_twice(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    listed = "\n".join(f"\u2022 Note {number} \u2014 What it says." for number in range(5))
    folder = tree_node(id="f3", kind="folder", title="Notes", summary=listed)
    note = tree_node(id="d4", kind="document", title="Meeting", summary="Meeting: Present were two.")
    daemon.gives("tree", tree_node(id="f0", kind="library", title="Library", children=[folder, note]))
    lines = [line.strip() for line in mindscape("tree").stdout.splitlines()]
    assert lines[2:5] == [
        "\u2022 Note 0 \u2014 What it says.",
        "\u2022 Note 1 \u2014 What it says.",
        "and 3 more",
    ]
    assert lines[-1] == "Present were two."


def test_tree_prints_its_json_as_it_is_and_ends_with_one_when_there_is_nothing(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    empty = tree_node(id="f0", kind="library", title="Library", children=[])
    daemon.gives("tree", empty)
    ran = mindscape("tree", "--json")
    assert (ran.code, json.loads(ran.stdout)) == (1, empty)
    ran = mindscape("tree")
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("The library is empty.")
    assert mindscape("tree", "--depth", "-1").code == 2


def test_a_bookmark_is_sent_as_an_absolute_place(
    daemon: FakeDaemon, mindscape: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "novel.md").touch()
    monkeypatch.chdir(tmp_path)
    daemon.gives("search", {"query": "x", "took_ms": 1, "results": [HIT], "coverage": {}})
    daemon.gives("ask", ANSWER)
    mindscape("search", "x", "--upto", "novel.md:40")
    mindscape("ask", "x", "--upto", "novel.md p. 3")
    upto = [params["upto"] for _, params in daemon.asked]
    assert upto == [f"{tmp_path}/novel.md:40", f"{tmp_path}/novel.md p. 3"]
