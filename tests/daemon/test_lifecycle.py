"""Starting and stopping: one daemon at a time, nothing of others touched, gone within two seconds."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from mindscape import client
from mindscape.cli import main
from mindscape.daemon.lifecycle import take_lock
from mindscape.errors import DaemonUnreachable
from mindscape.paths import find_paths
from mindscape.protocol import encode
from tests.daemon.harness import Daemon


def test_a_second_daemon_says_who_runs_and_disturbs_nothing(daemon: Daemon) -> None:
    assert daemon.process is not None
    second = Daemon(daemon.home)
    assert second.start() == f"already running (process {daemon.process.pid})"
    assert second.process is not None
    assert second.process.wait() == 4
    assert daemon.call("hello")["pid"] == daemon.process.pid


def test_a_stale_socket_is_replaced_and_anything_else_in_its_place_is_left_alone(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(daemon.paths.socket))
    stale.close()
    assert daemon.start() == "ready"
    assert daemon.stop() == 0
    assert not daemon.paths.socket.exists()
    daemon.paths.socket.write_text("precious")
    assert "is in the way" in daemon.start()
    assert daemon.paths.socket.read_text() == "precious"
    daemon.paths.socket.unlink()
    daemon.paths.socket.symlink_to(tmp_path / "elsewhere")
    assert "is in the way" in daemon.start()
    assert daemon.paths.socket.is_symlink()


def test_a_daemon_whose_socket_was_replaced_does_not_remove_the_new_one(daemon: Daemon) -> None:
    daemon.paths.socket.unlink()
    other = socket.socket(socket.AF_UNIX)
    other.bind(str(daemon.paths.socket))
    assert daemon.stop() == 0
    assert daemon.paths.socket.exists()
    other.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_within_two_seconds_in_the_middle_of_indexing(
    daemon: Daemon, folder: Path, number: int
) -> None:
    for index in range(300):
        (folder / f"{index}.md").write_text(f"# Note {index}\n\n" + "The tide carried boats. " * 200)
    daemon.call("add", paths=[str(folder)])
    began = time.monotonic()
    assert daemon.stop(number) == 0
    assert time.monotonic() - began < 2.0 * max(1.0, os.getloadavg()[0] / 2)
    assert not daemon.paths.socket.exists()


def test_clients_that_start_it_at_the_same_time_all_reach_the_one_winner(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    code = (
        "from mindscape import client, paths; print(client.request(paths.find_paths(), 'hello', {})['pid'])"
    )
    starters = [
        subprocess.Popen([sys.executable, "-c", code], env=daemon.environment, stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    answers = {starter.communicate(timeout=60)[0].decode().strip() for starter in starters}
    assert len(answers) == 1
    daemon.call("shutdown")


def test_a_stopped_daemon_is_said_not_to_respond(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    assert daemon.process is not None
    monkeypatch.setattr(client, "HELLO_SECONDS", 0.3)
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(DaemonUnreachable, match=f"process {daemon.process.pid}.* does not respond"):
            daemon.call("hello")
    finally:
        daemon.process.send_signal(signal.SIGCONT)


def test_wrong_settings_name_the_nearest_key_and_the_daemon_does_not_start(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    daemon.paths.config_file.write_text("thread = 2\n")
    assert 'Did you mean "threads"?' in daemon.start()


def test_a_folder_that_anyone_may_write_to_is_refused(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    daemon.home.chmod(0o777)
    assert "Anyone may write to" in daemon.start()


def test_a_damaged_library_is_said_and_left_as_it_is(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    daemon.paths.database.write_bytes(b"this is not a database, " * 500)
    assert str(daemon.paths.database) in daemon.start()
    code, said = command(daemon, "doctor")
    assert code == 1
    assert said.startswith(f"fail file: The library {daemon.paths.database} is damaged")
    assert daemon.paths.database.read_bytes().startswith(b"this is not a database")


def command(daemon: Daemon, *words: str, cwd: Path | None = None) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "mindscape", *words],
        env={**daemon.environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=cwd,
        capture_output=True,
        text=True,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_a_relative_home_is_the_same_folder_for_the_daemon(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    daemon.environment["MINDSCAPE_HOME"] = "home"
    assert command(daemon, "daemon", "start", cwd=tmp_path)[0] == 0
    assert (tmp_path / "home" / "library.db").exists()
    assert command(daemon, "daemon", "stop", cwd=tmp_path) == (0, "stopped\n")


def test_a_home_that_cannot_be_one_is_said(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "home")
    daemon.environment["MINDSCAPE_HOME"] = "/dev/null"
    code, said = command(daemon, "status")
    assert code == 3
    assert said.startswith("mindscape: The folder /dev/null cannot be used")


def test_a_daemon_whose_socket_was_removed_is_seen_and_stopped(daemon: Daemon) -> None:
    assert daemon.process is not None
    daemon.paths.socket.unlink()
    code, said = command(daemon, "daemon", "status")
    assert code == 3
    assert f"process {daemon.process.pid}) but does not answer" in said
    assert command(daemon, "daemon", "stop") == (0, "stopped\n")
    assert daemon.process.wait(timeout=10) == 0
    assert command(daemon, "daemon", "stop") == (0, "it was not running\n")


def test_a_stopped_daemon_is_continued_to_end(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    assert daemon.process is not None
    monkeypatch.setattr(client, "HELLO_SECONDS", 0.3)
    monkeypatch.setenv("MINDSCAPE_HOME", str(daemon.home))
    daemon.process.send_signal(signal.SIGSTOP)
    assert main(["daemon", "stop"]) == 0
    assert daemon.process.wait(timeout=10) == 0


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")  # it is to outlive us
def test_a_daemon_that_is_stopping_is_waited_for_and_another_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = Daemon(tmp_path / "home")
    monkeypatch.setenv("MINDSCAPE_HOME", str(daemon.home))
    lock = [take_lock(daemon.paths.lock)]

    def sleep(_seconds: float) -> None:
        while lock:
            os.close(lock.pop())

    monkeypatch.setattr("mindscape.client.time.sleep", sleep)
    assert client.request(find_paths(), "hello", {})["protocol"] == 1
    assert lock == []
    daemon.call("shutdown")


def test_stopping_while_it_embeds_leaves_no_engine_and_starts_none(daemon: Daemon, folder: Path) -> None:
    for index in range(100):
        (folder / f"{index}.md").write_text(f"# Note {index}\n\n" + f"Tide {index} carried boats. " * 400)
    daemon.call("add", paths=[str(folder)])
    with daemon.connect() as link, link.makefile("rb") as lines:
        link.sendall(encode({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": {}}))
        while "open_embedder" not in read_log(daemon):
            assert lines.readline()
    assert daemon.process is not None
    children = psutil.Process(daemon.process.pid).children(recursive=True)
    assert children
    assert daemon.stop() == 0
    assert "started as process" not in read_log(daemon).partition(" stopping\n")[2]
    assert psutil.wait_procs(children, timeout=5)[1] == []


def test_a_client_that_does_not_read_does_not_keep_it_from_stopping(daemon: Daemon, folder: Path) -> None:
    (folder / "long.md").write_text("The tide carried boats.\n" * 40_000)
    daemon.call("add", paths=[str(folder / "long.md")])
    daemon.wait()
    document = daemon.call("ls")["documents"][0]["id"]
    with daemon.connect() as link:
        for number in range(4):
            link.sendall(
                encode({"jsonrpc": "2.0", "id": number, "method": "get", "params": {"place": str(document)}})
            )
        assert link.recv(1)
        assert daemon.stop() == 0
    assert read_log(daemon).endswith(" stopped\n")


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_daemon_that_never_listens_is_said_and_one_that_does_not_end_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon = Daemon(tmp_path / "home")
    monkeypatch.setenv("MINDSCAPE_HOME", str(daemon.home))
    monkeypatch.setattr(client, "LISTEN_SECONDS", 0.1)
    monkeypatch.setattr("mindscape.cli.daemon._END_SECONDS", 0.1)
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))  # pyright: ignore[reportUnknownLambdaType]
    lock = take_lock(daemon.paths.lock)
    assert main(["status"]) == 3
    assert "does not listen. End it with: mindscape daemon stop" in capsys.readouterr().err
    assert main(["daemon", "stop"]) == 4
    assert f"'kill -9 {os.getpid()}' ends it" in capsys.readouterr().err
    assert signals == [(os.getpid(), signal.SIGTERM), (os.getpid(), signal.SIGCONT)]
    os.close(lock)


def read_log(daemon: Daemon) -> str:
    return daemon.paths.log.read_text(encoding="utf-8")
