"""A daemon of fixed answers on a real socket, and ways to run the command against it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mindscape.cli import main
from mindscape.errors import MindscapeError
from mindscape.paths import find_paths
from mindscape.protocol import decode, encode

Json = dict[str, Any]
Answer = Callable[[Json, Callable[[Json], None]], Any]
REPOSITORY = Path(__file__).parents[2]

HIT: Json = {
    "rank": 1,
    "score": 1.5,
    "passage_id": 7,
    "document": {"id": 3, "path": "/library/trips/lisbon.md", "title": "Lisbon"},
    "also": [],
    "start": 100,
    "end": 180,
    "page": None,
    "line": 42,
    "heading": ["Trips", "Lisbon"],
    "text": "The ferry leaves from Cais do Sodré\nevery twenty minutes.",
    "legs": {"words": 1.2},
}
CITATION: Json = {
    "n": 1,
    "passage_id": 7,
    "path": "/library/trips/lisbon.md",
    "start": 100,
    "end": 180,
    "page": None,
    "line": 42,
    "quote": "The ferry leaves from Cais do Sodré every twenty minutes.",
    "supported": True,
}
ANSWER: Json = {
    "question": "When does the ferry leave?",
    "answer": "Every twenty minutes [1].",
    "answered": True,
    "mode": "passages",
    "model": "fake",
    "citations": [CITATION],
    "signature": [],
    "steps": [],
    "coverage": {"documents": 25, "behind": 0, "without_text": 0},
    "ledger": [],
}
STATUS: Json = {
    "documents": {"total": 25, "searchable": 25, "embedded": 20, "by_status": {"ready": 24, "failed": 1}},
    "jobs": {"parse": 2},
    "folders": [{"path": "/library", "mode": "events", "documents": 25}],
    "models": {"embedder": {"name": "minilm", "device": "cpu"}, "generator": None},
    "work": {"parses": 25, "passage_embeddings": 300, "model_summaries": 0},
}


class FakeDaemon:
    """Serves `answers` on `socket_path` and remembers what it was asked."""

    def __init__(self, socket_path: Path) -> None:
        self.asked: list[tuple[str, Json]] = []
        self.cancelled = threading.Event()
        self.resets = False
        """Whether it ends each connection at what follows the hello."""
        self.answers: dict[str, Answer] = {
            "hello": lambda _params, _stream: {"protocol": 1, "version": "0.1.0", "pid": os.getpid()}
        }
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        socket_path.parent.mkdir(parents=True, exist_ok=True)
        self._listener.bind(os.fspath(socket_path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def gives(self, method: str, result: Any) -> None:
        """Answer `method` with `result`."""
        self.answers[method] = lambda _params, _stream: result

    def streams(self, method: str, pieces: list[Json], result: Any) -> None:
        """Stream the pieces, then answer."""

        def answer(_params: Json, stream: Callable[[Json], None]) -> Any:
            for piece in pieces:
                stream(piece)
            return result

        self.answers[method] = answer

    def refuses(self, method: str, error: MindscapeError) -> None:
        """Answer `method` with an error."""

        def answer(_params: Json, _stream: Callable[[Json], None]) -> Any:
            raise error

        self.answers[method] = answer

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            with link, link.makefile("rb") as lines:
                for line in lines:
                    self._reply(link, decode(line))
                    if self.resets and link.recv(1, socket.MSG_PEEK):
                        break  # closed with something unread, a socket is reset

    def _reply(self, link: socket.socket, message: Json) -> None:
        if message["method"] == "$/cancel":
            self.cancelled.set()
            return
        number, method, params = message["id"], message["method"], message["params"]
        if method != "hello":
            self.asked.append((method, params))

        def send(content: Json) -> None:
            # One who left (head, Ctrl-C) is no concern of the daemon.
            try:
                link.sendall(encode({"jsonrpc": "2.0", **content}))
            except (BrokenPipeError, ConnectionResetError):
                self.cancelled.set()

        def stream(piece: Json) -> None:
            send({"method": "$/stream", "params": {"id": number, **piece}})

        try:
            send({"id": number, "result": self.answers[method](params, stream)})
        except MindscapeError as error:
            data = {"exit_code": error.exit_code}
            send({"id": number, "error": {"code": error.rpc_code, "message": str(error), "data": data}})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The developer's own library and terminal stay out of the tests."""
    for name in ("VISUAL", "EDITOR", "DISPLAY", "WAYLAND_DISPLAY", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MINDSCAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join(str(REPOSITORY / root) for root in ("assistant", "models", "storage"))
    )
    return tmp_path / "home"


@pytest.fixture
def daemon(home: Path) -> Iterator[FakeDaemon]:
    fake = FakeDaemon(find_paths().socket)
    yield fake
    fake.close()


class Ran:
    """What a command printed and returned."""

    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        self.code = code
        self.stdout = stdout
        self.stderr = stderr


Run = Callable[..., Ran]


@pytest.fixture
def mindscape(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process, its streams captured (so not terminals)."""

    def run(*words: str) -> Ran:
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as end:  # argparse, after --help
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def on_terminal() -> Callable[..., tuple[int, str]]:
    """Run the command as a process on a pseudo-terminal: its exit code and all that reached the screen."""

    def run(*words: str, **environ: str) -> tuple[int, str]:
        master, slave = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "mindscape", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "COLUMNS": "80", **environ},
        )
        os.close(slave)
        screen = b""
        with os.fdopen(master, "rb", buffering=0) as terminal:
            while True:
                try:
                    piece = terminal.read(65536)
                except OSError:  # Linux: the last process that held the terminal has ended
                    break
                if not piece:
                    break
                screen += piece
        return process.wait(), screen.decode("utf-8")

    return run
