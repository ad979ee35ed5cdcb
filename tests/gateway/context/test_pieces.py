"""The pieces of rooms: written now and then, read back, bad ones, and those that are erased."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from anyio.lowlevel import checkpoint

from gateway.app import Gateway
from gateway.backup.archive import extract
from gateway.backup.backup import back_up
from gateway.backup.moving.tables import moved_tables
from gateway.context.rooms.keeping import PieceKeeper
from gateway.context.rooms.memories import EACH, RoomMemories
from gateway.context.rooms.memory import READ, RoomMemory
from gateway.context.rooms.piece import HEAD, VERSION, memory_of, piece_of
from gateway.storage.room_pieces import RoomPieces
from tape.entry import event
from tape.erasing import ERASE
from tape.errors import StoreUnavailable
from tape.linking import Linker
from tape.linking.room import WINDOW
from tape.unit_of_work import Outcome, Run, Unit
from tests.gateway.context.memories import says
from tests.gateway.erasing.stage import MARKS, SECRET, erased
from tests.kit.chats import GroupChat

MODEL = Linker.shipped()
TAPE = "some tape"


def small(names: Sequence[str] = (), first: int = 1) -> RoomMemory:
    memory = RoomMemory(MODEL, (), names)
    for number in range(first, first + 8):
        said = says(number, str(number % 3), f"subject{number} is broken")
        utterance = memory.utterance(said, 0)
        memory.hear(utterance, memory.link(utterance, None), number, said.sender.handle)
    return memory


PIECE = piece_of(small(), TAPE)


def test_a_piece_says_of_whom_it_is_up_to_which_entry_and_what_was_said() -> None:
    again = memory_of(PIECE, TAPE, MODEL)
    assert again is not None
    assert again.upto == 8
    assert again.entries == small().entries
    assert piece_of(again, TAPE) == PIECE
    assert b"subject7 is broken" in PIECE


def test_a_piece_of_another_tape_or_another_name_of_the_agent_is_not_read() -> None:
    piece = piece_of(small(("Ada",)), TAPE)
    assert memory_of(piece, TAPE, MODEL, ("Ada",)) is not None
    assert memory_of(piece, TAPE, MODEL, ("Eva",)) is None
    assert memory_of(piece, TAPE, MODEL) is None
    assert memory_of(piece, "another tape", MODEL, ("Ada",)) is None


def newer(piece: bytes) -> bytes:
    magic, _version, *rest = HEAD.unpack_from(piece)
    return HEAD.pack(magic, VERSION + 1, *rest) + piece[HEAD.size :]


BAD: Mapping[str, Callable[[bytes], bytes]] = {
    "none": lambda _piece: b"",
    "cut at its head": lambda piece: piece[:9],
    "cut": lambda piece: piece[: len(piece) // 2],
    "cut by a byte": lambda piece: piece[:-1],
    "longer": lambda piece: piece + b"x",
    "changed": lambda piece: piece[:100] + bytes([piece[100] ^ 1]) + piece[101:],
    "of a newer version": newer,
    "something else": lambda piece: b"x" * len(piece),
    "another room's": lambda _piece: piece_of(small(first=3), "another tape"),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_piece_that_is_not_whole_is_not_read(bad: str) -> None:
    assert memory_of(BAD[bad](PIECE), TAPE, MODEL) is None


def test_a_memory_that_is_ahead_of_its_tape_is_not_written() -> None:
    memory = small()
    said = memory.utterance(says(9, "1", "hello"), 0)
    memory.hear(said, memory.link(said, None))
    assert piece_of(memory, TAPE) == b""
    memory.stands_at(said.key, 9)
    again = memory_of(piece_of(memory, TAPE), TAPE, MODEL)
    assert again is not None
    assert again.upto == 9


def test_text_that_cannot_be_written_makes_no_piece() -> None:
    memory = small()
    said = memory.utterance(says(99, "1", "lone \ud800 surrogate"), 0)
    memory.hear(said, memory.link(said, None), 99)
    assert piece_of(memory, TAPE) == b""


def test_what_comes_in_another_order_than_on_the_tape_is_read_again() -> None:
    memory = small()
    two = [memory.utterance(says(number, "1", "hello"), 0) for number in (9, 10)]
    for said in two:
        memory.hear(said, memory.link(said, None))
    memory.stands_at(two[0].key, 12)
    assert not memory.is_stale
    memory.stands_at(two[1].key, 11)
    assert memory.is_stale


async def talk(group: GroupChat, numbers: Iterator[int], count: int) -> None:
    """Say things, of which some are answered."""
    for _ in range(count):
        number = next(numbers)
        text = f"item{number // 3} and colour{number // 3}, please?"
        said = says(number, str(number // 3 % 6), text, addressed=number % 20 == 0)
        await group.accept(said)
    await group.settled()


async def piece_in(group: GroupChat) -> bytes:
    """Return the piece of the group's room once it is written."""
    pieces = RoomPieces(group.gateway.services.store)
    while not (piece := await pieces.read(group.tape.name)):
        await room_of(group)
        await checkpoint()
    return piece


