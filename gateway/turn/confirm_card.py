"""The card with which a turn ends if a call waits for a person's confirmation."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from agent.model import ToolCall
from agent.tool import Role
from agent.turn_log import TurnLog
from channels.message import InboundMessage, OutboundMessage
from gateway.explain.words import ALLOWS
from gateway.hooks.messages import address_of
from gateway.pipeline.turn import Question, Turn
from gateway.services import Services
from gateway.storage.ledger.cards import Card, new_card_id
from gateway.storage.ledger.rows import idem_key
from gateway.wording import counted
from tape.entry import dump, load

CONFIRM: Final = "confirm"
MINUTES: Final = 10
MAX_SHOWN_CHARACTERS: Final = 300
"""Maximum characters of the arguments that a group is shown."""

_INVISIBLE: Final = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits, as its card records it.

    question  the question that it was called for, without its text
    role      the role of the person who asked it, also where somebody else allowed a call since
    """

    tool: str
    arguments: str
    tape: str
    lane: str | None
    role: Role
    question: InboundMessage

    @classmethod
    def of(cls, call: ToolCall, asked: Question, role: Role) -> Waiting:
        cleared: dict[str, Any] = dict.fromkeys(
            ("media", "mentions", "parts", "excerpts", "omitted"), ()
        )
        cleared |= dict.fromkeys(("quote", "forwarded", "alt_id", "reply_to"))
        question = replace(asked.message, **cleared, text="", command="", joins="", raw={})
        question = replace(question, backlog=False)
        return cls(call.name, call.arguments, asked.tape, asked.lane, role, question)

    def to_data(self) -> dict[str, Any]:
        question = self.question.to_payload()
        values = {"tool": self.tool, "arguments": self.arguments, "tape": self.tape}
        return {**values, "lane": self.lane, "role": int(self.role), "question": question}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Waiting:
        question = InboundMessage.from_payload(data["question"])
        return cls(**{**data, "role": Role(data["role"]), "question": question})

    def allows(self) -> dict[str, Any]:
        """Return what the continuation's entry records: the call under an id of its own."""
        # Nine letters and digits are an id for every provider.
        values = {"id": secrets.token_hex(5)[:9], "name": self.tool, "arguments": self.arguments}
        return {**values, "role": int(self.role)}

    def shown(self) -> str:
        """Return the exact arguments, in which no character is invisible."""
        try:
            text = dump(load(self.arguments or "{}"))
        except ValueError:
            text = self.arguments
        return visible(text)


def confirm_card(services: Services, turn: Turn, call: ToolCall) -> tuple[Card, OutboundMessage]:
    """Return the card for a call that waits, and the message that shows it."""
    message = turn.message
    waiting = Waiting.of(call, turn.question, turn.log.role)
    card = Card(
        new_card_id(),
        CONFIRM,
        message.channel,
        message.sender.id if message.sender.acts_as == "person" else "",
        turn.question.session_id,
        waiting.to_data(),
        services.clock.now() + timedelta(minutes=MINUTES),
    )
    channel = services.router.channels.get(message.output_channel or message.channel)
    private = message.chat_kind == "private"
    shows = channel is not None and "buttons" in channel.capabilities and not private
    who = "you" if card.person else "an admin"
    text = (
        f"I'd like to run `{call.name}` now. But I've read something by other people or from"
        f" elsewhere (a message, a page, a file or a tool's result), so {who} must allow it within"
        f" {MINUTES} minutes."
    )
    buttons = [card.button("Allow", "yes"), card.button("Don't", "no")]
    if shows:
        buttons.insert(0, card.button("Show me what exactly", "show"))
    else:
        exact = waiting.shown()
        text = f"{text}\n\n{fenced(exact if private else cut(exact))}"
    # The group sees who is asked by the message that the card replies to.
    send = OutboundMessage(
        **address_of(message), text=text, kind="notice", turn=turn.id, buttons=tuple(buttons)
    )
    return card, send


def placed(send: OutboundMessage, others: list[OutboundMessage]) -> OutboundMessage:
    """Return a card's message as the last of a turn."""
    part = 1 + max((other.part for other in others), default=-1)
    return replace(send, part=part, idem=idem_key(send.turn, part))


def cut(text: str) -> str:
    """Return the beginning of a text for a group."""
    more = len(text) - MAX_SHOWN_CHARACTERS
    rest = counted(more, "more character")
    return text if more <= 0 else f"{text[:MAX_SHOWN_CHARACTERS]}... ({rest})"


def visible(text: str) -> str:
    """Return a text in one line, with a code in place of each invisible character."""
    return "".join(
        f"\\u{ord(one):04x}" if unicodedata.category(one) in _INVISIBLE else one for one in text
    )


def fenced(text: str) -> str:
    """Return a text as a block of code, which it cannot leave."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


async def read_allowed(log: TurnLog, question: Question) -> Role:
    """Give a turn the call that its question allows; return the role that the turn has."""
    role = question.role
    for row in question.rows:
        if row.message.kind != "press" or row.entry_id is None:
            continue
        entry = (await log.tape.entries([row.entry_id]))[row.entry_id]
        allows = entry.meta[ALLOWS]
        log.allowed = ToolCall(allows["id"], allows["name"], allows["arguments"])
        role = min(role, Role(allows["role"]))  # a press lends the call, and nothing else
    return role
