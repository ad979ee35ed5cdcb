"""The sessions in the database: accept messages for them, claim them, and give them back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from channels.message import InboundMessage
from gateway.sharing.bus import READY, channel_of
from gateway.sharing.claims import Held
from gateway.sharing.fencing import ARRIVE, Arrival, arrivals_of
from gateway.sharing.workers import VOID_CODE
from gateway.storage.ledger.inbox import Inbox
from gateway.storage.ledger.ledger import SUSPECT_CRASHES
from gateway.storage.ledger.rows import InboxRow, OutboxRow, readable, run_alone
from gateway.storage.waiting import MAX_READ, UnreadRow, goes_first, split_unread
from tape.entry import dump
from tape.errors import StoreUnavailable
from tape.store import UnitStore
from tape.tails import END
from tape.unit_of_work import Outcome, Row, Run, Unit

RENEWED_LATE: Final = "the database did not answer when leases were renewed: it is asked again"

PATIENT_SECONDS: Final = 1.0
"""Seconds for which a process that runs all turns it may leaves a session to others."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A session that this process holds now; `was` is its former holder, if that was lost."""

    held: Held
    was: str


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What is open in sessions: messages, sends, and the newest control of each that has any.

    Of sessions in which much was accepted, those messages are `unread`.
    """

    rows: Sequence[InboxRow] = ()
    sends: Sequence[OutboxRow] = ()
    asked: Mapping[str, int] = field(default_factory=dict)
    unread: Sequence[UnreadRow] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """Sessions that were claimed, with what is open in them; `ends` and `people` may be lacking.

    `behind` has the numbers of sessions that were held before, and to which something was added;
    `given_back` the ids of those that were given back.
    """

    claimed: Sequence[Claimed] = ()
    work: OpenWork = OpenWork()
    ends: Sequence[Row] | None = None
    people: Sequence[Row] | None = None
    behind: Sequence[int] = ()
    given_back: Sequence[str] = ()

    def numbers(self) -> dict[str, dict[str, int]]:
        """Return the numbers of the people of each session, as far as they were read."""
        if self.people is None:
            return {}
        found: dict[str, dict[str, int]] = {one.held.session_id: {} for one in self.claimed}
        for row in self.people:
            found[row["session_id"]][row["person"]] = row["number"]
        return found


@dataclass(frozen=True, slots=True)
class News:
    """What was added to held sessions: `arrived` and `asked` of each, and the new rows.

    Of sessions to which much was added, what was accepted is `unread`.
    """

    counts: Mapping[str, tuple[int, int]]
    rows: Sequence[InboxRow]
    unread: Sequence[UnreadRow]


class SessionTable:
    """The sessions as the process `owner` sees them; `lease` is in seconds."""

    def __init__(self, store: UnitStore, inbox: Inbox, owner: str, lease: float) -> None:
        self._store = store
        self._inbox = inbox
        self._owner = owner
        self._lease = lease

    async def accept(
        self,
        messages: Sequence[InboundMessage],
        kept_back: Collection[tuple[str, str]] | None,
        places: Sequence[tuple[str, str]],
        code: str = "",
        *,
        works: bool,
    ) -> tuple[list[InboxRow], list[Arrival]]:
        """Insert messages (see `Inbox.accept`) for their sessions and tapes, `places`.

        Their holders are woken; for sessions that nobody holds one process, unless this one works.
        If one uses a pairing code, raise UnitFailed if that was used already.
        """
        unit = Unit()
        known = dict(sorted(places))
        both = zip(messages, places, strict=True)
        asking = {session_id for message, (session_id, _tape) in both if goes_first(message)}
        for session_id, tape in known.items():
            asks = int(session_id in asking)
            unit.run(ARRIVE, session_id=session_id, tape=tape, asked=0, asks=asks)
        steps = self._inbox.write(unit, messages, kept_back, [one for one, _tape in places])
        if code:
            unit.run(VOID_CODE, expect=1, code=code)
        unit.afterwards = self._wake(known, works=works)
        outcomes = await self._store.commit(unit)
        arrivals = [one for outcome in outcomes[: len(known)] for one in arrivals_of(outcome)]
        return self._inbox.written(messages, [outcomes[step] for step in steps]), arrivals

    def _wake(self, session_ids: Iterable[str], *, works: bool) -> Run:
        values = {
            "sessions": dump(list(session_ids)),
            "own": self._owner,
            "works": int(works),
            "channels": channel_of(""),
            "ready": READY,
        }
        return Run("sharing.wake", values)

    def join(self, unit: Unit, session_id: str, same_as: str) -> int:
        """Continue a session under another id, with what was accepted for it; nobody holds it.

        The step returns the ids, with all that was accepted for the session that goes on, and
        whether each goes first.
        """
        unit.run("sharing.dissolve", session_id=session_id)
        return unit.run("sharing.rekey", session_id=session_id, same_as=same_as)

    async def claim(
        self,
        most: int,
        held: Collection[Held] = (),
        idle: Collection[Held] = (),
        *,
        most_lost: int | None = None,
        suspect: bool = False,
        patient: bool = False,
    ) -> Taken:
        """Claim up to so many sessions that are ready, and as many whose holders are lost.

        Either those with a `suspect`, or all others; if `patient`, what others have not taken soon.
        In the same round trip, those of the sessions `idle` that have nothing to do are given back,
        and what was added to the sessions `held` is looked up.
        """
        unit = Unit()
        if idle:
            self._give_back(unit, idle)
        first = len(unit.steps)
        unit.run(
            "sharing.claim",
            owner=self._owner,
            seconds=self._lease,
            most=most,
            most_lost=most if most_lost is None else most_lost,
            suspect=int(suspect),
            since=-PATIENT_SECONDS if patient else 0.0,
        )
        _read_open(unit, None)
        unit.run("sharing.claimed_ends", most=END["most"], most_bytes=END["most_bytes"])
        unit.run("sharing.claimed_people")
        unit.run("sharing.behind", **self._known(held))
        outcomes = await self._store.commit(unit)
        taken, *work, ends, people, behind = outcomes[first:]
        claimed = [_claimed(row) for row in taken.rows if row["session_id"] is not None]
        added = [row["number"] for row in behind.rows]
        given = [row["session_id"] for row in outcomes[first - 1].rows] if idle else []
        return Taken(claimed, await self._work(work), ends.rows, people.rows, added, given)

    async def renew(self) -> tuple[list[Claimed], set[str]]:
        """Renew the leases of everything that this process holds, and return it.

        The ids are those of sessions that are ours, but which somebody has locked just now.
        """
        values = {"owner": self._owner, "seconds": self._lease}
        try:
            # Later, the next round would be late, too; nobody has to answer in less than a second.
            with anyio.fail_after(max(1.0, self._lease / 3)):
                rows = await self._store.select("sharing.renew", values)
        except TimeoutError as late:
            raise StoreUnavailable(RENEWED_LATE) from late
        locked = {row["session_id"] for row in rows if not row["renewed"]}
        return [_claimed(row) for row in rows if row["renewed"]], locked

    async def count_crashes(self, session_ids: Iterable[str]) -> None:
        """Count the loss of a holder against the turns that ran in its sessions."""
        values = {"sessions": dump(sorted(session_ids)), "suspect": SUSPECT_CRASHES}
        await run_alone(self._store, "sharing.count_crashes", **values)

    async def open_work(self, session_ids: Iterable[str]) -> OpenWork:
        """Return what is open in these sessions, oldest first."""
        unit = Unit()
        _read_open(unit, dump(sorted(session_ids)))
        return await self._work(await self._store.commit(unit))

    async def _work(self, outcomes: Sequence[Outcome]) -> OpenWork:
        controls, inbox, outbox = (outcome.rows for outcome in outcomes)
        whole, unread = split_unread(inbox)
        return OpenWork(
            await readable(self._store, whole, InboxRow.read, "ledger.bury_inbox"),
            await readable(self._store, outbox, OutboxRow.read, "ledger.bury_outbox"),
            {row["session_id"]: row["id"] for row in controls},
            unread,
        )

    async def open_sends(self, session_ids: Iterable[str]) -> list[OutboxRow]:
        """Return every send of these sessions that has not ended, oldest first."""
        values = {"sessions": dump(sorted(session_ids))}
        rows = await self._store.select("sharing.open_outbox", values)
        return await readable(self._store, rows, OutboxRow.read, "ledger.bury_outbox")

    async def news(self, held: Sequence[Held]) -> News:
        """Return what was added to sessions since they were read."""
        values = {
            "sessions": dump([one.session_id for one in held]),
            "newest": dump([one.newest for one in held]),
            "owner": self._owner,
            "most_read": MAX_READ,
        }
        found = await self._store.select("sharing.news", values)
        counts = {row["held_id"]: (row["arrived"], row["asked"]) for row in found}
        whole, unread = split_unread([row for row in found if row["id"] is not None])
        rows = await readable(self._store, whole, InboxRow.read, "ledger.bury_inbox")
        return News(counts, rows, unread)

    async def set_aside(self, session_id: str) -> None:
        """Give back a session with a suspect, for a process that works on nothing else."""
        values = {"session_id": session_id, "owner": self._owner}
        await run_alone(self._store, "sharing.set_aside", **values)

    async def suspects(self) -> int:
        """Return how many sessions with suspects wait."""
        return int((await self._store.select("sharing.suspects", {}))[0]["waiting"])

    async def give_back(self, held: Sequence[Held]) -> list[str]:
        """Give back those of the sessions that have nothing to do; return their ids."""
        unit = Unit()
        self._give_back(unit, held)
        _locked, given = await self._store.commit(unit)
        return [row["session_id"] for row in given.rows]

    def _give_back(self, unit: Unit, held: Collection[Held]) -> None:
        known = self._known(held)
        unit.run("sharing.lock_idle", sessions=known["sessions"], owner=self._owner)
        unit.run("sharing.give_back", **known)

    async def leave_all(self) -> list[int]:
        """Give back everything; return the numbers of the sessions that have open work."""
        unit = Unit()
        unit.run("sharing.lock_held", owner=self._owner)
        unit.run("sharing.leave_all", owner=self._owner)
        _locked, given = await self._store.commit(unit)
        return [row["number"] for row in given.rows if row["ready_at"]]

    async def make_ready(self) -> list[str]:
        """Make sessions ready that have open work, but which nobody holds; return their ids."""
        made = await run_alone(self._store, "sharing.make_ready")
        return [row["session_id"] for row in made.rows]

    async def end_home(self, home: str) -> None:
        """Free the sessions of earlier processes of this home, which have ended."""
        await run_alone(self._store, "sharing.end_home", home=home, owner=self._owner)

    async def behind(self, held: Collection[Held]) -> list[int]:
        """Return the numbers of those sessions to which more was added than they know of."""
        found = await self._store.select("sharing.behind", self._known(held))
        return [row["number"] for row in found]

    def _known(self, held: Collection[Held]) -> dict[str, Any]:
        return {
            "sessions": dump([one.session_id for one in held]),
            "arrived": dump([one.arrived for one in held]),
            "owner": self._owner,
        }

    async def is_pending(self, outbox_id: int) -> bool:
        """Return whether a send still waits."""
        return bool(await self._store.select("sharing.still_pending", {"id": outbox_id}))


def _read_open(unit: Unit, sessions: str | None) -> None:
    # Controls come first: what they say was done to rows is seen in the rows then.
    unit.run("sharing.open_controls", sessions=sessions)
    unit.run("sharing.open_inbox", sessions=sessions, most_read=MAX_READ)
    unit.run("sharing.open_outbox", sessions=sessions)


def _claimed(row: Row) -> Claimed:
    names = ("session_id", "tape", "number", "epoch", "arrived", "asked")
    values: dict[str, Any] = {name: row[name] for name in names}
    return Claimed(Held(**values), row["was"])
