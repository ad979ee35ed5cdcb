"""Somebody who follows the console live, and reads its screens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import orjson

from tests.gateway.console.scene import GROUP, MEMBER, Scene, until


class Follower:
    """Somebody who follows the stream; keeps what it says as (topic, chat)."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.words = ""
        self.last = ""
        self.is_gone = False
        self.unsure = 0
        self._changed = anyio.Event()

    async def read(self, response: httpx2.Response) -> None:
        async for line in response.aiter_lines():
            self.words += line
            if line.startswith("id: "):
                self.last = line[4:]
            elif line == "event: gone":
                self.is_gone = True
            elif line == "event: unsure":
                self.unsure += 1
            elif line.startswith("data: ["):
                changes: list[dict[str, Any]] = orjson.loads(line[6:])
                self.heard += [(one["topic"], one["data"].get("chat", "")) for one in changes]
            else:
                continue
            self._changed.set()
            self._changed = anyio.Event()

    async def hears(self, wanted: tuple[str, str], since: int = 0) -> None:
        while wanted not in self.heard[since:]:
            await self._changed.wait()

    async def is_unsure(self, times: int = 1) -> None:
        while self.unsure < times:
            await self._changed.wait()

    async def is_sent_away(self) -> None:
        while not self.is_gone:
            await self._changed.wait()


@asynccontextmanager
async def following(browser: httpx2.AsyncClient, last: str = "") -> AsyncIterator[Follower]:
    """Follow the stream, once it has begun, for the block."""
    follower = Follower()
    headers = {"Last-Event-ID": last} if last else {}
    async with anyio.create_task_group() as group:
        async with browser.stream("GET", "/api/console/live", headers=headers) as response:
            assert response.status_code == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["cache-control"] == "no-store"
            group.start_soon(follower.read, response)
            await follower.hears(("all", ""))
            yield follower
            group.cancel_scope.cancel()


async def titles(browser: httpx2.AsyncClient, path: str = "deck") -> set[str]:
    return {chat["title"] for chat in (await browser.get(f"/api/console/{path}")).json()["chats"]}


async def seen(browser: httpx2.AsyncClient, path: str) -> Any:
    answer = await browser.get(f"/api/console/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def asked(scene: Scene, text: str, person: str = MEMBER, chat: str = GROUP) -> None:
    """Have somebody ask, and wait for what the gateway posts."""
    before = len(scene.channel.posts)
    await scene.say(person, text, chat, addressed=True)

    async def is_posted() -> bool:
        return len(scene.channel.posts) > before

    await until(is_posted)
    await scene.gateway.idle()
