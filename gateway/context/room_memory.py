"""The recent messages of each chat, kept in memory so that new ones can be linked to them.

If a memory was evicted, it is read from the tape's newest messages and their recorded links, so
that it links new messages exactly as before.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import orjson

from channels.mentions import without
from channels.message import InboundMessage
from gateway.context.selection import HANDFUL, Nearby
from gateway.explain.words import recognized
from gateway.logs import get_log
from gateway.wording import counted
from tape.entry import MESSAGE, Entry, parse_date
from tape.errors import WeightsInvalid
from tape.linking import LaneLink, Linker, LinkerRoom, Utterance
from tape.linking.asleep import REACH
from tape.linking.naming import MAX_CHARACTERS, first_word, is_common
from tape.linking.recognition import KEPT_FOR, Recognition, read_recognition
from tape.linking.room import WINDOW, Heard
from tape.linking.utterance import AGENT
from tape.linking.writing import read_back, written
from tape.service import TapeService

OURS: Final = "turn:"
_HANDLE: Final = re.compile(r"(?<!\w)@\w+")
MAX_MESSAGES: Final = 5_000
"""Maximum messages in all room memories together; each, with outlines, uses up to two kilobytes."""

MIN_ROOM_WEIGHT: Final = 8  # A room with fewer messages counts as having this many
CHECK_INTERVAL: Final = 32  # the total is checked once per this many lookups
PAGE: Final = WINDOW + 50
MORE: Final = 4 * WINDOW
OLDER: Final = REACH + 200
UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, OverflowError, zlib.error)
MAX_ADDRESSEES: Final = 30  # maximum addressees considered when linking a message
MAX_NAMES: Final = 3 * WINDOW  # maximum names that people are known by; a message gives three
MAX_LIKELY: Final = 30  # maximum messages included as likely, and again in doubt
MAX_NOTES: Final = 5  # maximum rooms in the notes of the gateway's health
RECENT: Final = 50
FILLS: Final = 0.92
FILLS_NO_MORE: Final = 0.8
MIN_MESSAGES_TO_FILL: Final = 6  # minimum messages before one conversation can fill the room


class RoomMemory:
    """A linker's room, together with the entry ids of its messages.

    alone    whether all recent messages are by one person and the agent
    filling  the lane that nearly all recent messages belong to, or None
    unread   the id of the first entry that was read, if older ones may have sleeping lanes, or 0
    recognition  how well conversations are recognized, as it was recorded last

    `names` are the agent's in chats, which are no words of what is asked.
    """

    def __init__(
        self, linker: Linker, entries: Iterable[Entry] = (), names: Sequence[str] = ()
    ) -> None:
        self.room = LinkerRoom()
        self.alone = True
        self.filling: str | None = None
        self.unread = 0
        self.recognition = Recognition()
        self._since = 0  # messages since the recognition was recorded
        self.entries: dict[str, int] = {}
        self.linker = linker
        self.names = names
        self._called: dict[str, str] = {}
        entries = list(entries)
        own = _own_mention(entries)
        for entry in entries:
            found = _read(entry, self.room, names, own)
            if found is not None:
                self._remember(*found, entry.id, str(entry.meta.get("handle", "")))
                self._recognized(recorded_recognition(entry))
        self._judge()

    def written(self) -> bytes:
        """Return all that is remembered, for `read_back`, or b"" if JSON cannot hold it."""
        entries = {key: number for key, number in self.entries.items() if key in self.room.by_key}
        recognized = [self.recognition.to_json(), self._since]
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
            room, known, entries, called, filling, unread, (recognized, since) = found
            memory.room = read_back(room)
            memory.entries = {str(key): int(number) for key, number in entries.items()}
            memory._called = {str(name): str(who) for name, who in called.items()}
            memory.filling, memory.unread = None if filling is None else str(filling), int(unread)
            memory.recognition = read_recognition(recognized) or Recognition()
            memory._since = int(since)
        except UNREADABLE:
            return None
        memory._judge()
        return memory if known == list(names) else None

    def recall(self, older: Iterable[Entry]) -> None:
        """Keep outlines of the entries before the first that was read."""
        found = (_read(entry, self.room, self.names, "") for entry in older)
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
        self._recognized(recognition)
        self._judge()

    def to_record(self, said: Utterance, *, is_reply: bool) -> Recognition | None:
        """Return how well conversations are recognized if that is to be recorded with a message.

        A reply is judged now and then, before its link is known. As the room is rebuilt from its
        newest messages, what was found is recorded again before these no longer have it.
        """
        known = self.recognition
        if is_reply and known.is_due(self._since):
            found = self.linker.found(self.room, said, MAX_LIKELY)
            if found is not None:
                return known.after(found)
        return known if known.replies and self._since >= KEPT_FOR else None

    def _recognized(self, recorded: Recognition | None) -> None:
        self._since = 0 if recorded else self._since + 1
        self.recognition = recorded or self.recognition

    def _remember(self, said: Utterance, link: LaneLink, entry_id: int, handle: str) -> None:
        self.room.add(said, link)
        if entry_id:
            self.entries[said.key] = entry_id
        if not said.agent:
            for name in _names(said.name, handle):
                self._called.pop(name, None)
                self._called[name] = said.author
            while len(self._called) > MAX_NAMES:
                del self._called[next(iter(self._called))]
        if len(self.entries) > 2 * WINDOW:
            self.entries = {k: n for k, n in self.entries.items() if k in self.room.by_key}
            self._called = {k: who for k, who in self._called.items() if who in self.room.authors}

    def _judge(self) -> None:
        recent = list(islice(reversed(self.room.heard), RECENT))
        self.alone = len({heard.author for heard in recent if not heard.agent}) < 2
        self.filling = self._fills(recent)

    def whole(self, key: str) -> bool:
        """Return whether a message's conversation fills the room, or only one person writes."""
        heard = self.room.by_key.get(key)
        return self.alone or (heard is not None and heard.lane == self.filling)

    def utterance(self, message: InboundMessage, inbox_id: int, answer: str = "") -> Utterance:
        """Return a message as the linker gets it; `answer` is the answer that it replies to."""
        calls = message.addressed
        reply_to = f"{message.chat_id}/{message.reply_to}" if message.reply_to else None
        return Utterance(
            key=room_key(message, inbox_id),
            at=parse_date(message.date).timestamp(),
            author=message.sender.id,
            name=message.sender.name[:MAX_CHARACTERS],
            text=_without_call(message.text, self.names) if calls else message.text,
            mentions=self.people(message),
            reply_to=answer or reply_to,
            thread=message.thread_id,
            calls=calls,
        )

    def words_of(self, question: str) -> str:
        """Return the words of a question without the names by which it calls the agent."""
        return _without_call(question, self.names)

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

    def apart(self, key: str) -> frozenset[int]:
        """Return the entries that are clearly of other conversations than a message."""
        return frozenset(self._ids(self.linker.apart(self.room, key)))

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


