"""Answers interactions: uses of slash commands, and presses of buttons.

Discord waits three seconds for a first answer, which is sent once the message is on disk. The
token of an interaction, which expires after 15 minutes, stays in memory: it is needed only for
texts that one person sees, and these are best effort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from channels.discord.api import DiscordApi
from channels.discord.format import pieces
from channels.discord.guild_cache import GuildCache
from channels.discord.outbound import NO_PREVIEW, NOBODY, DiscordSender, remember
from channels.discord.slash_commands import (
    COMMAND_USED,
    EPHEMERAL,
    command_message,
    command_note,
    press_message,
)
from channels.errors import ChannelDown, ChannelError, SendRefused
from channels.host import ChannelHost
from channels.message import InboundMessage

NOTE: Final = 4  # type of a response: a message in the chat
SEEN: Final = 6  # type of a response to a press: none that people see
NOT_NOW: Final = "I can't take this right now. Please try again in a minute."


@dataclass(eq=False)
class Interactions:
    """Takes the interactions of one bot; `application` is the id under which it answers them."""

    _api: DiscordApi
    _cache: GuildCache
    _sender: DiscordSender
    _host: Callable[[], ChannelHost]
    application: str = ""
    _tokens: dict[str, str] = field(default_factory=dict, init=False)
    _unanswered: dict[str, anyio.Event] = field(default_factory=dict, init=False)

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
        if press.ext_id in self._unanswered:  # Discord takes no text before the first answer
            await self._unanswered[press.ext_id].wait()
        token = self._tokens.get(press.ext_id)
        if token is None:
            raise SendRefused("the press was answered too long ago")
        path = f"/webhooks/{self.application}/{token}"
        for piece in pieces(text):
            await self._api.call("POST", path, _text(piece, EPHEMERAL), as_bot=False)

    async def _take_press(self, press: InboundMessage, data: dict[str, Any]) -> None:
        remember(self._tokens, press.ext_id, str(data["token"]))
        self._unanswered[press.ext_id] = anyio.Event()
        answer: dict[str, Any] = {"type": SEEN}
        try:
            try:
                await self._host().accept([press])
            except ChannelDown:
                answer = {"type": NOTE, "data": _text(NOT_NOW, EPHEMERAL)}
            await self._respond(data, answer)
        except ChannelError:
            self._host().log_exception("discord.press_not_answered")
        finally:
            self._unanswered.pop(press.ext_id).set()

    async def _take_command(self, data: dict[str, Any]) -> None:
        """Accept a command, and post the note that quotes it; the command's answer replies to it.

        A note that may not be read by others is shown to the person only.
        """
        message = command_message(data, self._cache)
        self._sender.note_started(message.message_id)
        note_id: str | None = None
        try:
            content, flags = command_note(data)
            try:
                await self._host().accept([message])
            except ChannelDown:
                content, flags = NOT_NOW, EPHEMERAL
            answer = await self._respond(data, {"type": NOTE, "data": _text(content, flags)})
            if not flags & EPHEMERAL:  # others could not see what the answer replies to
                note_id = str(answer["resource"]["message"]["id"])
        except (ChannelError, TypeError, KeyError):
            self._host().log_exception("discord.command_not_noted")
        finally:
            self._sender.note_posted(message.message_id, note_id)

    async def _respond(self, data: dict[str, Any], answer: dict[str, Any]) -> Any:
        path = f"/interactions/{int(data['id'])}/{data['token']}/callback"
        query = {"with_response": "true"}
        return await self._api.call("POST", path, answer, query=query, as_bot=False)


def _text(content: str, flags: int = 0) -> dict[str, Any]:
    return {"content": content, "allowed_mentions": NOBODY, "flags": flags | NO_PREVIEW}
