"""Run Mindscape's command line as a user would, printing each command and its time."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
NOTHING_FOUND = 1
_PATIENCE_SECONDS = 900
"""Longer than any step needs: a hang must end the demo, not hold it."""


class StepFailed(Exception):
    """A command ended in a way that the demo cannot go on from."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command printed on stdout, how it ended, and how long it took."""

    code: int
    output: str
    seconds: float

    def json(self) -> Json:
        """The printed document. Raises StepFailed when it is none."""
        try:
            return json.loads(self.output)
        except ValueError as error:
            raise StepFailed(f"The command did not print JSON but: {self.output[:200]!r}") from error


class Product:
    """The command line with its state in `home`, working in `folder`."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._folder = folder
        self._environment = os.environ | {"MINDSCAPE_HOME": str(home)}

    def run(self, *arguments: str, accept: tuple[int, ...] = (0,)) -> Outcome:
        """Show the command, run it, show its time. Raises StepFailed on an exit code not in `accept`."""
        print(f"\n$ mindscape {shlex.join(arguments)}", flush=True)
        outcome = self._call(arguments)
        print(f"  ({outcome.seconds:.2f} s)", flush=True)
        if outcome.code not in accept:
            raise StepFailed(f"'mindscape {shlex.join(arguments)}' ended with exit code {outcome.code}.")
        return outcome

    def stop(self) -> None:
        """Stop the daemon, whatever state it is in."""
        self._call(("daemon", "stop"))

    def _call(self, arguments: tuple[str, ...]) -> Outcome:
        started = time.perf_counter()
        try:
            # stderr is left to the terminal: progress and complaints are for the reader.
            done = subprocess.run(
                [sys.executable, "-m", "mindscape", *arguments],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=_PATIENCE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise StepFailed(
                f"'mindscape {shlex.join(arguments)}' did not end within {_PATIENCE_SECONDS} seconds."
            ) from error
        output = done.stdout.decode("utf-8", "replace")
        return Outcome(done.returncode, output, time.perf_counter() - started)
