"""People on Telegram, Discord and Slack at once, in all chats of the three."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from tests.chaos.discord import Discord
from tests.chaos.gateway import Supervisor, fresh
from tests.chaos.plan import Kind, Plan, Question, Trouble
from tests.chaos.platform import REDELIVER
from tests.chaos.record import Record
from tests.chaos.slack import Slack
from tests.chaos.talk import talk
from tests.chaos.telegram import Telegram
from tests.chaos.traps import Traps

FIRST_TOKEN: Final = 10_000
HEARD_SECONDS: Final = 20.0
EVERYWHERE: Final = "0.0.0.0"
KINDS: Final[tuple[Kind, ...]] = ("short", "short", "short", "tool", "long")
SHARES: Final = (4, 4, 1)
"""Slack takes twenty streams a minute: more would wait for that, not for the fleet."""

MAX_AGAIN: Final = 2
"""How often the last messages are delivered again, each up to three times in all."""

AnyPlatform = Telegram | Discord | Slack


class Made(NamedTuple):
    """A message that a process made, when it was asked for, and by which request."""

    place: int
    message_id: str
    at: float
    host: str
    method: str


@dataclass(slots=True)
class Quarter:
    """One platform, what was asked there, and what its log says."""

    channel: str
    platform: AnyPlatform
    record: Record
    made: list[Made] = field(default_factory=list)

    async def ready(self) -> None:
        """Wait until it is heard; what was said while its listener changed is said again."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(HEARD_SECONDS):
                    await self.platform.ready()
                    return

    def keep(self) -> None:
        """Write down which messages were made, and forget the requests."""
        server: Any = self.platform.stage.fake
        calls, hosts = server.calls, server.asked_at
        made: Callable[[Any], tuple[int, str] | None] = self.platform.made
        for call, host in zip(calls, hosts, strict=True):
            found = made(call)
            if found is not None:
                method = getattr(call, "method", "") or call.kind
                self.made.append(Made(*found, call.at, host, method))
        calls.clear()
        hosts.clear()


class Town:
    """All of them, and one sequence of questions through all chats."""

    def __init__(self, folder: Path, seed: str) -> None:
        self._chance = random.Random(seed)
        self._number = FIRST_TOKEN
        self._talks = 0
        self.said: list[str] = []
        self._stack = AsyncExitStack()
        self.asked: dict[str, tuple[Question, float]] = {}
        self.quarters: list[Quarter] = []
        self.traps = Traps(Supervisor(fresh, Record(Plan("", "", seed, "resend", (), ()), folder)))
        for kind in (Telegram, Discord, Slack):
            channel = kind.menu.channel
            record = Record(Plan(channel, "", seed, "resend", (), ()), folder)
            platform: AnyPlatform = kind(self.traps, folder)
            self.quarters.append(Quarter(channel, platform, record))

    async def __aenter__(self) -> Self:
        """Be there."""
        for quarter in self.quarters:
            quarter.platform.stage.fake.host = EVERYWHERE
            await self._stack.enter_async_context(quarter.platform)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Be gone."""
        await self._stack.__aexit__(kind, error, trace)

    def settings(self, host: str) -> Mapping[str, str]:
        """Return the settings of a process that asks at an address of its own."""
        found: dict[str, str] = {}
        for quarter in self.quarters:
            found |= quarter.platform.settings()
        return {name: value.replace("127.0.0.1", host) for name, value in found.items()}

    async def ready(self) -> None:
        """Wait until every platform is heard."""
        await asyncio.gather(*(quarter.ready() for quarter in self.quarters))

    async def ask(self) -> Question:
        """Choose where the next question is asked, and ask it."""
        chance = self._chance
        (quarter,) = chance.choices(self.quarters, SHARES)
        place, kind = chance.randrange(quarter.platform.menu.places), chance.choice(KINDS)
        token = f"Q{self._number}"
        self._number += 1
        question = Question(0.0, token, place, chance.randrange(3), kind)
        self.asked[token] = (question, time.monotonic())
        quarter.record.asked.append(question)
        await quarter.platform.ask(question)
        return question

    async def talk(self, count: int) -> None:
        """Have so many messages said that ask nothing, on every platform by turns."""
        self._talks += 1
        texts = talk(self._talks, count)
        for at, quarter in enumerate(self.quarters):
            self.said += await quarter.platform.talk(texts[at :: len(self.quarters)])

    async def deliver_again(self) -> None:
        """Deliver the last messages of each platform again that were taken."""
        for quarter in self.quarters:
            known = quarter.platform.menu.troubles
            name = self._chance.choice([name for name in REDELIVER if name in known])
            await quarter.platform.trouble(Trouble(0.0, name, self._chance.randint(1, MAX_AGAIN)))

    def keep(self) -> None:
        """Write down what was done, and forget the rest."""
        for quarter in self.quarters:
            quarter.keep()
