"""The people of these tests: Alice and Bob in a group, and who looks at what they wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from channels.message import Author, InboundMessage
from tape.entry import utc_iso
from tests.gateway.console.scene import GROUP as CHAT
from tests.gateway.console.scene import Scene, key, running_scene
from tests.kit.plain_channels import MESSAGE

GROUP = f"plain:{CHAT}"

Client = httpx2.AsyncClient


def said(number: int, text: str, by: str = "7", **more: Any) -> InboundMessage:
    """Return a message of a group, from somebody whose name is Alice or Bob."""
    name = {"7": "Alice", "8": "Bob"}.get(by, "Somebody")
    own = {"ext_id": f"-100/{number}", "message_id": str(number), "text": text}
    own["date"] = utc_iso(datetime.now(UTC))
    return replace(MESSAGE, sender=Author(by, name), **{**own, **more})


class House(Scene):
    """A scene in which messages are made by `said`."""

    @property
    def chat(self) -> str:
        return key(CHAT)

    async def hear(self, *messages: InboundMessage) -> None:
        """Accept messages, one after the other, and wait until all is done."""
        for message in messages:
            await self.deliver(message)

    def owner(self) -> AbstractAsyncContextManager[Client]:
        return self.holder()

    @asynccontextmanager
    async def guest(self, person: str, role: str) -> AsyncIterator[Client]:
        """Have a client with the session of somebody who has a role in the account."""
        if role == "stranger":
            async with self.outside() as client:
                yield client
            return
        await self.grant(person, "admin" if role == "member" else role)
        async with self.enter(person) as client:
            if role == "member":
                await self.grant(person, "member")
            yield client


@asynccontextmanager
async def house(home: Path, **settings: str) -> AsyncIterator[House]:
    """Run a gateway whose group is open to everybody."""
    async with running_scene(House, home, {"BUFFER__DEBOUNCE": "0", **settings}) as found:
        yield found


async def get(client: Client, path: str, status: int = 200) -> Any:
    """Ask the console; return the JSON that it answers."""
    answer = await client.get(f"/api/console/{path}")
    assert answer.status_code == status, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


async def post(client: Client, path: str, body: Any, status: int = 200) -> Any:
    """Post to the console; return the JSON that it answers."""
    answer = await client.post(f"/api/console/{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()
