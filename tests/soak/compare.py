"""What a library says beside what a fresh build of the same folder says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mindscape_storage.database import fetch, open_reader
from mindscape_storage.dump import canonical_dump
from mindscape_storage.vectors import encoders
from tests.daemon.harness import Daemon

WAIT_SECONDS = 900
LEAST_COSINE = 0.999


class State(NamedTuple):
    """A library at rest: its dump, and its vectors by encoder and input."""

    dump: dict[str, Any]
    vectors: dict[tuple[str, str], bytes]


def settle(daemon: Daemon) -> None:
    """Wait until there is nothing left to do. Raises MindscapeError when it does not come to that."""
    for tier in ("embedded", "summarised"):
        daemon.call("wait", tier=tier, timeout=WAIT_SECONDS)


def state_of(daemon: Daemon) -> State:
    """Of a daemon at rest."""
    connection = open_reader(daemon.paths.database)
    try:
        held = {
            (encoder.name, key.hex()): vector
            for encoder in encoders(connection)
            for key, vector in fetch(
                connection,
                f"""
                SELECT v.input_hash, x.vector FROM vectors v JOIN vec_{encoder.id} x ON x.rowid = v.id
                WHERE v.encoder_id = ?
                """,
                (encoder.id,),
            )
        }
        return State(canonical_dump(connection), held)
    finally:
        connection.close()


def fresh_state(home: Path, folder: Path) -> State:
    """Of a library that never saw the folder before."""
    daemon = Daemon(home, workers="1")
    try:
        said = daemon.start()
        assert said == "ready", said
        daemon.call("add", paths=[str(folder)])
        settle(daemon)
        return state_of(daemon)
    finally:
        daemon.stop()


def differences(lived: State, fresh: State) -> list[str]:
    """A line for each place where the two differ, none when the libraries say the same."""
    found = list(_differing("", lived.dump, fresh.dump))
    for key in sorted(lived.vectors.keys() & fresh.vectors.keys()):
        one, other = (np.frombuffer(side.vectors[key], np.float32) for side in (lived, fresh))
        if (cosine := float(one @ other)) < LEAST_COSINE:
            found.append(f"vectors: {key[0]} {key[1]} have a cosine of {cosine:.5f}")
    return found


def _differing(place: str, one: Any, other: Any) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differing(f"{place}/{key}", one.get(key), other.get(key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _differing(f"{place}/{at}", left, right)
    elif one != other:
        yield f"{place}: {_short(one)} where a fresh build has {_short(other)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}... ({len(text):,} characters)"
