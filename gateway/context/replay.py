"""Rebuild the prompts of past model calls from the tape, and check them against their digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.anchoring import as_said
from agent.loop import as_prompt, digest
from agent.wire import attach, without_wire
from gateway.errors import AdminError
from tape.context import LATEST, Message, merge_neighbours, to_messages, view_entries
from tape.deletions import without_deleted, without_other_chats
from tape.entry import Entry, dump
from tape.handle import Tape
from tape.snapshot import TapeSnapshot
from tape.turn_events import LOOP_STEP, PROMPT_SYSTEM

UNMARKED: Final = "may differ from what was sent: no digest was recorded"
_PLACE: Final = "entry"  # a key of messages on their way into a prompt, and not in it
DIFFERENT: Final = "differs from what was sent: a plugin built the view, or the tape lost some text"


@dataclass(frozen=True, slots=True)
class ReplayedPrompt:
    """The rebuilt prompt of one model call.

    exact    whether the prompt matches its recorded digest, byte for byte
    why      a sentence that says why it does not match, or ""
    entries  the entries that the prompt shows, in order
    places   the entry that each message shows, 0 for the system prompt; empty where an earlier
             version joined the messages of several entries
    blanked  how many messages show that they, or what they quote, have been deleted since then
    """

    step: int
    status: str
    exact: bool
    why: str
    entries: tuple[int, ...]
    messages: tuple[Message, ...]
    places: tuple[int, ...] = ()
    blanked: int = 0


async def prompts_of(tape: Tape, turn: str, newest: int = 0) -> list[ReplayedPrompt]:
    """Return the prompts of a turn's model calls, in order; AdminError if there is no such turn.

    newest  how many of the last ones to return; 0 returns all
    """
    own = await tape.find(turn=turn)
    steps = [entry for entry in own if entry.name == LOOP_STEP]
    if not own:
        raise AdminError(f"this tape has no turn {turn}; `tapeway tape show` lists its entries")
    return [await prompt_of_step(tape, turn, own, step) for step in steps[-newest:]]


async def prompt_of_step(
    tape: Tape, turn: str, own: Sequence[Entry], step: Entry, *, as_of_now: bool = False
) -> ReplayedPrompt:
    """Return the prompt of one model call, given its turn's entries and its `loop.step`.

    as_of_now  whether to show as deleted what has been deleted since then, and to replace results
               taken from another chat, whose deletions are not on this tape
    """
    data = step.payload["data"]  # An imported entry may contain anything.
    lane = next((entry.meta["lane"] for entry in own if "lane" in entry.meta), None)
    upto = data.get("upto")
    then = TapeSnapshot(tape, upto if type(upto) is int else step.id - 1)
    entries = as_said(await view_entries(then, LATEST, lane, turn))
    system = await _system(tape, data.get("system_entry"))
    prompt, places = _placed(entries, system)
    # Earlier versions joined neighbours here, for servers with strict roles.
    prompts = [prompt, merge_neighbours(prompt)]
    exact = [prompt for prompt in prompts if digest(dump(prompt)) == data.get("prompt")]
    messages = (exact or prompts)[0]
    blanked = 0
    if as_of_now:
        left = await without_deleted(tape, entries)
        shown, _places = _placed(left, system)
        blanked = sum(one != two for one, two in zip(shown, prompt, strict=True))
        messages, places = _placed(without_other_chats(left), system)
    return ReplayedPrompt(
        step=data["step"] if type(data.get("step")) is int else 0,
        status=str(data.get("status", "")),
        exact=bool(exact),
        why="" if exact else DIFFERENT if "prompt" in data else UNMARKED,
        entries=tuple(entry.id for entry in entries),
        messages=tuple(without_wire(messages)),
        places=places if len(places) == len(messages) else (),
        blanked=blanked,
    )


def _placed(entries: Sequence[Entry], system: str) -> tuple[list[Message], tuple[int, ...]]:
    """Return the prompt that shows entries, and for each message the entry, 0 for the system."""
    shown = attach(to_messages(entries), entries)
    ids = [entry.id for entry in entries for _message in to_messages([entry])]
    for message, number in zip(shown, ids, strict=True):
        message[_PLACE] = number
    prompt = as_prompt(shown, system)
    return prompt, tuple(message.pop(_PLACE, 0) for message in prompt)


async def _system(tape: Tape, entry_id: object) -> str:
    found = await tape.entries([entry_id]) if type(entry_id) is int else {}
    prompts = [entry for entry in found.values() if entry.name == PROMPT_SYSTEM]
    return next((str(entry.payload["data"].get("text", "")) for entry in prompts), "")
