"""A conversation with the agent: what is said, what is shown, and which answers are expected."""

from __future__ import annotations

from contextlib import aclosing
from uuid import uuid4

import anyio

from channels.room.hub import Json
from gateway.cli.chat.chat_client import ChatClient
from gateway.cli.chat.plain import PlainText
from gateway.cli.chat.transcript import ChatTranscript
from gateway.errors import GatewayError


class Conversation:
    """Shows a chat's events, and tracks which answers are still expected."""

    def __init__(
        self, link: ChatClient, view: ChatTranscript | PlainText, *, patient: bool
    ) -> None:
        self.link = link
        self._patient = patient
        self.opened = anyio.Event()
        self.waiting: set[str] = set()
        self.events = 0
        self._view = view
        self._changed = anyio.Event()

    async def say(self, text: str) -> None:
        """Send a line; if the gateway refuses it, show the reason."""
        message_id = uuid4()
        self.waiting.add(str(message_id))
        self._view.asked(str(message_id))
        try:
            await self.link.say(text, message_id)
        except GatewayError as refused:
            self._view.note(str(refused))
            self._settle(str(message_id))

    async def stop(self) -> None:
        """Stop the newest answer; if the gateway refuses, show the reason."""
        try:
            await self.link.stop()
        except GatewayError as refused:
            self._view.note(str(refused))

    async def changed(self, seen: int) -> None:
        """Wait for an event after the first `seen` ones."""
        while self.events <= seen:
            await self._changed.wait()

    async def settled(self) -> None:
        while self.waiting:
            await self._changed.wait()

    async def show(self) -> None:
        """Show events until cancelled; if patient, wait for a gateway that has stopped."""
        async with aclosing(self.link.events()) as events:
            async for event in events:
                if event["type"] == "lost" and not self._patient:
                    break
                self._take(event)
        raise GatewayError(
            "the gateway of this home has stopped; it answers what it accepted at its next start"
        )

    def _take(self, event: Json) -> None:
        self._view.take(event)
        kind = event["type"]
        if kind == "people":
            self.opened.set()
        messages = event.get("messages", [event.get("message", {})] if kind == "message" else [])
        for message in messages:
            if message["role"] != "person":
                self._settle(message["reply_to"])
        self._settle(event["reply_to"] if kind == "silent" else None)

    def _settle(self, message_id: str | None) -> None:
        self.waiting.discard(message_id or "")
        self.events += 1
        self._changed.set()
        self._changed = anyio.Event()
