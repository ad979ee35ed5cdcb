"""Work on the database now and then: finish erasures, erase what is old, fold.

Of several processes that share a database one does it, and looks besides for what those that have
ended left behind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from gateway.background import Background, Spawn
from gateway.erasing.eraser import Eraser
from gateway.logs import get_log
from gateway.services import Services
from gateway.sharing.bus import READY
from gateway.sharing.shared import SharedWork
from gateway.storage.folding import LedgerFolder
from tape.errors import StoreTooNew, TapeError


@dataclass(eq=False)
class Chores:
    """Does it until cancelled."""

    _services: Services
    _eraser: Eraser
    _is_busy: Callable[[], bool]

    async def run(self) -> None:
        shared = self._services.shared
        if shared is None:
            await self._eraser.resume()
            self._begin(self._services.spawn)
            return

        async def look() -> None:
            async with anyio.create_task_group() as group:  # which ends with the lease
                self._begin(Background(group).spawn)
                while True:
                    await self._look(shared)
                    await self._services.clock.sleep(self._services.intervals.chores)

        while True:
            await shared.pollers.while_held("chores", look, lambda _owner: None)

    def _begin(self, spawn: Spawn) -> None:
        """Begin what then goes on by itself."""
        services = self._services
        spawn("retention", self._eraser.retain)
        if days := services.settings.tape.ledger_days:
            busy, store = self._is_busy, services.store
            folder = LedgerFolder(store, services.clock, days, busy, services.way)
            spawn("folding", folder.run)

    async def _look(self, shared: SharedWork) -> None:
        try:
            await self._eraser.resume()
            await shared.controls.forget_old()
            if found := await shared.sessions.make_ready():
                get_log().warning("sessions.made_ready", sessions=len(found))
                shared.bus.send(READY)
        except StoreTooNew:
            raise
        except TapeError as away:
            get_log().warning("sharing.later", why=away)
