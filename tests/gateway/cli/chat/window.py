"""A terminal's screen and what has scrolled off it, as a person sees both."""

from __future__ import annotations

import os
import termios
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from pyte import ByteStream, HistoryScreen

from tests.gateway.cli.setup.person import Person, terminal_of
from tests.kit.forks import Fork


class AnsweringScreen(HistoryScreen):
    """A screen that answers when the program asks where the cursor is."""

    master = -1

    def write_process_input(self, data: str) -> None:
        os.write(self.master, data.encode())


class Window(Person):
    """Reads what a command draws; `text` has the lines above the screen, too."""

    def __init__(self, master: int, process: Fork) -> None:
        super().__init__(master, process)
        rows, columns = termios.tcgetwinsize(master)
        self.screen = AnsweringScreen(columns, rows, history=10_000)
        self.screen.master = master
        self._stream = ByteStream(self.screen)
        self._fed = 0

    @property
    def text(self) -> str:
        columns = range(self.screen.columns)
        above = ["".join(line[at].data for at in columns) for line in self.screen.history.top]
        return "\n".join(line.rstrip() for line in [*above, *self.screen.display]).rstrip()

    async def shows(self, text: str) -> None:
        """Wait until a text is to be seen."""
        while text not in self.text:
            assert await self._more(), f"{text!r} is not in {self.text}"

    async def presses(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def resizes(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        termios.tcsetwinsize(self.master, (rows, columns))

    async def _more(self) -> bool:
        is_open = await super()._more()
        # The library knows no faint text, so that is drawn in grey.
        self._stream.feed(self.raw[self._fed :].replace(b"\x1b[2m", b"\x1b[90m"))
        self._fed = len(self.raw)
        return is_open


@asynccontextmanager
async def chat_window(
    environ: Mapping[str, str], *arguments: str, rows: int = 24, columns: int = 80
) -> AsyncIterator[Window]:
    """Open `tapeway chat` in a window, and wait for its greeting."""
    more = {"TERM": "xterm-256color", **environ}
    size = (rows, columns)
    async with terminal_of(Window, more, "chat", *arguments, size=size) as window:
        await window.shows("Talk to")
        yield window
