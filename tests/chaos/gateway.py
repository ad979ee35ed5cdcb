"""A gateway that runs again whatever ends it, and how it is started."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from tests.chaos.record import Record
from tests.kit.forks import Fork, fork
from tests.kit.gateways import APART, clean_environ

_ENDS: Final = (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT)
"""With these a gateway ends that was told to, also while it starts."""


class Started(Protocol):
    """A process that was started; signals go to it until `wait` has returned."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    async def wait(self) -> int:
        """Wait for its end; returns its exit code, negative for a signal."""
        ...


Launch = Callable[[dict[str, str], Path], Awaitable[Started]]
"""Starts `tapeway gateway` with an environment; what it says is added to a file."""


async def fresh(environ: dict[str, str], log: Path) -> Process:
    """Start a gateway in a new interpreter."""
    with log.open("ab") as file:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gateway.cli.main",
            "gateway",
            env=environ,
            cwd=APART,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            process_group=0,
        )


async def forked(environ: dict[str, str], log: Path) -> Fork:
    """Start a gateway as a fork, ten times as fast as in a new interpreter."""
    with log.open("ab") as file:
        return fork(environ, "gateway", out=file, err=file)


class Supervisor:
    """Keeps a gateway running on one home, whatever ends it."""

    def __init__(self, launch: Launch, record: Record) -> None:
        self._launch = launch
        self.record = record
        self._pid: int | None = None
        self._killed = False
        self._expected = False
        self._ending = asyncio.Event()

    @property
    def alive(self) -> bool:
        """Whether there is a gateway that nobody has killed yet."""
        return self._pid is not None and not self._killed

    async def run(self, environ: dict[str, str]) -> None:
        """Start it, again and again, until `end`."""
        own, log = clean_environ(environ), self.record.home.parent / "gateway.log"
        while not self._ending.is_set():
            process = await self._launch(own, log)
            self.record.starts.append(time.monotonic())
            self._expected = self._killed = False
            self._pid = process.pid
            if self._ending.is_set():
                self.signal(signal.SIGINT)
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                self.kill()
                raise
            finally:
                self._pid = None
            if not self._expected or code not in _ENDS:
                self.record.exits.append(code)

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal to the process that runs now; return whether there is one."""
        if self._pid is None or self._killed:
            return False
        if number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            self._expected = True
        if number == signal.SIGKILL:
            self._killed = True
            self.record.kills.append(time.monotonic())
        with suppress(ProcessLookupError):
            os.kill(self._pid, number)
        return True

    def kill(self) -> bool:
        """End it with `kill -9`, at once; return whether there was one."""
        return self.signal(signal.SIGKILL)

    async def pause(self, seconds: float) -> None:
        """Stop it for a while."""
        self.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.signal(signal.SIGCONT)

    async def end(self, running: asyncio.Task[None]) -> None:
        """End it for good."""
        self._ending.set()
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGINT)
        try:
            async with asyncio.timeout(15):
                await asyncio.shield(running)
        except TimeoutError:
            self.record.stuck = self.record.stuck or "it does not end"
            self.kill()
            await running
