"""With the network unplugged (a network namespace with no interface up) the whole main job works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def unplugged(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a network; the test is skipped where the system does not let us."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rn", "true"], capture_output=True).returncode:
        pytest.skip("this system lets us make no network namespace")
    return subprocess.run(
        [unshare, "-rn", *command], capture_output=True, text=True, cwd=REPOSITORY, timeout=600
    )


def test_there_really_is_no_network_in_there() -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    assert "unreachable" in unplugged(sys.executable, "-c", code).stderr


@pytest.mark.slow
def test_the_demo_is_right_without_a_network() -> None:
    done = unplugged(sys.executable, "-m", "tests.demo")
    assert done.returncode == 0, done.stdout[-4000:]