async def room_of(group: GroupChat) -> RoomMemory:
    return await group.gateway.parts.memories.of(group.tape.name)


async def rebuilt(group: GroupChat) -> RoomMemory:
    """Return the memory of what is on the tape, whatever pieces there are."""
    services = group.gateway.services
    names = services.settings.agent.names_in_chats()
    return await RoomMemories(services.tapes, MODEL, names=names).of(group.tape.name)


def alike(group: GroupChat, *rooms: RoomMemory) -> bool:
    """Return whether rooms remember the same, but for outlines."""
    written = set[bytes]()
    for room in rooms:
        copy = memory_of(piece_of(room, TAPE), TAPE, room.linker, room.names)
        assert copy is not None
        copy.unread = 0
        copy.room.asleep = type(copy.room.asleep)()
        written.add(piece_of(copy, TAPE))
    return len(written) == 1


def _upto(group: GroupChat, piece: bytes, like: RoomMemory) -> int:
    found = memory_of(piece, group.tape.name, like.linker, like.names)
    assert found is not None
    return found.upto


async def test_a_room_that_a_gateway_keeps_is_the_one_on_its_tape(group: GroupChat) -> None:
    numbers = count(1)
    await talk(group, numbers, READ + 90)
    kept = await room_of(group)
    assert not kept.is_ahead
    assert any(one.agent for one in kept.room.heard)
    while _upto(group, await piece_in(group), kept) < kept.upto - 2 * EACH:
        await checkpoint()
    group.gateway.parts.memories.forget([group.tape.name])
    again = await room_of(group)
    assert again is not kept
    assert again.unwritten < 2 * EACH < READ  # it was read back
    assert again.unread == kept.unread
    assert alike(group, kept, again)
    fresh = await rebuilt(group)
    assert fresh.unread
    assert alike(group, fresh, again)
    await talk(group, numbers, 30)
    assert alike(group, await room_of(group), await rebuilt(group))


async def test_a_piece_is_written_once_in_some_messages_and_says_up_to_which(
    group: GroupChat,
) -> None:
    numbers = count(1)
    await talk(group, numbers, EACH - 8)
    assert await RoomPieces(group.gateway.services.store).read(group.tape.name) == b""
    await talk(group, numbers, 10)
    piece = await piece_in(group)
    kept = await room_of(group)
    memory = memory_of(piece, group.tape.name, kept.linker, kept.names)
    assert memory is not None
    assert 0 < memory.upto <= kept.upto


