"""The app: owns the connection and what is known of the library; screens own what they show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, ClassVar

from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.reactive import reactive

from mindscape.client.session import Client
from mindscape.errors import DaemonUnreachable, MindscapeError
from mindscape.paths import Paths
from mindscape.text import printable
from mindscape.tui.library_state import Indexing, LibraryState
from mindscape.tui.messages import (
    AnswerReady,
    Connected,
    Daemon,
    DaemonLost,
    IndexingMoved,
    Json,
    LibraryCounted,
    OnStream,
)
from mindscape.tui.screens.ask import AskScreen
from mindscape.tui.screens.help import HelpScreen
from mindscape.tui.screens.tree import TreeScreen
from mindscape.tui.theme import MINDSCAPE

Connect = Callable[[], Awaitable[Daemon]]


class MindscapeApp(App[None]):
    """Ask questions, read the answers beside their sources."""

    TITLE = "Mindscape"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("q", "quit", "Quit"),
        Binding("f1,question_mark", "help", "Help"),
        Binding("ctrl+r", "reconnect", "Reconnect"),
    ]

    library: reactive[LibraryState] = reactive(LibraryState())

    def __init__(self, connect: Connect) -> None:
        super().__init__()
        self._make_connection = connect
        self._daemon: Daemon | None = None

    def on_mount(self) -> None:
        """Show the screen at once; the daemon may take a moment to start."""
        self.register_theme(MINDSCAPE)
        self.theme = MINDSCAPE.name
        self.push_screen(AskScreen(self.call))
        self._connect()

    async def on_unmount(self) -> None:
        """Leave the daemon running, the connection closed."""
        if self._daemon is not None:
            await self._daemon.close()

    async def call(self, method: str, params: Json, on_stream: OnStream | None = None) -> Any:
        """One request over the present connection. Raises MindscapeError."""
        if self._daemon is None:
            raise DaemonUnreachable("There is no connection to the daemon; ctrl+r makes one.")
        return await self._daemon.call(method, params, on_stream)

    def say(self, sentence: str, *, error: bool = False) -> None:
        """A notification, shown literally."""
        self.notify(printable(sentence), severity="error" if error else "information", markup=False)

    @work(exclusive=True, group="connection", exit_on_error=False)
    async def _connect(self) -> None:
        try:
            daemon = await self._make_connection()
        except MindscapeError as error:
            self.post_message(DaemonLost(str(error)))
        else:
            self.post_message(Connected(daemon))

    @work(exclusive=True, group="progress", exit_on_error=False)
    async def _follow_progress(self) -> None:
        """Until the connection ends; that is also how its end is noticed."""

        def take(message: Json) -> None:
            if step := message.get("progress"):
                moved = IndexingMoved(int(step["done"]), int(step["total"]), str(step.get("what") or ""))
                self.post_message(moved)

        try:
            await self.call("subscribe", {}, take)
        except DaemonUnreachable as error:
            self.post_message(DaemonLost(str(error)))
        except MindscapeError as error:
            self.say(f"Progress cannot be shown: {error}", error=True)

    @work(exclusive=True, group="count", exit_on_error=False)
    async def _count_documents(self) -> None:
        try:
            documents: Json = (await self.call("status", {}))["documents"]
        except DaemonUnreachable:
            return  # said by whoever follows the progress
        except MindscapeError as error:
            self.say(str(error), error=True)
            return
        self.post_message(LibraryCounted(int(documents["total"]), int(documents.get("searchable") or 0)))

    @on(Connected)
    def _start_following(self, message: Connected) -> None:
        self._daemon = message.daemon
        self.library = LibraryState(connected=True)
        self._follow_progress()
        self._count_documents()

    @on(DaemonLost)
    def _tell_loss(self, message: DaemonLost) -> None:
        self._daemon = None
        self.library = LibraryState(lost=message.reason)
        self.say(f"{message.reason} ctrl+r reconnects.", error=True)

    @on(LibraryCounted)
    def _show_count(self, message: LibraryCounted) -> None:
        self.library = replace(self.library, documents=message.documents, searchable=message.searchable)

    @on(IndexingMoved)
    def _show_progress(self, message: IndexingMoved) -> None:
        finished = message.done >= message.total
        indexing = None if finished else Indexing(message.done, message.total, message.what)
        self.library = replace(self.library, documents=message.total, indexing=indexing)
        if finished:
            self._count_documents()
            for screen in self.screen_stack:
                if isinstance(screen, TreeScreen):
                    screen.refetch()

    @on(AnswerReady)
    def _count_again(self) -> None:
        self._count_documents()

    def action_reconnect(self) -> None:
        """Try again, when there is no connection."""
        if self._daemon is None:
            self.library = LibraryState()
            self._connect()

    def action_help(self) -> None:
        """Show the keys, once."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())


def run(paths: Paths) -> int:
    """Run the interface on this terminal until the user leaves; the exit code."""

    async def connect() -> Daemon:
        return await Client.connect(paths)

    app = MindscapeApp(connect)
    app.run()
    return app.return_code or 0
