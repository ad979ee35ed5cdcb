"""What a linker is told of a message, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

THREAD: Final = "thread:"
SAID: Final = "said:"

AGENT: Final = "agent"
"""How the agent itself is named among authors and mentions."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of a chat.

    key       opaque and unique in the chat: a platform message's id, or of an answer of the agent
    at        unix seconds, the message's own time; may stand still or jump
    author    the platform's id of who said it
    name      how they are called; may be found in texts
    text      the bare text
    mentions  ids of those whom it addresses, as the platform tells
    reply_to  the key of the message that it replies to, where the platform gives it
    thread    a thread or topic of the platform
    agent     said by the agent itself: its lane is given
    """

    key: str
    at: float
    author: str
    name: str
    text: str
    mentions: tuple[str, ...] = ()
    reply_to: str | None = None
    thread: str | None = None
    agent: bool = False


@dataclass(frozen=True, slots=True)
class LaneLink:
    """Where a message belongs.

    lane    the conversation's name: `said:` and the key of its first message, or `thread:` and the
            platform's thread
    parent  the key of the message that it goes on from; None: it starts a conversation
    why     a few words for a person who asks: "reply", "mention", "model 0.83", "new"
    """

    lane: str
    parent: str | None
    why: str


def starts(said: Utterance, why: str = "new") -> LaneLink:
    """Return the link of a message that starts a conversation."""
    return LaneLink(SAID + said.key, None, why)
