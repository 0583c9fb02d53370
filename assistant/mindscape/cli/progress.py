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
    """A callback for `{"progress": {"done", "total", "what"}}` while the bar is up."""
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
    )
    console = Console(file=printer.stream, width=printer.room)
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        task = progress.add_task("waiting", total=None)

        def show(message: dict[str, Any]) -> None:
            if step := message.get("progress"):
                what = one_line(printable(str(step.get("what") or "indexing")))
                progress.update(task, completed=step["done"], total=step["total"], description=what)

        yield show
