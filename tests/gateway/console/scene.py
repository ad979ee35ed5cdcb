"""A gateway with a platform of two accounts, and the people who look at its console."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest

from channels.message import Author, InboundMessage
from gateway.app import Gateway, access_admin
from gateway.assembly import Internals
from gateway.clock import SystemClock
from gateway.console.chats import key_of
from gateway.storage.ledger.rows import account_id
from tape.unit_of_work import Row
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import PATIENT, every, gateway_of, tape_of
from tests.kit.plain_channels import Brings, PlainChannel
from tests.kit.waiting import Patience

TOKEN = "a-token-of-sixteen-characters"
OUTSIDE = {"X-Forwarded-For": "203.0.113.9"}
"""What a proxy adds: the person is not the user who runs the gateway."""

OWNER, ADMIN, MEMBER, STRANGER = "1", "2", "3", "4"
GROUP, OTHER_GROUP = "-100", "-200"

hasty = pytest.mark.parametrize("internals", [every(console_rights=0.2)], ids=["hasty"])
"""Has the streams of a scene find out often what their visitors may see."""


class LeapingClock(SystemClock):
    """The system's clock, whose dates a test sets forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


class Scene:
    """One gateway, and the channel `plain`, whose people have the ids above."""

    def __init__(self, gateway: Gateway, channel: PlainChannel, server: FakeOpenAI) -> None:
        self.gateway = gateway
        self.channel = channel
        self.server = server
        self._said = 0

    async def say(
        self, person: str, text: str, chat: str = GROUP, *, account: str = "", **more: Any
    ) -> InboundMessage:
        """Have somebody say something, and wait until it is taken in."""
        self._said += 1
        kind = "private" if chat == person else "group"
        values = {
            "chat_kind": kind,
            "chat_title": "" if kind == "private" else f"Group {chat}",
            "message_id": str(self._said),
            "ext_id": f"{account}/{chat}/{self._said}",
            "sender": Author(person, f"Person {person}"),
            "date": "2026-01-02T03:04:05+00:00",
            "why": "mention",
            **more,
        }
        message = InboundMessage("plain", chat, text=text, account=account, **values)
        await self.deliver(message)
        return message

    async def deliver(self, message: InboundMessage) -> None:
        """Have the platform deliver a message, and wait until it is taken in."""
        await self.channel.host.accept([message])
        place = {"account_id": account_id("plain", message.account), "ext_id": message.ext_id}

        async def is_taken_in() -> bool:
            (row,) = await self.rows("told_key", **place)
            return bool(row["status"] != "accepted")

        await until(is_taken_in)
        await self.gateway.taken_in()
        await self.gateway.idle()

    async def grant(self, person: str, role: str, account: str = "") -> None:
        """Give somebody a role, or take it with `none`."""
        admin = access_admin(self.gateway)
        if role == "none":
            await admin.revoke(f"plain:{person}", account)
        else:
            await admin.grant(f"plain:{person}", role, account)

    async def ask_for_link(self, person: str, account: str = "") -> str:
        """Have somebody send `,console` in private; return what they read."""
        before = len(self.channel.posts)
        await self.say(person, ",console", person, account=account, addressed=True)
        await until(lambda: _done(len(self.channel.posts) > before))
        return self.channel.posts[-1].text

    async def code(self, person: str, account: str = "") -> str:
        """Return the code of a link that somebody got."""
        text = await self.ask_for_link(person, account)
        found = re.search(r"#code=([0-9a-f]+)", text)
        assert found, text
        return found[1]

    @asynccontextmanager
    async def enter(self, person: str, account: str = "") -> AsyncIterator[httpx2.AsyncClient]:
        """Have a browser in the console for somebody, by a link of theirs."""
        code = await self.code(person, account)
        async with self.outside() as browser:
            answer = await browser.post("/console/code", json={"code": code})
            assert answer.status_code == 200, answer.text
            yield browser

    @asynccontextmanager
    async def holder(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Have a client with the access token."""
        async with self.outside() as client:
            client.headers["Authorization"] = f"Bearer {TOKEN}"
            yield client

    def outside(self) -> httpx2.AsyncClient:
        """Return a browser that is nobody's."""
        url = self.gateway.url
        return httpx2.AsyncClient(base_url=url, trust_env=False, headers=OUTSIDE, timeout=60)

    async def rows(self, statement: str, **values: Any) -> list[Row]:
        """Return the rows of a statement of the ledger."""
        return await self.gateway.services.store.select(f"ledger.{statement}", values)

    async def words_of_tape(self, chat: str) -> str:
        """Return everything that a chat's tape says."""
        entries = await tape_of(self.gateway, f"plain:{chat}").read()
        return str([(entry.payload, entry.meta) for entry in entries])


Found = TypeVar("Found", bound=Scene)


@asynccontextmanager
async def scene_of(
    home: Path, *, clock: Any = None, internals: Any = PATIENT, **more: str
) -> AsyncIterator[Scene]:
    """Run a gateway, whose access is open, with an owner and an admin of the account `plain`."""
    async with running_scene(Scene, home, more, clock, internals=internals) as scene:
        yield scene


@asynccontextmanager
async def running_scene(
    kind: type[Found],
    home: Path,
    more: dict[str, str],
    clock: Any = None,
    channel: PlainChannel | None = None,
    *plugins: object,
    internals: Internals = PATIENT,
) -> AsyncIterator[Found]:
    """Have a scene of a kind; see `scene_of`."""
    channel = channel or PlainChannel()
    given = {"ACCESS__MODE": "open", "HTTP__TOKEN": TOKEN, **more}
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(FakeOpenAI())
        how: dict[str, Any] = {"clock": clock, "internals": internals, **given}
        opened = gateway_of(home, server, Brings(channel), *plugins, **how)
        scene = kind(await stack.enter_async_context(opened), channel, server)
        await scene.grant(OWNER, "owner")
        await scene.grant(ADMIN, "admin")
        yield scene


def key(chat: str, account: str = "") -> str:
    """Return a chat's name in addresses."""
    return key_of(f"plain:{account}/{chat}" if account else f"plain:{chat}")


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is true."""
    patience = Patience("what the test asks for is so")
    while not await true():
        await patience.pause()


async def _done(value: bool) -> bool:
    return value
