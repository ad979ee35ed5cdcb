"""A platform that says who administers a chat, and a gateway with an administrator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import anyio
import httpx2

from channels.capabilities import Capability
from channels.errors import ChannelDown, SendRefused
from channels.message import InboundMessage
from gateway.access.administrators import Administrators
from gateway.settings.bounds import BOUNDS
from tests.gateway.console.scene import GROUP, OTHER_GROUP, LeapingClock, Scene, running_scene
from tests.kit.clock import ManualClock
from tests.kit.gateways import PATIENT
from tests.kit.plain_channels import PlainChannel
from tests.kit.waiting import Patience

ME, DECK = "/api/console/me", "/api/console/deck"
ANN, BOB = "7", "8"


class WatchClock(LeapingClock):
    """The system's clock, whose seconds a test can let pass, too."""

    passed = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.passed


class Townhall(PlainChannel):
    """A platform that says who administers a chat; it can be away, and take its time."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"admins"})

    def __init__(self) -> None:
        super().__init__()
        self.admins: set[tuple[str, str]] = set()
        self.asked: list[str] = []
        self.away = False
        self.refuses = False
        self.silent: set[str] = set()
        self.gate: anyio.Event | None = None

    async def administers(self, message: InboundMessage) -> bool:
        self.asked.append(message.chat_id)
        if self.gate is not None:
            await self.gate.wait()
        if self.refuses:
            raise SendRefused("the bot is not in this chat")
        if self.away or message.chat_id in self.silent:
            raise ChannelDown("the platform is away")
        return (message.chat_id, message.sender.id) in self.admins


@asynccontextmanager
async def court_of(
    home: Path, hall: Townhall, watch: WatchClock, internals: Any = PATIENT, **database: str
) -> AsyncIterator[Scene]:
    """Have a scene in which only two groups are open, and Ann administers one of them."""
    more = {"ACCESS__MODE": "paired", **database}
    async with running_scene(Scene, home, more, watch, hall, internals=internals) as scene:
        for chat in (GROUP, OTHER_GROUP):
            await scene.grant(chat, "member")
            for person in (ANN, BOB):
                await scene.say(person, f"{person} is here", chat)
        hall.admins.add((GROUP, ANN))
        yield scene


def administrators_of(scene: Scene, clock: ManualClock | None = None) -> Administrators:
    openings = scene.gateway.parts.requests.openings
    own, most = clock or ManualClock(), BOUNDS.rights_asked
    return Administrators(openings.access, openings.roles, own, most)


async def until_asked(hall: Townhall) -> None:
    patience = Patience("the platform is asked for its administrators")
    while not hall.asked:
        await patience.pause()


async def status_of(browser: httpx2.AsyncClient, path: str = ME) -> int:
    return (await browser.get(path)).status_code
