"""One person at the page: what they post until it is taken, and what the page shows them.

The rules are those of the page's own scripts: messages are posted one after another under ids that
stay, a lost stream is opened again, and what it begins with replaces what was shown.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

import anyio
import httpx2

from tests.chaos.record import Messages
from tests.kit.visitor import Visitor

AGAIN_SECONDS: Final = 0.05
"""Seconds until a page tries again; a real one waits a second and more."""


class Page:
    """A visitor who comes back; `run` is its stream, `post` its outbox."""

    def __init__(
        self, client: httpx2.AsyncClient, room: str, name: str, changed: Callable[[], None]
    ) -> None:
        self._client = client
        self._room = room
        self.name = name
        self._changed = changed
        self._cookie: dict[str, str] = {}
        self._visitor = self._new_visitor()
        self._read = 0
        self._waiting: deque[tuple[str, str]] = deque()
        self._posted: list[tuple[str, str]] = []
        self._wake = asyncio.Event()
        self.entered = asyncio.Event()
        self.log: dict[str, dict[str, Any]] = {}
        self.drafts: dict[str, dict[str, Any]] = {}
        self._stale: set[str] = set()
        self.arrived: dict[str, str] = {}
        """The agent's messages in the order in which this page was first shown them."""

    def say(self, text: str) -> None:
        """Write a message."""
        self._waiting.append((str(uuid4()), text))
        self._wake.set()

    def repeat(self, count: int) -> None:
        """Post the last messages again that were taken, as a page whose storage is behind does."""
        self._waiting.extend(self._posted[-count:])
        self._wake.set()

    @property
    def shown(self) -> Messages:
        """What the agent says on this page."""
        found = [*self.log.values(), *(self.drafts[each] for each in self.drafts)]
        return [
            (each["id"], each["text"])
            for each in found
            if each["role"] != "person" and each["id"] not in self._stale
        ]

    async def run(self) -> None:
        """Listen, and come back whenever the line is cut."""
        while True:
            self._read = 0
            self._visitor = self._new_visitor()
            try:
                await self._visitor.listen(task_status=anyio.TASK_STATUS_IGNORED)
            except httpx2.TransportError:
                """There is nobody just now."""
            self._cookie = self._visitor.cookie
            await asyncio.sleep(AGAIN_SECONDS)

    async def post(self) -> None:
        """Post what is written, in its order, each until it is taken."""
        while True:
            while self._waiting:
                if await self._take(*self._waiting[0]):
                    self._posted.append(self._waiting.popleft())
                else:
                    await asyncio.sleep(AGAIN_SECONDS)
            self._wake.clear()
            await self._wake.wait()

    async def _take(self, message_id: str, text: str) -> bool:
        try:
            answer = await self._visitor.post(
                text, to_agent=True, reply_to=None, message_id=message_id
            )
        except httpx2.TransportError:
            return False
        assert answer.status_code in (202, 503), answer.text
        return answer.status_code == 202

    def _new_visitor(self) -> Visitor:
        visitor = Visitor(self._client, self._room, self.name, heard=self._heard)
        visitor.cookie = self._cookie
        return visitor

    def _heard(self) -> None:
        """Show the events that came since."""
        for event in self._visitor.events[self._read :]:
            self._read += 1
            kind = event["type"]
            if kind == "history":
                self._begin(event["messages"])
            elif kind == "message":
                self._put(event["message"])
            elif kind == "draft":
                self._stale.discard(event["message"]["id"])
                if event["message"]["id"] not in self.log:
                    self.drafts[event["message"]["id"]] = event["message"]
            elif kind == "draft.removed":
                self.drafts.pop(event["id"], None)
        self._changed()

    def _begin(self, messages: list[dict[str, Any]]) -> None:
        self.log = {}
        for message in messages:
            self._put(message)
        # A real page takes those away a second and a half later, unless they come again.
        self._stale = set(self.drafts)
        self.entered.set()

    def _put(self, message: dict[str, Any]) -> None:
        self.log[message["id"]] = message
        self.drafts.pop(message["id"], None)
        self._stale.discard(message["id"])
        if message["role"] != "person":
            self.arrived.setdefault(message["id"], str(message["reply_to"]))