class RoomMemories:
    """The room memories of the most recently active chats; `read` counts those read from a tape."""

    def __init__(
        self,
        tapes: TapeService,
        linker: Linker,
        read: Callable[[], None] = lambda: None,
        names: Sequence[str] = (),
    ) -> None:
        self._tapes = tapes
        self.linker = linker
        self._names = names
        self._read = read
        self._rooms: OrderedDict[str, RoomMemory] = OrderedDict()
        self._asked = 0

    async def of(self, tape: str) -> RoomMemory:
        """Return a tape's room memory, reading it from the tape if it is not in memory."""
        room = self._rooms.get(tape)
        if room is None:
            self._read()
            newest = await self._newest(tape)
            made = RoomMemory(self.linker, newest, self._names)
            made.unread = newest[0].id if len(newest) == WINDOW else 0
            room = self._rooms.setdefault(tape, made)
        self._rooms.move_to_end(tape)
        self._asked += 1
        if self._asked % CHECK_INTERVAL == 0:
            self._evict()
        return room

    def notes(self) -> list[str]:
        """Return how well conversations are recognized in the rooms in memory, the worst first."""
        known = [
            (room.recognition.in_lane, tape, recognized(room.recognition))
            for tape, room in self._rooms.items()
        ]
        told = sorted(one for one in known if one[2])
        notes = [f"{tape}: {says[:1].lower()}{says[1:]}" for _share, tape, says in told[:MAX_NOTES]]
        more = len(told) - len(notes)
        return [*notes, f"and in {counted(more, 'more room')}"] if more else notes

    def forget(self, tapes: Iterable[str]) -> None:
        """Evict the rooms of tapes that may lack the rooms' latest messages."""
        for tape in tapes:
            self._rooms.pop(tape, None)

    async def recall(self, tape: str, room: RoomMemory) -> None:
        """Read what a room needs to know of sleeping lanes, which most messages do not ask for."""
        before = room.unread
        own = self._tapes.tape(tape)
        older = await own.find(kinds=(MESSAGE,), before=before, limit=OLDER, newest=True)
        if room.unread == before:
            room.recall([entry for entry in older if _is_said(entry)][-REACH:])

    def answered(self, tape: str, lane: str | None, turn: str, text: str, at: float) -> None:
        """Add one of the agent's answers, if the room is in memory."""
        room = self._rooms.get(tape)
        if room is not None and lane is not None:
            room.hear(*answer_in(room.room, lane, turn, text, at))

    async def _newest(self, tape: str) -> list[Entry]:
        own = self._tapes.tape(tape)
        page = await own.find(kinds=(MESSAGE,), limit=PAGE, newest=True)
        kept = [entry for entry in page if _is_said(entry)]
        # Commands, and text before tool calls, may fill a page.
        if len(page) == PAGE and len(kept) < WINDOW:
            before = page[0].id
            more = await own.find(kinds=(MESSAGE,), before=before, limit=MORE, newest=True)
            kept = [*(entry for entry in more if _is_said(entry)), *kept]
        return kept[-WINDOW:]

    def _evict(self) -> None:
        remembered = sum(max(len(room.room), MIN_ROOM_WEIGHT) for room in self._rooms.values())
        while remembered > MAX_MESSAGES and len(self._rooms) > 1:
            _tape, oldest = self._rooms.popitem(last=False)
            remembered -= max(len(oldest.room), MIN_ROOM_WEIGHT)


