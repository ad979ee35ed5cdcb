"""A gateway with a Discord bot on real sockets; one clock for it and for the fake Discord."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from channels.base import Channel as BaseChannel
from channels.discord.adapter import DiscordChannel
from channels.discord.limits import LIMITS
from channels.registry import make_channel
from gateway.app import Gateway
from gateway.assembly import Internals
from tape.entry import Entry
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, Guild, Message, User
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import START, ManualClock
from tests.kit.gateways import make_settings, running, tape_of, with_plugins
from tests.kit.waiting import PATIENCE_SECONDS

STEP = 0.1
"""Seconds that pass at once; between two steps the sockets get a moment of real time."""


@dataclass
class Bot:
    """A bot in its gateway, the fakes it talks to, and a server with people."""

    gateway: Gateway
    fake: FakeDiscord
    model: FakeOpenAI
    clock: ManualClock
    guild: Guild
    general: Channel
    ada: User
    bob: User

    async def until(self, wanted: Callable[[], object]) -> None:
        """Advance the clock until a condition holds."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while not wanted():
                await self.pass_by(STEP)

    async def pass_by(self, seconds: float, step: float = STEP) -> None:
        """Advance the clock, with a moment for the sockets at each step."""
        for _ in range(max(1, round(seconds / step))):
            await self.clock.advance(step)
            await anyio.sleep(0.002 if step <= STEP else 0.01)

    async def ask(self, text: str, user: User | None = None, **how: Any) -> Message:
        """Ask the bot something, and wait for the answer."""
        message = self.say(f"<@{self.fake.bot.id}> {text}", user, **how)
        await self.settled()
        return message

    def say(self, text: str, user: User | None = None, **how: Any) -> Message:
        """Post a message in the channel."""
        place = how.pop("place", self.general)
        return self.fake.say(place, user or self.ada, text, **how)

    async def settled(self, place: Channel | None = None) -> list[Entry]:
        """Wait until every message is answered; return the tape."""
        await self.until(lambda: not self.fake.untaken and self.fake.live_sockets)
        async with anyio.create_task_group() as group:
            group.start_soon(self._tick)
            await self.fake.gap_closed()
            await self.gateway.idle()
            group.cancel_scope.cancel()
        return await self.tape(place)

    async def tape(self, place: Channel | None = None) -> list[Entry]:
        """Return the tape of a channel."""
        return await tape_of(self.gateway, f"discord:{(place or self.general).id}").read()

    def texts(self, place: Channel | None = None) -> list[str]:
        """Return the bot's messages in a channel."""
        return [message.text for message in self.fake.messages(place or self.general)]

    def prompts(self) -> list[str]:
        """Return the prompt of each model call as one text."""
        return [
            "\n".join(_text(message) for message in request.body["messages"])
            for request in self.model.requests
        ]

    @property
    def state(self) -> str:
        """The channel's state."""
        return self.gateway.status.states["discord"].state

    @property
    def why(self) -> str:
        """Why the channel is not ready."""
        return self.gateway.status.states["discord"].why

    async def _tick(self) -> None:
        while True:
            await self.pass_by(STEP)


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(str(part.get("text", "[an image]")) for part in parts)


@dataclass
class House:
    """A Discord and a model for several gateways, one after the other."""

    fake: FakeDiscord
    model: FakeOpenAI
    clock: ManualClock
    home: Path
    guild: Guild
    general: Channel
    ada: User
    bob: User

    @asynccontextmanager
    async def bot(self, *plugins: object, limits: Any = LIMITS, **more: str) -> AsyncIterator[Bot]:
        """Run a bot that is open to everybody; `more` are settings."""

        def make(name: str, settings: Any) -> BaseChannel:
            own = name == "discord"
            return DiscordChannel(settings, limits) if own else make_channel(name, settings)

        given = {
            "DISCORD__TOKEN": self.fake.token,
            "DISCORD__BASE_URL": self.fake.base_url,
            "DISCORD__GATEWAY_URL": self.fake.gateway_url,
            "ACCESS__MODE": "open",
            "WEB__ENABLED": "false",
            **more,
        }
        settings = make_settings(self.home, self.model, **given)
        source = with_plugins(*plugins)
        internals = Internals(make_channel=make)
        async with running(
            settings, plugins=source, clock=self.clock, internals=internals
        ) as gateway:
            yield Bot(
                gateway,
                self.fake,
                self.model,
                self.clock,
                self.guild,
                self.general,
                self.ada,
                self.bob,
            )


@asynccontextmanager
async def house(home: Path, **how: Any) -> AsyncIterator[House]:
    """Open a Discord with a server, a channel and two people; `how` goes to the fake."""
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic, **how) as fake, FakeOpenAI() as model:
        fake.epoch = START.timestamp()
        guild = fake.guild("Ops")
        general = fake.text_channel(guild)
        ada, bob = fake.user("Ada"), fake.user("Bob")
        fake.join(guild, ada)
        fake.join(guild, bob)
        yield House(fake, model, clock, home, guild, general, ada, bob)


@asynccontextmanager
async def discord_bot(
    home: Path, *plugins: object, limits: Any = LIMITS, **more: str
) -> AsyncIterator[Bot]:
    """Run one bot."""
    async with house(home) as found, found.bot(*plugins, limits=limits, **more) as bot:
        yield bot


async def began(place: House, *rooms: Channel) -> None:
    """Run the bot once, with a question in each of these channels."""
    async with place.bot() as bot:
        for room in rooms or (place.general,):
            bot.say(f"<@{bot.fake.bot.id}> before", place=room)
        await bot.settled()
    await place.clock.advance(3600)


async def texts(bot: Bot, room: Channel | None = None) -> list[str]:
    """Return the texts of people's messages on the tape."""
    return [entry.meta["text"] for entry in await bot.tape(room) if "inbox" in entry.meta]


def contents_of(folder: Path) -> bytes:
    """Return the contents of all files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


PAIRED = {"ACCESS__MODE": "paired"}
