"""Write down all that is remembered of a chat as one piece, and read it back.

A piece says its version, of which tape it is, and up to which entry; what it is made of has a
checksum. What was said stands in it as it is, so that a search for a word finds it.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate, pairwise
from struct import Struct
from typing import Any, Final

import orjson

from gateway.context.rooms.memory import RoomMemory
from tape.linking import Linker
from tape.linking.asleep import UNREADABLE
from tape.linking.recognition import Recognition, read_recognition
from tape.linking.writing import FORM, read_back, written

VERSION: Final = 100 + FORM  # a hundred more for each change of what is written here
MAGIC: Final = b"room"
HEAD: Final = Struct("<4sHII")  # the magic, the version, the checksum, and the size of the JSON
MAX_ID: Final = 2**63  # beyond all ids of entries


def piece_of(memory: RoomMemory, tape: str) -> bytes:
    """Return the piece of a tape's memory, or b"" if it cannot be written.

    That is so for some text, and while the memory is ahead of the tape. Memories of the same
    messages are written alike.
    """
    room = memory.room
    try:
        ids = [memory.entries[heard.key] for heard in room.heard]
        rest = orjson.dumps(
            {
                "tape": tape,
                "names": list(memory.names),
                "upto": memory.upto,
                "entries": [after - before for before, after in pairwise((0, *ids))],
                "called": _called(memory),
                "filling": memory.filling,
                "filled": memory.filled if memory.filling is not None else 0,
                "unread": memory.unread,
                "recognition": memory.recognition.to_json(),
                "judged_of": memory.judged_of,
                "since": memory.since,
            }
        )
        body = rest + written(room)
    except UNREADABLE:
        return b""
    return HEAD.pack(MAGIC, VERSION, zlib.crc32(body), len(rest)) + body


def memory_of(
    piece: bytes, tape: str, linker: Linker, names: Sequence[str] = ()
) -> RoomMemory | None:
    """Return the memory that was written of a tape, or None if it has to be rebuilt of the tape."""
    try:
        magic, version, checksum, size = HEAD.unpack_from(piece)
        body = memoryview(piece)[HEAD.size :]
        if (magic, version) != (MAGIC, VERSION) or zlib.crc32(body) != checksum:
            return None
        found = orjson.loads(body[:size])
        if (found["tape"], found["names"]) != (tape, list(names)):
            return None
        return _read(found, bytes(body[size:]), linker, names)
    except UNREADABLE:
        return None


def _called(memory: RoomMemory) -> list[tuple[int, str, str]]:
    """Return the names that people are called by: the message that says each, the name, and who."""
    first = memory.room.first
    known = ((number - first, name, who) for name, (who, number) in memory.called.items())
    return sorted(one for one in known if one[0] >= 0)


def _read(found: Any, room: bytes, linker: Linker, names: Sequence[str]) -> RoomMemory:
    memory = RoomMemory(linker, (), names)
    memory.room = read_back(room)
    ids = accumulate(found["entries"])
    memory.entries = {one.key: at for one, at in zip(memory.room.heard, ids, strict=True)}
    memory.called = {name: (who, at) for at, name, who in found["called"]}
    memory.filling, memory.filled = found["filling"], int(found["filled"])
    memory.upto, memory.unread = int(found["upto"]), int(found["unread"])
    if not 0 <= memory.unread <= memory.upto < MAX_ID:
        raise ValueError(f"there is no entry {memory.upto}")
    memory.recognition = read_recognition(found["recognition"]) or Recognition()
    memory.judged_of, memory.since = str(found["judged_of"]), int(found["since"])
    return memory
