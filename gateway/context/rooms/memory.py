"""What is remembered of one chat, to link new messages and to choose what a view shows of it.

It is a function of the newest messages of the chat's tape, in the tape's order: of `WINDOW` of
them, and of as many before, to know whose answer is whose; outlines are of those before the window.
A memory that was kept, one that was read back, and one that is rebuilt of the tape are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from sys import getsizeof
from typing import Final

from channels.message import InboundMessage
from gateway.context.rooms.reading import (
    OURS,
    names_of,
    own_mention,
    read_entry,
    recorded_recognition,
    room_key,
    without_call,
)
from gateway.context.selection import HANDFUL, Nearby
from tape.entry import Entry, parse_date
from tape.linking import LaneLink, Linker, LinkerRoom, Utterance
from tape.linking.asleep import Asleep
from tape.linking.naming import MAX_CHARACTERS, first_word, is_common
from tape.linking.recognition import KEPT_FOR, Recognition
from tape.linking.room import WINDOW
from tape.linking.utterance import AGENT

READ: Final = 2 * WINDOW
"""Newest messages from which a memory is rebuilt: those of the window, and as many before."""

BYTES_A_ROOM: Final = 6_000
BYTES_A_MESSAGE: Final = 1_200  # without its text
SIZED_EACH: Final = 10  # messages after which the size of a memory is looked at again
MAX_ADDRESSEES: Final = 30  # maximum addressees considered when linking a message
MAX_NAMES: Final = 3 * WINDOW  # maximum names that people are known by; a message gives three
MAX_LIKELY: Final = 30  # maximum messages included as likely, and again in doubt
RECENT: Final = 50
FILLS: Final = 0.92
FILLS_NO_MORE: Final = 0.8
FILLS_FOR: Final = READ - RECENT
"""Messages for which a conversation fills the room after its share was last above `FILLS`."""

MIN_MESSAGES_TO_FILL: Final = 6  # minimum messages before one conversation can fill the room


class RoomMemory:
    """A linker's room, together with the entry ids of its messages.

    filling      the lane that nearly all recent messages belong to, or None
    unread       the id of the first entry of which more than an outline is kept, if outlines of
                 those before it were not read, or 0
    recognition  how well conversations are recognized, as it was recorded last
    judged_of    whose message that was recorded with
    since        messages since then, as far as they count
    filled       messages since the share of the lane that fills the room was above `FILLS`
    called       maps a name to whoever is called so, and the number of the message that says it
    upto         the id of the newest entry in memory
    unwritten    messages since a piece was written
    is_stale     whether messages came in another order than the tape's: it is to be rebuilt

    `names` are the agent's in chats, which are no words of what is asked. `entries` are the newest
    `READ` messages, or all; `is_cut` says that the tape has older ones.
    """

    def __init__(
        self,
        linker: Linker,
        entries: Iterable[Entry] = (),
        names: Sequence[str] = (),
        *,
        is_cut: bool = False,
    ) -> None:
        self.room = LinkerRoom()
        self.filling: str | None = None
        self.filled = 0
        self.unread = 0
        self.recognition = Recognition()
        self.judged_of = ""
        self.since = 0
        self.entries: dict[str, int] = {}
        self.linker = linker
        self.names = names
        self.called: dict[str, tuple[str, int]] = {}
        self.upto = 0
        self.unwritten = 0
        self.is_stale = False
        self._unplaced: list[tuple[str, int]] = []
        self._sized_at, self._size = -SIZED_EACH, 0
        entries = list(entries)
        older = len(entries) - WINDOW if is_cut else 0  # of which no words are needed
        own = own_mention(entries)
        for number, entry in enumerate(entries):
            self._read(entry, own, wordless=number < older)
        if is_cut:
            self.room.asleep = Asleep(self.room.reach)
            self.unread = entries[older].id

    def outlines_of(self, older: Iterable[Entry]) -> Asleep:
        """Return outlines of entries, which depend on nothing that the memory has."""
        nothing = LinkerRoom()
        found = (read_entry(entry, nothing, self.names, "") for entry in older)
        return nothing.outlines_of(one for one in found if one is not None)

    def recall(self, older: Asleep) -> None:
        """Keep outlines of the entries before the first that was read."""
        self.room.recall(older)
        self.unread = 0

    def size(self) -> int:
        """Return about how many bytes the memory takes."""
        if self.room.number >= self._sized_at + SIZED_EACH:
            self._sized_at = self.room.number
            heard = sum(BYTES_A_MESSAGE + getsizeof(one.text) for one in self.room.heard)
            self._size = BYTES_A_ROOM + heard
        return self._size + self.room.asleep.size

    def follow(self, entries: Iterable[Entry]) -> None:
        """Add entries that follow on the tape, as far as a room remembers them.

        One that came before is known already.
        """
        for entry in entries:
            known = entry.id <= self.upto
            if known and entry.id not in self.entries.values():
                self.is_stale = True
            elif not known:
                self._read(entry, "")

    def link(self, said: Utterance, replied_lane: str | None) -> LaneLink:
        """Choose a message's lane, without changing the room."""
        return self.linker.link(self.room, said, replied_lane)

    def hear(
        self,
        said: Utterance,
        link: LaneLink,
        entry_id: int = 0,
        handle: str = "",
        recognition: Recognition | None = None,
    ) -> None:
        """Add a message, its link and what is recorded with it.

        Without an entry id, it is on the tape once `stands_at` is called; until then, the memory is
        ahead of the tape.
        """
        self._remember(said, link, handle)
        self._recognized(recognition, said.author)
        self._judge()
        self._place(said.key, entry_id)

    def stands_at(self, key: str, entry_id: int) -> None:
        """Record the entry id of a message that was added without one."""
        if (key, 0) in self._unplaced:
            self._unplaced[self._unplaced.index((key, 0))] = (key, entry_id)
            self._placed()

    @property
    def is_ahead(self) -> bool:
        """Whether it has messages that are not known to be on the tape."""
        return bool(self._unplaced)

    def _read(self, entry: Entry, own: str, *, wordless: bool = False) -> None:
        found = read_entry(entry, self.room, self.names, own)
        if found is None:
            return
        said, link = found
        said = replace(said, text="") if wordless else said
        handle = str(entry.meta.get("handle", ""))
        self.hear(said, link, entry.id, handle, recorded_recognition(entry))

    def _place(self, key: str, entry_id: int) -> None:
        self._unplaced.append((key, entry_id))
        self._placed()

    def _placed(self) -> None:
        """Take over the ids of entries once they are all known."""
        if all(number for _key, number in self._unplaced):
            ids = [number for _key, number in self._unplaced]
            if any(number <= before for before, number in pairwise((self.upto, *ids))):
                self.is_stale = True
            self.upto = max(self.upto, *ids)
            self.entries.update(self._unplaced)
            self._unplaced.clear()
            if len(self.entries) > 2 * WINDOW:
                self.entries = {k: n for k, n in self.entries.items() if k in self.room.by_key}

    def to_record(self, said: Utterance, *, is_reply: bool) -> Recognition | None:
        """Return how well conversations are recognized if that is to be recorded with a message.

        A reply is judged now and then, before its link is known, but never one person's twice in a
        row: nobody decides alone what views show. As the room is rebuilt from its newest messages,
        what was found is recorded again before these no longer have it.
        """
        known = self.recognition
        if is_reply and known.is_due(self.since) and said.author != self.judged_of:
            found = self.linker.judge_reply(self.room, said, MAX_LIKELY)
            if found is not None:
                return known.after(found)
        return known if known.replies and self.since >= KEPT_FOR else None

    def _recognized(self, recorded: Recognition | None, author: str) -> None:
        self.since = min(self.since + 1, WINDOW)
        if recorded is not None:
            self.recognition, self.judged_of, self.since = recorded, author, 0
        elif self.since == WINDOW:
            self.recognition, self.judged_of = Recognition(), ""

    def _remember(self, said: Utterance, link: LaneLink, handle: str) -> None:
        number = self.room.number
        self.room.add(said, link)
        self.unwritten += 1
        if not said.agent:
            for name in names_of(said.name, handle):
                self.called[name] = (said.author, number)
            if len(self.called) > MAX_NAMES:
                first = self.room.first
                self.called = {name: one for name, one in self.called.items() if one[1] >= first}

    def _judge(self) -> None:
        """Find the lane that fills the room."""
        lanes = [heard.lane for heard in self.room.heard[-RECENT:]]
        self.filled += 1
        if len(lanes) < MIN_MESSAGES_TO_FILL:
            self.filling = None
            return
        # One of the last few is in it if so few are in others.
        others = int((1 - FILLS) * len(lanes)) + 1
        for lane in dict.fromkeys(lanes[-others:]):
            if lanes.count(lane) > FILLS * len(lanes):
                self.filling, self.filled = lane, 0
                return
        if self.filling is not None:
            is_filled = lanes.count(self.filling) > FILLS_NO_MORE * len(lanes)
            self.filling = self.filling if is_filled and self.filled < FILLS_FOR else None

    @property
    def alone(self) -> str | None:
        """The one person who, beside the agent, wrote all recent messages, or None."""
        recent = self.room.heard[-RECENT:]
        authors = {heard.author for heard in recent if not heard.agent}
        return authors.pop() if len(authors) == 1 else None

    def whole(self, key: str) -> bool:
        """Return whether a message's conversation fills the room, or only its author writes."""
        heard = self.room.by_key.get(key)
        return heard is not None and (heard.author == self.alone or heard.lane == self.filling)

    def utterance(self, message: InboundMessage, inbox_id: int, answer: str = "") -> Utterance:
        """Return a message as the linker gets it; `answer` is the answer that it replies to."""
        calls = message.addressed
        reply_to = f"{message.chat_id}/{message.reply_to}" if message.reply_to else None
        return Utterance(
            key=room_key(message, inbox_id),
            at=parse_date(message.date).timestamp(),
            author=message.sender.id,
            name=message.sender.name[:MAX_CHARACTERS],
            text=without_call(message.text, self.names) if calls else message.text,
            mentions=self.people(message),
            reply_to=answer or reply_to,
            thread=message.thread_id,
            calls=calls,
        )

    def words_of(self, question: str) -> str:
        """Return the words of a question without the names by which it calls the agent."""
        return without_call(question, self.names)

    def people(self, message: InboundMessage) -> tuple[str, ...]:
        """Return the ids of the people a message mentions or names first; the agent is none."""
        mentioned = (self._person(name) for name in message.mentions[:MAX_ADDRESSEES])
        found = dict.fromkeys([*mentioned, self._begins_with(message.text)])
        people = (one for one in found if one and one not in (message.sender.id, AGENT))
        return tuple(islice(people, MAX_ADDRESSEES))

    def beside(self, key: str, near: Nearby) -> Nearby:
        """Return what is near a message, with what its view shows beside its lane."""
        if self.recognition.by_recency:
            last = self._ids(self.linker.recent(self.room, key, MAX_LIKELY))
            return replace(near, likely=last, recent=True)
        found = self.linker.beside(self.room, key, MAX_LIKELY)
        return replace(near, likely=self._ids(found.likely), doubted=self._ids(found.doubted))

    def apart(self, key: str) -> frozenset[int | str]:
        """Return the entries that are clearly of other conversations than a message.

        An answer of the agent is named by its key, since its entry is not known before it is read.
        """
        keys = self.linker.apart(self.room, key)
        return frozenset((*self._ids(keys), *(one for one in keys if one.startswith(OURS))))

    def chosen(self, key: str, most: int) -> list[str]:
        """Return the keys of the earlier messages of a message's conversation, oldest first."""
        choose = self.linker.recent if self.recognition.by_recency else self.linker.chosen
        return choose(self.room, key, most)

    def _ids(self, keys: Iterable[str]) -> tuple[int, ...]:
        """Return the entries of people's messages; the agent's are shown with their lanes."""
        theirs = (one for one in keys if not one.startswith(OURS))
        return tuple(number for one in theirs if (number := self.entry_of(one)))

    def is_young(self, key: str) -> bool:
        """Return whether a message's conversation has only a few messages."""
        heard = self.room.by_key.get(key)
        return heard is not None and len(self.room.lanes[heard.lane].heard) < HANDFUL

    def begins(self) -> int:
        """Return the id of the first entry in memory, or 0."""
        known = (self.entries.get(heard.key, 0) for heard in self.room.heard)
        return next((number for number in known if number), 0)

    def entry_of(self, key: str) -> int:
        """Return the id of a message's entry, or 0 if the message is not remembered."""
        return self.entries.get(key, 0) if key in self.room.by_key else 0

    def _person(self, mention: str) -> str:
        name = mention.removeprefix("@")
        return self._known(name.casefold()) or name

    def _begins_with(self, text: str) -> str:
        first, marked = first_word(text)
        who = self._known(first)
        if not who or marked:
            return who
        weights = self.linker.model.weights if self.linker.model else {}
        return "" if is_common(self.room, first, weights) else who

    def _known(self, name: str) -> str:
        who, number = self.called.get(name, ("", 0))
        return who if number >= self.room.first else ""
