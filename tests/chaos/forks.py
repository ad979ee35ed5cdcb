"""Gateways forked from a process that has loaded them already (see `chaos_template`)."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from tests.kit.gateways import APART, clean_environ


class Fork:
    """A gateway that was forked."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self._forks = forks
        self.pid = pid
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def wait(self) -> int:
        """Wait for its end; returns its exit code, negative for a signal."""
        code = await asyncio.shield(self.code)
        self._forks.reap(self.pid)
        return code


class Forks:
    """Starts gateways by forking; `fork` is a `Launch`."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._next = 0
        self._starting: dict[int, asyncio.Future[Fork]] = {}
        self._running: dict[int, Fork] = {}

    async def fork(self, environ: dict[str, str], log: Path) -> Fork:
        """Start a gateway; what it says is added to a file."""
        self._next += 1
        number = self._next
        started: asyncio.Future[Fork] = asyncio.get_running_loop().create_future()
        self._starting[number] = started
        self._order({"id": number, "environ": environ, "log": str(log)})
        return await started

    def reap(self, pid: int) -> None:
        """Let the number of a gateway that has ended be somebody else's."""
        self._running.pop(pid, None)
        self._order({"reap": pid})

    async def listen(self) -> None:
        """Hear what becomes of the gateways, until the template is gone."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            told: dict[str, Any] = orjson.loads(line)
            if "pid" in told:
                fork = self._running[told["pid"]] = Fork(self, told["pid"])
                self._starting.pop(told["id"]).set_result(fork)
            elif "ended" in told:
                self._running[told["ended"]].code.set_result(told["code"])
        waiting: list[asyncio.Future[Any]] = [*self._starting.values()]
        for one in [*waiting, *(fork.code for fork in self._running.values())]:
            if not one.done():
                one.set_exception(RuntimeError("the template of the gateways has ended"))

    def _order(self, what: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(what) + b"\n")


@asynccontextmanager
async def forking() -> AsyncIterator[Forks]:
    """Keep a template for as long as the block runs; what it started is gone after it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.chaos.template",
        env=clean_environ({}),
        cwd=APART,
        stdin=PIPE,
        stdout=PIPE,
        process_group=0,
    )
    forks = Forks(process)
    listening = asyncio.create_task(forks.listen())
    try:
        yield forks
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
        await listening
