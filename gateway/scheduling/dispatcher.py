"""From a message on the tape to a turn: refusals, commands, the buffer, the lanes, and resuming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from agent.events import AgentEvent
from channels.message import InboundMessage, OutboundMessage
from gateway.context.lane_assignment import Pending
from gateway.context.room_memory import RoomMemories, open_linker
from gateway.delivery.sender import OutboxSender
from gateway.hooks.messages import address_of, session_of
from gateway.intake.access import Access, Decision, refusal
from gateway.intake.entry_meta import is_command
from gateway.intake.intake import Intake, TakenIn
from gateway.keyed_queue import KeyedQueue, Spawn
from gateway.logs import get_log
from gateway.pipeline.turn import Question, Turn
from gateway.scheduling.commands import Commands
from gateway.scheduling.debounce import Debouncer, key_of
from gateway.scheduling.lane_scheduler import LaneScheduler, Overlap
from gateway.services import Services
from gateway.storage.ledger.ledger import MOST_ATTEMPTS
from gateway.storage.ledger.rows import InboxRow, OutboxRow
from gateway.turn.agent_plugin import AgentPlugin
from gateway.turn.runner import STOPPED, TurnRunner, answer_to
from gateway.turn.transactions import commit_with_sends, outbound_event
from tape.entry import event, parse_date
from tape.errors import StoreUnavailable
from tape.unit_of_work import Unit

FULL_NOTICE_SECONDS: Final = 60.0

FULL: Final = (
    "I have more questions from this chat than I can take on right now. This one I will not"
    " answer; please ask again in a while."
)
GREETING: Final = (
    "Hello, I am {name}. Mention me, reply to me or call me by my name, and I answer; what is said"
    " here I remember. `,help` tells what I can do."
)
STALE: Final = (
    "I was away. Questions that came more than {hours:g} hours ago I have only read, not answered"
    " ({count} here); please ask again what still matters."
)
STALE_SECONDS: Final = 3.0
"""So long old questions of a chat are counted before it is told of them."""

POISON: Final = (
    "I could not take this message in, so I cannot answer it; please say it in another way."
    " (Message {row}, for whoever runs me.)"
)
GIVEN_UP: Final = (
    "I was interrupted each time I tried to answer this, so I have given it up. Please ask again,"
    " perhaps in other words."
)


OVERLAPS: Final[dict[str, Overlap]] = {
    "follow_up": "follow_up",
    "steer": "steer",
    "interrupt": "interrupt",
}


class Dispatcher:
    """What becomes of messages; one for the whole gateway."""

    def __init__(
        self, services: Services, access: Access, spawn: Spawn, running: dict[str, Turn]
    ) -> None:
        self._services = services
        self._access = access
        self._running = running
        self._told_full: dict[str, float] = {}
        self._stale: dict[str, int] = {}
        self._left: list[InboxRow] = []
        self._unsent: list[OutboxRow] = []
        self.builtin = AgentPlugin(services, running)
        self.delivery = OutboxSender(services, spawn)
        self._in_order: KeyedQueue[str] = KeyedQueue("command", spawn)
        self._commands = Commands(services, self.builtin.tools, self._stop)
        self._buffer = Debouncer(services.clock, services.settings.buffer.longest, self._ask, spawn)
        self.rooms = RoomMemories(services.tapes, open_linker())
        runner = TurnRunner(services, running, self.rooms, self.delivery.enqueue, spawn)
        turn = services.settings.turn
        self.sessions = LaneScheduler(runner.run, spawn, turn.lanes, turn.running)
        self.intake = Intake(
            services,
            access,
            self._forward,
            self._edited,
            lambda row: self.forget(row.id),
            self._tell_poison,
            self.rooms,
            Pending(self._buffer.lane_of, self._is_busy, self._collects),
            spawn,
        )
        self._spawn = spawn

    def _collects(self, message: InboundMessage) -> bool:
        return not is_command(message) and self._debounce(message) > 0

    def _is_busy(self, session_id: str, lane: str) -> bool:
        return self._buffer.holds(session_id, lane) or self.sessions.busy(session_id, lane)

    def turn_of(self, message: InboundMessage) -> Turn | None:
        """Return the running turn that answers a message."""
        found = (turn for turn in self._running.values() if turn.message.ext_id == message.ext_id)
        return next(found, None)

    async def idle(self) -> None:
        """Wait until what was accepted is taken in, and no command, turn or send is under way."""
        await self.intake.taken_in()
        await self._in_order.idle()
        await self.sessions.idle()
        await self.delivery.idle()

    def ask_again(self, row: InboxRow) -> None:
        """Ask a message whose row says again that it waits; see `Desk`."""
        if row.status == "accepted":
            self.intake.again(row)
        else:
            self.sessions.submit(self._asked([row]))

    def send_again(self, row: OutboxRow) -> None:
        """Send what a row holds."""
        self.delivery.enqueue([row])

    def forget(self, inbox_id: int) -> None:
        """Let a message that waits not be asked: its row says that it was dropped."""
        gone = self.sessions.forget(inbox_id) or self._buffer.forget(inbox_id)
        if gone is not None:
            self._spawn("forget", partial(self._tell_end, gone.message, silent=True))

    async def load(self) -> None:
        """Read what the last process left; to be called before anything new is accepted."""
        try:
            await (
                self._services.ledger.leases.end_others()
            )  # the home's lock is ours: nobody else is alive
        except StoreUnavailable as away:  # they end by themselves
            get_log().error("ledger.leases_not_ended", why=str(away))
        here = self._services.router.channel
        left = await self._services.ledger.inbox.open_rows()
        unsent = await self._services.ledger.outbox.open_rows()
        # What belongs to a channel that is not here (`tapeway run`) is the next gateway's.
        self._left = [
            row for row in left if here(row.message.output_channel or row.message.channel)
        ]
        self._unsent = [row for row in unsent if here(row.message.channel)]

    async def resume(self) -> None:
        """Take up what was left: the outbox, the turns, the inbox; then take in what is new."""
        rows = self._left
        self.delivery.enqueue(self._unsent)
        self._left, self._unsent = [], []
        await self._resume_turns([row for row in rows if row.status == "taken"])
        for asked in self._bursts([row for row in rows if row.status == "waiting"]):
            if _is_command(asked):
                await self._forward_command(asked)
            else:
                self.sessions.submit(asked)
        self.intake.begin([row for row in rows if row.status == "accepted"])
        self._spawn("intake", self.intake.run)
        if rows:
            get_log().info("gateway.resumed", messages=len(rows))

    async def _resume_turns(self, rows: Sequence[InboxRow]) -> None:
        by_turn: dict[str, list[InboxRow]] = {}
        for row in rows:
            by_turn.setdefault(row.turn_id or "", []).append(row)
        for turn_id, own in by_turn.items():
            asked = replace(self._asked(own), turn_id=turn_id)
            if own[0].attempts >= MOST_ATTEMPTS:
                await self._give_up(asked)
            else:
                self.sessions.submit(asked)

    def _bursts(self, rows: Sequence[InboxRow]) -> list[Question]:
        """Put together again what was being collected when the process ended."""
        bursts: list[Question] = []
        for row in rows:
            asked = self._asked([row])
            if bursts and self._belongs(asked, bursts[-1]):
                bursts[-1] = replace(bursts[-1], rows=(*bursts[-1].rows, row))
            else:
                bursts.append(asked)
        return bursts

    def _belongs(self, asked: Question, burst: Question) -> bool:
        """Tell whether a message followed a burst so soon that it was being collected with it.

        Questions that only waited for their turns stay questions of their own.
        """
        if _is_command(asked) or _is_command(burst):
            return False
        if key_of(burst) != key_of(asked) or burst.lane != asked.lane:
            return False
        gap = parse_date(asked.message.date) - parse_date(burst.message.date)
        return gap.total_seconds() < self._debounce(asked.message)

    def _asked(self, rows: Sequence[InboxRow]) -> Question:
        """Make a question of rows of the inbox; the role is computed anew, from ids."""
        session_id = rows[0].session_id or ""
        role = self._access.decide(rows[-1].message).role
        tape = self._services.tapes.session_tape(session_id).name
        return Question(session_id, tape, rows[0].lane, role, tuple(rows))

    async def _forward(self, taken: TakenIn) -> None:
        """Send a message on its way."""
        asked, message = taken.asked, taken.row.message
        if message.kind == "change":
            await self._greet(asked, taken.decision)
            return
        if taken.row.status == "refused":
            if message.addressed and not taken.decision.allowed:
                await self._refuse(asked)
            await self._tell_end(message, silent=taken.decision.allowed)
            return
        if taken.stale:
            self._note_stale(asked)
        if not message.addressed:
            return
        if _is_command(asked):
            await self._forward_command(asked)
            return
        if self.sessions.waiting(asked.session_id) >= self._services.settings.turn.waiting:
            await self._full(asked)
            return
        await self._services.router.dispatch_event(AgentEvent("accepted"), message)
        await self._buffer.add(asked, self._debounce(message))

    def _edited(self, row: InboxRow) -> None:
        """Let a question that waits be asked as it reads now."""
        self._buffer.edited(row)
        self.sessions.edited(row)

    async def _tell_poison(self, row: InboxRow) -> None:
        """Tell who waits for an answer that a message could not be taken in.

        Nobody knows of what cannot be read whether it asks: it is told in private chats only.
        """
        said = row.message
        waits = said.addressed or (said.kind == "unreadable" and said.chat_kind == "private")
        if not waits or not said.chat_id:
            return
        decision = self._access.decide(said)
        if not decision.allowed:
            return
        session_id = session_of(said)
        tape = self._services.tapes.session_tape(session_id).name
        asked = Question(session_id, tape, None, decision.role, (row,))
        told = self._notice(asked, POISON.format(row=f"in-{row.id}"), f"poison:{row.id}")
        await self._tell_end(said)
        await self._end(asked, "dead", [told], why="it could not be taken in")

    async def _greet(self, asked: Question, decision: Decision) -> None:
        """Tell a group that the agent was added to it how to talk to it, or how to let it in."""
        message = asked.message
        if message.chat_kind != "group":
            return
        if not decision.allowed:
            await self._refuse(asked)
            return
        text = GREETING.format(name=self._services.settings.agent.name)
        day = self._services.clock.now().date().isoformat()
        key = f"greeting:{message.channel}:{message.account}:{message.chat_id}:{day}"
        await self._end(asked, "taped", [self._notice(asked, text, key)], key=f"n-{key}")

    def _note_stale(self, asked: Question) -> None:
        """Count questions that are too old, and tell their chat of all of them at once."""
        self._stale[asked.session_id] = self._stale.get(asked.session_id, 0) + 1
        if self._stale[asked.session_id] == 1:
            self._spawn("stale", lambda: self._tell_stale(asked))

    async def _tell_stale(self, asked: Question) -> None:
        await self._services.clock.sleep(STALE_SECONDS)
        count = self._stale.pop(asked.session_id)
        text = STALE.format(count=count, hours=self._services.settings.delivery.replay_hours)
        notice = self._notice(asked, text, f"stale:{asked.rows[0].id}")
        await self._end(asked, "taped", [notice], key=notice.idem)

    def _debounce(self, message: InboundMessage) -> float:
        channel = self._services.router.channel(message.channel)
        own = channel.traits.debounce if channel else None
        return self._services.settings.buffer.debounce if own is None else own

    async def _ask(self, asked: Question) -> None:
        overlap = OVERLAPS.get(asked.admitted, self._services.settings.turn.overlap)
        self.sessions.submit(asked, "follow_up" if asked.replayed else overlap)

    async def _forward_command(self, asked: Question) -> None:
        """Run a command beside the intake, in order for its chat; `,stop` goes first."""
        if asked.message.text.split()[0].lower() == ",stop":
            await self._command(asked)
        else:
            self._in_order.submit(asked.session_id, lambda: self._command(asked))

    async def _command(self, asked: Question) -> None:
        text = await self._commands.run(asked)
        notice = self._notice(asked, text, f"command:{asked.rows[0].id}")
        await self._end(asked, "done", [notice] if text else [])
        if not text:
            await self._tell_end(asked.message, silent=True)

    async def _refuse(self, asked: Question) -> None:
        """Tell a chat that it is not open: the key has the day in it, so once a day."""
        message = asked.message
        day = self._services.clock.now().date().isoformat()
        key = f"refusal:{message.channel}:{message.account}:{message.chat_id}:{day}"
        notice = self._notice(asked, refusal(message), key)
        await self._end(asked, "refused", [notice], key=notice.idem)

    async def _full(self, asked: Question) -> None:
        now = self._services.clock.monotonic()
        last = self._told_full.get(asked.session_id)
        told = [self._notice(asked, FULL, f"full:{asked.rows[0].id}")]
        if last is not None and now - last < FULL_NOTICE_SECONDS:
            told = []
        else:
            self._told_full = {
                session_id: told_at
                for session_id, told_at in self._told_full.items()
                if now - told_at < FULL_NOTICE_SECONDS
            }
            self._told_full[asked.session_id] = now
        await self._tell_end(asked.message, silent=not told)
        await self._end(asked, "refused", told, why="too many questions wait")

    async def _give_up(self, asked: Question) -> None:
        get_log().error("turn.given_up", turn=asked.turn_id, attempts=asked.rows[0].attempts)
        told = answer_to(asked.message, GIVEN_UP, asked.turn_id)
        why = f"{MOST_ATTEMPTS} attempts were lost"
        await self._end(asked, "dead", [told], turn=asked.turn_id, why=why)

    async def _stop(self, asked: Question, everything: bool) -> int:
        """End the turns of the lane that a command is said in, else those of its author."""
        message = asked.message
        said_in_one = message.thread_id is not None or message.reply_to is not None
        in_a_lane = asked.lane is not None and said_in_one

        def wanted(other: Question) -> bool:
            if other.session_id != asked.session_id:
                return False
            if everything or message.chat_kind == "private":
                return True
            if in_a_lane:
                return other.lane == asked.lane
            return other.message.sender.id == message.sender.id

        by = {"by": message.sender.id, "name": message.sender.name, "why": "stop"}
        ended, waited = self.sessions.stop(asked.session_id, wanted, by)
        dropped = [*waited, *self._buffer.take_away(wanted)]
        for other in dropped:
            await self._tell_end(other.message)
            told = self._notice(other, STOPPED, f"stopped:{other.rows[0].id}")
            await self._end(other, "stopped", [told], **by)
        return ended + len(dropped)

    async def _tell_end(self, message: InboundMessage, *, silent: bool = False) -> None:
        """Let the channel end what it shows of a message; `silent`: nothing at all will be said."""
        ended = AgentEvent("error", {"message": "ended without an answer", "silent": silent})
        await self._services.router.dispatch_event(ended, message)

    async def _end(
        self,
        asked: Question,
        status: str,
        sends: Sequence[OutboundMessage],
        key: str = "",
        **why: Any,
    ) -> None:
        """End messages without a turn, with what the chat is told of it.

        A `key` makes what is told the same for all messages that share it.
        """
        unit = Unit()
        self._services.ledger.inbox.end(unit, asked.rows, status, _reason(why))
        entries = [outbound_event(send) for send in sends]
        if why:
            told = {"status": status, "entries": list(asked.entry_ids), **why}
            entries.append(event("message.end", told))
        if entries:
            unit.append(asked.tape, entries, key=key or f"inbox:{asked.rows[0].id}:end")
        rows = await self._services.persist.retrying(
            "message's end",
            lambda: commit_with_sends(self._services, unit, sends, asked.session_id, asked.lane),
        )
        self.delivery.enqueue(rows)

    def _notice(self, asked: Question, text: str, key: str) -> OutboundMessage:
        return OutboundMessage(
            **address_of(asked.message), text=text, kind="notice", idem=f"n-{key}"
        )


def _is_command(asked: Question) -> bool:
    return is_command(asked.message)


def _reason(why: Mapping[str, Any]) -> str | None:
    """Return why a message ended without a turn, for whoever asks."""
    by = f", by {why['by']}" if "by" in why else ""
    return f"{why['why']}{by}" if "why" in why else None