def open_linker() -> Linker:
    """Return the linker with its model or, if the model's file is unusable, with rules alone."""
    try:
        return Linker.shipped()
    except WeightsInvalid as unfit:
        get_log().error("linker.rules_only", why=str(unfit))
        return Linker()


def room_key(message: InboundMessage, inbox_id: int) -> str:
    # A migrated chat numbers its messages from 1 again; a slash command may have no number.
    return f"{message.chat_id}/{message.message_id or f'in-{inbox_id}'}"


def link_meta(
    link: LaneLink, said: Utterance | None, chat: str, recognition: Recognition | None = None
) -> dict[str, Any]:
    """Return a link for the meta of the message's entry, with the platform's message ids."""
    parent = link.parent
    if parent and _is_plain(parent.removeprefix(f"{chat}/")):
        parent = parent.removeprefix(f"{chat}/")
    meta: dict[str, Any] = {"parent": parent, "why": link.why}
    if said is not None:
        meta |= {"to": list(said.mentions), "calls": said.calls}
        is_answer = said.reply_to is not None and said.reply_to.startswith(OURS)
        meta["answer"] = said.reply_to if is_answer else None
        meta["recognized"] = recognition.to_json() if recognition is not None else None
    return {name: value for name, value in meta.items() if value}


def _is_plain(parent: str) -> bool:
    """Return whether a key in a link's meta is a message's id, which lacks its chat."""
    return "/" not in parent and not parent.startswith(OURS)


