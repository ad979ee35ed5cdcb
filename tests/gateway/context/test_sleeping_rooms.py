"""What a room remembers beyond its window: read from the tape, erased, written and read back."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import orjson
import pytest

from gateway.context.rooms.memories import RoomMemories
from gateway.context.rooms.memory import RoomMemory
from gateway.context.selection import Nearby
from tape.linking import Linker
from tape.linking.features_text import gist
from tape.linking.room import WINDOW
from tape.linking.waking import WOKE
from tape.linking.writing import written
from tests.gateway.context.memories import hear, says
from tests.gateway.erasing.stage import erased
from tests.kit.chats import GroupChat

MODEL = Linker.shipped()
SUBJECT = "the grafana dashboard leaks memory since the upgrade"
BACK = "the grafana dashboard leaks memory again"
OTHERS = WINDOW + 30
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


def outlines(memory: RoomMemory) -> list[Any]:
    return [(outline, words.tolist()) for outline, words in memory.room.asleep]


async def test_a_room_that_was_forgotten_wakes_the_lane_that_slept_in_it(group: GroupChat) -> None:
    await spoken(group)
    rooms, kept = await memory_of(group)
    rooms.forget([group.tape.name])
    again = await rooms.of(group.tape.name)
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
    rooms.forget([group.tape.name])
    again = await rooms.of(group.tape.name)
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
    rooms.forget([group.tape.name])
    again = await rooms.of(group.tape.name)
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


async def test_a_memory_that_was_read_back_is_the_one_that_was_written(group: GroupChat) -> None:
    numbers = await spoken(group)
    await group.hear(says(next(numbers), "7", "what is 1 + 1?", addressed=True))
    _rooms, kept = await memory_of(group)
    again = RoomMemory.read_back(kept.written(), kept.linker, kept.names)
    assert again is not None
    assert again.written() == kept.written()
    assert written(again.room) == written(kept.room)
    assert (again.alone, again.filling, again.unread) == (kept.alone, kept.filling, kept.unread)
    newest = kept.room.heard[-1].key
    assert again.whole(newest) == kept.whole(newest)
    assert again.beside(newest, Nearby()) == kept.beside(newest, Nearby())
    assert again.recognition == kept.recognition
    assert again.begins() == kept.begins()
    for text, who in ((BACK, "7"), ("Name3, which colour3?", "9"), ("thanks", "@handle1")):
        said = says(next(numbers), who, text, mentions=("@handle2",))
        assert again.people(said) == kept.people(said)
        utterance = kept.utterance(said, 0)
        link = kept.link(utterance, None)
        assert again.link(again.utterance(said, 0), None) == link
        kept.hear(utterance, link, 1)
        again.hear(utterance, link, 1)
    assert again.written() == kept.written()


def small(names: Sequence[str] = ()) -> RoomMemory:
    memory = RoomMemory(MODEL, (), names)
    for number in range(8):
        said = says(number, str(number % 3), f"subject{number} is broken")
        utterance = memory.utterance(said, 0)
        memory.hear(utterance, memory.link(utterance, None), number + 1, said.sender.handle or "")
    return memory


def changed(place: int, value: object) -> bytes:
    parts = orjson.loads(zlib.decompress(small().written()))
    parts[place] = value
    return zlib.compress(orjson.dumps(parts))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        small().written()[:-9],
        small().written()[:40] + b"x" + small().written()[41:],
        zlib.compress(b"no JSON"),
        zlib.compress(b"{}"),
        changed(0, {}),
        changed(1, ["Ada"]),
        changed(2, {"key": "no number"}),
        changed(2, [1]),
        changed(3, None),
        changed(5, None),
    ],
)
def test_a_piece_that_is_damaged_is_not_read(data: bytes) -> None:
    assert RoomMemory.read_back(data, MODEL) is None


def test_a_piece_is_read_for_the_same_names_of_the_agent_alone() -> None:
    piece = small(("Ada",)).written()
    assert RoomMemory.read_back(piece, MODEL, ("Ada",)) is not None
    assert RoomMemory.read_back(piece, MODEL, ("Eva",)) is None
    assert RoomMemory.read_back(piece, MODEL) is None


def test_a_room_with_text_that_json_cannot_hold_is_not_written() -> None:
    memory = small()
    said = says(99, "1", "lone \ud800 surrogate")
    utterance = memory.utterance(said, 0)
    memory.hear(utterance, memory.link(utterance, None))
    assert memory.written() == b""
    assert RoomMemory.read_back(memory.written(), MODEL) is None
