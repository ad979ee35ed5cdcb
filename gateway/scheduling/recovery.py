"""Resume the ledger's open rows after a restart, or single rows when the operator asks for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.delivery.sender import OutboxSender
from gateway.hooks.messages import session_of
from gateway.intake.entry_meta import is_command
from gateway.intake.intake import Intake
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.scheduling.debounce import adds_to_waiting, debounce_seconds
from gateway.scheduling.dispatcher import Dispatcher
from gateway.services import Services
from gateway.storage.holding import Resumed
from gateway.storage.ledger.ledger import SUSPECT_CRASHES
from gateway.storage.ledger.rows import InboxRow, OutboxRow
from gateway.storage.waiting import UnreadRow, WaitingChat
from tape.entry import parse_date
from tape.errors import StoreUnavailable
from tape.unit_of_work import Unit

AGAIN: Final = "again"  # what a holder is asked if a row was opened again elsewhere
DROP: Final = "drop"
MOVED: Final = "its thread is a chat of its own now, where it was accepted again"
SUSPECT_SECONDS: Final = 5.0
"""Seconds after a start before suspects run; a crash until then has another cause."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """The rows that the previous process left open, oldest first.

    Of those that are not on their tapes yet, it may have only the id of the `newest` row.
    """

    sends: tuple[OutboxRow, ...]
    taken: tuple[InboxRow, ...]  # their turn was cut off
    waiting: tuple[InboxRow, ...]  # questions that had no turn yet
    accepted: tuple[InboxRow, ...] = ()  # they are not on their tapes yet
    newest: int = 0


@dataclass(frozen=True, slots=True)
class Recovery:
    """Reads the backlog before the channels start, and resumes it once they are connected."""

    _services: Services
    _access: Access
    dispatcher: Dispatcher
    sender: OutboxSender
    intake: Intake

    async def read(self) -> Backlog:
        """Read the backlog; call this before any new message is accepted.

        Where several processes share the work, there is none: open rows come with their sessions.
        """
        if self._services.shared is not None:
            return Backlog((), (), ())
        try:
            # We hold the lock of the home folder, so no other process uses it.
            await self._services.ledger.leases.end_others()
            await self._services.ledger.inbox.count_crash(SUSPECT_CRASHES)
        except StoreUnavailable as away:  # leases expire anyway; the next start counts the crash
            get_log().error("ledger.leases_not_ended", why=str(away))
        sends = await self._services.ledger.outbox.open_rows()
        backlog = self._backlog(await self._services.ledger.inbox.questions(), sends)
        backlog = replace(backlog, newest=await self._services.ledger.waiting.newest())
        if backlog.newest:
            self.intake.look_ahead()
        return backlog

    def _backlog(self, rows: Sequence[InboxRow], sends: Sequence[OutboxRow]) -> Backlog:
        # Rows of channels that do not run now (under `tapeway run`) stay for the next gateway.
        here = self._services.router.channels
        mine = [row for row in rows if (row.message.output_channel or row.message.channel) in here]
        taken, waiting, accepted = (
            tuple(row for row in mine if row.status == status)
            for status in ("taken", "waiting", "accepted")
        )
        own = tuple(row for row in sends if row.message.channel in here)
        return Backlog(own, taken, waiting, accepted)

    async def resume(self, backlog: Backlog) -> None:
        """Resume sends, turns and questions, in this order; then start the intake."""
        backlog = await self._resume_asked(backlog)
        self.intake.sift = self._in_own_chats
        self.intake.start(backlog.newest)
        count = len(backlog.taken) + len(backlog.waiting)
        if count:
            get_log().info("gateway.resumed", messages=count)

    async def resume_held(self, held: Resumed) -> None:
        """Resume rows that were held since a restore; those of other sessions by their holders."""
        await self._resume_rows(held.questions, held.sends)
        if held.accepted:
            waiting, here = self._services.ledger.waiting, self._services.router.channels
            chats = [
                one.only(held.accepted) for one in await waiting.chats() if one.channel in here
            ]
            await self._place([one for one in chats if one.ids], max(held.accepted))

    async def _resume_rows(self, messages: Sequence[InboxRow], sends: Sequence[OutboxRow]) -> None:
        holds, shared = self._services.claims.holds, self._services.shared
        if shared is not None:
            others = [("inbox", row.id, row.session_id) for row in messages]
            others += [("outbox", row.id, row.session_id) for row in sends]
            for box, number, session_id in others:
                if session_id and not holds(session_id):
                    data = {"box": box, "id": number}
                    await shared.controls.ask(session_id, AGAIN, "operator", data)
            messages = [row for row in messages if holds(row.session_id)]
            shared.held.changed(row.session_id or "" for row in messages)
        await self._resume_asked(self._backlog(messages, sends))

    async def _place(self, chats: Sequence[WaitingChat], newest: int) -> None:
        """Take in what waits in chats, up to a row; or have the holders of their sessions do so."""
        holds = self._services.claims.holds
        ours = [one for one in chats if holds(one.session_id)]
        await self.intake.put_left_over(ours, newest)
        if (shared := self._services.shared) is not None:
            firsts = {one.session_id: one.ids[0] for one in chats if one not in ours}
            for session_id, number in firsts.items():
                if session_id:
                    data = {"box": "inbox", "id": number, "newest": newest}
                    await shared.controls.ask(session_id, AGAIN, "operator", data)

    async def resume_channel(self, name: str) -> None:
        """Resume what waited for a channel that begins to run only now."""
        sends = await self._services.ledger.outbox.open_rows()
        rows = await self._services.ledger.inbox.questions()
        mine = [row for row in rows if (row.message.output_channel or row.message.channel) == name]
        await self._resume_rows(mine, [row for row in sends if row.message.channel == name])
        waiting = self._services.ledger.waiting
        chats = [one for one in await waiting.chats() if one.channel == name]
        await self._place(chats, await waiting.newest())

    async def take_over(
        self,
        rows: Sequence[InboxRow],
        sends: Sequence[OutboxRow],
        lost: Collection[str],
        unread: Sequence[UnreadRow] = (),
    ) -> None:
        """Take up what is open in sessions that were claimed; `lost` are those of a lost holder."""
        backlog = await self._resume_asked(self._backlog(rows, sends))
        for row in backlog.accepted:
            self.intake.put(replace(row, replayed=row.session_id in lost))
        self.intake.put_unread(unread, lost)

    async def _resume_asked(self, backlog: Backlog) -> Backlog:
        backlog = await self._without_old_threads(backlog)
        self.sender.enqueue(backlog.sends)
        by_turn: dict[str, list[InboxRow]] = {}
        for row in backlog.taken:
            by_turn.setdefault(row.turn_id or f"command {row.id}", []).append(row)
        lost = [self._question(own) for own in by_turn.values()]
        if any(question.is_suspect for question in lost):
            self.dispatcher.hold_suspects(SUSPECT_SECONDS)
        # Suspects run one after another: those with the fewest crashes must not wait for others.
        for question in sorted(lost, key=lambda one: one.rows[0].crashes if one.is_suspect else 0):
            await self.dispatcher.resume(question)
        for question in self._bursts(backlog.waiting):
            await self.dispatcher.resume(question)
        return backlog

    async def _in_own_chats(self, rows: list[InboxRow]) -> list[InboxRow]:
        """Return the rows that stay where they were accepted; see `_without_old_threads`."""
        if not self._services.old_threads.withheld:
            return rows
        left = await self._without_old_threads(Backlog((), (), (), tuple(rows)))
        return list(left.accepted)

    async def _without_old_threads(self, backlog: Backlog) -> Backlog:
        """Accept what was asked in a withheld thread once more, as said in a chat of its own."""
        parts = (backlog.taken, backlog.waiting, backlog.accepted)
        withheld = self._services.old_threads.withheld
        old = {
            row.id: row
            for rows in parts
            for row in rows
            if (session_of(row.message), row.message.thread_id) in withheld
        }
        if not old:
            return backlog
        said = [row.message for row in old.values() if row.message.kind == "message"]
        await self.intake.accept([_in_own_chat(message) for message in said])
        unit = Unit()
        self._services.ledger.inbox.end(unit, tuple(old.values()), "dead", MOVED)
        await self._services.commit(unit, waiting="recovery")
        taken, waiting, accepted = (
            tuple(row for row in rows if row.id not in old) for rows in parts
        )
        return replace(backlog, taken=taken, waiting=waiting, accepted=accepted)

    def _bursts(self, rows: Sequence[InboxRow]) -> list[Question]:
        """Rebuild the bursts that were being debounced when the previous process ended."""
        bursts: list[Question] = []
        newest: dict[tuple[str, str | None], int] = {}  # by session and lane
        for row in rows:
            question = self._question([row])
            lane = (question.session_id, question.lane)
            both = self._together(bursts[newest[lane]], question) if lane in newest else None
            if both is not None:
                bursts[newest[lane]] = both
            else:
                newest[lane] = len(bursts)
                bursts.append(question)
        return bursts

    def _together(self, burst: Question, question: Question) -> Question | None:
        """Return a burst with one more message, or None if that was queued behind it."""
        if self._belongs(question, burst):
            return replace(burst, rows=(*burst.rows, *question.rows))
        if not adds_to_waiting(self._services, question.message):
            return None
        both = None if is_command(question.message) else burst.with_added(question)
        return both if both is not None and both.may_be_asked_at_once else None

    def _belongs(self, question: Question, burst: Question) -> bool:
        """Return whether a message was part of a burst, rather than queued behind it."""
        if any(one.kind == "press" or is_command(one) for one in (question.message, burst.message)):
            return False  # a turn runs one call that a person has allowed
        if burst.burst_key != question.burst_key or burst.lane != question.lane:
            return False
        gap = parse_date(question.message.date) - parse_date(burst.message.date)
        return abs(gap.total_seconds()) < debounce_seconds(self._services, question.message)

    def _question(self, rows: Sequence[InboxRow]) -> Question:
        # Decide the role again: the access settings may have changed since the last start.
        session_id = rows[0].session_id or ""
        role = self._access.decide(rows[-1].message).role
        tape = self._services.tapes.session_tape(session_id).name
        return Question(session_id, tape, rows[0].lane, role, tuple(rows))

    async def again_for(self, session_id: str, data: Mapping[str, Any]) -> None:
        """Retry a row of a held session that another process opened again, or all up to one."""
        if (newest := data.get("newest")) is not None:
            chats = await self._services.ledger.waiting.chats()
            ours = [one for one in chats if one.session_id == session_id]
            await self.intake.put_left_over(ours, newest)
            return
        box, values = data["box"], {"id": data["id"]}
        (found,) = await self._services.store.select(f"ledger.{box}_row", values)
        if box == "outbox":
            self.sender.enqueue([OutboxRow.read(found)])
        else:
            self.ask_again(InboxRow.read(found))

    async def drop_for(self, _session_id: str, data: Mapping[str, Any]) -> None:
        """Drop a row of a held session that another process has ended."""
        drop = self.sender.forget if data["box"] == "outbox" else self.dispatcher.forget
        drop(data["id"])

    def ask_again(self, row: InboxRow) -> None:
        """Retry a message whose row was opened again: take it in, or queue its question."""
        if not self._services.claims.holds(row.session_id):
            return  # its holder hears of it
        if row.status == "accepted":
            self.intake.again(row)
        else:
            self.dispatcher.ask_again(self._question([row]))


def _in_own_chat(message: InboundMessage) -> InboundMessage:
    return replace(
        message,
        chat_id=message.thread_id or "",
        thread_id=None,
        parent_id=message.chat_id,
        ext_id=f"{message.ext_id}/moved",
    )
