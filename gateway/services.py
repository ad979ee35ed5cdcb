"""The services that most parts of a gateway share, built once on startup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import anyio

from channels.base import Channel
from gateway.background import Spawn
from gateway.clock import Clock
from gateway.hooks.runtime import HookRuntime
from gateway.metrics.meters import Meters
from gateway.pipeline.pipeline import TurnPipeline
from gateway.pipeline.router import OutboundChannelRouter
from gateway.redaction.redactor import Redactor
from gateway.settings import Settings
from gateway.settings.bounds import Bounds
from gateway.settings.intervals import Intervals
from gateway.sharing.claims import EVERY_SESSION, SessionClaims
from gateway.sharing.platforms.accounts import Accounts
from gateway.sharing.shared import NOBODY_WORKS, SharedWork
from gateway.storage.kept_files import KeptFiles
from gateway.storage.ledger.ledger import Ledger
from gateway.storage.old_threads import OldThreads
from gateway.storage.write_guard import WriteGuard
from tape.right_of_way import RightOfWay
from tape.service import TapeService
from tape.store import UnitStore
from tape.unit_of_work import Outcome, Unit


@dataclass(slots=True, eq=False)
class Services:
    settings: Settings  # others take their place when the owner sets a model or a token
    clock: Clock
    store: UnitStore  # the ledger, and the tapes unless a plugin provides a tape store
    tapes: TapeService
    ledger: Ledger
    hooks: HookRuntime
    files: KeptFiles
    router: OutboundChannelRouter
    pipeline: TurnPipeline
    guard: WriteGuard
    old_threads: OldThreads
    aliases: dict[str, str]  # maps a renamed session to the session that it continues
    spawn: Spawn
    redactor: Redactor
    meters: Meters
    accounts: Accounts
    intervals: Intervals
    bounds: Bounds
    way: RightOfWay  # whom work in the background lets go first
    shared: SharedWork | None = None  # None: this process works alone

    def use(self, settings: Settings) -> None:
        """Have all parts read other settings from now on."""
        self.settings = settings

    @property
    def claims(self) -> SessionClaims:
        """The sessions that are this process's business."""
        return EVERY_SESSION if self.shared is None else self.shared.held

    def sharing_notes(self) -> list[str]:
        """Return what the operator has to know about the work that processes share."""
        return [NOBODY_WORKS] if self.shared is not None and self.shared.nobody_works else []

    async def commit(self, unit: Unit, *, waiting: str) -> list[Outcome]:
        """Commit a unit of work once the store is available; the log calls the wait `waiting`."""
        return await self.guard.retrying(waiting, lambda: self.store.commit(unit))

    async def settle_threads(self, channels: Mapping[str, Channel], seconds: float) -> None:
        """Look up the threads of old tapes; those that take longer are looked up meanwhile."""
        threads = self.old_threads
        with anyio.move_on_after(seconds):
            await threads.look_up(channels)
        if threads.unknown:
            self.spawn("old threads", lambda: threads.keep_looking(channels, self.clock))
