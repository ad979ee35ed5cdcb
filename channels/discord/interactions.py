"""Answers interactions: uses of slash commands, and presses of buttons.

Discord waits three seconds for a first answer, which is sent once the message is on disk. The
token of an interaction, which expires after 15 minutes, is a fact: it is needed only for texts that
one person sees, and another process may send them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakValueDictionary

from channels.discord.api import ApiRefused, DiscordApi
from channels.discord.bodies import NO_PREVIEW, NOBODY
from channels.discord.format import pieces
from channels.discord.guild_cache import GuildCache
from channels.discord.outbound import NOTE_SECONDS, note_of
from channels.discord.slash_commands import (
    COMMAND_USED,
    EPHEMERAL,
    command_message,
    command_note,
    press_message,
)
from channels.errors import ChannelDown, ChannelError, SendRefused
from channels.host import FullHost
from channels.message import InboundMessage
from channels.refusals import Forms

NOTE: Final = 4  # type of a response: a message in the chat
SEEN: Final = 6  # type of a response to a press: none that people see
TOKEN_SECONDS: Final = 900.0
ANSWER_SECONDS: Final = 15.0  # how long a text waits until Discord has the first answer
NOT_NOW: Final = "I can't take this right now. Please try again in a minute."


@dataclass(eq=False)
class Interactions:
    """Takes the interactions of one bot; `application` is the id under which it answers them."""

    _api: DiscordApi
    _cache: GuildCache
    _host: Callable[[], FullHost]
    application: str = ""
    _chats: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, init=False
    )

    async def take(self, data: dict[str, Any]) -> None:
        """Accept the message that an interaction stands for, and answer the interaction."""
        if int(data.get("type") or 0) == COMMAND_USED:
            await self._take_command(data)
        elif (press := press_message(data, self._cache)) is not None:
            await self._take_press(press, data)

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        """Show a text to the person who pressed a button; raises ChannelError."""
        if not text:
            return
        known = await self._host().facts.wait(  # Discord takes no text before the first answer
            press.ext_id, lambda now: now is None or now["answered"], ANSWER_SECONDS
        )
        if known is None:
            raise SendRefused("the press was answered too long ago")
        path = f"/webhooks/{self.application}/{known['token']}"
        for piece in pieces(text):
            await self._send(path, _text(piece, EPHEMERAL))

    async def answer_path(self, interaction: str) -> str:
        """Return where the answer to a command can be sent by its token, or "" once it is old."""
        known = await self._host().facts.fetch(token_of(interaction))
        return f"/webhooks/{self.application}/{known['token']}" if known else ""

    async def _accept(
        self, message: InboundMessage, name: str, known: dict[str, Any], seconds: float
    ) -> None:
        """Store what the answer needs, then the message: of two presses, the first one counts."""
        async with self._chats.setdefault(message.chat_id, asyncio.Lock()):
            await self._host().facts.store({name: known}, seconds)
            await self._host().accept([message])

    async def _take_press(self, press: InboundMessage, data: dict[str, Any]) -> None:
        facts, known = self._host().facts, {"token": str(data["token"]), "answered": False}
        answer: dict[str, Any] = {"type": SEEN}
        try:
            try:
                await self._accept(press, press.ext_id, known, TOKEN_SECONDS)
            except ChannelDown:
                answer = {"type": NOTE, "data": _text(NOT_NOW, EPHEMERAL)}
            await self._respond(data, answer)
        except ChannelError:
            self._host().log_exception("discord.press_not_answered")
        finally:
            facts.put({press.ext_id: {**known, "answered": True}}, TOKEN_SECONDS)

    async def _take_command(self, data: dict[str, Any]) -> None:
        """Accept a command, and post the note that quotes it; the command's answer replies to it.

        A note that may not be read by others is shown to the person only.
        """
        message = command_message(data, self._cache)
        facts, name = self._host().facts, note_of(message.message_id)
        note_id: str | None = None
        try:
            content, flags = command_note(data)
            try:
                note = {"id": None, "posted": False}
                if not flags & EPHEMERAL:  # where the bot may not write, it answers by the token
                    token = {"token": str(data["token"])}
                    await facts.store({token_of(message.message_id): token}, TOKEN_SECONDS)
                await self._accept(message, name, note, NOTE_SECONDS)
            except ChannelDown:
                content, flags = NOT_NOW, EPHEMERAL
            answer = await self._respond(data, {"type": NOTE, "data": _text(content, flags)})
            if not flags & EPHEMERAL:  # others could not see what the answer replies to
                note_id = str(answer["resource"]["message"]["id"])
        except (ChannelError, TypeError, KeyError):
            self._host().log_exception("discord.command_not_noted")
        finally:
            facts.put({name: {"id": note_id, "posted": True}}, NOTE_SECONDS)

    async def _respond(self, data: dict[str, Any], answer: dict[str, Any]) -> Any:
        path = f"/interactions/{int(data['id'])}/{data['token']}/callback"
        return await self._send(path, answer, {"with_response": "true"})

    async def _send(
        self, path: str, body: dict[str, Any], query: Mapping[str, str] | None = None
    ) -> Any:
        forms = Forms("interaction")
        while True:
            try:
                return await self._api.call("POST", path, body, query=query, as_bot=False)
            except ApiRefused as refused:
                if forms.after(refused, ("bare",)) != "bare":
                    raise
                body = _bare(body)


def _bare(body: dict[str, Any]) -> dict[str, Any]:
    if "data" in body:
        return {**body, "data": _bare(body["data"])}
    flags = {"flags": body["flags"] & EPHEMERAL} if "flags" in body else {}
    return {name: body[name] for name in ("type", "content") if name in body} | flags


def _text(content: str, flags: int = 0) -> dict[str, Any]:
    return {"content": content, "allowed_mentions": NOBODY, "flags": flags | NO_PREVIEW}


def token_of(interaction: str) -> str:
    """Return the name of the fact that holds the token of a command."""
    return f"token/{interaction}"
