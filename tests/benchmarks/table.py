"""A row of the benchmark table, the machine it was measured on, and where the table goes."""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

README = Path(__file__).parents[2] / "README.md"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement against its budget."""

    what: str
    measured: str
    budget: str
    met: bool | None
    """None where there is no budget, or the reference is not installed here."""


def markdown(rows: list[Row]) -> str:
    """The table, with the machine above it."""
    marks = {True: "yes", False: "**no**", None: "-"}
    lines = [machine(), "", "| what | measured | budget | met |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.measured} | {row.budget} | {marks[row.met]} |" for row in rows]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """The machine and the day, in a line."""
    memory = psutil.virtual_memory().total / 2**30
    return (
        f"Measured {time.strftime('%Y-%m-%d')} on {platform.system()} {platform.machine()}, "
        f"{_processor()}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB, "
        f"Python {platform.python_version()}, no GPU."
    )


def write_readme(table: str, place: str) -> None:
    """Put the table between the two marks in the README that name its place."""
    marked = re.compile(rf"(<!-- {place} -->\n).*?(<!-- /{place} -->)", re.DOTALL)
    text = README.read_text("utf-8")
    README.write_text(marked.sub(lambda m: m[1] + table + m[2], text), "utf-8")


def seconds(work: Callable[[], object], rounds: int = 5) -> float:
    """Median wall time of `work` after one unmeasured round."""
    work()
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
