"""The pieces of rooms in a database that processes share: only the holder writes, anybody reads."""

from __future__ import annotations

import psycopg
import pytest

from gateway.sharing.claims import Held, HeldSessions
from gateway.sharing.fencing import Fencing
from gateway.storage.ledger.leases import Leases
from gateway.storage.room_pieces import RoomPieces
from tape.errors import SessionLost
from tape.store import SharedStore, UnitStore
from tape.tails import Tails
from tape.unit_of_work import Unit
from tests.kit.clock import ManualClock

pytestmark = pytest.mark.postgresql

SESSION, TAPE = "telegram:1", "house/telegram:1"
WORDS = "the printer is out of toner " * 400


async def claimed(store: UnitStore, owner: str, seconds: float) -> Held:
    """Claim the session for a process, with a lease of so many seconds."""
    unit = Unit()
    step = Leases(store, owner, seconds).claim(unit, SESSION, TAPE)
    epoch = int((await store.commit(unit))[step].rows[0]["epoch"])
    return Held(SESSION, TAPE, 1, epoch, arrived=0, asked=0)


async def test_a_piece_moves_with_its_session_and_a_former_holder_writes_none(
    store: UnitStore,
) -> None:
    assert isinstance(store, SharedStore)
    pieces = RoomPieces(store)
    lost = await claimed(store, "aa", -1)
    sessions = HeldSessions("aa", ManualClock(), 60, Tails())
    sessions.add(lost, 0.0)
    fence = Fencing(sessions, str, lambda _arrival: None)
    store.framing = fence
    first = {TAPE: (1, WORDS.encode())}
    await pieces.keep(first, {SESSION})
    store.framing = None
    await claimed(store, "bb", 60)
    assert await pieces.read(TAPE) == WORDS.encode()
    store.framing = fence
    with pytest.raises(SessionLost):
        await pieces.keep({TAPE: (2, b"of the former holder")}, {SESSION})
    sessions.remove(SESSION)
    with pytest.raises(SessionLost):
        await pieces.keep({TAPE: (2, b"of somebody else")}, {SESSION})
    store.framing = None
    assert await pieces.read(TAPE) == WORDS.encode()
    await pieces.drop(TAPE)
    assert await pieces.read(TAPE) == b""


async def test_a_piece_is_not_compressed_so_that_its_words_are_found(
    store: UnitStore, url: str
) -> None:
    pieces = RoomPieces(store)
    await pieces.keep({TAPE: (1, WORDS.encode())}, set())
    async with await psycopg.AsyncConnection.connect(url) as connection:
        found = await connection.execute("SELECT pg_column_size(piece) FROM room_piece")
        row = await found.fetchone()
    assert row is not None
    assert row[0] >= len(WORDS)
