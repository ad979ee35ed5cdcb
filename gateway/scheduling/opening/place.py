"""A chat that can be opened, and the sentences about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agent.tools.words import as_code
from channels.base import Channel
from channels.message import InboundMessage
from gateway.storage.ledger.access import AccessRequest
from gateway.storage.ledger.rows import account_id

MAX_NAME: Final = 60

GREETING: Final = (
    "Hello, I'm {name}. Mention me, reply to me or call me by my name, and I'll answer. I remember"
    " what is said here; `,forget me` makes me forget what you said. `,help` lists what I can do."
)
IN_PRIVACY_MODE: Final = (
    "Hello, I'm {name}. Mention me or reply to me, and I'll answer. Unless I'm an administrator"
    " here, I see nothing else that is said, and remember only what I see; `{forget}` makes me"
    " forget what you said. `{help}` lists what I can do."
)


@dataclass(frozen=True, slots=True)
class Place:
    """A chat to open; `chat_id` is where it is greeted, which may be a thread of its own."""

    channel: str
    account: str
    id: str
    chat_id: str
    title: str = ""
    server_id: str = ""

    @property
    def account_id(self) -> str:
        return account_id(self.channel, self.account)

    @classmethod
    def of(cls, message: InboundMessage) -> Place:
        """Return the chat of a message; a private thread is opened with the chat it belongs to."""
        return cls(
            message.channel,
            message.account,
            message.parent_id or message.chat_id,
            message.chat_id,
            message.chat_title,
            message.server_id,
        )

    @classmethod
    def requested(cls, request: AccessRequest) -> Place:
        channel, _, account = request.account_id.partition(":")
        chat = request.chat_id
        return cls(channel, account, chat, chat, request.title, request.server_id)


def greeting(channel: Channel | None, name: str) -> str:
    """Return what a chat is greeted with; without a gateway, its channel is not known."""
    if channel is None or channel.hears_groups:
        return GREETING.format(name=name)
    commands = {command: channel.command_hint(command) for command in ("forget", "help")}
    return IN_PRIVACY_MODE.format(name=name, **commands)


def shown(name: str, number: str) -> str:
    """Return a name that anybody may have chosen, and an id, as code that shows no markup."""
    fit = "".join(char if char.isprintable() else " " for char in name)[:MAX_NAME].strip()
    return f"{as_code(fit)} ({as_code(number)})" if fit and fit != number else as_code(number)


def refusal(place: Place, message: InboundMessage, *, owned: bool, asked: bool, how: str) -> str:
    """Return the sentences that a closed chat gets once a day; `how` is the command there."""
    if message.chat_kind == "private":
        person = as_code(f"{message.channel}:{message.sender.id}")
        who = "My owner" if owned else "Whoever runs me"
        return f"I'm not enabled for you yet. {who} can let you in: your id is {person}."
    chat = as_code(f"{place.channel}:{place.id}")
    first = f"I'm not enabled in this chat yet ({chat})."
    if not owned:
        return (
            f"{first} Whoever runs me can pair with me in private (`tapeway pair` prints how), and"
            f" then open this chat here with {as_code(how)}."
        )
    second = " I've asked my owner in private." if asked else ""
    return f"{first}{second} My owner can open it here with {as_code(how)}."