@pytest.mark.parametrize("bad", sorted(BAD.keys() - {"none"}))
async def test_a_room_with_a_bad_piece_is_rebuilt(group: GroupChat, bad: str) -> None:
    numbers = count(1)
    await talk(group, numbers, WINDOW // 2)
    piece = await piece_in(group)
    kept = await room_of(group)
    pieces = RoomPieces(group.gateway.services.store)
    await pieces.keep({group.tape.name: (1, BAD[bad](piece))}, set())
    group.gateway.parts.memories.forget([group.tape.name])
    again = await room_of(group)
    assert again is not kept
    assert alike(group, kept, again)


def forged(piece: bytes, change: Callable[[Any], None]) -> bytes:
    """Return a piece that says something else, with a checksum that fits."""
    magic, version, _checksum, size = HEAD.unpack_from(piece)
    body = piece[HEAD.size :]
    found = orjson.loads(body[:size])
    change(found)
    head = orjson.dumps(found)
    body = head + body[size:]
    return HEAD.pack(magic, version, zlib.crc32(body), len(head)) + body


FORGED: Mapping[str, Mapping[str, object]] = {
    "an entry beyond all": {"upto": 2**64 - 1},
    "an entry before all": {"upto": -(2**63)},
    "no number of an entry": {"upto": 1e300},
    "names of another kind": {"called": [["x", ["y"], 3]]},
}


@pytest.mark.parametrize("what", FORGED)
def test_a_piece_that_says_what_cannot_be_is_not_read(what: str) -> None:
    piece = forged(PIECE, lambda found: found.update(FORGED[what]))
    assert memory_of(piece, TAPE, MODEL) is None


def test_a_piece_that_has_a_message_twice_is_not_read() -> None:
    memory = small()
    memory.room.heard[3].key = memory.room.heard[2].key
    assert memory_of(piece_of(memory, TAPE), TAPE, MODEL) is None


def asleep_in(piece: bytes, tape: str, room: RoomMemory) -> int:
    """Return of how many sleeping lanes a piece has outlines; it may be older than its room."""
    written = memory_of(piece, tape, room.linker, room.names)
    return len(written.room.asleep) if written is not None else 0


async def test_outlines_that_cannot_be_read_are_left_out(group: GroupChat) -> None:
    numbers = count(1)
    await talk(group, numbers, WINDOW + EACH)
    while not asleep_in(piece := await piece_in(group), group.tape.name, await room_of(group)):
        await talk(group, numbers, EACH)
    whole = len((await room_of(group)).room.asleep)
    magic, version, _checksum, size = HEAD.unpack_from(piece)
    body = piece[HEAD.size :]
    at = body.rindex(b'"lane_names":')
    body = body[:at] + b"'" + body[at + 1 :]
    piece = HEAD.pack(magic, version, zlib.crc32(body), size) + body
    memories, pieces = group.gateway.parts.memories, RoomPieces(group.gateway.services.store)
    await pieces.keep({group.tape.name: (1, piece)}, set())
    memories.forget([group.tape.name])
    room = await room_of(group)
    assert len(room.room.heard) == WINDOW
    assert len(room.room.asleep) < whole
    await talk(group, numbers, 5)
    entries = await group.tape.find()
    assert sum("inbox" in entry.meta for entry in entries) == next(numbers) - 1


async def test_a_piece_of_another_tape_with_this_one_s_name_is_not_believed(
    group: GroupChat,
) -> None:
    numbers = count(1)
    await talk(group, numbers, WINDOW // 2)
    kept = await room_of(group)
    pieces = RoomPieces(group.gateway.services.store)
    other = piece_of(small(kept.names), group.tape.name)
    await pieces.keep({group.tape.name: (8, other)}, set())
    group.gateway.parts.memories.forget([group.tape.name])
    assert alike(group, kept, await room_of(group))


async def test_a_piece_from_before_an_erasure_of_a_former_version_is_not_believed(
    group: GroupChat,
) -> None:
    numbers = count(1)
    await talk(group, numbers, WINDOW // 2)
    piece = await piece_in(group)
    await group.tape.append(event(ERASE, {"what": "person", "entries": 1}))
    kept = await room_of(group)
    believed = memory_of(piece, group.tape.name, kept.linker, kept.names)
    assert believed is not None
    room = believed.room.heard[3]
    room.text = "what was erased"
    pieces = RoomPieces(group.gateway.services.store)
    await pieces.keep({group.tape.name: (1, piece_of(believed, group.tape.name))}, set())
    group.gateway.parts.memories.forget([group.tape.name])
    again = await room_of(group)
    assert "what was erased" not in {one.text for one in again.room.heard}
    assert alike(group, kept, again)


def holds(folder: Path, words: Sequence[str]) -> set[str]:
    """Return the words that are in files of a folder, byte for byte."""
    data = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return {word for word in words if word.encode() in data}


async def test_a_search_for_bytes_finds_the_words_of_a_piece_until_they_are_erased(
    group: GroupChat,
) -> None:
    numbers = count(1)
    await group.hear(says(next(numbers), "70", SECRET))
    await talk(group, numbers, EACH + 10)
    tape, pieces = group.tape.name, RoomPieces(group.gateway.services.store)
    assert MARKS[0].encode() in await piece_in(group)
    home = group.gateway.services.settings.home_path
    assert holds(home, [SECRET])
    begun = group.gateway.parts.eraser.begin
    await begun(what="person", asked_by="operator", channel="plain", person="70")
    await erased(group.gateway, at_least=1)
    assert await pieces.read(tape) == b""
    assert not holds(home, [SECRET, *MARKS])
    await talk(group, numbers, EACH + 10)
    assert MARKS[0].encode() not in await piece_in(group)
    assert not holds(home, [SECRET, *MARKS])


async def test_a_piece_of_a_tape_from_which_nothing_was_erased_stays(group: GroupChat) -> None:
    numbers = count(1)
    await talk(group, numbers, EACH + 10)
    before = await piece_in(group)
    begun = group.gateway.parts.eraser.begin
    await begun(what="person", asked_by="operator", channel="plain", person="nobody")
    await erased(group.gateway, at_least=1)
    assert await RoomPieces(group.gateway.services.store).read(group.tape.name) == before


async def test_no_piece_is_written_of_a_tape_while_it_is_erased_from(gateway: Gateway) -> None:
    keeper = PieceKeeper(gateway.services)
    pieces = RoomPieces(gateway.services.store)
    keeper.submit(TAPE, lambda: (8, PIECE))
    await keeper.bar(TAPE)
    keeper.submit(TAPE, lambda: (8, PIECE))
    for _ in range(50):
        await checkpoint()
    assert await pieces.read(TAPE) == b""
    keeper.unbar(TAPE)
    keeper.submit(TAPE, lambda: (8, PIECE))
    while not await pieces.read(TAPE):
        await checkpoint()


async def test_a_full_disk_costs_a_piece_and_nothing_else(group: GroupChat) -> None:
    store = group.gateway.services.store
    commit, refused = store.commit, 0

    async def full(unit: Unit) -> list[Outcome]:
        nonlocal refused
        steps = [step for step in unit.steps if isinstance(step, Run)]
        if any(step.statement == "ledger.keep_room_piece" for step in steps):
            refused += 1
            raise StoreUnavailable("the disk is full", full=True)
        return await commit(unit)

    store.commit = full  # type: ignore[method-assign]
    numbers = count(1)
    await talk(group, numbers, EACH + 10)
    await talk(group, numbers, EACH + 10)
    store.commit = commit  # type: ignore[method-assign]
    assert refused
    assert not group.gateway.services.guard.why
    entries = await group.tape.find()
    assert sum("inbox" in entry.meta for entry in entries) == 2 * EACH + 20
    assert await RoomPieces(store).read(group.tape.name) == b""
    kept = await room_of(group)
    group.gateway.parts.memories.forget([group.tape.name])
    assert alike(group, kept, await room_of(group))


async def test_backups_and_moves_leave_pieces_out(group: GroupChat, tmp_path: Path) -> None:
    await talk(group, count(1), EACH + 10)
    assert await piece_in(group)
    settings = group.gateway.services.settings
    home = settings.home_path
    assert b"room_piece" in b"".join(path.read_bytes() for path in home.glob("*.db*"))
    archive = tmp_path / "home.tape"
    manifest = back_up(settings, archive, lambda *_: None)
    (tmp_path / "again").mkdir()
    extract(archive, manifest, tmp_path / "again", lambda *_: None)
    data = (tmp_path / "again" / "tapeway.db").read_bytes()
    assert b"room_piece" in data
    assert b"lane_names" not in data  # it stands in each piece
    assert "room_piece" not in {table.name for table in moved_tables()}
