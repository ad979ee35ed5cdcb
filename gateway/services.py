"""The services that most parts of a gateway share."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.clock import Clock
from gateway.hooks.runtime import HookRuntime
from gateway.pipeline.pipeline import TurnPipeline
from gateway.pipeline.router import OutboundChannelRouter
from gateway.settings import Settings
from gateway.storage.ledger.ledger import Ledger
from gateway.storage.write_guard import WriteGuard
from tape.service import TapeService
from tape.store import UnitStore
from tape.unit_of_work import Outcome, Unit


@dataclass(frozen=True, slots=True)
class Services:
    """Built once, at the start.

    store    holds the ledger, and the tapes unless a plugin provides another store for them
    aliases  maps a session that was renamed to the session that it continues
    """

    settings: Settings
    clock: Clock
    store: UnitStore
    tapes: TapeService
    ledger: Ledger
    hooks: HookRuntime
    router: OutboundChannelRouter
    pipeline: TurnPipeline
    guard: WriteGuard
    aliases: dict[str, str]

    async def commit(self, unit: Unit, *, waiting: str) -> list[Outcome]:
        """Commit a unit once the store is available; `waiting` names the wait in the log."""
        return await self.guard.retrying(waiting, lambda: self.store.commit(unit))
