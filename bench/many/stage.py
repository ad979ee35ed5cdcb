"""A gateway of an interpreter of its own, in a home that is there, beside fakes that outlive it."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import orjson
import psutil

from bench.program import COMMAND
from bench.stage import LONGEST, TOKEN, USERNAME, answer_to, number_of
from gateway.home import find_running
from tests.fakes.openai.script import Reply, Request
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.gateways import OPEN, clean_environ, make_environ
from tests.kit.plugins import distribution

UPDATES_A_START: Final = 10_000_000
"""The first update of a start has a number that is so much higher than that of the one before."""

_POLL: Final = 0.01


@dataclass(slots=True)
class Platform:
    """Fakes of Telegram and the model, at which one gateway after another runs."""

    telegram: FakeTelegram
    model: FakeOpenAI

    def goes_on(self, starts: int) -> None:
        """Number updates as a Telegram does at which a bot has been started so often before."""
        self.telegram.updates.push(
            {"update_id": UPDATES_A_START * (starts + 11), "poll": {"id": str(starts)}}
        )


@asynccontextmanager
async def platform(starts: int = 0) -> AsyncIterator[Platform]:
    """Run the fakes, for a home in which a gateway has been started so often before."""
    async with (
        FakeTelegram(token=TOKEN, username=USERNAME) as telegram,
        FakeOpenAI(default=answer_newest) as model,
    ):
        made = Platform(telegram, model)
        made.goes_on(starts)
        yield made


def answer_newest(request: Request) -> Reply:
    """Answer the newest question that a prompt has, also where people have spoken since."""
    texts = (orjson.dumps(one).decode() for one in reversed(request.body["messages"]))
    return answer_to(next((number for text in texts if (number := number_of(text))), None))


@dataclass(slots=True)
class Running:
    """A gateway that is ready; `ready` is how many seconds that took, with its interpreter."""

    platform: Platform
    home: Path
    process: psutil.Process
    ready: float
    _process: asyncio.subprocess.Process

    def cpu_seconds(self) -> float:
        """Return the CPU that the gateway's process has used, user and system."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def megabytes(self) -> float:
        """Return what is resident of the gateway."""
        return float(self.process.memory_info().rss / 1e6)

    async def kill(self) -> None:
        """End it with `kill -9`."""
        self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def running(
    at: Platform, home: Path, workspace: str, plugin: str = ""
) -> AsyncIterator[Running]:
    """Run a gateway in a home; `plugin` names an object as an entry point does.

    A copy of a home has its tapes only in the workspace of the home that it was copied from.
    """
    more = {**OPEN, "TELEGRAM__TOKEN": TOKEN, "TELEGRAM__BASE_URL": at.telegram.base_url}
    more |= {"WORKSPACE": workspace, "TELEGRAM__PER_SECOND": "0", "TELEGRAM__GROUP_PER_MINUTE": "0"}
    environ = make_environ(home, at.model, **more)
    with TemporaryDirectory(prefix="tapeway-plugin-") as folder:
        if plugin:
            environ["PYTHONPATH"] = str(distribution(Path(folder) / "plugins", plugin))
        begun = time.perf_counter()
        with (home.parent / "gateway.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *COMMAND, "gateway", stdout=log, stderr=log, env=clean_environ(environ), cwd=folder
            )
        try:
            await _ready(process, home)
            took = time.perf_counter() - begun
            yield Running(at, home, psutil.Process(process.pid), took, process)
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
                await process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _ready(process: Any, home: Path) -> None:
    """Wait until a gateway says that it is ready."""
    until = time.monotonic() + LONGEST
    async with httpx2.AsyncClient(trust_env=False, timeout=LONGEST) as client:
        while time.monotonic() < until and process.returncode is None:
            found = find_running(home)
            if found is not None and found.pid == process.pid:
                with suppress(httpx2.HTTPError):
                    if (await client.get(f"{found.url}health/ready")).status_code == 200:
                        return
            await asyncio.sleep(_POLL)
    raise RuntimeError(f"the gateway did not get ready: {home.parent / 'gateway.log'}")
