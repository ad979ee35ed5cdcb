"""What a process needs to share the work with others, put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio

from gateway.background import Spawn
from gateway.clock import Clock
from gateway.settings import Settings
from gateway.settings.intervals import Intervals
from gateway.sharing.bus import READY, Bus
from gateway.sharing.claims import HeldSessions
from gateway.sharing.controls import Controls
from gateway.sharing.fencing import Arrival, Fencing
from gateway.sharing.platforms.accounts import SharedAccounts
from gateway.sharing.platforms.poller import PollerLeases
from gateway.sharing.platforms.slices import SharedBudgets
from gateway.sharing.sessions import SessionTable, Taken
from gateway.sharing.workers import Standing, WorkerTable, home_id
from gateway.storage.ledger.ledger import Ledger
from gateway.storage.ledger.people import PeopleTable
from gateway.storage.ledger.rows import InboxRow
from gateway.storage.waiting import UnreadRow
from tape.database.schema import own_version
from tape.store import SharedStore
from tape.unit_of_work import Outcome

CHANGED: Final = "changed"  # the topic of rules, aliases and the like, which every process knows
NOBODY_WORKS: Final = (
    "No process answers what this one receives: start one with `tapeway gateway --role worker`."
)

Arrived = Callable[[Sequence[InboxRow], Sequence[Arrival]], None]


def _ignored(rows: Sequence[InboxRow], arrivals: Sequence[Arrival]) -> None:
    del rows, arrivals


def _remember(store: SharedStore, people: PeopleTable, taken: Taken) -> None:
    if taken.ends is not None:
        store.take_in([one.held.tape for one in taken.claimed], taken.ends)
    people.forget([one.held.session_id for one in taken.claimed])
    for session_id, numbers in taken.numbers().items():
        people.know(session_id, numbers)


@dataclass(eq=False)
class SharedWork:
    """The parts through which a process shares work; `arrived` hears of what is ours."""

    clock: Clock
    intervals: Intervals
    held: HeldSessions
    bus: Bus
    sessions: SessionTable
    workers: WorkerTable
    controls: Controls
    pollers: PollerLeases
    accounts: SharedAccounts
    keep: float  # seconds for which an empty session is kept
    lease: float
    budgets: SharedBudgets
    refuse_newer: Callable[[], Awaitable[None]]
    arrived: Arrived = field(default=_ignored)
    nobody_works: bool = False  # whether no process claims sessions
    take_in: Callable[[Sequence[UnreadRow]], None] = field(default=lambda _rows: None)
    remember: Callable[[Taken], None] = field(default=lambda _taken: None)

    @classmethod
    def of(
        cls,
        settings: Settings,
        intervals: Intervals,
        ledger: Ledger,
        clock: Clock,
        store: SharedStore,
        spawn: Spawn,
    ) -> SharedWork:
        """Return the parts for a process over the ledger's PostgreSQL database."""
        own = settings.sharing
        held = HeldSessions(ledger.owner, clock, own.lease, store.tails)
        listen = partial(store.listen, own.listen_url.get_secret_value())
        home, bus = home_id(settings.home_path), Bus(store, clock, listen)
        return cls(
            clock,
            intervals,
            held,
            bus,
            SessionTable(store, ledger.inbox, ledger.owner, own.lease),
            WorkerTable(store, ledger.owner, home, own.role, own_version()),
            Controls(store, clock),
            PollerLeases(
                store, bus, clock, ledger.owner, own.poller_lease, listens=own.role != "worker"
            ),
            SharedAccounts(store, bus, clock, intervals),
            own.keep,
            own.lease,
            SharedBudgets(store, clock, spawn, lambda: bus.send(CHANGED)),
            store.refuse_newer,
            remember=partial(_remember, store, ledger.people),
        )

    async def run(self) -> None:
        """Wake others and hear of them, until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.bus.run, name="bus")
            group.start_soon(self.accounts.run, name="accounts")

    @property
    def works(self) -> bool:
        """Return whether this process claims sessions."""
        return self.workers.role != "ingress"

    @property
    def receives(self) -> bool:
        """Return whether this process may receive the platforms' messages."""
        return self.workers.role != "worker"

    async def standing(self) -> Standing:
        """Return how this process stands among those that work now."""
        others = await self.workers.working()
        if not self.works:
            return Standing(nobody_works=not others)
        suspects, own = await self.sessions.suspects(), self.held.owner
        # One of the processes makes room for a suspect, whoever it is.
        drains = bool(suspects) and min(others, default="") == own
        return Standing(others <= {own}, not others, drains, suspects)

    def fencing(self, tape_of: Callable[[str], str]) -> Fencing:
        """Return what keeps this process from writing to the sessions of others."""
        return Fencing(self.held, tape_of, self.announce)

    async def put_code(self, code: str, seconds: float) -> None:
        """Share a pairing code with every process."""
        await self.workers.put_code(code, seconds)
        self.bus.send(CHANGED)

    async def void_code(self, code: str) -> None:
        """Take a pairing code back everywhere."""
        await self.workers.void_code(code)
        self.bus.send(CHANGED)

    def joined(self, outcome: Outcome) -> None:
        """Take in what was accepted for a session that goes on as one of ours."""
        found = [UnreadRow.read(one) for one in outcome.rows]
        self.take_in(sorted(found, key=lambda one: one.id))

    def announce(self, arrival: Arrival) -> None:
        """Wake whoever holds a session to which work was added, or may claim it."""
        if arrival.owner and arrival.owner != self.held.owner:
            self.bus.send(arrival.owner, arrival.number)
        elif not arrival.owner and not self.works:
            self.bus.send(READY)
        self.accepted((), [arrival])

    def accepted(self, rows: Sequence[InboxRow], arrivals: Sequence[Arrival]) -> None:
        """Take in what was added to sessions that this process holds or may claim."""
        own = self.held.owner
        mine = [one for one in arrivals if one.owner == own or (not one.owner and self.works)]
        if mine:
            self.arrived(rows, mine)
