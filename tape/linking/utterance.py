"""A message as the linker gets it, and the link that the linker returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

THREAD: Final = "thread:"
LANE_PREFIX: Final = "said:"

AGENT: Final = "agent"  # the id that stands for the agent among authors, which is no person's

NOTHING_BEFORE: Final = "nothing before"
"""Why a message starts a conversation: no earlier message is remembered that it could continue."""

REPLY: Final = "reply"
"""Why a message is in a conversation: it replies to a message there."""

SHORT_REMARK: Final = "short remark"
"""Why a message is in a conversation: it says little, and is about the message before."""

NO_SIGN: Final = "no sign"
"""Why a message starts a conversation: no rule found an earlier one that it continues."""

SILENCE: Final = "silence"
"""Why a message starts a conversation, before the whole minutes in which nobody had written."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message of a chat.

    key       opaque and unique in the chat: a message's platform id, or an answer's key
    at        the message's timestamp in unix seconds; may repeat or jump
    author    the author's platform id
    name      the author's name, as texts may contain it
    text      the bare text
    mentions  ids of the people whom the platform marks as mentioned; the agent is none of them
    reply_to  the key of the message replied to, if the platform reports it
    thread    the platform's thread or topic
    agent     whether the agent wrote the message, whose lane is then already known
    calls     whether the message asks the agent
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
    calls: bool = False


@dataclass(frozen=True, slots=True)
class LaneLink:
    """Says which conversation a message belongs to.

    lane    the conversation's name: `said:` and the key of its first message, or `thread:` and the
            platform's thread
    parent  the key of the message that is continued; None if this starts a conversation
    why     the reason in a few words: "reply", "mention", "model 0.83" (the chance), "new 0.70";
            `gateway.explain.conversation` has a sentence for each
    """

    lane: str
    parent: str | None
    why: str


def starts(utterance: Utterance, why: str) -> LaneLink:
    """Return the link of a message that starts a conversation."""
    return LaneLink(LANE_PREFIX + utterance.key, None, why)
