"""Incoming messages, outgoing messages and receipts, in the same form for every platform."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Literal

ChatKind = Literal["private", "group"]
InboundKind = Literal["message", "edit", "delete", "change", "press", "pairing", "unreadable"]
MediaKind = Literal["image", "audio", "video", "file", "other"]
OutboundKind = Literal["answer", "notice"]

REST: Final = "rest"  # the value of `joins` for a part that the author's next message continues

TITLE: Final = "title"
"""The label of the excerpt with the title of a message's thread, which is shown once there."""

KEPT: Final = "page-"
"""How the key of a file begins that the gateway keeps itself, under that name, for one message."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote a message.

    id      the platform's id
    name    the visible name, which does not prove who the author is
    handle  the name used in mentions, on platforms that mention by name
    acts_as `person`; `chat`: an administrator who writes in the name of the chat, with the chat's
            id; `other`: another chat or a webhook
    """

    id: str
    name: str
    is_bot: bool = False
    handle: str = ""
    acts_as: Literal["person", "chat", "other"] = "person"


@dataclass(frozen=True, slots=True)
class Media:
    """An attachment of a message.

    label     what people call it: photo, voice message, sticker, location, ...
    file      the key with which its channel fetches the file
    size      in bytes, or 0 if unknown
    seconds   duration of audio or video
    detail    a description of an attachment without a file: a location, a poll's question
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
    """The text that a message replies to or forwards.

    ours    whether the agent wrote it
    chosen  whether the author selected these words from a longer message
    media   the attachments of the quoted message
    """

    author: str
    author_id: str = ""
    text: str = ""
    ours: bool = False
    chosen: bool = False
    media: tuple[Media, ...] = ()

    def to_payload(self) -> dict[str, Any]:
        return {**_payload_of(self), "media": tuple(map(_payload_of, self.media))}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Quote:
        """Parse the result of `to_payload`; raises TypeError for anything else."""
        media = tuple(Media(**one) for one in payload.get("media", ()))
        return cls(**{**payload, "media": media})


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Words in a message that its sender did not write: a card, a forwarded message, a mail.

    label      what people call it: forwarded message, link preview, card, mail, first post, ...
    author     the visible name of who wrote it, or "" if that is not known
    author_id  the platform's id of who wrote it, if known
    date       when it was written, ISO 8601 in UTC, or ""
    media      its attachments
    source     `person`: somebody else wrote it; `page`: it comes from a web page or a service
    ours       whether the agent wrote it
    copies     the platform's id of the message in the same chat whose words these are, or ""
    """

    label: str
    text: str = ""
    author: str = ""
    author_id: str = ""
    date: str = ""
    media: tuple[Media, ...] = ()
    source: Literal["person", "page"] = "person"
    ours: bool = False
    copies: str = field(default="", repr=False)  # the keys of edits are made of the rest

    def to_payload(self) -> dict[str, Any]:
        return {**_payload_of(self), "media": tuple(map(_payload_of, self.media))}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Excerpt:
        """Parse the result of `to_payload`; raises TypeError for anything else."""
        media = tuple(Media(**one) for one in payload.get("media", ()))
        return cls(**{**payload, "media": media})


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message as a platform delivered it, or another event in a chat.

    kind               `message`; `edit`: what `message_id` says now, in the fields of a new message
                       (`date` is the message's own, `edited` the edit's); `delete`: `message_id`
                       was deleted; `change`: the chat changed, with the kind of change in `change`
                       and a sentence in `text`; `press`: the author pressed a button of the message
                       `message_id`, with the button's token in `press`; `pairing`: the author sent
                       a pairing code, with the verdict in `change` (only the gateway makes these);
                       `unreadable`: an event that could not be parsed, with the reason in `why`
    channel, account   the name of the channel, and which of its accounts got the message
    chat_id            the platform's id of the chat
    ext_id             the event's key, derived from chat and message but not from the delivery, so
                       that a second delivery is recognized
    alt_id             the delivery's own id, if it has one
    message_id         the platform's id of the message, for replies
    date               time of the message, ISO 8601 in UTC
    addressed, why     whether the message asks the agent, and which rule decided that
    follows            whether it asks the agent if an earlier message in its thread did
    reply_to           the platform's id of the message that it answers
    mentions           the handles or ids of the people whom its words mention, without the agent's
    owner              whether its author is certainly the owner (own page, own terminal)
    invited            whether the channel itself let its author in, as a member of this chat
    backlog            whether it waited on the platform while the channel was down
    quote              the text that it replies to
    forwarded          original author of a forwarded text
    excerpts           what its sender did not write, other than the quoted message: cards, shared
                       and forwarded messages, mails; never part of `text`
    omitted            what a limit left out, as noun phrases
    incomplete         whether its channel can look up more of it (`Channel.complete`)
    edited             time of the edit, ISO 8601 in UTC, if it is an edit
    command            the command line that its text has the form of, beginning with a comma; the
                       gateway decides whether there is such a command
    joins              key shared by the parts of a message that the platform split: an album, a
                       long paste
    parts              id and text of each part of a joined message
    change, to_chat    see `kind`; the change `migrated` has the chat's new id in `to_chat`; the
                       author of the change `added` is who added the agent
    press              see `kind`
    server_id          the platform's id of the server or workspace of the chat, if it has one
    parent_id          the chat that a private thread belongs to; the thread is a chat of its own,
                       and `chat_id` is its id
    raw                the platform's original event, if a later step needs it
    closed             whether its author might not talk to the agent there when it was accepted
                       (only the gateway says so)
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
    invited: bool = False
    backlog: bool = False
    kind: InboundKind = "message"
    media: tuple[Media, ...] = ()
    quote: Quote | None = None
    forwarded: Quote | None = None
    excerpts: tuple[Excerpt, ...] = ()
    omitted: tuple[str, ...] = ()
    incomplete: bool = False
    edited: str = ""
    command: str = ""
    joins: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    change: str = ""
    to_chat: str = ""
    press: str = ""
    server_id: str = ""
    parent_id: str = ""
    output_channel: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    closed: bool = False

    def to_payload(self) -> dict[str, Any]:
        values = _payload_of(self)
        if not self.closed:  # as nearly every message is
            del values["closed"]
        return {
            **values,
            "sender": _payload_of(self.sender),
            "raw": deepcopy(dict(self.raw)),
            "media": tuple(map(_payload_of, self.media)),
            "quote": self.quote and self.quote.to_payload(),
            "forwarded": self.forwarded and self.forwarded.to_payload(),
            "excerpts": tuple(one.to_payload() for one in self.excerpts),
        }

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> InboundMessage:
        """Parse the result of `to_payload`; raises TypeError or KeyError for anything else."""
        values = dict(payload)
        values["sender"] = Author(**values["sender"])
        values["mentions"] = tuple(values.get("mentions", ()))
        values["parts"] = tuple((part[0], part[1]) for part in values.get("parts", ()))
        values["media"] = tuple(Media(**one) for one in values.get("media", ()))
        for name in ("quote", "forwarded"):
            if values.get(name) is not None:
                values[name] = Quote.from_payload(values[name])
        values["excerpts"] = tuple(map(Excerpt.from_payload, values.get("excerpts", ())))
        values["omitted"] = tuple(values.get("omitted", ()))
        values.setdefault("command", _former_command(values))
        return cls(**values)


