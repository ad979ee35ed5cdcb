"""What passes between a platform and the gateway: messages in, messages out, receipts.

A message is parsed once, at the platform's edge; everything behind it sees these types only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

ChatKind = Literal["private", "group"]
InboundKind = Literal["message", "edit", "delete", "change", "unreadable"]
MediaKind = Literal["image", "audio", "video", "file", "other"]
OutboundKind = Literal["answer", "notice"]

REST: Final = "rest"
"""The `joins` of a part whose author's next message belongs to it."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote: `id` is the platform's, `name` is what people see and proves nothing.

    `handle` is what a mention of them reads on platforms that mention by names.
    """

    id: str
    name: str
    is_bot: bool = False
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Media:
    """What came with a message: `file` is how its channel fetches it.

    label     what people call it: photo, voice message, sticker, location, ...
    size      in bytes; 0 where the platform does not tell
    seconds   of what has a duration
    detail    what there is to say of something that has no file: a place, a poll's question
    """

    kind: MediaKind
    label: str
    file: str = ""
    name: str = ""
    mime: str = ""
    size: int = 0
    width: int = 0
    height: int = 0
    seconds: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Text of somebody else in a message: what it replies to, or whom it forwards.

    ours    whether the agent said it
    chosen  whether the person chose these words out of a longer message
    """

    author: str
    author_id: str = ""
    text: str = ""
    ours: bool = False
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message as a platform delivered it, or something else that happened in a chat.

    kind               `message`; `edit`: `message_id` now reads `text`; `delete`: `message_id` is
                       gone; `change`: something happened to the chat, `change` names it and `text`
                       tells it; `unreadable`: `raw` is what came, `why` is why it could not be
                       read

    channel, account   which adapter, and which of its accounts
    chat_id            the chat, as the platform names it
    ext_id             names what happened (chat and message), never the delivery: the key by which
                       a second delivery is known
    alt_id             the delivery's own id, where there is one
    message_id         the platform's id of the message, for replies
    date               the message's own time, ISO 8601 in UTC
    addressed, why     whether the agent is asked, and by which rule
    follows            whether it asks the agent if its thread is one that the agent was asked in
    reply_to           the platform's id of the message that this one answers
    owner              whether the platform itself proves that the owner writes (the own page, the
                       own terminal)
    backlog            whether it waited at the platform while the channel was away
    media              what came with it
    quote              what it replies to, as the platform tells it
    forwarded          whose words the text is, when they are not the sender's
    joins              messages of one sender that follow each other under one such key are one
                       message, torn apart by the platform: an album, a long paste
    parts              of a message that was put together: each part's id and text
    change, to_chat    see `kind`; `migrated` names the chat's new id in `to_chat`
    raw                the platform's event, where something of it is needed later
    """

    channel: str
    chat_id: str
    ext_id: str
    message_id: str
    sender: Author
    text: str
    date: str
    account: str = ""
    chat_kind: ChatKind = "private"
    chat_title: str = ""
    thread_id: str | None = None
    reply_to: str | None = None
    mentions: tuple[str, ...] = ()
    addressed: bool = False
    why: str = ""
    follows: bool = False
    alt_id: str | None = None
    owner: bool = False
    backlog: bool = False
    kind: InboundKind = "message"
    media: tuple[Media, ...] = ()
    quote: Quote | None = None
    forwarded: Quote | None = None
    joins: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    change: str = ""
    to_chat: str = ""
    output_channel: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    def to_payload(self) -> dict[str, Any]:
        """Return the message as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> InboundMessage:
        """Read what `to_payload` gave; raises TypeError or KeyError for anything else."""
        values = dict(payload)
        values["sender"] = Author(**values["sender"])
        values["mentions"] = tuple(values.get("mentions", ()))
        values["parts"] = tuple((part[0], part[1]) for part in values.get("parts", ()))
        values["media"] = tuple(Media(**one) for one in values.get("media", ()))
        for name in ("quote", "forwarded"):
            if values.get(name) is not None:
                values[name] = Quote(**values[name])
        return cls(**values)


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """A message for a platform.

    idem        the key under which it is sent once
    answers     the `ext_id` of the message that it answers, where there is one
    reply_to    the platform's id of that message
    edits       the platform's id of a message of ours that this one replaces: its draft
    turn, part  which turn it belongs to, and which of its answers it is
    piece       which piece of that answer, where the platform takes only so much at once
    """

    channel: str
    chat_id: str
    text: str
    idem: str = ""
    account: str = ""
    thread_id: str | None = None
    reply_to: str | None = None
    answers: str | None = None
    edits: str | None = None
    kind: OutboundKind = "answer"
    turn: str = ""
    part: int = 0
    piece: int = 0
    date: str = ""

    def to_payload(self) -> dict[str, Any]:
        """Return the message as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> OutboundMessage:
        """Read what `to_payload` gave; raises TypeError for anything else."""
        return cls(**payload)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The platform's word that it has a message: the id that it gave."""

    platform_id: str


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message of a chat's history, for channels that show it themselves."""

    id: str
    role: Literal["person", "agent", "notice"]
    author_id: str
    author: str
    text: str
    date: str
    reply_to: str | None = None
    addressed: bool | None = None
