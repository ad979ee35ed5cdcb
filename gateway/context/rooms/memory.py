"""What is remembered of one chat, to link new messages and to choose what a view shows of it."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

import orjson

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
from tape.linking.naming import MAX_CHARACTERS, first_word, is_common
from tape.linking.recognition import KEPT_FOR, Recognition, read_recognition
from tape.linking.room import WINDOW, Heard
from tape.linking.utterance import AGENT
from tape.linking.writing import read_back, written

UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, OverflowError, zlib.error)
MAX_ADDRESSEES: Final = 30  # maximum addressees considered when linking a message
MAX_NAMES: Final = 3 * WINDOW  # maximum names that people are known by; a message gives three
MAX_LIKELY: Final = 30  # maximum messages included as likely, and again in doubt
RECENT: Final = 50
FILLS: Final = 0.92
FILLS_NO_MORE: Final = 0.8
MIN_MESSAGES_TO_FILL: Final = 6  # minimum messages before one conversation can fill the room


class RoomMemory:
    """A linker's room, together with the entry ids of its messages.

    alone        the one person who, beside the agent, wrote all recent messages, or None
    filling      the lane that nearly all recent messages belong to, or None
    unread       the id of the first entry that was read, if older ones were not, or 0
    recognition  how well conversations are recognized, as it was recorded last
    judged_of    whose message that was recorded with

    `names` are the agent's in chats, which are no words of what is asked.
    """

    def __init__(
        self, linker: Linker, entries: Iterable[Entry] = (), names: Sequence[str] = ()
    ) -> None:
        self.room = LinkerRoom()
        self.alone: str | None = None
        self.filling: str | None = None
        self.unread = 0
        self.recognition = Recognition()
        self.judged_of = ""
        self._since = 0  # messages since the recognition was recorded
        self.entries: dict[str, int] = {}
        self.linker = linker
        self.names = names
        self._called: dict[str, str] = {}
        entries = list(entries)
        own = own_mention(entries)
        for entry in entries:
            found = read_entry(entry, self.room, names, own)
            if found is not None:
                self._remember(*found, entry.id, str(entry.meta.get("handle", "")))
                self._recognized(recorded_recognition(entry), found[0].author)
        self._judge()

    def written(self) -> bytes:
        """Return all that is remembered, for `read_back`, or b"" if JSON cannot hold it."""
        entries = {key: number for key, number in self.entries.items() if key in self.room.by_key}
        recognized = [self.recognition.to_json(), self.judged_of, self._since]
        lists = [list(self.names), entries, self._called, self.filling, self.unread, recognized]
        try:
            return zlib.compress(orjson.dumps([written(self.room), *lists]), level=1)
        except TypeError:  # a text with a lone surrogate, which the tape has without it
            return b""

    @classmethod
    def read_back(cls, data: bytes, linker: Linker, names: Sequence[str] = ()) -> RoomMemory | None:
        """Return the memory that was written, or None if it has to be read from the tape."""
        memory = cls(linker, (), names)
        try:
            found = orjson.loads(zlib.decompress(data))
            room, known, entries, called, filling, unread, (known_so, judged_of, since) = found
            memory.room = read_back(room)
            memory.entries = {str(key): int(number) for key, number in entries.items()}
            memory._called = {str(name): str(who) for name, who in called.items()}
            memory.filling, memory.unread = None if filling is None else str(filling), int(unread)
            memory.recognition = read_recognition(known_so) or Recognition()
            memory.judged_of, memory._since = str(judged_of), int(since)
        except UNREADABLE:
            return None
        memory._judge()
        return memory if known == list(names) else None

    def recall(self, older: Iterable[Entry]) -> None:
        """Keep outlines of the entries before the first that was read."""
        found = (read_entry(entry, self.room, self.names, "") for entry in older)
        self.room.recall(one for one in found if one is not None)
        self.unread = 0

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
        """Add a message, its link and what is recorded with it; the entry id may be added later."""
        self._remember(said, link, entry_id, handle)
        self._recognized(recognition, said.author)
        self._judge()

    def to_record(self, said: Utterance, *, is_reply: bool) -> Recognition | None:
        """Return how well conversations are recognized if that is to be recorded with a message.

        A reply is judged now and then, before its link is known, but never one person's twice in a
        row: nobody decides alone what views show. As the room is rebuilt from its newest messages,
        what was found is recorded again before these no longer have it.
        """
        known = self.recognition
        if is_reply and known.is_due(self._since) and said.author != self.judged_of:
            found = self.linker.judge_reply(self.room, said, MAX_LIKELY)
            if found is not None:
                return known.after(found)
        return known if known.replies and self._since >= KEPT_FOR else None

    def _recognized(self, recorded: Recognition | None, author: str) -> None:
        self._since += 1
        if recorded is not None:
            self.recognition, self.judged_of, self._since = recorded, author, 0

    def _remember(self, said: Utterance, link: LaneLink, entry_id: int, handle: str) -> None:
        self.room.add(said, link)
        if entry_id:
            self.entries[said.key] = entry_id
        if not said.agent:
            for name in names_of(said.name, handle):
                self._called.pop(name, None)
                self._called[name] = said.author
            while len(self._called) > MAX_NAMES:
                del self._called[next(iter(self._called))]
        if len(self.entries) > 2 * WINDOW:
            self.entries = {k: n for k, n in self.entries.items() if k in self.room.by_key}
            self._called = {k: who for k, who in self._called.items() if who in self.room.authors}

    def _judge(self) -> None:
        recent = list(islice(reversed(self.room.heard), RECENT))
        authors = {heard.author for heard in recent if not heard.agent}
        self.alone = authors.pop() if len(authors) == 1 else None
        self.filling = self._fills(recent)

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
        return tuple(self.entries[one] for one in keys if one in self.entries)

    def is_young(self, key: str) -> bool:
        """Return whether a message's conversation has only a few messages."""
        heard = self.room.by_key.get(key)
        return heard is not None and len(self.room.lanes[heard.lane].heard) < HANDFUL

    def begins(self) -> int:
        """Return the id of the first entry in memory, or 0."""
        known = (self.entries.get(heard.key, 0) for heard in self.room.heard)
        return next((number for number in known if number), 0)

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
        who = self._called.get(name, "")
        return who if who in self.room.authors else ""

    def _fills(self, recent: Sequence[Heard]) -> str | None:
        """Return the lane that fills the room, with a lower threshold for the current one."""
        if len(recent) < MIN_MESSAGES_TO_FILL:
            return None
        lanes = Counter(heard.lane for heard in recent)
        (lane, most), *_others = lanes.most_common(1)
        enough = FILLS_NO_MORE if lane == self.filling else FILLS
        return lane if most / len(recent) > enough else None
