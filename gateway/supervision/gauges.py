"""What `/metrics` looks up when it is asked: open messages, channels, the store and the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import anyio
import anyio.to_thread

from channels.base import Channel
from gateway.metrics import catalog
from gateway.metrics.meters import OTHER, Reading
from gateway.services import Services
from gateway.supervision.status import StatusBoard
from tape.database.schema import own_version
from tape.entry import parse_date
from tape.errors import TapeError
from tape.unit_of_work import Row

NONE_OPEN: Final[Mapping[catalog.Metric, float]] = MappingProxyType(
    {
        catalog.INBOX: 0,
        catalog.OLDEST: 0.0,
        catalog.UNPLACED: 0,
        catalog.UNPLACED_OLDEST: 0.0,
        catalog.OUTBOX: 0,
    }
)
STORE_SECONDS: Final = 2.0
"""Maximum seconds to wait for the database; after that, its last known numbers are shown."""


@dataclass(slots=True)
class Gauges:
    """Reads the state of a gateway."""

    _services: Services
    _status: StatusBoard
    _inbox: list[Row] = field(default_factory=list)
    _outbox: list[Row] = field(default_factory=list)
    _version: str = field(default_factory=own_version)

    async def read(self) -> list[Reading]:
        """Return everything that is looked up; what is unknown now is left out."""
        with suppress(TapeError), anyio.move_on_after(STORE_SECONDS):
            select = self._services.store.select
            self._inbox = await select("ledger.open_messages", {}, long=True)
            self._outbox = await select("ledger.open_sends", {}, long=True)
        is_up = self._services.guard.away_for() is None
        return [
            Reading(catalog.BUILD, (self._version,), 1),
            Reading(catalog.STORE, (), int(is_up)),
            *self._open_rows(),
            *self._channels(),
            *await anyio.to_thread.run_sync(self._disk),
        ]

    def _open_rows(self) -> Iterator[Reading]:
        now, channels = self._services.clock.now(), self._services.router.channels
        found = {name: dict(NONE_OPEN) for name in channels}
        for row in self._inbox:
            own = found.setdefault(_channel_of(row, channels), dict(NONE_OPEN))
            own[catalog.INBOX] += row["messages"]
            own[catalog.UNPLACED] += row["unplaced"]
            dates = ((catalog.OLDEST, "oldest"), (catalog.UNPLACED_OLDEST, "unplaced_oldest"))
            for metric, name in dates:
                if row[name]:
                    age = (now - parse_date(row[name])).total_seconds()
                    own[metric] = max(own[metric], age)
        for row in self._outbox:
            own = found.setdefault(_channel_of(row, channels), dict(NONE_OPEN))
            own[catalog.OUTBOX] += row["messages"]
        for name, values in found.items():
            yield from (Reading(metric, (name,), value) for metric, value in values.items())

    def _channels(self) -> Iterator[Reading]:
        deaf = self._status.deaf()
        for name, state in self._status.everywhere().items():
            yield Reading(catalog.UP, (name,), int(state.state == "ready" and name not in deaf))
        yield from tallies(self._services.router.channels)

    def _disk(self) -> list[Reading]:
        with suppress(OSError):
            disk = shutil.disk_usage(self._services.settings.home_path)
            return [
                Reading(catalog.DISK_FREE, (), disk.free),
                Reading(catalog.DISK_SIZE, (), disk.total),
            ]
        return []


def tallies(channels: Mapping[str, Channel]) -> Iterator[Reading]:
    """Return what channels have counted themselves."""
    for name, channel in channels.items():
        tally = channel.tally
        yield Reading(catalog.EDITS, (name,), tally.edits)
        yield Reading(catalog.DROPPED, (name,), tally.dropped)
        yield Reading(catalog.LIMITED, (name,), tally.rate_limits)


def _channel_of(row: Row, known: Mapping[str, Channel]) -> str:
    """Return the channel of an account, as `account_id` names it."""
    name = str(row["account_id"]).partition(":")[0]
    return name if name in known else OTHER
