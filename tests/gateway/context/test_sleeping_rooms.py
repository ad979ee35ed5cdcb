"""What a room remembers beyond its window: read from the tape, and erased."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from gateway.context.rooms.memories import RoomMemories
from gateway.context.rooms.memory import READ, RoomMemory
from tape.linking.features_text import gist
from tape.linking.waking import WOKE
from tests.gateway.context.memories import hear, says
from tests.gateway.erasing.stage import erased
from tests.kit.chats import GroupChat

SUBJECT = "the grafana dashboard leaks memory since the upgrade"
BACK = "the grafana dashboard leaks memory again"
OTHERS = READ + 30
A_DAY_LATER = 2_000  # messages are a minute apart


async def spoken(group: GroupChat) -> Iterator[int]:
    """Have two people discuss a subject, then others theirs; return the next numbers."""
    numbers = count(1)
    said = [says(next(numbers), "7", SUBJECT), says(next(numbers), "8", "is it fixed by now?")]
    for number in range(OTHERS):
        text = f"item{number // 3} and colour{number // 3}, please?"
        said.append(says(next(numbers), str(number // 3 % 6), text))
    await hear(group, *said)
    return numbers


async def memory_of(group: GroupChat) -> tuple[RoomMemories, RoomMemory]:
    rooms = group.gateway.parts.memories
    return rooms, await rooms.of(group.tape.name)


async def rebuilt(rooms: RoomMemories, group: GroupChat) -> RoomMemory:
    """Return the room as it is read from a tape that has no piece."""
    with rooms.forgetting(group.tape.name):
        await rooms.erasing(group.tape.name)
    return await rooms.of(group.tape.name)


def outlines(memory: RoomMemory) -> list[Any]:
    return [(outline, words.tolist()) for outline, words in memory.room.asleep]


async def test_a_room_that_was_forgotten_wakes_the_lane_that_slept_in_it(group: GroupChat) -> None:
    await spoken(group)
    rooms, kept = await memory_of(group)
    again = await rebuilt(rooms, group)
    assert again.unread
    assert len(again.room.asleep) == 0
    entries = await group.hear(says(A_DAY_LATER, "7", BACK))
    assert not again.unread
    assert outlines(again)[: len(kept.room.asleep)] == outlines(kept)
    first = next(entry for entry in entries if entry.meta.get("text") == SUBJECT)
    last = next(entry for entry in reversed(entries) if entry.meta.get("text") == BACK)
    assert last.meta["lane"] == first.meta["lane"]
    assert last.meta["link"]["why"] == WOKE


async def test_older_messages_are_read_only_where_a_message_would_begin_a_conversation(
    group: GroupChat,
) -> None:
    numbers = await spoken(group)
    rooms, _kept = await memory_of(group)
    again = await rebuilt(rooms, group)
    replied = str(OTHERS)
    await group.hear(says(next(numbers), "1", BACK, reply_to=replied))
    assert again.unread
    assert again is await rooms.of(group.tape.name)


async def test_older_messages_are_not_read_where_two_people_speak(group: GroupChat) -> None:
    numbers = count(1)
    said = [
        says(next(numbers), str(number // 3 % 2), f"item{number // 3} and colour, please?")
        for number in range(OTHERS)
    ]
    await hear(group, *said)
    rooms, _kept = await memory_of(group)
    again = await rebuilt(rooms, group)
    entries = await group.hear(says(10_000, "1", BACK))
    assert "parent" not in entries[-1].meta["link"]
    assert again.unread
    await group.hear(says(12_000, "7", "who knows a dentist in Leipzig?"))
    assert not again.unread


async def test_what_was_erased_does_not_sleep_in_the_room(group: GroupChat) -> None:
    numbers = await spoken(group)
    rooms, kept = await memory_of(group)
    words = set(gist("grafana dashboard leaks").words)
    assert kept.room.asleep.holders(words, 9).keys() == words
    (number,) = [one.id for one in await group.tape.read() if one.meta.get("text") == SUBJECT]
    await group.gateway.parts.eraser.begin(
        what="message", asked_by="operator", tape=group.tape.name, entries=(number,)
    )
    await erased(group.gateway, at_least=1)
    again = await rooms.of(group.tape.name)
    assert again is not kept
    entries = await group.hear(says(next(numbers), "7", BACK))
    assert again.room.asleep.outlines
    assert not again.room.asleep.holders(words, 9)
    last = next(entry for entry in reversed(entries) if entry.meta.get("text") == BACK)
    assert last.meta["link"]["why"] != WOKE
