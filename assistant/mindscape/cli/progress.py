"""A progress bar on stderr, on a terminal only; elsewhere waiting is silent."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from mindscape.cli.output import err
from mindscape.text import printable
from mindscape.tui.wording import one_line


@contextmanager
def shown_progress() -> Generator[Callable[[dict[str, Any]], None]]:
    """A callback for `{"progress": {"done", "total", "what", "seconds"?}}` while the bar is up."""
    printer = err()
    if not printer.lively:
        yield lambda _message: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    console = Console(file=printer.stream, width=printer.room)
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        task = progress.add_task("waiting", total=None, left="")

        def show(message: dict[str, Any]) -> None:
            if step := message.get("progress"):
                what = one_line(printable(str(step.get("what") or "indexing")))
                seconds = step.get("seconds")
                left = f"{about(seconds)} left" if seconds else ""
                progress.update(
                    task, completed=step["done"], total=step["total"], description=what, left=left
                )

        yield show


def about(seconds: float) -> str:
    """`about 4 min`: an estimate is no more exact than that."""
    if seconds < 55:
        return "under a minute"
    minutes = round(seconds / 60)
    return f"about {minutes} min" if minutes < 100 else f"about {round(minutes / 60)} h"
