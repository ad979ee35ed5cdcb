"""Run erasures: on record first, then in batches, and finished by a later process if cut off.

Answers that are being written for the messages are stopped, and waiting questions are dropped.
Turns of other people may have the messages in their view: what they write is looked through when
they have ended. The rows of the ledger go last, because they say what belongs to a person.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final

from channels.message import KEPT
from channels.room.channel import RoomChannel
from gateway.context.images import SCHEME, files_of
from gateway.context.rooms.memories import RoomMemories
from gateway.embeddings.registry import drop_unused_vectors
from gateway.erasing.doomed import Doomed, is_elsewhere
from gateway.explain.quotes import word_runs
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.scheduling.debounce import Debouncer
from gateway.scheduling.lane_scheduler import INTERRUPTED, LaneScheduler
from gateway.services import Services
from gateway.storage.erasures import Erasure
from tape.context import MESSAGE_EDIT, MESSAGE_MEDIA
from tape.entry import EVENT, Entry, event, load, utc_iso
from tape.erasing import ERASE
from tape.errors import AppendRefused, SessionLost, StoreUnavailable, TapeError
from tape.fork import INFIX
from tape.query import Query
from tape.search.entry_terms import searchable_text
from tape.search.search import ForgettingSearch
from tape.store import ErasingStore
from tape.unit_of_work import Unit

PAGE: Final = 500
DAY_SECONDS: Final = 86_400.0
CANNOT_ERASE: Final = "this store cannot erase: erase the entries there"
MAX_FOUND: Final = 1000  # maximum entries that mention what was erased to list

PARTLY_ERASED: Final = {"why": "a message of the question was erased"}


@dataclass(slots=True)
class _Progress:
    """How much an erasure has erased, and which entries of others may still mention it."""

    entries: int = 0
    found: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Eraser:
    """Runs erasures one at a time."""

    _services: Services
    _scheduler: LaneScheduler
    _debouncer: Debouncer
    _memories: RoomMemories
    _waiting: list[tuple[Erasure | None, bool]] = field(default_factory=list)
    _busy: bool = False
    _failed: bool = False  # whether something is tried again
    problems: dict[str, str] = field(default_factory=dict)  # by erasure; "" for a purge alone
    wiped: Callable[[], None] = lambda: None  # called once words were taken out of the ledger

    async def begin(self, **what: Any) -> str:
        """Put an erasure on record and start it; see `Erasure`. Raises AppendRefused."""
        unit = Unit()
        erasure = self.prepare(unit, **what)
        await self._services.commit(unit, waiting="erasure")
        self.start(erasure)
        return erasure.erasure_id

    def prepare(self, unit: Unit, **what: Any) -> Erasure:
        """Put an erasure on record in a unit of work; `start` it after the commit."""
        if not isinstance(self._services.store, ErasingStore):
            raise AppendRefused(CANNOT_ERASE)
        erasure = Erasure(secrets.token_hex(8), **what)
        self._services.ledger.erasures.begin(unit, erasure)
        if self._services.shared is not None:
            self._services.shared.workers.own_erasure(unit, erasure.erasure_id)
        return erasure

    def start(self, erasure: Erasure | None, *, resumed: bool = False) -> None:
        """Run an erasure soon; None stands for the end of those that were cut off before it."""
        self._waiting.append((erasure, resumed))
        if not self._busy:
            self._busy = True
            self._services.spawn("erasing", self._work)

    async def resume(self, *, own: bool = False) -> None:
        """Finish what earlier processes left, and with `own` what failed in this one.

        What other processes run that live is left to them.
        """
        shared = self._services.shared
        if shared is None:
            left = await self._services.ledger.erasures.read()
        else:
            left = await shared.workers.take_erasures(own=own)
        if any(row["state"] == "purging" for row in left):
            self.start(None, resumed=True)
        open_rows = [row for row in left if row["state"] == "open"]
        for row in sorted(open_rows, key=lambda one: str(one["asked_at"])):
            self.start(Erasure.read(load(row["data"])), resumed=True)

    async def _work(self) -> None:
        try:
            while self._waiting:
                erasure, resumed = self._waiting.pop(0)
                name = erasure.erasure_id if erasure else ""
                try:
                    await (self._run(erasure, resumed) if erasure else self._purge(resumed=True))
                    self.problems.pop(name, None)
                except (TapeError, OSError) as cause:
                    self._failed = True
                    self.problems[name] = f"erasing stopped, and goes on in a minute: {cause}"
                    get_log().error("erasing.failed", why=str(cause))
        finally:
            self._busy = False
        if self._failed:
            self._services.spawn("erasing again", self._try_again)

    async def _try_again(self) -> None:
        while self._failed:
            await self._services.clock.sleep(self._services.intervals.failed_erasure)
            if self._busy or not self._failed:
                return  # whoever is busy looks in the end
            try:
                await self.resume(own=True)
                self._failed = False
            except (TapeError, OSError) as cause:
                get_log().error("erasing.failed", why=str(cause))

    async def retain(self) -> None:
        """Erase each day what is kept for a limited time only, if anything is."""
        while self._services.settings.tape.keep_days:
            pause = DAY_SECONDS
            try:
                await self._begin_retention()
            except (TapeError, OSError) as cause:
                get_log().error("erasing.failed", why=str(cause))
                if not isinstance(cause, AppendRefused):
                    pause = self._services.intervals.failed_erasure
            await self._services.clock.sleep(pause)

    async def _begin_retention(self) -> None:
        now, keep = self._services.clock.now(), self._services.settings.tape.keep_days
        for session, tape in (await self._sessions()).items():
            days = keep.get(session, keep.get("*"))
            until = utc_iso(now - timedelta(days=days)) if days else ""
            if until and await self._has_older(tape, until):
                await self.begin(what="chat", tape=tape, until=until, asked_by="retention")

    async def _has_older(self, tape: str, until: str) -> bool:
        doomed = Doomed(whole=True, until=until)
        async for page in self._pages(tape, until=until):
            await self._services.way.given()
            if any(doomed.left_of(entry, "") for entry in page):
                return True
        return False

    async def _run(self, erasure: Erasure, resumed: bool) -> None:
        table, progress = self._services.ledger.erasures, _Progress()
        if not isinstance(self._services.store, ErasingStore):  # it is another one by now
            await table.refuse(erasure.erasure_id, CANNOT_ERASE)
            get_log().error("erasing.refused", why=CANNOT_ERASE)
            return
        for session, tape in (await self._targets(erasure)).items():
            await self._run_for_holder(erasure, session, tape, progress)
        if erasure.what == "person" and not erasure.tape:  # also what is on no tape
            rows = await table.rows_of(erasure, "", self._now())
            await table.wipe(erasure, "", rows, f"erased on {self._day()}")
            await table.wipe_person(erasure, "")
            self.wiped()
        await table.end(erasure.erasure_id, progress.entries, progress.found[:MAX_FOUND])
        await self._purge(resumed=resumed)
        get_log().info("erasing.done", what=erasure.what, entries=progress.entries)

    async def _run_for_holder(
        self, erasure: Erasure, session: str, tape: str, progress: _Progress
    ) -> None:
        """Erase from a session here, or let the process do it that holds the session."""
        shared = self._services.shared
        if shared is None or not session or shared.held.holds(session):
            await self._run_in(erasure, session, tape, progress)
            return
        controls, data = shared.controls, {"erasure": asdict(erasure), "tape": tape}
        ask = partial(controls.ask, session, ERASE, erasure.asked_by, data)
        number = await ask()  # whoever holds the session, or claims it, does it
        while (said := await controls.answer(number)) is None:
            if not await controls.has(number):  # we were paused for so long that it is forgotten
                number = await ask()
        if "failed" in said:
            raise AppendRefused(said["failed"])
        progress.entries += said["entries"]
        progress.found += [(name, number) for name, number in said["found"]]

    async def erase_for(self, session: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Erase from a session that this process holds, for another process."""
        progress = _Progress()
        try:
            erasure = Erasure.read(data["erasure"])
            await self._run_in(erasure, session, data["tape"], progress)
        except (SessionLost, StoreUnavailable):
            raise
        except (TapeError, OSError) as cause:
            return {"failed": str(cause)}
        return {"entries": progress.entries, "found": progress.found[:MAX_FOUND]}

    async def _run_in(self, erasure: Erasure, session: str, tape: str, progress: _Progress) -> None:
        with self._memories.forgetting(tape):
            table, before = self._services.ledger.erasures, progress.entries
            rows = await table.rows_of(erasure, session, self._now()) if session else []
            doomed = await self._doomed(erasure, session, tape, rows)
            await self._withdraw(session, erasure, doomed)
            why = f"erased on {self._day()}"
            # While the messages still say what are copies of them.
            await table.wipe_copies(erasure, session, doomed.is_copy, why)
            await self._erase(tape, doomed, progress)
            newest = await self._services.store.size(tape)
            await self._scheduler.outlast(session)
            await self._erase(tape, doomed, progress, after=newest)
            if session:
                rows = await table.rows_of(erasure, session, self._now())
                await table.wipe(erasure, session, rows, why)
                await table.wipe_copies(erasure, session, doomed.is_copy, why)
                await table.wipe_person(erasure, session)
                self.wiped()
            self._services.ledger.people.forget([session])
            channel = self._services.router.channels.get(session.partition(":")[0])
            if isinstance(channel, RoomChannel) and (rows or progress.entries > before):
                channel.erased(session.partition(":")[2])

    async def _purge(self, *, resumed: bool) -> None:
        if isinstance(self._services.store, ErasingStore):
            await self._services.store.purge(resumed=resumed)
        await self._services.ledger.erasures.purged()

    async def _targets(self, erasure: Erasure) -> dict[str, str]:
        """Map the sessions to erase from to their tapes; a tape of no session maps from ""."""
        if not erasure.tape:
            return await self._services.ledger.erasures.sessions_of(erasure.channel)
        sessions = await self._sessions()
        found = {name: tape for name, tape in sessions.items() if tape == erasure.tape}
        return found or {"": erasure.tape}

    async def _sessions(self) -> dict[str, str]:
        rows = await self._services.store.select("ledger.sessions", {})
        return {row["session_id"]: row["tape"] for row in rows}

    async def _doomed(
        self, erasure: Erasure, session: str, tape: str, rows: Sequence[Any]
    ) -> Doomed:
        if erasure.what == "chat":
            return Doomed(whole=True, until=erasure.until)
        roots = {row["entry_id"] for row in rows if row["entry_id"]} | set(erasure.entries)
        handle = self._services.tapes.tape(tape)
        if erasure.person:
            written = await handle.find(author=erasure.person)
            roots |= {one.id for one in written if not is_elsewhere(one, erasure.channel)}
        said = list((await handle.entries(sorted(roots))).values())
        sends = await self._services.ledger.erasures.sent(erasure, session, rows) if session else []
        edits = await handle.find(kinds=(EVENT,), about=tuple(roots)) if roots else []
        numbers = [row["message_id"] for row in rows] + [row["platform_id"] for row in sends]
        numbers += [entry.meta.get("message_id") for entry in said]
        texts = [str(entry.meta.get("text") or entry.text) for entry in said]
        for edit in edits:
            if edit.name == MESSAGE_EDIT:
                data = edit.payload["data"]
                texts.append(str(data.get("text") or data.get("content")))
        return Doomed(
            roots=frozenset(roots),
            messages=frozenset(str(number) for number in numbers if number),
            turns=frozenset(row["turn_id"] for row in rows if row["turn_id"] and erasure.person),
            runs=frozenset(word_runs(texts)),
            person=erasure.person,
            channel=erasure.channel,
        )

    async def _withdraw(self, session: str, erasure: Erasure, doomed: Doomed) -> None:
        """Stop the answers to what is erased, and drop questions that wait for one.

        What waits goes on with the messages that are left; a running answer is stopped with a word.
        """

        def whole(question: Question) -> bool:
            message = question.message
            own = (message.channel, message.sender.id) == (erasure.channel, erasure.person)
            found = (own and bool(erasure.person)) or (doomed.whole and not doomed.until)
            ids = question.entry_ids
            found = found or (bool(ids) and doomed.roots.issuperset(ids))
            return found and question.session_id == session

        def partly(question: Question) -> bool:
            found = not (doomed.roots.isdisjoint(question.entry_ids) or whole(question))
            return found and question.session_id == session

        router = self._services.router
        _running, waiting = self._scheduler.stop(session, whole, dict(INTERRUPTED))
        for question in (*waiting, *self._debouncer.take_away(whole)):
            await router.end_all(question.messages, silent=True)
        held = (*self._scheduler.queued(session), *self._debouncer.questions(session))
        for row in [row for question in held for row in question.rows]:
            if row.entry_id in doomed.roots:
                _gone = self._scheduler.forget(row.id) or self._debouncer.forget(row.id)
                await router.end_without_answer(row.message, silent=True)
        self._scheduler.stop(session, partly, dict(PARTLY_ERASED))

    async def _erase(self, tape: str, doomed: Doomed, progress: _Progress, after: int = 0) -> None:
        """Erase from a tape and its forks: quotations first, as they are found by the messages."""
        forks = [info.name for info in await self._services.store.tapes(f"{tape}{INFIX}")]
        for name in (tape, *forks):
            done = 0
            for last in (False, True):
                async for page in self._pages(name, after if name == tape else 0, doomed.until):
                    if not last:
                        found = [(name, entry.id) for entry in page if doomed.is_mentioned(entry)]
                        progress.found += found
                    done += await self._erase_page(name, page, doomed, last=last)
            progress.entries += done
            if done and name == tape:
                await self._record(tape, doomed, done)

    async def _erase_page(
        self, tape: str, page: Sequence[Entry], doomed: Doomed, *, last: bool
    ) -> int:
        day = self._day()
        chosen = [entry for entry in page if last or entry.id not in doomed.roots]
        left = [(entry, doomed.left_of(entry, day)) for entry in chosen]
        found = [(entry, rest) for entry, rest in left if rest is not None]
        if not found:
            return 0
        await self._memories.erasing(tape)
        await self._drop_images(tape, found)
        store = self._services.store
        assert isinstance(store, ErasingStore)
        # Without a quote, a message means what it did: nothing would make its vector again.
        ids = [one.id for one, rest in found if searchable_text(one) != searchable_text(rest)]
        await self._forget_meaning(tape, ids)
        erase = partial(store.erase, tape, [rest for _entry, rest in found])
        await self._services.guard.retrying("erasing", erase)
        await self._forget_meaning(tape, ids)
        return len(found)

    async def _forget_meaning(self, tape: str, ids: Sequence[int]) -> None:
        semantic = self._services.tapes.semantic
        if isinstance(semantic, ForgettingSearch):
            await semantic.forget(tape, ids)
        else:
            drop_unused_vectors(self._services.settings)

    async def _record(self, tape: str, doomed: Doomed, count: int) -> None:
        what = "chat" if doomed.whole else "person" if doomed.person else "message"
        await self._services.store.append(tape, [event(ERASE, {"what": what, "entries": count})])

    async def _drop_images(self, tape: str, erased: Sequence[tuple[Entry, Entry]]) -> None:
        """Delete the images of erased messages, or of their parts, that no other message shows."""
        own = {entry.id for entry, _rest in erased}
        names = {name for entry, _rest in erased for name in _images(entry)}
        names -= {name for _entry, rest in erased for name in _images(rest)}
        if not names:
            return
        for info in await self._services.store.tapes():
            shown = await self._services.tapes.tape(info.name).find(
                kinds=(EVENT,), name=MESSAGE_MEDIA
            )
            for entry in shown:
                if info.name != tape or entry.id not in own:
                    names -= set(_images(entry))
        if names:
            await self._services.files.drop([name.removeprefix(SCHEME) for name in names])

    async def _pages(
        self, tape: str, after: int = 0, until: str = ""
    ) -> AsyncIterator[list[Entry]]:
        """Yield the entries of a tape; without a limit, the store reads them in its thread."""
        size = await self._services.store.size(tape)
        while after < size:
            query = Query(tape, after=after, before=after + PAGE + 1, until=until or None)
            yield await self._services.store.query(query)
            after += PAGE

    def _now(self) -> str:
        return utc_iso(self._services.clock.now())

    def _day(self) -> str:
        return self._services.clock.now().date().isoformat()


def _images(entry: Entry) -> list[str]:
    """Return the references of the images that an entry holds: as the model saw them, or posted."""
    if entry.name != MESSAGE_MEDIA:
        return [SCHEME + name for name in files_of(entry) if name.startswith(KEPT)]
    return [str(name) for name in entry.payload["data"].get("images", ())]
