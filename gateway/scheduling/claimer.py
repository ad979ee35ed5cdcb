"""Claim sessions, hand their open work to the parts that do it, and give the sessions back.

Only where several processes share a database. A session that is claimed is taken up as after a
restart; what is added to it later is read when its holder is woken, or at the latest with the next
look. A session that is lost is dropped here without a word: its next holder goes on with it.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio

from channels.clock import wait_at_most
from gateway.access.access import Access
from gateway.access.pairing import Pairing
from gateway.context.rooms.memories import RoomMemories
from gateway.logs import get_log
from gateway.scheduling.recovery import AGAIN, DROP, Recovery
from gateway.services import Services
from gateway.sharing.bus import READY
from gateway.sharing.claims import Held
from gateway.sharing.controls import ControlQueue
from gateway.sharing.fencing import Arrival
from gateway.sharing.sessions import OpenWork, Taken
from gateway.sharing.shared import CHANGED, NOBODY_WORKS, SharedWork
from gateway.sharing.workers import Standing
from gateway.storage.ledger.ledger import SUSPECT_CRASHES
from gateway.storage.ledger.rows import InboxRow
from gateway.storage.waiting import UnreadRow
from tape.errors import StoreMoved, StoreTooNew, StoreUnavailable, TapeError

MAX_CLAIMED: Final = 16  # sessions that are claimed together
RETURN_SECONDS: Final = 2.0
"""Seconds that others have to renew their leases once the database is back."""


@dataclass(eq=False)
class Claimer:
    """Keeps the sessions of this process: `begin`, then `run`, and `leave` at the end."""

    _services: Services
    _shared: SharedWork
    _recovery: Recovery
    _memories: RoomMemories
    _access: Access
    _pairing: Pairing
    _ready: anyio.Event = field(default_factory=anyio.Event)
    _woken: anyio.Event = field(default_factory=anyio.Event)
    _changed: anyio.Event = field(default_factory=anyio.Event)
    _numbers: set[int] = field(default_factory=set)
    _lost: set[str] = field(default_factory=set)  # taken over, and not read yet
    _locked: set[str] = field(default_factory=set)  # whose leases could not be renewed yet
    _lock: anyio.Lock = field(default_factory=anyio.Lock)
    _closed: bool = False
    _renews_soon: bool = False  # after an error: what is ours may be more than we know
    _away_at: float = float("-inf")  # when the database was found to be unavailable
    _among: Standing = field(default_factory=Standing)
    _has_looked: bool = False  # whether a claim has looked since the last tick at what is held

    def __post_init__(self) -> None:
        shared, spawn = self._shared, self._services.spawn
        self._asked = ControlQueue(shared.controls, shared.held, spawn, (AGAIN, DROP))

    def _listen(self) -> None:
        """Hear what others add, and what this process accepts."""
        held, bus = self._shared.held, self._shared.bus
        bus.on(held.owner, self._heard)
        bus.on(READY, lambda _numbers: self._ready.set())
        bus.on(CHANGED, lambda _numbers: self._changed.set())
        self._shared.arrived = self._arrived
        self._shared.take_in = self._join

    async def run(self) -> None:
        """Claim, look, renew and give back until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._live, name="live")
            if not self._shared.works:
                return
            group.start_soon(self._renew_all, name="renew")
            group.start_soon(self._tick, name="tick")
            group.start_soon(self._claim_all, name="claim")
            group.start_soon(self._look_all, name="look")

    def close(self) -> None:
        """Claim no more sessions; those that are held are worked on."""
        self._closed = True

    def _heard(self, numbers: frozenset[int]) -> None:
        """Look at the sessions with these numbers soon; without any, at all."""
        if 0 in numbers:  # sessions that nobody holds
            self._ready.set()
            if self._closed or self._among.drains or not self._recovery.dispatcher.has_room():
                self._shared.bus.send(READY)
        self._numbers.update(numbers - {0} if numbers else self._shared.held.by_number)
        self._woken.set()

    def _arrived(self, rows: Sequence[InboxRow], arrivals: Sequence[Arrival]) -> None:
        """Take in what this process has accepted itself, if nothing else came before it."""
        for arrival in arrivals:
            held = self._shared.held.by_id.get(arrival.session_id)
            if held is None:
                self._ready.set()
            if self._lock.locked() or (held and arrival.arrived != held.arrived + 1):
                self._numbers.add(arrival.number)  # what a claim has just read may lack this
                self._woken.set()
            elif held is not None:
                held.arrived = arrival.arrived
                self._put(row for row in rows if row.session_id == held.session_id)
                if not rows:  # something else than messages
                    held.arrived -= 1
                    self._numbers.add(arrival.number)
                    self._woken.set()

    async def begin(self) -> Callable[[], Coroutine[None, None, None]]:
        """Write this process's row, free what its home held; return what wakes processes."""
        self._listen()
        await self._shared.workers.begin()
        await self._shared.sessions.end_home(self._shared.workers.home)
        await self._refresh()
        await self._shared.accounts.load()
        return self._shared.run

    async def _live(self) -> None:
        services = self._services
        while True:
            await wait_at_most(services.clock, services.intervals.workers, self._changed.wait)
            self._changed = anyio.Event()
            await self._quietly(self._refresh)  # one at a time: no older answer comes last
            await self._quietly(self._shared.refuse_newer)

    async def _refresh(self) -> None:
        """Say that this process lives, and read what all processes must know alike."""
        shared = self._shared
        await self._services.guard.once(shared.workers.seen)  # so health knows of an idle process
        self._among = await shared.standing()
        back_for = self._services.clock.monotonic() - self._away_at  # others say only now they live
        nobody = self._among.nobody_works and back_for > 2 * self._services.intervals.workers
        if nobody and not shared.nobody_works:
            get_log().warning("sharing.nobody_works", remedy=NOBODY_WORKS)
        shared.nobody_works = nobody
        await shared.budgets.look()
        self._pairing.know(*await shared.workers.code())
        await shared.workers.if_changed(self._read_rules)

    async def _read_rules(self) -> None:
        await self._access.read(self._services.ledger.access.rules)
        self._services.aliases.update(await self._services.ledger.inbox.aliases())

    async def _tick(self) -> None:
        services = self._services
        while True:
            seconds = services.intervals.claims * random.uniform(0.7, 1.3)  # noqa: S311
            await services.clock.sleep(seconds)
            if self._renews_soon or self._locked:
                await self._quietly(self._renew)
            if self._shared.held.by_id and not self._has_looked:  # no claim did: there is no room
                await self._quietly(self._look_at_held)
            self._has_looked = False
            self._ready.set()

    async def _look_at_held(self) -> None:
        """Do what comes with a claim, while none is made."""
        sessions, held = self._shared.sessions, self._shared.held
        self._look_at(await sessions.behind(held.by_id.values()))
        async with self._lock:
            if idle := held.idle(self._shared.keep):
                self._given_back(idle, await sessions.give_back(idle))

    def _look_at(self, numbers: Iterable[int]) -> None:
        self._numbers.update(numbers)
        if self._numbers:
            self._woken.set()

    async def _claim_all(self) -> None:
        while True:
            await self._ready.wait()
            self._ready = anyio.Event()
            while True:
                await self._recovery.dispatcher.room()
                if self._renews_soon:
                    await self._quietly(self._renew)
                if self._closed or self._renews_soon or not await self._quietly(self._claim):
                    break

    async def _claim(self) -> bool:
        """Claim sessions; return whether there may be more."""
        async with self._lock:
            held = self._shared.held.by_id
            asked_at = self._services.clock.monotonic()
            taken = Taken()
            if self._among.suspects and (self._among.is_alone or not held):
                taken = await self._shared.sessions.claim(1, suspect=True)
                self._among.suspects -= len(taken.claimed)
                for one in taken.claimed:
                    one.held.is_suspect = True
            busy = not self._among.is_alone and any(self._has_suspect(one) for one in held.values())
            full = not self._recovery.dispatcher.has_room()
            most, patient = 1 if full else MAX_CLAIMED, full and not self._among.is_alone
            if not (taken.claimed or busy or self._among.drains):
                lost = 0 if asked_at - self._away_at < RETURN_SECONDS else most
                idle = self._shared.held.idle(self._shared.keep)
                taken = await self._shared.sessions.claim(
                    most, held.values(), idle, most_lost=lost, patient=patient
                )
                self._has_looked = True
                self._given_back(idle, taken.given_back)
                self._look_at(taken.behind)
            if taken.claimed:
                await self._take_over(taken, asked_at)
            return len(taken.claimed) >= most

    def _has_suspect(self, held: Held) -> bool:
        """Return whether a suspect of a session runs or waits here."""
        if held.is_suspect:
            held.is_suspect = self._recovery.dispatcher.has_suspect(held.session_id)
        return held.is_suspect

    async def _set_suspects_aside(self, rows: Sequence[InboxRow]) -> list[InboxRow]:
        """Return the rows without those of sessions that only an idle process may work on."""
        if self._among.is_alone:
            return list(rows)
        aside = {
            row.session_id or ""
            for row in rows
            if row.status == "taken" and row.crashes >= SUSPECT_CRASHES
        }
        aside = {one for one in aside if not self._shared.held.by_id[one].is_suspect}
        for session_id in aside:
            get_log().warning("session.suspect", session=session_id)
            await self._shared.sessions.set_aside(session_id)
            self._forget(self._shared.held.remove(session_id))
            self._among.suspects += 1
        return [row for row in rows if row.session_id not in aside]

    async def _take_over(self, taken: Taken, asked_at: float) -> None:
        """Take up the open work of sessions that this process has got, all or none.

        What could not be read is ours all the same, and is found when the leases are renewed. So is
        a session of which some row cannot be worked on: the others do not wait for it.
        """
        for one in taken.claimed:
            if self._shared.held.holds(one.held.session_id):  # the answer to giving back was lost
                await self._abandon(one.held.session_id)
            self._shared.held.add(one.held, asked_at)
        self._memories.forget([one.held.tape for one in taken.claimed])
        self._shared.remember(taken)
        self._lost.update(one.held.session_id for one in taken.claimed if one.was)
        ids = [one.held.session_id for one in taken.claimed]
        try:
            await self._work_on(ids, taken.work)
        except Exception as cause:
            for session_id in ids:
                await self._abandon(session_id)
            if isinstance(cause, TapeError) or len(ids) == 1:
                raise
            for one in taken.claimed:
                work = await self._shared.sessions.open_work([one.held.session_id])
                await self._quietly(partial(self._take_over, Taken([one], work), asked_at))

    async def _work_on(self, ids: Sequence[str], work: OpenWork) -> None:
        lost = self._lost.intersection(ids)
        if lost:
            get_log().warning("session.taken_over", sessions=len(lost))
            await self._shared.sessions.count_crashes(lost)
            work = await self._shared.sessions.open_work(ids)
        self._lost -= lost
        rows = await self._set_suspects_aside(work.rows)
        sends = [send for send in work.sends if self._shared.held.holds(send.session_id)]
        unread = [one for one in work.unread if self._shared.held.holds(one.session_id)]
        self._shared.held.know([*rows, *unread])
        await self._recovery.take_over(rows, sends, lost, unread)
        for session_id, newest in work.asked.items():
            self._asked.submit(session_id, newest)

    def _put(self, rows: Iterable[InboxRow], unread: Iterable[UnreadRow] = ()) -> None:
        """Take in new messages of sessions that this process holds, each once."""
        held = self._shared.held
        for row in rows:
            if held.is_new(row):
                held.know([row])
                self._recovery.intake.put(row)
        far = [row for row in unread if held.is_new(row)]
        held.know(far)
        self._recovery.intake.put_unread(far)

    def _join(self, rows: Sequence[UnreadRow]) -> None:
        """Take in what was accepted for a session that goes on as one of ours."""
        by_id = self._shared.held.by_id  # what is of others, their next holders read
        ours = [row for row in rows if row.session_id in by_id]
        for row in ours:
            by_id[row.session_id].joined.add(row.id)  # it may be older or newer than what was read
        self._recovery.intake.put_unread(ours)

    async def _look_all(self) -> None:
        while True:
            await self._woken.wait()
            self._woken = anyio.Event()
            await self._quietly(self._look)

    async def _look(self) -> bool:
        """Read what was added to the sessions of which this process was woken."""
        async with self._lock:
            numbers, self._numbers = self._numbers, set()
            by_number = self._shared.held.by_number
            held = [by_number[number] for number in numbers if number in by_number]
            if not held:
                return False
            sessions = self._shared.sessions
            try:
                news = await sessions.news(held)
                counts = [news.counts.get(one.session_id, (0, 0)) for one in held]
                others = [
                    one.session_id
                    for one, (_arrived, asked) in zip(held, counts, strict=True)
                    if asked > one.asked
                ]
                work = await sessions.open_work(others) if others else OpenWork()
            except TapeError:
                self._numbers |= numbers
                raise
            for one, count in zip(held, counts, strict=True):
                one.arrived, one.asked = max((one.arrived, one.asked), count)
            self._put((row for row in news.rows if row.status == "accepted"), news.unread)
            self._shared.held.know(news.rows)
            self._shared.held.changed(others)
            self._recovery.sender.enqueue_of_others(work.sends)
            for session_id in work.asked:
                self._asked.submit(session_id)
        return True

    async def _renew_all(self) -> None:
        while True:
            await self._services.clock.sleep(self._shared.lease / 3)
            await self._quietly(self._renew)

    async def _renew(self) -> bool:
        async with self._lock:
            asked_at, self._renews_soon = self._services.clock.monotonic(), False
            renewed, self._locked = await self._shared.sessions.renew()
            ours = self._locked.union(one.held.session_id for one in renewed)
            for session_id in [one for one in self._shared.held.by_id if one not in ours]:
                await self._abandon(session_id)
            known = self._shared.held.renewed
            # The answer to an earlier claim was lost if we hold more than we know.
            new = [one for one in renewed if not known(one.held.session_id, asked_at)]
            if new:
                work = await self._shared.sessions.open_work(one.held.session_id for one in new)
                await self._take_over(Taken(new, work), asked_at)
        return True

    async def _abandon(self, session_id: str) -> None:
        """Drop a session that another process has taken over."""
        get_log().warning("session.lost", session=session_id)
        held = self._shared.held.remove(session_id)
        self._recovery.sender.abandon(session_id)
        await self._recovery.dispatcher.abandon(session_id)
        self._forget(held)

    def _forget(self, held: Held | None) -> None:
        if held is not None:
            self._memories.forget([held.tape])
            self._services.ledger.people.forget([held.session_id])

    def _given_back(self, idle: Iterable[Held], given_back: Iterable[str]) -> None:
        for session_id in given_back:
            self._forget(self._shared.held.remove(session_id))
        self._shared.held.touch(one.session_id for one in idle)
        if self._numbers:  # what came meanwhile for one that is not ours any more
            self._ready.set()

    async def leave(self) -> None:
        """Give back everything at the end of the process; others take it up."""
        try:
            self._shared.held.read_again(self._shared.held.by_id.values())
            numbers = await self._shared.sessions.leave_all()
            await self._shared.workers.end()
            await self._shared.bus.send_now(READY, *numbers)
        except TapeError as lost:  # the leases end by themselves
            get_log().error("sessions.not_given_back", why=str(lost))

    async def _quietly(self, work: Callable[[], Awaitable[bool | None]]) -> bool:
        """Do something that is tried again soon; return False if it failed."""
        try:
            return bool(await work())
        except (StoreTooNew, StoreMoved):  # what this version cannot follow ends the process
            raise
        except TapeError as lost:
            self._renews_soon = True
            if isinstance(lost, StoreUnavailable):
                self._away_at = self._services.clock.monotonic()
            get_log().warning("sharing.later", why=lost)
        except Exception as cause:  # one session's rows must not end one process after another
            get_log().error("sharing.failed", exc_info=cause)
        return False