def _former_command(values: Mapping[str, Any]) -> str:
    """Return the command of a payload of a version that had it in the text, with a comma."""
    said = str(values.get("text", "")).strip()
    is_own = values.get("kind", "message") == "message" and values.get("forwarded") is None
    return said if is_own and values.get("addressed") and said.startswith(",") else ""


def unreadable_message(
    channel: str, event: Any, why: str, *, key: str = "", account: str = ""
) -> InboundMessage:
    """Return a message that records an unparsable event; `key` defaults to a hash of the event."""
    try:
        text = json.dumps(event, default=str)
    except (RecursionError, ValueError):
        text = '"nested too deeply to be stored"'
    return InboundMessage(
        channel=channel,
        account=account,
        chat_id="unreadable",
        ext_id=f"unreadable/{key or sha256(text.encode()).hexdigest()[:20]}",
        message_id="",
        sender=Author("", ""),
        text="",
        date=datetime.now(UTC).isoformat(),
        kind="unreadable",
        why=why,
        raw={"json": text},
    )


@dataclass(frozen=True, slots=True)
class Button:
    """A button below a message; its token, at most 60 ASCII characters, comes back in a press."""

    label: str
    token: str


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """A message to send to a platform.

    idem        the key that makes sure that it is sent only once
    answers     the `ext_id` of the message that it answers, if any
    reply_to    the platform's id of the message that it answers
    edits       the platform's id of the draft that becomes this message
    turn, part  the turn, and the number of the answer within the turn
    piece       the number of this piece within an answer that was split
    buttons     buttons below the message; an edit without buttons removes them
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
    buttons: tuple[Button, ...] = ()

    def to_payload(self) -> dict[str, Any]:
        return {**_payload_of(self), "buttons": tuple(map(_payload_of, self.buttons))}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> OutboundMessage:
        """Parse the result of `to_payload`; raises TypeError for anything else."""
        buttons = tuple(Button(**one) for one in payload.get("buttons", ()))
        return cls(**{**payload, "buttons": buttons})


@dataclass(frozen=True, slots=True)
class Receipt:
    """The platform's confirmation that it has a message, with the message's id there."""

    platform_id: str


@dataclass(frozen=True, slots=True)
class MessageLink:
    """The message that a link points to.

    chat_id             the chat's id; the thread's id on platforms whose links do not distinguish
                        the two; empty if the link has only the chat's name
    thread_id, account  known of a link to be written only
    """

    message_id: str
    chat_id: str = ""
    thread_id: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True)
class Reactions:
    """What people think of an answer.

    by   maps the ids of people to `up` or `down`
    at   a number that grows with each change
    """

    by: Mapping[str, str] = field(default_factory=dict)
    at: int = 0

    def counts(self) -> dict[str, int]:
        """Return how many think what, and the number of the newest change, as JSON."""
        values = list(self.by.values())
        return {"up": values.count("up"), "down": values.count("down"), "at": self.at}


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A past message, for channels that show a chat's history themselves."""

    id: str
    role: Literal["person", "agent", "notice"]
    author_id: str
    author: str
    text: str
    date: str
    reply_to: str | None = None
    addressed: bool | None = None
    buttons: tuple[Button, ...] = ()
    images: tuple[Media, ...] = ()
    reactions: Reactions = Reactions()


def _payload_of(value: Any) -> dict[str, Any]:
    """Return a dataclass's fields; `asdict` would copy every value, for each message."""
    return {name: getattr(value, name) for name in value.__slots__}
