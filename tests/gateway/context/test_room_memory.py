"""What is remembered of a room, and read from its tape where it is not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

from channels.message import InboundMessage
from gateway.app import Gateway
from gateway.context.rooms.memories import MAX_NOTES, RoomMemories
from gateway.context.rooms.memory import RoomMemory
from tape.entry import Entry
from tape.entry import message as saying
from tape.linking import LaneLink, Linker, Utterance
from tape.linking.asleep import REACH
from tape.linking.recognition import FIRST_PACE, KEPT_FOR, Recognition
from tape.linking.room import WINDOW
from tape.linking.utterance import AGENT
from tape.query import Query
from tape.service import TapeService
from tape.stores.memory import MemoryStore
from tests.gateway.context.memories import says
from tests.kit.chats import GroupChat


async def test_a_room_that_was_forgotten_is_read_again_as_it_was(group: GroupChat) -> None:
    await group.hear(
        says(1, "1", "has anybody seen the red kettle?"),
        says(2, "2", "how do I mount a disk?", mentions=("@handle1",)),
        says(3, "3", "handle1: it is in the kitchen"),
        says(4, "1", "and now?", addressed=True),
        says(5, "2", ",help", addressed=True),
    )
    rooms = group.gateway.parts.memories
    kept = await rooms.of(group.tape.name)
    rooms.forget([group.tape.name])
    again = await rooms.of(group.tape.name)
    assert again is not kept

    def told(memory: RoomMemory) -> list[tuple[object, ...]]:
        heard = memory.room.heard
        return [
            (h.key.split(":")[0], h.author, h.lane, h.parent, h.mentions, h.calls) for h in heard
        ]

    assert told(again) == told(kept)
    assert kept.entries == again.entries
    assert (again.alone, again.filling) == (kept.alone, kept.filling)
    next_one = says(6, "3", "who put it there?")
    links = [one.link(one.utterance(next_one, 0), None) for one in (kept, again)]
    assert links[0] == links[1]
    assert [heard.author for heard in kept.room.heard] == ["1", "2", "3", "1", AGENT]
    assert [heard.calls for heard in kept.room.heard] == [False, False, False, True, False]


async def test_a_call_that_a_former_version_recorded_as_a_mention_is_read_as_a_call(
    group: GroupChat,
) -> None:
    await group.hear(
        says(1, "1", "has anybody seen the red kettle?"),
        says(
            2, "2", "how do I mount a disk?", mentions=("@handle1",), addressed=True, why="mention"
        ),
    )
    rooms = group.gateway.parts.memories
    kept = await rooms.of(group.tape.name)
    entries = await group.tape.find()
    former = [
        replace(entry, meta={**entry.meta, "link": {"to": [AGENT, "our_bot", *link["to"]]}})
        if (link := entry.meta.get("link", {})).get("calls")
        else entry
        for entry in entries
    ]
    assert former != entries
    again = RoomMemory(Linker.shipped(), former)
    assert [(h.mentions, h.calls) for h in again.room.heard] == [
        (h.mentions, h.calls) for h in kept.room.heard
    ]
    assert again.room.heard[1].mentions == ("1",)


async def test_the_names_by_which_a_message_calls_the_agent_are_none_of_its_words(
    gateway: Gateway,
) -> None:
    rooms = RoomMemories(gateway.services.tapes, Linker(), names=("Ada", "小塔"))
    memory = await rooms.of("room")
    called = says(1, "1", "@ada_bot, Ada: what did Adam say? 小塔", addressed=True)
    assert memory.utterance(called, 1).text.split() == [",", ":", "what", "did", "Adam", "say?"]
    told = says(2, "1", "@ada_bot and Ada", addressed=False)
    assert memory.utterance(told, 2).text == "@ada_bot and Ada"


async def test_the_agent_counts_nowhere_as_a_person(group: GroupChat) -> None:
    await group.hear(
        says(1, "1", "how do I mount a disk?", addressed=True),
        says(2, "2", "what is there to eat?", addressed=True),
    )
    room = (await group.gateway.parts.memories.of(group.tape.name)).room
    assert [heard.agent for heard in room.heard].count(True) == 2
    assert set(room.authors) == {"1", "2"}
    assert {person for lane in room.lanes.values() for person in lane.authors} == {"1", "2"}
    assert not room.mentioning


async def test_people_are_known_by_mention_by_handle_and_by_the_name_that_a_text_begins_with(
    group: GroupChat,
) -> None:
    await group.hear(says(1, "1", "hello"), says(2, "2", "hello"))
    memory = await group.gateway.parts.memories.of(group.tape.name)

    def people(text: str, **more: object) -> tuple[str, ...]:
        return memory.people(says(3, "3", text, **more))

    assert people("so", mentions=("@HANDLE1",)) == ("1",)
    assert people("so", mentions=("2", "@99")) == ("2", "99")
    assert people("Name2, look") == ("2",)
    assert people("look, Name2") == ()
    assert people("what now?", addressed=True) == ()
    assert memory.people(says(3, "2", "Name2 is me")) == ()


def cross_talk(count: int, first: int = 1) -> list[InboundMessage]:
    """Return what two pairs say at once; every sixth message replies to the first, by turns."""
    lines = (
        ("1", "Name2: does the printer in the hall print on both sides?"),
        ("2", "Name1: the printer needs new paper first"),
        ("3", "Name4: which road leads from the station to the harbour?"),
        ("4", "Name3: the road along the river goes to the harbour"),
        ("1", "Name2: I put paper into the printer and it prints one side only"),
        ("3", "is the river road open for bicycles now?"),
    )
    said = []
    for number in range(first, first + count):
        who, text = lines[number % 6]
        who = "4" if number % 12 == 11 else who
        replies = {"reply_to": str(number - 1)} if number % 6 == 5 and number > first else {}
        said.append(says(number, who, f"{text} {number}", **replies))
    return said


async def test_a_room_that_is_read_again_knows_how_well_its_conversations_are_recognized(
    group: GroupChat,
) -> None:
    entries = await group.hear(*cross_talk(40))
    rooms = group.gateway.parts.memories
    kept = (await rooms.of(group.tape.name)).recognition
    recorded = [entry for entry in entries if "recognized" in entry.meta.get("link", {})]
    assert kept.replies == len(recorded) > 3
    assert (kept.in_lane, kept.in_set) < (0.5, 0.5)
    assert kept.in_last > 0.5
    rooms.forget([group.tape.name])
    assert (await rooms.of(group.tape.name)).recognition == kept
    # One that forgot in between records what the other does.
    more = cross_talk(13, first=41)
    rooms.forget([group.tape.name])
    for one in more:
        await group.hear(one)
        known = (await rooms.of(group.tape.name)).recognition
        rooms.forget([group.tape.name])
        assert (await rooms.of(group.tape.name)).recognition == known
    assert known.replies > kept.replies


async def test_what_was_recorded_with_an_erased_message_is_that_of_an_earlier_one(
    group: GroupChat,
) -> None:
    entries = await group.hear(*cross_talk(40))
    judged = [entry for entry in entries if "recognized" in entry.meta.get("link", {})]
    left = [entry for entry in entries if entry is not judged[-1]]
    known = RoomMemory(Linker.shipped(), left).recognition
    assert known.to_json() == judged[-2].meta["link"]["recognized"]


def test_replies_are_judged_now_and_then() -> None:
    room = RoomMemory(Linker.shipped())
    due = []
    for number, message in enumerate(cross_talk(60)):
        said = room.utterance(message, 0)
        judged = room.to_record(said, is_reply=True)
        if judged is not None:
            due.append(number)
        link = LaneLink(f"said:{number % 2}", None, "")
        room.hear(said, link, recognition=judged)
    assert due
    assert min(new - old for old, new in pairwise(due)) > FIRST_PACE
    assert room.recognition.replies == len(due)


def test_nobody_decides_alone_what_views_show() -> None:
    room = RoomMemory(Linker.shipped())
    for number, message in enumerate(cross_talk(300)):
        said = room.utterance(replace(message, reply_to=None), 0)
        link = room.link(said, None)
        room.hear(said, link)
        before = room.room.heard[-1]
        reply = room.utterance(says(1000 + number, "9", "nice", reply_to=message.message_id), 0)
        judged = room.to_record(reply, is_reply=True)
        room.hear(reply, LaneLink(before.lane, before.key, "reply"), recognition=judged)
    assert room.recognition.replies == 1


def test_what_is_known_is_recorded_again_before_the_room_forgets_it() -> None:
    room = RoomMemory(Linker.shipped())
    known = Recognition(40, 0.5, 0.6, 0.7)
    recorded = []
    for number in range(250):
        said, link = heard(number, str(number % 3), "a")
        record = known if number == 0 else room.to_record(said, is_reply=False)
        room.hear(said, link, recognition=record)
        if record is not None:
            recorded.append(number)
    assert recorded == [0, KEPT_FOR + 1, 2 * (KEPT_FOR + 1)]
    assert room.recognition == known


async def test_rooms_say_how_well_their_conversations_are_recognized(gateway: Gateway) -> None:
    rooms = RoomMemories(gateway.services.tapes, Linker())
    for number in range(MAX_NOTES + 2):
        room = await rooms.of(f"room {number}")
        room.recognition = Recognition(30, 0.9 - number / 10, 0.9, 0.9, number == 3)
    new = await rooms.of("new")
    new.recognition = Recognition(29, 0.0, 0.0, 0.0)
    notes = rooms.notes()
    assert len(notes) == MAX_NOTES + 1
    says = "in this room, conversations are recognized in {} of 100 replies"
    assert notes[0] == f"room {MAX_NOTES + 1}: {says.format(30)}"
    assert f"room 3: {says.format(60)}, so views show its last messages" in notes
    assert notes[-1] == "and in 2 more rooms"


def heard(number: int, who: str, lane: str) -> tuple[Utterance, LaneLink]:
    return Utterance(str(number), number * 60.0, who, who, "words"), LaneLink(lane, None, "")


def test_one_conversation_fills_a_room_until_others_take_a_fifth_of_it() -> None:
    room = RoomMemory(Linker())
    for number in range(50):
        room.hear(*heard(number, str(number % 3), "a"))
    assert room.whole("49")
    switches: list[bool] = []
    for number in range(50, 120):
        room.hear(*heard(number, str(number % 3), "b" if number % 2 else "a"))
        switches.append(room.filling == "a")
    assert switches == sorted(switches, reverse=True)
    assert switches.index(False) == 19


def test_a_flood_by_one_person_is_nobody_else_s_conversation() -> None:
    room = RoomMemory(Linker())
    room.hear(*heard(0, "2", "question"))
    for number in range(1, 60):
        room.hear(*heard(number, "1", f"lane {number}"))
    assert room.whole("59")
    assert not room.whole("0")


def test_a_room_of_one_person_is_one_conversation() -> None:
    room = RoomMemory(Linker())
    for number in range(20):
        room.hear(*heard(number, "1", f"lane {number}"))
    assert room.whole("19")
    room.hear(*heard(21, "2", "other"))
    assert not room.whole("21")


def test_a_conversation_beside_the_one_that_fills_the_room_is_shown_by_itself() -> None:
    room = RoomMemory(Linker())
    room.hear(*heard(1, "1", "b"))
    for number in range(2, 40):
        room.hear(*heard(number, str(number % 3), "a"))
    assert room.whole("39")
    assert not room.whole("1")


async def test_rooms_are_remembered_up_to_a_bound_also_when_they_grow(gateway: Gateway) -> None:
    rooms = RoomMemories(gateway.services.tapes, Linker(), most=2_500_000)
    names = [f"tape {number}" for number in range(20)]
    made = [await rooms.of(name) for name in names]
    assert [await rooms.of(name) for name in names] == made
    for name, room in zip(names, made, strict=True):
        for message in range(1, WINDOW + 1):
            room.hear(*heard(message, "1", "a"), message)
        assert await rooms.of(name) is room
    fit = 2_500_000 // made[0].size()
    assert 3 < fit < len(names)
    calls = [id(room.called) for room in made]
    del made, room
    again = [id((await rooms.of(name)).called) for name in names[-fit:]]
    assert again == calls[-fit:]
    assert len((await rooms.of(names[0])).room) == 0


async def test_a_room_that_somebody_works_with_is_not_read_again(gateway: Gateway) -> None:
    reads = list[str]()
    tapes = gateway.services.tapes
    rooms = RoomMemories(tapes, Linker(), lambda: reads.append("read"), most=1)
    first = await rooms.of("first")
    first.hear(*heard(1, "1", "a"))
    await rooms.of("second")
    assert await rooms.of("first") is first
    assert reads == ["read", "read"]
    rooms.forget(["first"])
    assert await rooms.of("first") is not first


async def test_what_rooms_keep_of_older_messages_counts_too(gateway: Gateway) -> None:
    room = RoomMemory(Linker())
    for message in range(1, WINDOW + 1):
        room.hear(*heard(message, "1", "a"), message)
    before = room.size()
    for message in range(WINDOW + 1, WINDOW + REACH):
        room.hear(*heard(message, "1", "a"), message)
    assert room.size() > before + 100 * REACH


class DistantStore(MemoryStore):
    """A store whose first answer is long on its way."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.arrives = asyncio.Event(), asyncio.Event()

    async def query(self, query: Query) -> list[Entry]:
        found = await super().query(query)
        self.asked.set()
        await self.arrives.wait()
        return found


async def test_a_room_that_is_erased_from_while_it_is_read_is_read_again() -> None:
    store, reads = DistantStore(), []
    await store.append("room", [saying("user", "hello")])
    rooms = RoomMemories(TapeService(store, "house"), Linker(), lambda: reads.append("read"))
    reading = asyncio.create_task(rooms.of("room"))
    await store.asked.wait()
    rooms.forget(["room"])
    store.arrives.set()
    room = await reading
    assert reads == ["read", "read"]
    assert await rooms.of("room") is room


async def test_the_rooms_of_chats_where_nothing_is_said_are_not_kept_for_ever(
    gateway: Gateway,
) -> None:
    rooms = RoomMemories(gateway.services.tapes, Linker(), most=1_000_000)
    first = (await rooms.of("first")).called
    for number in range(400):
        await rooms.of(f"tape {number}")
    assert (await rooms.of("first")).called is not first