def recorded_recognition(entry: Entry) -> Recognition | None:
    """Return how well a room's conversations are recognized, if it was recorded with an entry."""
    link = entry.meta.get("link")
    return read_recognition(link.get("recognized")) if isinstance(link, Mapping) else None


def answer_key(turn: str) -> str:
    """Return the key of a turn's answer in a room."""
    return f"{OURS}{turn}"


def _is_said(entry: Entry) -> bool:
    meta = entry.meta
    said = "inbox" in meta or meta.get("final")
    return bool(said) and isinstance(meta.get("lane"), str) and "command" not in meta


def _read(
    entry: Entry, room: LinkerRoom, names: Sequence[str], own: str
) -> tuple[Utterance, LaneLink] | None:
    if not _is_said(entry):
        return None
    meta = entry.meta
    try:
        if meta.get("final"):
            at = parse_date(entry.date).timestamp()
            return answer_in(room, meta["lane"], str(meta.get("turn")), entry.text, at)
        return _theirs(meta, names, own)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None  # Imported, or written by another version: a single entry must not stop a chat.


def _theirs(meta: Mapping[str, Any], names: Sequence[str], own: str) -> tuple[Utterance, LaneLink]:
    chat = str(meta.get("chat", ""))
    link = meta.get("link") or {}
    reply_to, parent = meta.get("reply_to"), link.get("parent")
    to = [str(one) for one in link.get("to", ())]
    # Former versions recorded a call as a mention of the agent.
    calls, text = bool(link.get("calls")) or AGENT in to, str(meta.get("text", ""))
    said = Utterance(
        key=f"{chat}/{meta.get('message_id') or 'in-' + str(meta['inbox'])}",
        at=parse_date(meta["said_at"]).timestamp(),
        author=str(meta.get("author", "")),
        name=str(meta.get("name", ""))[:MAX_CHARACTERS],
        text=_without_call(text, names) if calls else text,
        mentions=tuple(one for one in to if one != AGENT and not (AGENT in to and one == own)),
        reply_to=str(link.get("answer") or (f"{chat}/{reply_to}" if reply_to else "")) or None,
        thread=str(meta["thread"]) if meta.get("thread") else None,
        calls=calls,
    )
    if parent and _is_plain(parent):
        parent = f"{chat}/{parent}"
    return said, LaneLink(meta["lane"], parent, str(link.get("why", "")))


def answer_in(
    room: LinkerRoom, lane: str, turn: str, text: str, at: float
) -> tuple[Utterance, LaneLink]:
    """Return a turn's answer in its lane.

    It continues the last call there, or what was said last if no call is known.
    """
    heard = room.lanes[lane].heard if lane in room.lanes else ()
    theirs = [one for one in reversed(heard) if not one.agent]
    asked = next((one for one in theirs if one.calls), theirs[0] if theirs else None)
    said = Utterance(answer_key(turn), at, AGENT, "", text, agent=True)
    return said, LaneLink(lane, asked.key if asked else None, "an answer")


def _own_mention(entries: Iterable[Entry]) -> str:
    """Return the id by which former versions' calls mention the agent itself, or ""."""
    metas = [entry.meta for entry in entries if isinstance(entry.meta.get("link"), dict)]
    authors = {str(meta.get("author")) for meta in metas}
    calls = [meta["link"].get("to") for meta in metas if meta.get("why") == "mention"]
    calls = [to for to in calls if isinstance(to, list) and AGENT in to]
    found = Counter(str(one) for to in calls for one in to if one != AGENT)
    (most, count), *_others = found.most_common(1) or [("", 0)]
    return most if 2 * count > len(calls) and most not in authors else ""


def _without_call(text: str, names: Sequence[str]) -> str:
    """Return a call's words without the names by which it calls the agent."""
    return without(_HANDLE.sub(" ", text), names)


def _names(name: str, handle: str) -> set[str]:
    folded = name.casefold().split()
    return {"".join(folded), *folded[:1], handle[:MAX_CHARACTERS].casefold()} - {""}
