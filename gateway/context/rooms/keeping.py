"""Write the pieces of rooms in the background, and delete those whose tapes are erased from.

Nothing waits for a piece, and nothing is lost without it: one that cannot be written is given up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.room_pieces import RoomPieces
from tape.errors import SessionLost, TapeError

AT_ONCE: Final = 8
"""Maximum pieces that are written in one transaction, where no other process shares the store."""

Write = Callable[[], tuple[int, bytes]]
"""Returns a piece and the id of the newest entry in it; b"" if there is none to write."""


class PieceKeeper:
    """Keeps the pieces of the rooms of the sessions that this process works on."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._pieces = RoomPieces(services.store)
        self._due: dict[str, Write] = {}
        self._barred: set[str] = set()
        self._lock = anyio.Lock()
        self._is_busy = False

    async def read(self, tape: str) -> bytes:
        """Return the piece of a tape, or b""."""
        return await self._pieces.read(tape)

    def submit(self, tape: str, write: Write) -> None:
        """Write a tape's piece soon, as it is then."""
        if tape in self._barred:
            return
        self._due[tape] = write
        if not self._is_busy:
            self._is_busy = True
            self._services.spawn("room pieces", self._work)

    def forget(self, tape: str) -> None:
        """Write no piece that was submitted before."""
        self._due.pop(tape, None)

    async def bar(self, tape: str) -> None:
        """Delete a tape's piece, and write none until `unbar`; raises StoreUnavailable."""
        if tape in self._barred:
            return
        self._barred.add(tape)
        self._due.pop(tape, None)
        async with self._lock:
            await self._pieces.drop(tape)

    def unbar(self, tape: str) -> None:
        """Write pieces of a tape again."""
        self._barred.discard(tape)

    async def _work(self) -> None:
        try:
            while self._due:
                await self._services.way.given()
                async with self._lock:
                    await self._keep()
        finally:
            self._is_busy = False

    async def _keep(self) -> None:
        """Write some of the pieces that are due."""
        shared = self._services.shared
        most = AT_ONCE if shared is None else 1
        pieces = dict[str, tuple[int, bytes]]()
        for tape in list(self._due)[:most]:
            upto, piece = self._due.pop(tape)()
            if piece:
                pieces[tape] = (upto, piece)
            await checkpoint()
        held = set[str]() if shared is None else shared.held.of_tapes(pieces)
        if not pieces or self._services.guard.why or (shared is not None and not held):
            return
        try:
            await self._pieces.keep(pieces, held)
        except SessionLost:
            get_log().info("memories.left", tapes=len(pieces))
        except TapeError as cause:
            get_log().warning("memories.not_kept", tapes=len(pieces), why=cause)
