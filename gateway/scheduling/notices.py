"""Notices to a chat about messages that get no answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from channels.message import InboundMessage, OutboundMessage
from gateway.background import Spawn
from gateway.delivery.outbox import commit_with_sends, outbound_event
from gateway.delivery.sender import OutboxSender
from gateway.hooks.messages import address_of, session_of
from gateway.intake.access import Access, Decision, refusal
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.ledger.ledger import MOST_ATTEMPTS
from gateway.storage.ledger.rows import InboxRow
from gateway.turn.runner import STOPPED, answer_to
from tape.entry import event
from tape.unit_of_work import Unit

FULL_NOTICE_SECONDS: Final = 60.0
"""Minimum seconds between two notices to a chat that it asks too much."""

STALE_SECONDS: Final = 3.0
"""Seconds for which stale questions of a chat are counted before one notice mentions them all."""

FULL: Final = (
    "I have more questions from this chat than I can handle right now, so I won't answer this one."
    " Please ask again in a while."
)
GREETING: Final = (
    "Hello, I'm {name}. Mention me, reply to me or call me by my name, and I'll answer. I remember"
    " what is said here. `,help` lists what I can do."
)
STALE: Final = (
    "I was away. I've read the questions from more than {hours:g} hours ago ({count} here) but"
    " haven't answered them. Please ask again if you still need an answer."
)
POISON: Final = (
    "I couldn't process this message, so I can't answer it. Please try to say it in another way."
    " (Ref {row})"
)
GIVEN_UP: Final = (
    "I was interrupted each time I tried to answer this, so I've given up. Please ask again,"
    " perhaps in other words."
)


class Notices:
    """Ends questions without a turn, and notifies their chats."""

    def __init__(
        self, services: Services, access: Access, sender: OutboxSender, spawn: Spawn
    ) -> None:
        self._services = services
        self._access = access
        self._sender = sender
        self._spawn = spawn
        self._full_at: dict[str, float] = {}
        self._stale: dict[str, int] = {}

    async def answer_command(self, question: Question, text: str) -> None:
        """Answer a command; with no text, only end it."""
        notice = _notice(question, text, f"command:{question.rows[0].id}")
        await self._end(question, "done", [notice] if text else [])
        if not text:
            await self._services.router.end_without_answer(question.message, silent=True)

    async def refuse(self, question: Question) -> None:
        """Explain to a chat how to get access, once a day."""
        key = self._daily("refusal", question.message)
        notice = _notice(question, refusal(question.message), key)
        await self._end(question, "refused", [notice], key=notice.idem)

    async def greet(self, question: Question, decision: Decision) -> None:
        """Greet a group that the agent was added to, or explain how to get access."""
        if question.message.chat_kind != "group":
            return
        if not decision.allowed:
            await self.refuse(question)
            return
        text = GREETING.format(name=self._services.settings.agent.name)
        notice = _notice(question, text, self._daily("greeting", question.message))
        await self._end(question, "taped", [notice], key=notice.idem)

    async def full(self, question: Question) -> None:
        """Refuse a question because too many wait; notify the chat at most once a minute."""
        now = self._services.clock.monotonic()
        self._full_at = {
            session_id: at
            for session_id, at in self._full_at.items()
            if now - at < FULL_NOTICE_SECONDS
        }
        notices = []
        if question.session_id not in self._full_at:
            self._full_at[question.session_id] = now
            notices.append(_notice(question, FULL, f"full:{question.rows[0].id}"))
        await self._services.router.end_without_answer(question.message, silent=not notices)
        await self._end(question, "refused", notices, why="too many questions wait")

    def stale(self, question: Question) -> None:
        """Count a question that is too old to answer; one notice covers all of its chat."""
        self._stale[question.session_id] = self._stale.get(question.session_id, 0) + 1
        if self._stale[question.session_id] == 1:
            self._spawn("stale", lambda: self._notify_stale(question))

    async def failed(self, row: InboxRow) -> None:
        """Notify whoever waits for an answer that their message could not be taken in.

        It is unknown whether an unreadable message asks the agent: only private chats get a notice.
        """
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
        notice = _notice(question, POISON.format(row=f"in-{row.id}"), f"poison:{row.id}")
        await self._services.router.end_without_answer(message, silent=False)
        await self._end(question, "dead", [notice], why="it could not be taken in")

    async def stopped(self, question: Question, by: Mapping[str, Any]) -> None:
        """End a waiting question that was stopped."""
        await self._services.router.end_without_answer(question.message, silent=False)
        notice = _notice(question, STOPPED, f"stopped:{question.rows[0].id}")
        await self._end(question, "stopped", [notice], **by)

    async def given_up(self, question: Question) -> None:
        """End a question whose turn was lost too often."""
        turn_id, attempts = question.turn_id, question.rows[0].attempts
        get_log().error("turn.given_up", turn=turn_id, attempts=attempts)
        notice = answer_to(question.message, GIVEN_UP, turn_id)
        why = f"{MOST_ATTEMPTS} attempts were lost"
        await self._end(question, "dead", [notice], turn=turn_id, why=why)

    async def _notify_stale(self, question: Question) -> None:
        await self._services.clock.sleep(STALE_SECONDS)
        count = self._stale.pop(question.session_id)
        text = STALE.format(count=count, hours=self._services.settings.delivery.replay_hours)
        notice = _notice(question, text, f"stale:{question.rows[0].id}")
        await self._end(question, "taped", [notice], key=notice.idem)

    async def _end(
        self,
        question: Question,
        status: str,
        sends: Sequence[OutboundMessage],
        key: str = "",
        **why: Any,
    ) -> None:
        """End messages without a turn, and send notices.

        Messages with the same `key` share one notice.
        """
        unit = Unit()
        self._services.ledger.inbox.end(unit, question.rows, status, _reason(why))
        entries = [outbound_event(send) for send in sends]
        if why:
            ended = {"status": status, "entries": list(question.entry_ids), **why}
            entries.append(event("message.end", ended))
        if entries:
            unit.append(question.tape, entries, key=key or f"inbox:{question.rows[0].id}:end")
        rows = await self._services.guard.retrying(
            "message's end",
            lambda: commit_with_sends(
                self._services, unit, sends, question.session_id, question.lane
            ),
        )
        self._sender.enqueue(rows)

    def _daily(self, name: str, message: InboundMessage) -> str:
        """Return a key that is the same for a chat for a whole day."""
        day = self._services.clock.now().date().isoformat()
        return f"{name}:{message.channel}:{message.account}:{message.chat_id}:{day}"


def _notice(question: Question, text: str, key: str) -> OutboundMessage:
    return OutboundMessage(
        **address_of(question.message), text=text, kind="notice", idem=f"n-{key}"
    )


def _reason(why: Mapping[str, Any]) -> str | None:
    """Return why a message ended without a turn, for `tapeway explain`."""
    by = f", by {why['by']}" if "by" in why else ""
    return f"{why['why']}{by}" if "why" in why else None
