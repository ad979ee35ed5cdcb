"""Say which conversation a message belongs to, and why it was put there.

The reason is the one that was recorded with the message (`gateway.context.lane_assignment`); of a
message without one, none is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from channels.markdown.plain import plain
from gateway.explain.facts import MessageFacts, TapeReads
from gateway.explain.report import StoreReads
from gateway.explain.words import is_persons, words_of
from gateway.language.language import say
from tape.deletions import deleted, source_message
from tape.entry import MESSAGE, Entry
from tape.erasing import erased_on
from tape.lanes import TOPIC
from tape.linking.agent_talk import GOES_ON, OWN_TASK
from tape.linking.utterance import NO_SIGN, NOTHING_BEFORE, SILENCE, THREAD
from tape.linking.waking import WOKE
from tape.search.edits import edits_of, with_edits

MAX_QUOTED: Final = 80  # maximum characters of a message that is quoted to name it
TURN: Final = "turn:"
REPLIED: Final = "reply:"

NUMBERED: Final = re.compile(rf"(model|new|{SILENCE}) (\d+(?:\.\d+)?)")
NOT_RECORDED: Final = "; why was not recorded"
GONE: Final = "It belongs to a conversation whose beginning is no longer on the tape"
BELONGS: Final = "It belongs to the conversation that began at {began} with “{text}”"
BELONGS_UNSHOWN: Final = (
    "It belongs to the conversation that began at {began} with a message that is not shown"
)
WHY_NEW: Final[Mapping[str, str]] = MappingProxyType(
    {
        NOTHING_BEFORE: ", because there was nothing before it that it could continue",
        NO_SIGN: ", because nothing in it points to an earlier message",
        SILENCE: ", because nobody had written for {minutes} minute|"
        ", because nobody had written for {minutes} minutes",
        "new": (
            ", because it fits none of the earlier ones well enough:"
            " by the linker's estimate, it is a new one with {chance} %"
        ),
        "asked while another's question is answered": (
            ", because it would otherwise have waited for the answer to somebody else's question"
        ),
        OWN_TASK: ", because it asks the agent for something that no earlier one is about",
        "the linker failed": ", because the linker failed on it",
    }
)
"""Why a message starts a conversation, by what is recorded, without its number."""

WHY_THERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "thread": ", because it was written in that thread",
        "reply": ", because it is a reply to {parent}",
        "said at once with others": ", because its author had just asked a question there",
        "a late part of an album": ", because it is a part of the album of {parent}",
        "mention": ", because it is addressed to the author of {parent}",
        "own last message": ", because its author wrote {parent} shortly before",
        "was addressed": ", because {parent} was addressed to its author",
        "short remark": ", because it is a short remark that follows {parent}",
        GOES_ON: ", because its author goes on from the answer {parent}",
        WOKE: ", because it returns to {parent}, with which it has rare words in common",
        "the only conversation": (
            ", because fewer than three people were writing, and nobody had paused for long"
        ),
        "model": (
            ", because by its words, author and time it most likely continues {parent}: {chance} %"
            " by the linker's estimate"
        ),
    }
)
"""Why a message joins a conversation, by what is recorded, without its number."""


@dataclass(frozen=True, slots=True)
class PlacedIn:
    """Which conversation a message belongs to, and why.

    says     the sentence; a moment in it is its ISO 8601 date, to be shown in local time
    moments  the dates in the sentence
    first    the entry that began the conversation, or 0 if it is unknown or not shown
    """

    says: str
    moments: tuple[str, ...] = ()
    first: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"says": self.says, "moments": list(self.moments), "first": self.first}


async def conversation_of(reads: StoreReads, facts: MessageFacts) -> PlacedIn:
    """Return which conversation a message on its tape belongs to."""
    entry = facts.entry
    assert entry is not None
    lane, link = entry.meta.get("lane"), entry.meta.get("link")
    if not isinstance(lane, str):
        return PlacedIn(say("The whole chat is one conversation"))
    why = str(link.get("why", "")) if isinstance(link, Mapping) else ""
    tape = _Said(TapeReads(reads, facts.tape), reads, facts)
    begun = await tape.first_of(lane)
    parent = str(link.get("parent") or "") if isinstance(link, Mapping) else ""
    because = _because(WHY_THERE, why, parent=await tape.named(parent, begun))
    if begun is None or begun.id == entry.id:
        return PlacedIn(_begins(lane, why, because), first=entry.id)
    text = await tape.text_of(begun)
    says = say(BELONGS if text else BELONGS_UNSHOWN, began=begun.date, text=text)
    return PlacedIn(says + because, (begun.date,), begun.id if text else 0)


def _begins(lane: str, why: str, because: str) -> str:
    """Return what a message is that has none of its conversation before it on the tape."""
    if lane.startswith((THREAD, TOPIC)):
        return say("It is the first message of its thread on the tape")
    if lane.startswith(REPLIED):
        return say("It starts a conversation with what it replies to, which is not on the tape")
    if why.partition(" ")[0] == "model" or why in WHY_THERE:
        return (
            say("It belongs to a conversation whose beginning is no longer on the tape") + because
        )
    return say("It starts a new conversation") + _because(WHY_NEW, why)


def _because(sentences: Mapping[str, str], why: str, **values: object) -> str:
    """Return a recorded reason in words."""
    if numbered := NUMBERED.fullmatch(why):
        number = float(numbered[2])
        amounts = {"minutes": int(number)} if numbered[1] == SILENCE else {}
        chance = {} if amounts else {"chance": round(100 * number)}
        return say(sentences.get(numbered[1], NOT_RECORDED), **amounts, **chance, **values)
    if why in ("", "new", "model", SILENCE):  # as earlier versions and others recorded it
        return say(NOT_RECORDED)
    return say(sentences[why], **values) if why in sentences else ""


@dataclass(frozen=True, slots=True)
class _Said:
    """What was said in the chat of a message, as far as it may be shown."""

    _tape: TapeReads
    _reads: StoreReads
    _facts: MessageFacts

    async def first_of(self, lane: str) -> Entry | None:
        found = await self._tape.find(lane=lane, kinds=(MESSAGE,), limit=1)
        return found[0] if found else None

    async def text_of(self, entry: Entry) -> str:
        """Return the beginning of what an entry says now, "" if that must not be shown."""
        source = source_message(entry)  # what is made from a message is deleted with it
        about = (entry.id,) if source is None else (entry.id, source)
        if erased_on(entry) or await deleted(self._tape, about=about):
            return ""
        asked = edits_of(self._tape.name, [entry])
        edits = await self._tape.run_query(asked) if asked else []
        (shown,) = with_edits([entry], edits)
        own = words_of(shown) if is_persons(shown) else plain(shown.text)
        text = " ".join(own.split())
        return f"{text[: MAX_QUOTED - 1]}…" if len(text) > MAX_QUOTED else text

    async def named(self, parent: str, begun: Entry | None) -> str:
        """Return words for the message that another continues, by how the link names it."""
        found = await self._parent(parent) if parent else None
        if found is None:
            return say("an earlier message")
        if begun is not None and found.id == begun.id:
            return say("that message")
        text = await self.text_of(found)
        if not text:
            return say("a message that is not shown")
        if parent.startswith(TURN):
            return say("the agent's answer “{text}”", text=text)
        return say("“{text}” by {name}", text=text, name=found.meta.get("name") or "?")

    async def _parent(self, parent: str) -> Entry | None:
        if parent.startswith(TURN):
            turn = parent.removeprefix(TURN)
            said = await self._tape.find(turn=turn, kinds=(MESSAGE,))
            return next((one for one in reversed(said) if one.meta.get("final")), None)
        chat, _slash, number = parent.rpartition("/")
        row = self._facts.row
        values = {"account_id": row["account_id"], "chat_id": chat or row["chat_id"]}
        rows = await self._reads.select(
            "ledger.told_chat_message", {**values, "message_id": number, "limit": 1}
        )
        ids = [
            one["entry_id"]
            for one in rows
            if one["entry_id"] and one["session_id"] == row["session_id"]
        ]
        return (await self._tape.entries(ids)).get(ids[0]) if ids else None
