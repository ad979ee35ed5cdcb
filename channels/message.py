"""What passes between a platform and the gateway: messages in, messages out, receipts.

A message is parsed once, at the platform's edge; everything behind it sees these types only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

ChatKind = Literal["private", "group"]
OutboundKind = Literal["answer", "notice"]


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote: `id` is the platform's, `name` is what people see and proves nothing."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message as a platform delivered it.

    channel, account   which adapter, and which of its accounts
    chat_id            the chat, as the platform names it
    ext_id             names what happened (chat and message), never the delivery: the key by which
                       a second delivery is known
    alt_id             the delivery's own id, where there is one
    message_id         the platform's id of the message, for replies
    date               the message's own time, ISO 8601 in UTC
    addressed, why     whether the agent is asked, and by which rule
    reply_to           the platform's id of the message that this one answers
    owner              whether the platform itself proves that the owner writes (the own page, the
                       own terminal)
    raw                the platform's event, where something of it is needed later
    """

    channel: str
    chat_id: str
    ext_id: str
    message_id: str
    sender: Sender
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
    alt_id: str | None = None
    owner: bool = False
    output_channel: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)

    def to_payload(self) -> dict[str, Any]:
        """Return the message as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> InboundMessage:
        """Read what `to_payload` gave; raises TypeError or KeyError for anything else."""
        values = dict(payload)
        values["sender"] = Sender(**values["sender"])
        values["mentions"] = tuple(values.get("mentions", ()))
        return cls(**values)


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """A message for a platform.

    idem        the key under which it is sent once
    answers     the `ext_id` of the message that it answers, where there is one
    reply_to    the platform's id of that message
    edits       the platform's id of a message of ours that this one replaces: its draft
    turn, part  which turn it belongs to, and which piece of its answer it is
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
class Shown:
    """One message of a chat's history, for channels that show it themselves."""

    id: str
    role: Literal["person", "agent", "notice"]
    author_id: str
    author: str
    text: str
    date: str
    reply_to: str | None = None
    addressed: bool | None = None
