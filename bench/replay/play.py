"""Plays a room, and asks what belongs to a message and what a prompt would show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from agent.loop import OVERFLOW_NOTICED
from agent.turn_log import TurnLog
from bench.replay.gateway import Playing
from bench.replay.policies import Rivals
from bench.replay.prompts import Call, Prompts, pieces_of
from bench.replay.room import CHANNEL, PlayedRoom, Said
from gateway.context.replay import prompts_of
from gateway.context.retrieval import find_nearby
from gateway.context.rooms.memory import RoomMemory
from gateway.context.rooms.reading import room_key
from gateway.context.selection import reselect_messages, select_messages
from tape.context import LATEST, Message, to_messages, view_entries
from tape.entry import MESSAGE, Entry
from tape.tokens import estimate
from tape.turn_events import TURN_START

EVIDENCE: Final = 3
MOST: Final = 50
PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Seen:
    """What the product made of one query; lines, as the log counts them.

    `rivals` has, by policy, what other ways would have shown.
    """

    file: str
    line: int
    ranked: tuple[int, ...]
    chosen: tuple[int, ...]
    last: tuple[int, ...] = ()
    call: Call | None = None
    rivals: dict[str, Call] = field(default_factory=dict)

    def as_json(self) -> str:
        """Return it as a line of the dump."""
        told = {
            "file": self.file,
            "line": self.line,
            "ranked": self.ranked,
            "set": self.chosen,
            "prompt": self.call and self.call.shown,
        }
        return json.dumps(told)


class Replay:
    """A room on the tape of a gateway.

    first   the first message that is a candidate; what is before it was heard, no more
    budget  the tokens that a view may have
    frame   the tokens of what stands before each view
    """

    def __init__(
        self,
        playing: Playing,
        room: PlayedRoom,
        *,
        first: int = 0,
        budget: int,
        frame: int,
        rivals: Rivals | None = None,
    ) -> None:
        self._playing = playing
        self._gateway = playing.gateway
        self._room = room
        self._first = first
        self._budget = budget
        self._prompts = Prompts(frame)
        self._rivals = rivals
        self._tape = self._gateway.services.tapes.session_tape(f"{CHANNEL}:{room.name}")
        self._read = 0

    async def hear(self, said: Said) -> None:
        """Put a message on the tape; wait for its answer, if it gets one."""
        self._playing.clock.moment = said.at
        self._playing.answer = said.answer
        await self._gateway.parts.intake.accept([said.message])
        await self._gateway.taken_in()
        if said.answer:
            await self._gateway.idle()

    async def memory(self) -> RoomMemory:
        """Return what the gateway remembers of the room."""
        return await self._gateway.parts.memories.of(self._tape.name)

    async def ask(self, said: Said, *, call: bool) -> Seen:
        """Ask what belongs to a message; `call`: also what a turn would show."""
        room = await self.memory()
        key = room_key(said.message, 0)
        likely = room.linker.ranked(room.room, key, MOST)
        kept = room.chosen(key, MOST)
        heard = takewhile(lambda one: one.key != key, room.room.heard)
        before = [one.key for one in heard]
        return Seen(
            self._room.name,
            said.number,
            tuple(self._numbers(likely)[:MOST]),
            tuple(self._numbers(kept)[-MOST:]),
            tuple(self._numbers(before)[-MOST:]),
            await self.call(said) if call else None,
            await self._others(said) if call else {},
        )

    async def call(self, said: Said) -> Call:
        """Return what a turn shows: what was sent, if it had its answer; else, what would be."""
        entries, messages, cut = await (self._sent(said) if said.answer else self._view(said))
        keys = [str(entry.meta.get("message_id", "")) for entry in entries]
        shown = [number for number in self._numbers(keys) if number != said.number]
        call = self._prompts.send(said.at.timestamp(), shown, pieces_of(messages))
        return replace(call, cut=cut)

    async def _sent(self, said: Said) -> tuple[list[Entry], list[Message], bool]:
        """Return the view of the turn that has just answered, and whether it was cut."""
        (start,) = await self._tape.find(names=(TURN_START,), limit=1, newest=True)
        turn = str(start.payload["data"]["turn"])
        prompt = (await prompts_of(self._tape, turn))[-1]
        if not prompt.exact:
            raise RuntimeError(f"message {said.number}: the prompt {prompt.why}")
        found = await self._tape.entries(list(prompt.entries))
        own = await self._tape.find(turn=turn)
        messages = [one for one in prompt.messages if one["role"] != "system"]
        return list(found.values()), messages, any(e.name == OVERFLOW_NOTICED for e in own)

    async def _view(self, said: Said) -> tuple[list[Entry], list[Message], bool]:
        """Begin a turn and build its view, as a turn does; over the budget, after an anchor."""
        rooms = self._gateway.parts.memories
        room = await self.memory()
        key = room_key(said.message, 0)
        lane, number = room.room.by_key[key].lane, room.entries[key]
        turn = f"call-{said.number}"
        text = said.message.text
        known = await find_nearby(rooms, self._tape, said.message, 0, text, EVIDENCE)
        takes = await select_messages(self._tape, lane, [number], (), self._budget, known)
        log = TurnLog(self._tape, turn, lane)
        await log.record(takes.start(turn).to_entry())
        entries = await view_entries(self._tape, LATEST, lane, turn)
        if estimate(messages := to_messages(entries)) <= self._budget:
            return entries, messages, False
        await self._tape.handoff(OVERFLOW_NOTICED, {"reason": "length"}, lane=lane, turn=turn)
        again = await reselect_messages(self._tape, turn, [number], self._budget)
        await log.record(again.to_entry())
        entries = await view_entries(self._tape, LATEST, lane, turn)
        return entries, to_messages(entries), True

    async def _others(self, said: Said) -> dict[str, Call]:
        """Return what other policies would show, of what was said by now."""
        if self._rivals is None:
            return {}
        await self._tell_rivals(said, self._rivals)
        return self._rivals.call(said.at.timestamp())

    async def _tell_rivals(self, said: Said, rivals: Rivals) -> None:
        """Tell the policies what the tape has up to a message, which may have its answer by now."""
        while page := await self._tape.find(kinds=(MESSAGE,), after=self._read, limit=PAGE):
            for entry in page:
                self._read = entry.id
                number = str(entry.meta.get("message_id", ""))
                for piece in pieces_of(to_messages([entry])):
                    rivals.hear(int(number) if number.isdigit() else None, piece)
                if number == str(said.number):
                    return

    def _numbers(self, keys: Sequence[str]) -> list[int]:
        """Return the numbers of messages by their keys, those of the agent and before left out."""
        ids = (key.rpartition("/")[2] for key in keys)
        numbers = (int(number) for number in ids if number.isdigit())
        return [number for number in numbers if number >= self._first]
