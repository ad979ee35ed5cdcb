"""People who look at the console: the owner of the instance, and people of the channel `plain`."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from channels.message import Author, InboundMessage
from gateway.app import Gateway, access_admin
from gateway.console.chats import key_of
from tape.entry import utc_iso
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import until
from tests.gateway.intake.test_access import MESSAGE, Brings, PlainChannel
from tests.gateways import gateway_of, settled

GROUP = "plain:-100"
OUTSIDE = {"X-Forwarded-For": "203.0.113.9"}
"""What a proxy adds: the person is not the user who runs the gateway."""

Client = httpx2.AsyncClient


def said(number: int, text: str, by: str = "7", **more: Any) -> InboundMessage:
    """Return a message of a group, from somebody whose name is Alice or Bob."""
    name = {"7": "Alice", "8": "Bob"}.get(by, "Somebody")
    own = {"ext_id": f"-100/{number}", "message_id": str(number), "text": text}
    own["date"] = utc_iso(datetime.now(UTC))
    return replace(MESSAGE, sender=Author(by, name), **{**own, **more})


class House:
    """A gateway with a group that is open, and the clients of people who look."""

    def __init__(self, gateway: Gateway, channel: PlainChannel, server: FakeOpenAI) -> None:
        self.gateway = gateway
        self.channel = channel
        self.server = server

    @property
    def chat(self) -> str:
        return key_of(GROUP)

    async def hear(self, *messages: InboundMessage, session: str = GROUP) -> None:
        """Accept messages, one after the other, and wait until all is done."""
        for message in messages:
            await self.channel.host.accept([message])
            await until(partial(self._is_taken_in, message))
            await self.gateway.taken_in()
            await settled(self.gateway, session)

    async def _is_taken_in(self, message: InboundMessage) -> bool:
        key = {"account_id": "plain", "ext_id": message.ext_id}
        (row,) = await self.gateway.services.store.select("ledger.told_key", key)
        return bool(row["status"] != "accepted")

    @asynccontextmanager
    async def owner(self) -> AsyncIterator[Client]:
        async with Client(base_url=self.gateway.url, trust_env=False, timeout=60) as client:
            yield client

    @asynccontextmanager
    async def guest(self, person: str, role: str) -> AsyncIterator[Client]:
        """Have a client with the session of somebody who has a role in the account."""
        admin = access_admin(self.gateway)
        if role != "stranger":
            await admin.grant(f"plain:{person}", "admin" if role == "member" else role)
        asks = said(1, ",console", person, chat_id=person, chat_kind="private")
        sentence = await self.gateway.parts.door.link(asks)
        code = re.search(r"#code=(\w+)", sentence)
        assert code is not None
        async with Client(
            base_url=self.gateway.url, trust_env=False, headers=OUTSIDE, timeout=60
        ) as client:
            if role != "stranger":
                entered = await client.post("console/code", json={"code": code[1]})
                assert entered.status_code == 200, entered.text
            if role == "member":
                await admin.grant(f"plain:{person}", "member")
            yield client


@asynccontextmanager
async def house(home: Path, **settings: str) -> AsyncIterator[House]:
    """Run a gateway whose group is open to everybody."""
    channel = PlainChannel()
    settings = {"ACCESS__MODE": "open", "BUFFER__DEBOUNCE": "0", **settings}
    async with (
        FakeOpenAI() as server,
        gateway_of(home, server, Brings(channel), **settings) as gateway,
    ):
        yield House(gateway, channel, server)


async def get(client: Client, path: str, status: int = 200) -> Any:
    """Ask the console; return the JSON that it answers."""
    answer = await client.get(f"api/console/{path}")
    assert answer.status_code == status, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


async def post(client: Client, path: str, body: Any, status: int = 200) -> Any:
    """Post to the console; return the JSON that it answers."""
    answer = await client.post(f"api/console/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()
