"""The composition root: settings, lock, the parts put together, serving until told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import logging.handlers
import os
import signal
import threading
from collections.abc import Callable

from mindscape import __version__
from mindscape.config import Settings, load_settings
from mindscape.daemon.children import Child, Pool
from mindscape.daemon.lifecycle import AlreadyRunning, Listener, prepare_folders, take_lock
from mindscape.daemon.methods import Methods
from mindscape.daemon.models import Models
from mindscape.daemon.pausing import Gate
from mindscape.daemon.power import on_battery
from mindscape.daemon.progress import Progress
from mindscape.daemon.scheduler import Scheduler
from mindscape.daemon.server import Server
from mindscape.errors import MindscapeError
from mindscape.library import Library
from mindscape.paths import Paths, find_paths
from mindscape_storage import choices
from mindscape_storage.errors import StorageError

log = logging.getLogger("mindscape.daemon")

STOP_SECONDS = 1.5
"""Everything committed is safe at any moment, so leaving is never worth a longer wait."""
CANCEL_SECONDS = 0.3
LOG_BYTES = 2_000_000


def main() -> int:
    """Run the daemon; returns the exit code. `--ready-fd` hears "ready", or why it does not start."""
    options = argparse.ArgumentParser(prog="mindscape daemon run")
    options.add_argument("--ready-fd", type=int)
    ready_fd: int | None = options.parse_args().ready_fd
    os.umask(0o077)

    def say(sentence: str) -> None:
        if ready_fd is not None:
            os.write(ready_fd, sentence.encode())
            os.close(ready_fd)
        else:
            print(sentence, flush=True)

    try:
        paths = find_paths()
        settings = load_settings(paths.config_file)
        prepare_folders(paths)
        # SQLite's temporary files hold what the library holds, and may need as much room: so beside it.
        os.environ.setdefault("SQLITE_TMPDIR", str(paths.database.parent))
        lock = take_lock(paths.lock)
        _log_to(paths, foreground=ready_fd is None)
        asyncio.run(_serve(paths, settings, say))
        os.close(lock)
    except AlreadyRunning as error:
        say(str(error))
        return 4
    except (MindscapeError, StorageError) as error:
        say(str(error))
        return getattr(error, "exit_code", 4)
    return 0


async def _serve(paths: Paths, settings: Settings, say: Callable[[str], None]) -> None:
    library = Library(paths.database)
    chosen = await library.read(choices.chosen_models)
    models = Models(Child("mindscape.engine", ["--threads", str(settings.threads)]), paths.models, chosen)
    worker_count = settings.workers or min(4, os.cpu_count() or 1)
    limits = ["--memory-mb", str(settings.parse_memory_mb), "--max-file-mb", str(settings.max_file_mb)]
    workers = Pool([Child("mindscape.worker", limits) for _ in range(worker_count)])
    progress = Progress()
    gate = Gate(library, progress, on_battery, paused=await library.read(choices.is_paused))
    scheduler = Scheduler(library, settings, workers, worker_count, models, progress, gate)
    stopping = asyncio.Event()
    methods = Methods(library, scheduler, models, progress, paths, stopping)
    server = Server(methods.handle)
    listener = Listener(paths.socket)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    await server.start(listener.socket)
    log.info("mindscape %s listens on %s", __version__, paths.socket)
    working = asyncio.create_task(scheduler.run())
    say("ready")
    await asyncio.wait([asyncio.create_task(stopping.wait()), working], return_when=asyncio.FIRST_COMPLETED)
    if working.done() and (error := working.exception()):
        log.error("background work stopped", exc_info=error)
    log.info("stopping")
    _leave_in_time(listener)
    listener.remove()
    working.cancel()
    await server.stop()
    # Nobody may start a child again: so first everybody who uses one, then the children. One that is in the
    # middle of a batch can keep its caller only until it is killed.
    await asyncio.wait([working], timeout=CANCEL_SECONDS)
    await asyncio.gather(models.stop(), workers.stop(), return_exceptions=True)
    await asyncio.wait([working])
    await asyncio.to_thread(library.close)
    log.info("stopped")


def _leave_in_time(listener: Listener) -> None:
    """Exit after STOP_SECONDS even if a thread is busy; the library's journal makes that safe."""

    def leave() -> None:
        log.warning("stopped without waiting for a running task")
        listener.remove()
        os._exit(0)

    timer = threading.Timer(STOP_SECONDS, leave)
    timer.daemon = True
    timer.start()


def _log_to(paths: Paths, *, foreground: bool) -> None:
    """Log to a file of bounded size, and to the terminal in the foreground. Never any document's text."""
    handlers: list[logging.Handler] = [
        logging.handlers.RotatingFileHandler(paths.log, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
    ]
    if foreground:
        handlers.append(logging.StreamHandler())
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", handlers=handlers
    )
