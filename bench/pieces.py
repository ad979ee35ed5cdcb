"""Whether a room's memory is the same if it is kept, read back from a piece, or rebuilt.

    python -m bench.pieces --data PLACE ... [--asking SHARE] [--messages N] [--seed N]

Each log is heard by two memories. One is kept; the other is written as a piece and read back, or
rebuilt of the tape, at random. Lanes, chosen messages, what a view shows beside a lane, the lane
that fills the room and how well conversations are recognized have to be the same at each message,
and the pieces byte for byte. A share of the messages asks the agent. The exit code says whether all
were the same; printed are the bytes of pieces, and the time to read one and to rebuild a room.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from bench.irc import read
from bench.log_options import add_log_options, find_logs
from bench.replay.room import room_of
from channels.message import InboundMessage
from gateway.context.rooms.memory import READ, RoomMemory
from gateway.context.rooms.piece import memory_of, piece_of
from gateway.context.rooms.reading import link_meta
from gateway.context.selection import Nearby
from tape.entry import MESSAGE, Entry
from tape.linking import LaneLink, Linker
from tape.linking.asleep import REACH
from tape.linking.recognition import Recognition
from tape.linking.room import WINDOW
from tape.linking.utterance import REPLY

NAME: Final = "room"
MOST: Final = 50
READ_BACK: Final = 0.04  # the share of messages after which the second memory is read back
REBUILT: Final = 0.08  # and, with that, the share after which it is either
LOOKED_AT: Final = 0.1  # the share of messages for which what is chosen is compared


class Differs(Exception):
    """Two memories of the same messages are not the same."""


@dataclass
class Twins:
    """A memory that is kept, another one, and the tape of both."""

    linker: Linker
    random: Random
    tape: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.kept, self.other = RoomMemory(self.linker), RoomMemory(self.linker)

    def hear(self, message: InboundMessage, answer: str = "", given: LaneLink | None = None) -> str:
        """Have both hear a message, and its answer if it has one; return its lane.

        Raises Differs.
        """
        new = self._next()
        self._recall()
        pairs = [self._linked(memory, message, new, given) for memory in (self.kept, self.other)]
        same(pairs[0], pairs[1], f"the link of {message.message_id}")
        said, link, judged = pairs[0]
        entry = self._add(new, _meta(message, new, link, said, judged), "user", message)
        self.kept.hear(said, link, new, message.sender.handle, judged)
        if self.random.random() < 0.5:
            self.other.follow([entry])
        else:
            self.other.hear(said, link, new, message.sender.handle, judged)
        if answer:
            new = self._next()
            meta = {"final": True, "lane": link.lane, "turn": f"t-{new}"}
            entry = self._add(new, meta, "assistant", replace(message, text=answer))
            self.kept.follow([entry])
            self.other.follow([entry])
        self.compare()
        if self.random.random() < REBUILT:
            self.exchange()
        return link.lane

    def compare(self) -> None:
        """Raise Differs unless both know the same."""
        for name in ("filling", "alone", "recognition", "judged_of", "upto"):
            same(getattr(self.kept, name), getattr(self.other, name), name)
        if self.random.random() < LOOKED_AT:
            key = self.kept.room.heard[-1].key
            same(self.kept.chosen(key, MOST), self.other.chosen(key, MOST), "what is chosen")
            beside = [one.beside(key, Nearby()) for one in (self.kept, self.other)]
            same(beside[0], beside[1], "what is beside")
            same(self.kept.apart(key), self.other.apart(key), "what is apart")

    def exchange(self) -> None:
        """Read the second memory back, or rebuild it, and compare all that both remember."""
        if self.random.random() < READ_BACK / REBUILT:
            self.other = self.read_back(self.other)
        else:
            self.other = self.rebuilt()
        copies = [self.read_back(one) for one in (self.kept, self.other)]
        for one in copies:
            self._recall_into(one)
            assert len(one.room.asleep) <= REACH  # which reads them
        same(piece_of(copies[0], NAME), piece_of(copies[1], NAME), "the piece")

    def read_back(self, memory: RoomMemory) -> RoomMemory:
        """Write a memory, and return what is read back."""
        found = memory_of(piece_of(memory, NAME), NAME, self.linker)
        if found is None:
            raise Differs("a piece cannot be read back")
        return found

    def rebuilt(self) -> RoomMemory:
        """Return the memory of the tape."""
        newest = self.tape[-READ:]
        return RoomMemory(self.linker, newest, is_cut=len(newest) == READ)

    def _next(self) -> int:
        newest = self.tape[-1].id if self.tape else 0
        return newest + self.random.randint(1, 3)  # other entries stand between messages

    def _add(self, new: int, meta: dict[str, Any], role: str, said: InboundMessage) -> Entry:
        entry = Entry(new, MESSAGE, {"role": role, "content": said.text}, meta, said.date)
        self.tape.append(entry)
        return entry

    def _linked(
        self, memory: RoomMemory, message: InboundMessage, new: int, given: LaneLink | None
    ) -> tuple[Any, LaneLink, Recognition | None]:
        said = memory.utterance(message, new)
        if given is None and message.reply_to:
            replied = memory.room.by_key.get(f"{message.chat_id}/{message.reply_to}")
            lane = replied.lane if replied is not None else f"reply:{message.reply_to}"
            given = LaneLink(lane, f"{message.chat_id}/{message.reply_to}", REPLY)
        is_reply = given is not None and given.why == REPLY
        judged = memory.to_record(said, is_reply=is_reply)
        return said, given or memory.link(said, None), judged

    def _recall(self) -> None:
        for one in (self.kept, self.other):
            if one.unread and self.random.random() < 0.9:
                self._recall_into(one)
        if self.kept.unread or self.other.unread:  # the links of messages may depend on it
            self._recall_into(self.kept)
            self._recall_into(self.other)

    def _recall_into(self, memory: RoomMemory) -> None:
        if memory.unread:
            older = [entry for entry in self.tape if entry.id < memory.unread]
            memory.recall(memory.outlines_of(older[-REACH - WINDOW :]))


def same(one: object, other: object, what: str) -> None:
    """Raise Differs unless two things are equal."""
    if one != other:
        raise Differs(f"{what}: {one!r:.300} is not {other!r:.300}")


def _meta(
    message: InboundMessage, new: int, link: LaneLink, said: Any, judged: Recognition | None
) -> dict[str, Any]:
    return {
        "inbox": new,
        "chat": message.chat_id,
        "message_id": message.message_id,
        "author": message.sender.id,
        "name": message.sender.name,
        "handle": message.sender.handle,
        "said_at": message.date,
        "text": message.text,
        "lane": link.lane,
        "reply_to": message.reply_to,
        "link": link_meta(link, said, message.chat_id, judged),
    }


def main() -> None:
    """Hear every log, and say what was found."""
    options = _options()
    failed = False
    for path in find_logs(options.data):
        random = Random(options.seed)
        twins = Twins(Linker.shipped(), random)
        said = room_of(read(path)).said[: options.messages]
        try:
            for one in said:
                asks = random.random() < options.asking
                message = replace(one.message, addressed=asks)
                twins.hear(message, f"I think so: {message.text}" if asks else "")
            print(f"{path.name}: {len(said)} messages, the same; {_measured(twins)}", flush=True)
        except Differs as found:
            print(f"{path.name}: {found}")
            failed = True
    sys.exit(failed)


def _measured(twins: Twins) -> str:
    piece, window = piece_of(twins.kept, NAME), len(twins.kept.room)
    asleep = twins.kept.room.asleep
    closed = _without_outlines(twins)
    begun = time.perf_counter()
    for _round in range(9):
        memory_of(piece, NAME, twins.linker)
    read_in = (time.perf_counter() - begun) / 9
    begun = time.perf_counter()
    RoomMemory(twins.linker, twins.tape[-WINDOW:])
    rebuilt_in = time.perf_counter() - begun
    lanes = max(len(asleep.lanes), 1)
    return (
        f"{len(piece)} bytes: {closed / max(window, 1):.0f} a message and"
        f" {(len(piece) - closed) / lanes:.0f} for each of {len(asleep.lanes)} lanes that sleep;"
        f" read in {1e3 * read_in:.2f} ms, {WINDOW} entries in {1e3 * rebuilt_in:.2f}"
    )


def _without_outlines(twins: Twins) -> int:
    """Return the bytes of a piece without outlines."""
    bare = twins.read_back(twins.kept)
    bare.room.asleep = type(bare.room.asleep)(bare.room.reach)
    return len(piece_of(bare, NAME))


def _options(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add_log_options(parser)
    parser.add_argument("--asking", type=float, default=0.1, help="the share that asks the agent")
    parser.add_argument("--messages", type=int, help="maximum messages of a log")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
