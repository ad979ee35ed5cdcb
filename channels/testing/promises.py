"""What every channel promises the people in its chats, and which platforms are exempt from what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from channels.base import Channel
from channels.capabilities import Capability, Feature

Need: TypeAlias = Capability | Feature


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise to the people in a chat; it applies to channels that have everything in `needs`."""

    id: str
    promise: str
    needs: tuple[Need, ...] = ()


_PROMISES: Final = (
    Promise("A1", "An event that is delivered twice causes one turn and one reply."),
    Promise(
        "A4",
        "A turn sees edits made before it; later ones reach the next turn, or ask once.",
        ("edits",),
    ),
    Promise("A5", "Equal message ids in different chats are different messages."),
    Promise("B1", "A message that asks nothing is on the tape, and causes nothing.", ("groups",)),
    Promise("B2", "The agent answers when addressed; each way to address it can be disabled."),
    Promise("B3", "Mentions of others, and its name in code or a link, ask nothing.", ("groups",)),
    Promise("B4", "A bare mention is answered from the recent conversation.", ("groups",)),
    Promise("B5", "Bots are ignored; if they are not, no exchange goes on forever.", ("bots",)),
    Promise("B6", "A burst of one person is one turn; a command goes first.", ("bursts",)),
    Promise("B7", "Access is decided before anything is spent.", ("strangers",)),
    Promise(
        "B8",
        "A button counts once, and only for whom it is for.",
        ("strangers", "buttons", "private", "groups"),
    ),
    Promise("C1", "Two people asking at once each get a reply to their own message.", ("groups",)),
    Promise("C2", "Conversations are answered in parallel, and each one in order."),
    Promise("C3", "A full queue is reported; nothing is dropped silently."),
    Promise("C4", "`stop` ends the turn and the questions behind it, and keeps what was said."),
    Promise("C5", "With a hundred chats at once, nothing reaches another chat."),
    Promise("C6", "A tool that uses all of a CPU delays nobody else.", ("typing",)),
    Promise("D1", "Killed at any moment, it restarts and answers each question once, completely."),
    Promise("D2", "Messages sent while the gateway was down are answered in order.", ("remote",)),
    Promise("D3", "Asked to wait, it sends the answer once, in order; others go on.", ("remote",)),
    Promise("D4", "After a refused edit the answer still comes, once.", ("remote", "edit")),
    Promise("D5", "Partial text becomes the answer, or disappears."),
    Promise("D6", "A permanent refusal is recorded and stops nothing else.", ("remote",)),
    Promise("D7", "Without its database it accepts nothing; then it recovers by itself."),
    Promise("D8", "A resumed turn does not repeat tools: it uses their results, if known."),
    Promise("E1", "A reply refers to its question and stays in its thread."),
    Promise("E2", "Any Markdown of any length arrives whole."),
    Promise("E3", "Markdown that cannot be rendered arrives as text."),
    Promise("E4", "Reasoning, and the arguments and results of tools, reach no chat."),
    Promise("E5", "Nobody can make the agent ping everybody.", ("pings",)),
    Promise("E6", "Typing shows at once, and ends with the turn.", ("typing",)),
    Promise("E7", "An error is one sentence with an id that is in the log."),
    Promise("E8", "A vision model sees images; files are named.", ("media",)),
    Promise("F1", "A dead connection is noticed, and its gap is filled.", ("remote",)),
    Promise("F2", "After a hundred reconnects one connection is open.", ("remote",)),
    Promise("F3", "A quiet channel is healthy; a stalled one reports that it is not.", ("remote",)),
    Promise("F4", "A wrong token fails fast with its remedy; other channels run on.", ("remote",)),
    Promise("G1", "A mention after much talk is answered with the right context.", ("groups",)),
    Promise("G2", "Other people's text is data: quoted, with its author's id.", ("groups",)),
    Promise("H1", "Every message can be explained: what happened to it, and why."),
    Promise("H2", "Logs, errors, tapes, pages and explanations contain no secret."),
    Promise(
        "I12",
        "Three people ask three things in one group: each is shown their own and nothing else.",
        ("groups",),
    ),
)

PROMISES: Final[Mapping[str, Promise]] = {one.id: one for one in _PROMISES}
"""Maps a promise's id to the promise; the tests are named after these ids."""

LACKS: Final[Mapping[Need, str]] = {
    "groups": "its chats have one person each",
    "private": "every chat of it is a room",
    "threads": "its chats have no threads",
    "names": "the agent is called by mention only",
    "rules": "each message says itself whether it is for the agent",
    "bursts": "a line is sent on purpose, so nothing waits for another",
    "bots": "it has no other bots",
    "strangers": "everybody there is the owner, or was let in by the owner",
    "edits": "messages cannot be edited there",
    "deletions": "the agent does not learn of deleted messages",
    "pings": "it alerts nobody",
    "remote": "there is no platform between the gateway and its people",
    "exclusive": "several readers may connect, and none learns of another",
    "edit": "a sent message cannot be edited",
    "typing": "it does not show typing",
    "native_stream": "partial text is sent and edited there",
    "media": "messages there are text only",
    "idempotent_send": "a second send is a second message there",
    "lookup": "a sent message cannot be found by its key",
    "backfill": "the platform redelivers the messages of an outage",
    "routes": "it needs no address at the gateway",
    "buttons": "questions there are answered by commands",
    "admins": "it does not say who administers a chat",
}
"""Why a channel that lacks a capability or feature need not keep a promise."""


def skip_reason(needs: Sequence[Need], channel: type[Channel]) -> str | None:
    """Return why a channel is exempt from a promise with these needs, or None if it is not."""
    has = channel.capabilities | channel.features
    return next((LACKS[need] for need in needs if need not in has), None)
