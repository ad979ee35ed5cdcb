"""Send notices to chats about messages that get no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from agent.tool import Role
from agent.turn_log import TurnLog
from channels.message import OutboundMessage
from gateway.access.access import Access, Decision
from gateway.access.console_door import FOR_WHOM
from gateway.delivery.outbox import commit_with_sends, outbound_event
from gateway.delivery.sender import OutboxSender
from gateway.hooks.messages import address_of, session_of
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.scheduling.opening.requests import AccessRequests
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from gateway.turn.runner import answer_to
from gateway.turn.stopped import STOPPED
from gateway.turn.usage import count_usage, record_usage
from gateway.wording import counted
from tape.entry import event
from tape.turn_events import TURN_END
from tape.unit_of_work import Unit

FULL_NOTICE_SECONDS: Final = 60.0
"""Minimum seconds between two notices to a chat that too many of its questions wait."""

FULL: Final = (
    "I have more questions from this chat than I can handle right now, so I won't answer this one."
    " Please ask again in a while."
)
STALE: Final = (
    "I was away. I've read the questions from more than {hours} ago ({count} here) but"
    " haven't answered them. Please ask again if you still need an answer."
)
POISON: Final = (
    "I couldn't process this message, so I can't answer it. Please try to rephrase it. (Ref {row})"
)
GIVEN_UP: Final = (
    "I was interrupted each time I tried to answer this, so I've given up. Please ask again,"
    " perhaps with different words."
)


@dataclass(slots=True)
class Notices:
    """Ends questions without a turn, and notifies their chats."""

    _services: Services
    _access: Access
    _sender: OutboxSender
    _requests: AccessRequests
    _full_at: dict[str, float] = field(default_factory=dict)
    _stale: dict[str, int] = field(default_factory=dict)

    async def answer_command(self, question: Question, text: str) -> None:
        """Reply to a command with the text; if the text is empty, only end the question.

        In a closed chat, who has no role of their own to act on gets the same reply once a day.
        """
        decision = self._access.decide(question.message)
        once = not decision.allowed and decision.role < Role.ADMIN
        key = f"{self._today(question)}:{sha256(text.encode()).hexdigest()[:16]}" if once else ""
        notice = _notice(question, text, "command", key) if text else None
        await self._end(question, "done", notice, shared=once)
        if not text:
            await self._services.router.end_without_answer(question.message, silent=True)

    async def refuse(self, question: Question, command: str = "") -> None:
        """Refuse a question; ask the owner; say at most once a day how the chat can be opened.

        Nothing is said if the owner is asked at once about what the owner did. For the `command`
        of the console, it is said once a day for whom that is.
        """
        message = question.message
        if command == ",console":
            notice = _notice(question, FOR_WHOM, "console", self._today(question))
            await self._end(question, "refused", notice, shared=True)
            return
        asked = await self._requests.ask(message)
        if asked and message.kind == "change" and self._access.own_role(message) == Role.OWNER:
            await self._end(question, "refused", None)
            return
        text = self._requests.sentence(message, asked=asked)
        notice = _notice(question, text, "refusal", self._today(question))
        await self._end(question, "refused", notice, shared=True)

    async def greet(self, question: Question, decision: Decision) -> None:
        """Greet a group that the agent was added to, or explain how the group can get access."""
        if question.message.chat_kind != "group":
            return
        if not decision.allowed:
            await self.refuse(question)
            return
        text = self._requests.openings.greeting(question.message.channel)
        notice = _notice(question, text, "greeting", self._today(question))
        await self._end(question, "taped", notice, shared=True)

    async def full(self, question: Question) -> None:
        """Refuse a question because too many wait; notify the chat at most once a minute."""
        now = self._services.clock.monotonic()
        self._full_at = {
            session_id: at
            for session_id, at in self._full_at.items()
            if now - at < FULL_NOTICE_SECONDS
        }
        notice = None
        if question.session_id not in self._full_at:
            self._full_at[question.session_id] = now
            notice = _notice(question, FULL, "full")
        await self._services.router.end_without_answer(question.message, silent=notice is None)
        await self._end(question, "refused", notice, why="too many questions wait")

    def stale(self, question: Question) -> None:
        """Count a question that is too old to answer; a chat gets one notice for all of them."""
        self._stale[question.session_id] = self._stale.get(question.session_id, 0) + 1
        if self._stale[question.session_id] == 1:
            self._services.spawn("stale", lambda: self._notify_stale(question))

    async def failed(self, row: InboxRow) -> None:
        """Send a notice in a private chat only: an unreadable message may be no question."""
        message = row.message
        private = message.kind == "unreadable" and message.chat_kind == "private"
        if not (message.addressed or private) or not message.chat_id:
            return
        decision = self._access.decide(message)
        if not decision.allowed:
            return
        session_id = session_of(message)
        tape = self._services.tapes.session_tape(session_id).name
        question = Question(session_id, tape, None, decision.role, (row,))
        notice = _notice(question, POISON.format(row=f"in-{row.id}"), "poison")
        await self._services.router.end_without_answer(message, silent=False)
        await self._end(question, "dead", notice, why="it could not be taken in")

    async def stopped(self, question: Question, by: Mapping[str, Any]) -> None:
        turn_id = question.turn_id
        notice = _notice(question, STOPPED, "stopped")
        if turn_id:  # the notice takes the place of the draft that an earlier process has shown
            notice = answer_to(question.message, STOPPED, turn_id)
        await self._services.router.end_all(question.messages, silent=False)
        await self._end(question, "stopped", notice, **by)

    async def given_up(self, question: Question) -> None:
        turn_id, crashes = question.turn_id, question.crashes
        get_log().error("turn.given_up", turn=turn_id, crashes=crashes)
        notice = answer_to(question.message, GIVEN_UP, turn_id)
        await self._services.router.end_all(question.messages, silent=False)
        why = f"it was running in {crashes} crashes"
        await self._end(question, "dead", notice, turn=turn_id, why=why)

    async def _notify_stale(self, question: Question) -> None:
        await self._services.clock.sleep(self._services.intervals.stale_questions)
        count = self._stale.pop(question.session_id)
        hours = counted(self._services.settings.delivery.replay_hours, "hour")
        text = STALE.format(count=count, hours=hours)
        await self._end(question, "taped", _notice(question, text, "stale"), shared=True)

    async def _end(
        self,
        question: Question,
        status: str,
        notice: OutboundMessage | None,
        shared: bool = False,
        **why: Any,
    ) -> None:
        """End a question's messages, and the turn that it was to resume, without running it.

        A `shared` notice is sent only once.
        """
        sends = [notice] if notice else []
        unit = Unit()
        self._services.ledger.inbox.end(unit, question.rows, status, _reason(why))
        entries = [outbound_event(send) for send in sends]
        if why:
            ended = {"status": status, "entries": list(question.entry_ids), **why}
            entries.append(event("message.end", ended))
        key = notice.idem if notice and shared else f"inbox:{question.rows[0].id}:end"
        turn_id, meters = question.turn_id, self._services.meters
        used = []
        if turn_id:
            prices = self._services.settings
            used = await record_usage(self._services, unit, question, turn_id, prices)
            log = TurnLog(self._services.tapes.tape(question.tape), turn_id, question.lane)
            end = event(TURN_END, {"turn": turn_id, "status": status, **why})
            entries, key = [log.stamp(entry) for entry in (*entries, end)], f"turn:{turn_id}:end"
        if entries:
            unit.append(question.tape, entries, key=key)
        rows = await self._services.guard.retrying(
            "message's end",
            lambda: commit_with_sends(
                self._services, unit, sends, question.session_id, question.lane
            ),
        )
        self._sender.enqueue(rows)
        count_usage(meters, used)
        if turn_id or status == "refused":
            meters.turn_ended(question.message.channel, status, turn_id, "")

    def _today(self, question: Question) -> str:
        message, day = question.message, self._services.clock.now().date().isoformat()
        return f"{message.channel}:{message.account}:{message.chat_id}:{day}"


def _notice(question: Question, text: str, name: str, key: str = "") -> OutboundMessage:
    idem = f"n-{name}:{key or question.rows[0].id}"
    return OutboundMessage(**address_of(question.message), text=text, kind="notice", idem=idem)


def _reason(why: Mapping[str, Any]) -> str | None:
    by = f", by {why['by']}" if "by" in why else ""
    return f"{why['why']}{by}" if "why" in why else None
