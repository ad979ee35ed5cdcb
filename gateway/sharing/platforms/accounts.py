"""What processes know of the accounts on the platforms, as rows that every process can read.

Each process has a copy, which a notification brings up to date; it also looks every few seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import anyio

from channels.clock import Clock, wait_at_most
from channels.errors import ChannelDown
from channels.facts import Facts, OwnFacts
from gateway.logs import get_log
from gateway.settings.intervals import Intervals
from gateway.sharing.bus import Bus
from gateway.storage.ledger.rows import run_alone
from tape.entry import dump, load
from tape.errors import AppendRefused, TapeError
from tape.store import UnitStore

TOPIC: Final = "accounts"
CLEAN_SECONDS: Final = 300.0
REMOVED_SECONDS: Final = 3_600.0
"""Seconds for which a removed fact stays in the database as null, so that others hear of it."""


class Accounts(Protocol):
    """The facts about the accounts of each channel."""

    def of(self, channel: str) -> Facts: ...


class OwnAccounts:
    """The facts of a process that works alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._facts: dict[str, OwnFacts] = {}

    def of(self, channel: str) -> Facts:
        return self._facts.setdefault(channel, OwnFacts(self._clock))


class SharedFacts(OwnFacts):
    """This process's copy of a channel's facts, and what it has not written yet."""

    def __init__(self, accounts: SharedAccounts, channel: str, clock: Clock) -> None:
        super().__init__(clock, shared=True)
        self._accounts = accounts
        self._channel = channel
        self.unwritten: dict[str, tuple[Any, float]] = {}

    def put(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        new = {name: value for name, value in values.items() if self.get(name) != value}
        if new:
            super().put(new, seconds)
            self.unwritten |= {name: (value, seconds) for name, value in new.items()}
            self._accounts.wake()

    async def store(self, values: Mapping[str, Any], seconds: float = 0.0) -> None:
        try:
            await self._accounts.write(self._channel, values, seconds)
        except TapeError as away:
            raise ChannelDown(f"the database is unavailable: {away}") from away
        super().put(values, seconds)

    async def fetch(self, name: str) -> Any:
        try:
            return await self._accounts.read(self._channel, name)
        except TapeError as away:
            raise ChannelDown(f"the database is unavailable: {away}") from away

    def heard(self, name: str, value: Any, seconds: float) -> None:
        """Take over what the database has, unless it is about to be overwritten."""
        if name not in self.unwritten:
            super().put({name: value}, seconds)


class SharedAccounts:
    """The facts in the database that `bus` belongs to; `run` keeps this process's copy current."""

    def __init__(self, store: UnitStore, bus: Bus, clock: Clock, intervals: Intervals) -> None:
        self._store = store
        self._bus = bus
        self._intervals = intervals
        self._clock = clock
        self._facts: dict[str, SharedFacts] = {}
        self._version = 0
        self._woken = anyio.Event()
        bus.on(TOPIC, lambda _numbers: self.wake())

    def of(self, channel: str) -> Facts:
        return self._of(channel)

    async def load(self) -> None:
        """Read what has changed since the last call; raises TapeError."""
        rows = await self._store.select("sharing.facts_since", {"version": self._version})
        for row in rows:
            value, seconds = load(row["value"]), float(row["seconds"])
            self._of(str(row["channel"])).heard(str(row["name"]), value, seconds)
            self._version = int(row["version"])

    async def run(self) -> None:
        """Write and read until cancelled."""
        cleaned = self._clock.monotonic()
        while True:
            self._woken = anyio.Event()
            try:
                await self._write_all()
                await self.load()
                if self._clock.monotonic() - cleaned > CLEAN_SECONDS:
                    cleaned = self._clock.monotonic()
                    await run_alone(self._store, "sharing.drop_ended_facts")
            except TapeError as away:
                get_log().warning("accounts.not_shared", why=away)
            await wait_at_most(self._clock, self._intervals.accounts, self._woken.wait)

    def wake(self) -> None:
        """Make `run` look now."""
        self._woken.set()

    async def write(self, channel: str, values: Mapping[str, Any], seconds: float) -> None:
        """Write facts and wake the other processes; raises TapeError."""
        kept = {name: value for name, value in values.items() if value is not None}
        removed = {name: None for name in values if name not in kept}
        for some, lasts in ((kept, seconds), (removed, REMOVED_SECONDS)):
            if some:
                await run_alone(
                    self._store,
                    "sharing.put_facts",
                    channel=channel,
                    names=dump(list(some)),
                    values=dump([dump(value) for value in some.values()]),
                    seconds=float(lasts),
                )
        self._bus.send(TOPIC)

    async def read(self, channel: str, name: str) -> Any:
        """Return a fact as the database has it, or None; raises TapeError."""
        found = await self._store.select("sharing.fact", {"channel": channel, "name": name})
        return load(found[0]["value"]) if found else None

    async def _write_all(self) -> None:
        for channel, facts in list(self._facts.items()):
            unwritten = dict(facts.unwritten)
            for seconds in {lasts for _value, lasts in unwritten.values()}:
                some = {name: one[0] for name, one in unwritten.items() if one[1] == seconds}
                try:
                    await self.write(channel, some, seconds)
                except AppendRefused as refused:  # it would be refused for ever
                    get_log().warning("accounts.refused", channel=channel, why=str(refused))
            # What was set once more meanwhile is written the next time.
            facts.unwritten = {
                n: v for n, v in facts.unwritten.items() if v is not unwritten.get(n)
            }

    def _of(self, channel: str) -> SharedFacts:
        if channel not in self._facts:
            self._facts[channel] = SharedFacts(self, channel, self._clock)
        return self._facts[channel]
