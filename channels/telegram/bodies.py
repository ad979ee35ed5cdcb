"""What a message says, as text with entities or as a rich message, and which chats get which."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from channels.telegram.address import address_of
from channels.telegram.api import MethodUnknown, NotAsSent
from channels.telegram.format import Entity, render, render_partial
from channels.telegram.rich_writer import rich_message, rich_partial

NO_PREVIEW: Final = {"is_disabled": True}
REFUSED_SECONDS: Final = 60.0
"""Seconds for which a chat gets no rich message after Telegram has refused one there."""

UNKNOWN_SECONDS: Final = 3_600.0
"""Seconds for which no chat gets a rich message once the server did not know the method."""

MAX_REFUSED: Final = 1_000  # maximum number of chats whose refusal is remembered
_EVERYWHERE: Final = ""


@dataclass(frozen=True, slots=True)
class Body:
    """What a message says: `text` with `entities`, or a `rich` message."""

    text: str = ""
    entities: list[Entity] = field(default_factory=list)
    rich: Mapping[str, Any] | None = None

    @property
    def send_method(self) -> str:
        return "sendRichMessage" if self.rich else "sendMessage"

    @property
    def draft_method(self) -> str:
        return "sendRichMessageDraft" if self.rich else "sendMessageDraft"

    def of_draft(self) -> dict[str, Any]:
        """Return the parameters that say it in a draft."""
        if self.rich:
            return {"rich_message": self.rich}
        return {"text": self.text, "entities": self.entities or None}

    def of_send(self) -> dict[str, Any]:
        """Return the parameters that say it in a send or an edit."""
        # A rich message has no previews of links: its methods have no option for them.
        previews = {} if self.rich else {"link_preview_options": NO_PREVIEW}
        return {**self.of_draft(), **previews}


class RichChats:
    """The chats that get rich messages, and those that get none now, since one was refused."""

    def __init__(self, chats: Collection[int] = (), now: Callable[[], float] = float) -> None:
        self.chats = frozenset(chats)
        self._now = now
        self._refused: OrderedDict[str, float] = OrderedDict()

    def includes(self, chat: str) -> bool:
        """Return whether a chat, or the Telegram chat that it is a part of, gets rich messages."""
        return address_of(chat).chat in self.chats

    def body(self, chat: str, text: str) -> Body | None:
        """Return a whole text as a rich message, or None if it is sent with entities."""
        rich = rich_message(text) if self._is_open(chat) else None
        return Body(rich=rich) if rich else None

    def partial(self, chat: str, text: str) -> Body | None:
        """Return the first message of an unfinished text, or None if it is sent with entities."""
        rich = rich_partial(text) if self._is_open(chat) else None
        return Body(rich=rich) if rich else None

    def refused(self, chat: str, error: NotAsSent) -> None:
        """Remember for a while that a text was refused as a rich message, and no other way."""
        is_unknown = isinstance(error, MethodUnknown)
        key = _EVERYWHERE if is_unknown else chat
        self._refused[key] = self._now() + (UNKNOWN_SECONDS if is_unknown else REFUSED_SECONDS)
        self._refused.move_to_end(key)
        while len(self._refused) > MAX_REFUSED:
            self._refused.popitem(last=False)

    def _is_open(self, chat: str) -> bool:
        if not self.includes(chat):
            return False
        until = max(self._refused.get(key, 0.0) for key in (chat, _EVERYWHERE))
        return self._now() >= until


def with_entities(chat: str, text: str) -> Body:
    """Return a whole text with its entities."""
    return Body(*render(text, private=is_private(chat)))


def partial_with_entities(chat: str, text: str) -> Body:
    """Return the first message of an unfinished text with its entities."""
    return Body(*render_partial(text, private=is_private(chat)))


def is_private(chat: str) -> bool:
    """Return whether only one person reads a chat: groups have other ids, and channels names."""
    return chat.isdecimal()
