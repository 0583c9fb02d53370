"""A real daemon in a home of its own, for tests that talk to it over its socket or kill it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from mindscape import client
from mindscape.paths import Paths, find_paths
from mindscape.protocol import Json


class Daemon:
    """Starts, kills and calls one daemon; `home` survives its deaths."""

    def __init__(self, home: Path, **settings: str) -> None:
        home.mkdir(mode=0o700, exist_ok=True)
        self.home = home
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("MINDSCAPE_")},
            "MINDSCAPE_HOME": str(home),
            **{f"MINDSCAPE_{key.upper()}": value for key, value in settings.items()},
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def paths(self) -> Paths:
        return find_paths(self.environment)

    def command(self) -> list[str]:
        """What is run."""
        return [sys.executable, "-P", "-m", "mindscape.daemon"]

    def start(self) -> str:
        """Start it; returns what it says: "ready", or why it does not start."""
        read_end, write_end = os.pipe()
        command = [*self.command(), "--ready-fd", str(write_end)]
        self.process = subprocess.Popen(command, pass_fds=[write_end], env=self.environment, cwd="/")
        os.close(write_end)
        with os.fdopen(read_end, encoding="utf-8") as pipe:
            said = pipe.read()
        if said != "ready":
            self.process.wait(timeout=10)
        return said

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop, if it runs; returns the exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=10)

    def call(self, method: str, **params: Any) -> Any:
        return client.request(self.paths, method, params, start=False)

    def wait(self, tier: str = "searchable") -> Json:
        return self.call("wait", tier=tier, timeout=120)

    def connect(self) -> socket.socket:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(30)
        link.connect(str(self.paths.socket))
        return link

    def indexed(self) -> dict[str, str]:
        """Path -> text for every document that is ok, as the socket serves it."""
        rows = self.call("ls")["documents"]
        return {
            row["path"]: self.call("get", place=str(row["id"]))["text"]
            for row in rows
            if row["status"] == "ok"
        }
