"""A stage for the gateway: its real process between a Telegram and a model of our own.

The fakes run in the benchmark's process, which has a core to itself where there are two.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psutil

from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.gateways import OPEN, gateway_process, make_environ
from tests.kit.plugins import distribution

LONGEST: Final = 60.0
"""Whatever is waited for longer than this has failed."""

USERNAME: Final = "tapeway_bot"
TOKEN: Final = "123456:bench"
_NUMBER: Final = re.compile(r"question (\d+)")
_PIECES: Final = (
    "the deploy **went ",
    "through** at 10:42. ",
    "Two of the three replicas ",
    "were restarted; the third one ",
    "was drained first, ",
    "since it still held a lease. ",
    "Nothing else is open.",
)


@dataclass(frozen=True, slots=True)
class Stage:
    """A gateway that is ready, what surrounds it, and its home folder."""

    telegram: FakeTelegram
    model: FakeOpenAI
    process: psutil.Process
    home: Path
    url: str

    def cpu_seconds(self) -> float:
        """Return the CPU that the gateway's process has used, user and system."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


def number_of(text: str) -> int | None:
    """Return the number of the question that a text is about, the last where there are several."""
    found = _NUMBER.findall(text)
    return int(found[-1]) if found else None


def answer(request: Request) -> Reply:
    """Answer at once, in eight pieces, the number of the question in the first."""
    return answer_to(number_of(request.last_user_text))


def answer_to(number: int | None) -> Text:
    """Return the answer to the question of this number."""
    return Text((f"To question {number}: ", *_PIECES))


@asynccontextmanager
async def staged(
    answers: Callable[[Request], Reply] = answer, plugin: str = "", **settings: str
) -> AsyncIterator[Stage]:
    """Run a gateway in a home of its own; `plugin` names an object as an entry point does.

    The bot's own budget of 30 messages a second is off: above it, that would be measured.
    """
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        home = Path(folder) / "home"
        async with (
            FakeTelegram(token=TOKEN, username=USERNAME) as telegram,
            FakeOpenAI(default=answers) as model,
        ):
            more = {
                **OPEN,
                "TELEGRAM__TOKEN": TOKEN,
                "TELEGRAM__BASE_URL": telegram.base_url,
                "TELEGRAM__PER_SECOND": "0",
                **settings,
            }
            environ = make_environ(home, model, **more)
            if plugin:
                environ["PYTHONPATH"] = str(distribution(Path(folder) / "plugins", plugin))
            async with gateway_process(environ, home) as process:
                url = await _ready(process.url, Path(folder) / "gateway.log")
                yield Stage(telegram, model, psutil.Process(process.pid), home, url)
                await process.interrupt()


async def _ready(url: Callable[[], Awaitable[str]], log: Path) -> str:
    try:
        async with asyncio.timeout(LONGEST):
            return await url()
    except TimeoutError:
        told = await asyncio.to_thread(log.read_text)
        raise RuntimeError(f"the gateway did not get ready: {told}") from None
