"""A person at a terminal: types into a real one, and reads what a command shows there."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import anyio
import psutil

from tests.kit.forks import Fork, fork_at_terminal
from tests.kit.gateways import clean_environ
from tests.kit.waiting import Patience


class Person:
    """What a person sees on a terminal, and types there."""

    def __init__(self, master: int, process: Fork) -> None:
        self.master = master
        self._process = process
        self._read = 0
        self.raw = b""
        self.seen = ""

    async def sees(self, text: str) -> None:
        """Wait for a text after what was waited for before."""
        while text not in self.seen[self._read :]:
            assert await self._more(), f"{text!r} is not in {self.seen!r}"
        self._read = self.seen.index(text, self._read) + len(text)

    async def types(self, *lines: str) -> None:
        for line in lines:
            os.write(self.master, f"{line}\n".encode())

    async def interrupts(self) -> None:
        # A signal just before Python waits for a line would count only after that line.
        patience = Patience("the program waits for a line")
        while psutil.Process(self._process.pid).status() != psutil.STATUS_SLEEPING:
            await patience.pause()
        os.write(self.master, b"\x03")

    async def ends(self) -> int:
        """Read to the end, and return the exit code."""
        while await self._more():
            pass
        return await self._process.wait()

    async def _more(self) -> bool:
        await anyio.wait_readable(self.master)
        try:
            piece = os.read(self.master, 4096)
        except OSError:  # the other side is closed
            return False
        self.raw += piece
        self.seen = self.raw.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)


Terminal = TypeVar("Terminal", bound=Person)


@asynccontextmanager
async def terminal_of(
    kind: type[Terminal],
    environ: Mapping[str, str],
    *arguments: str,
    size: tuple[int, int] = (0, 0),
) -> AsyncIterator[Terminal]:
    """Run a command in a terminal of its own, with a size in rows and columns."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, size)
    process = fork_at_terminal(slave, clean_environ(dict(environ)), *arguments)
    os.close(slave)
    try:
        yield kind(master, process)
    finally:
        with anyio.CancelScope(shield=True):
            await process.end()
        os.close(master)


def at_terminal(environ: Mapping[str, str], *arguments: str) -> AbstractAsyncContextManager[Person]:
    """Run a command in a terminal of its own."""
    return terminal_of(Person, environ, *arguments)
