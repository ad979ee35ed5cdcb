"""Decide what to write about a message: its lane, its role, its entry and its status."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from channels.message import InboundMessage
from gateway.access.access import Access, Decision
from gateway.access.roles import Roles
from gateway.clock import Clock
from gateway.context.lane_assignment import BatchIndex, LaneAssigner, LaneAssignment
from gateway.context.selection import COPY_OF, PART_OF
from gateway.intake.albums import EarlierParts, earlier_parts
from gateway.intake.commands.known_commands import KnownCommands
from gateway.intake.editing.edits import changed_media, edit_event
from gateway.intake.editing.versions import GONE, Versions, versions_of
from gateway.intake.entry_meta import closed_command, meta_of, refusal_event
from gateway.intake.framing import frame, people_of
from gateway.intake.quoting import FittedQuote, Quoting
from gateway.intake.reassembly import Parts, merge_parts
from gateway.intake.thread_openings import ThreadOpenings
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.storage.holding import HELD
from gateway.storage.ledger.rows import InboxRow
from tape.entry import MESSAGE, NewEntry, message, parse_date
from tape.lanes import is_apart
from tape.taken_messages import ASKED_IN
from tape.unit_of_work import Unit

MAX_AGE_SECONDS: Final = 60 * 24 * 3600.0
"""Seconds after which a message's date must be a mistake: no platform holds messages so long."""

PROMPT_SECONDS: Final = 2.0
"""Seconds in which a message comes before any edit or deletion of it."""

CHANGED_SECONDS: Final = 60.0
"""Seconds after an edit or a deletion in which each message of its chat is compared with it."""

NONE_EARLIER: Final = Versions()
OVERTAKEN: Final = "an edit of it came first, and was taken in its place"

MAX_ANSWERS: Final = 20  # maximum messages of a bot that are answered within WINDOW_SECONDS
WINDOW_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """A message with its entry, the decisions about it, and the question that it may ask."""

    row: InboxRow
    others: Parts  # the rows of the other parts that were merged
    question: Question
    assignment: LaneAssignment
    decision: Decision
    entry: NewEntry
    status: str  # the row's status once the entry is written
    stale: bool
    numbered: dict[str, int] = field(default_factory=dict)  # the people who are new in the chat
    changes: tuple[NewEntry, ...] = ()  # what is recorded about the message that it edits
    rewritten: InboundMessage | None = None  # takes the place of what its row has, if any
    withheld: bool = False  # whether the row had words that must not come back

    @property
    def is_only_recorded(self) -> bool:
        """Whether it edits a message that is on the tape, and asks nothing of its own."""
        row, asks = self.row, self.status in ("waiting", HELD)
        if row.replaces is None:
            return row.original is not None and self.status == "taped"
        return not row.replaces.message.command and not (row.message.command and asks)

    def written(self, entry_id: int) -> PlannedMessage:
        """Record the id of the message's entry, and return the updated plan."""
        self.assignment.stands_at(entry_id)
        row = replace(
            self.row,
            entry_id=entry_id,
            status=self.status,
            original=None,
            replaces=None,
            session_id=self.question.session_id,
            lane=self.question.lane,
        )
        return replace(self, row=row, question=replace(self.question, rows=(row,)))


class BotGuard:
    """Keeps two bots from answering each other forever; people always get an answer."""

    def __init__(self, clock: Clock, bots: Literal["ignore", "answer"]) -> None:
        self._clock = clock
        self._answers = bots == "answer"
        self.answered: dict[tuple[str, str, str], deque[float]] = {}

    def judge(self, message: InboundMessage) -> InboundMessage:
        """Return the message, marked as not addressed if it must not be answered."""
        if not message.sender.is_bot or not message.addressed:
            return message
        if not self._answers:
            return replace(message, addressed=False, why="said by a bot")
        now = self._clock.monotonic()
        pair = (message.channel, message.account, message.sender.id)
        times = self.answered.setdefault(pair, deque())
        while times and now - times[0] >= WINDOW_SECONDS:
            times.popleft()
        if len(times) >= MAX_ANSWERS:
            return replace(message, addressed=False, why="said by a bot, too often in a minute")
        times.append(now)
        self.answered = {
            key: at for key, at in self.answered.items() if now - at[-1] < WINDOW_SECONDS
        }
        return message


class IntakePlanner:
    """Plans messages one after the other, in the order of acceptance."""

    def __init__(
        self, services: Services, access: Access, roles: Roles, lanes: LaneAssigner
    ) -> None:
        self._services = services
        self._access = access
        self._lanes = lanes
        self._commands = KnownCommands(services.hooks, roles, services.router)
        self._guard = BotGuard(services.clock, services.settings.access.bots)
        self._openings = ThreadOpenings(services)
        self.changed: dict[tuple[str, str, str], float] = {}

    async def changed_among(self, batch: Iterable[Parts]) -> frozenset[int]:
        """Return the rows of a batch whose message was edited or deleted before it came."""
        return await self._services.ledger.inbox.later_versions(
            [
                row
                for parts in batch
                for row in parts
                if row.message.kind == "message"
                and (_is_late(row) or _chat_of(row.message) in self.changed)
            ]
        )

    async def plan(self, parts: Parts, known: BatchIndex) -> PlannedMessage:
        """Plan a message; `known` contains the earlier messages of its batch."""
        plan = await self._plan(parts, known)
        if parts[0].message.kind == "edit":
            self.note_change(parts[0].message)
        for row in parts:
            known.add(row, plan.question.lane, asks=plan.row.message.addressed)
        if plan.entry.kind == MESSAGE and "command" not in plan.entry.meta:
            known.hear(plan.question.session_id, parts, plan.question.lane)
        self._lanes.collect(known, plan.question.session_id, plan.row.message, plan.question.lane)
        return plan

    async def written(self, tried: Sequence[PlannedMessage]) -> list[PlannedMessage]:
        """Return plans that were written after all, as the answer was lost, or none.

        Planned once more, a message could be decided otherwise than its row says.
        """
        unit = Unit(works_on={plan.question.session_id for plan in tried})  # waits for that write
        steps = [unit.run("ledger.inbox_row", id=plan.row.id) for plan in tried]
        outcomes = await self._services.store.commit(unit)
        rows = [outcomes[step].rows[0] for step in steps]
        if any(row["status"] == "accepted" for row in rows):
            return []
        both = zip(tried, rows, strict=True)
        return [plan.written(row["entry_id"]) for plan, row in both if row["entry_id"]]

    async def _plan(self, parts: Parts, known: BatchIndex) -> PlannedMessage:
        received_at = parts[-1].received_at
        known_of = {row.id: await self._earlier(row, known) for row in parts}
        left = tuple(row for row in parts if not known_of[row.id].is_deleted)
        gone = tuple(row for row in parts if known_of[row.id].is_deleted)
        parts, said = (*left, *gone), left or gone
        message = parts[0].message
        if len(said) > 1:
            message = merge_parts([row.message for row in said])
        # It was resolved before the message was accepted if several processes share the work.
        session_id = parts[0].session_id or await self._services.pipeline.resolve_session(message)
        decision = self._access.decide(message)
        album = await earlier_parts(self._services, parts[0].original or parts[0], session_id)
        accepted, part = message, album.as_part(message) if album else message
        message = decided = await self._commands.decided(part, decision)
        row = _saying(parts[0], message, received_at)
        if message.thread_id and not row.replayed:  # a private one would be a chat of its own
            await self._services.old_threads.learned(session_id, message.thread_id, is_open=True)
        tape = self._services.tapes.session_tape(session_id).name
        # A refused message belongs to no lane and is kept out of the room memory.
        assignment = LaneAssignment(None)
        if decision.allowed:
            link = album.link if album else None
            assignment = await self._lanes.place(row, session_id, tape, known, link)
        handle = self._services.tapes.tape(tape)
        fitted = await Quoting(handle, self._lanes, session_id, row, assignment, known).fitted()
        message, stale = await self._judge(fitted.put_in(message), session_id, assignment)
        if decision.allowed:
            message = await self._openings.once(message, session_id, assignment.lane)
        row = _saying(row, message, received_at)
        held = self._services.ledger.held.concerns(row)
        admitted, dropped = "", _overtaken(known_of[parts[0].id], message)
        if dropped:
            message = replace(message, addressed=False, why=dropped)
            row = replace(row, message=message)
        elif decision.allowed:
            admitted, dropped = await self._admitted(message, session_id)
        is_shown = decision.allowed and not dropped
        numbers, new = await self._numbers(session_id, message) if is_shown else ({}, {})
        copied = await self._openings.copied(parts[0], session_id) if is_shown else 0
        entry, status = _entry(row, assignment, decision, numbers, album, dropped, fitted, copied)
        status = HELD if held and status == "waiting" else status
        # An old question may not fit a running turn, so it waits for its own turn.
        admitted = "follow_up" if row.replayed else admitted
        question = Question(session_id, tape, assignment.lane, decision.role, (row,), admitted)
        return PlannedMessage(
            row,
            parts[1:],
            question,
            assignment,
            decision,
            entry,
            status,
            stale and not held,
            new,
            _changes(row, assignment.lane, entry) if status in ("waiting", HELD) else (),
            _rewritten(accepted, decided, row, fitted),
            fitted.is_gone,
        )

    async def _admitted(self, message: InboundMessage, session_id: str) -> tuple[str, str]:
        """Return what a plugin says of a message, or "", and why it is dropped, or ""."""
        admitted = await self._services.hooks.call_first(
            "admit_message", message=message, session_id=session_id
        )
        return str(admitted or ""), "a plugin dropped it" if admitted == "drop" else ""

    async def _numbers(
        self, session_id: str, message: InboundMessage
    ) -> tuple[Mapping[str, int], dict[str, int]]:
        """Return the short numbers of the people in a message, and those that are new."""
        return await self._services.ledger.people.number(session_id, people_of(message))

    async def _judge(
        self, message: InboundMessage, session_id: str, assignment: LaneAssignment
    ) -> tuple[InboundMessage, bool]:
        """Decide whether a message asks the agent; return the message, and whether it is stale."""
        message = await self._followed(message, session_id, assignment.lane)
        message = self._guard.judge(message)
        stale = message.addressed and self._is_stale(message)
        if stale:
            message = replace(message, addressed=False, why="asked too long ago, while I was away")
        return message, stale

    async def _followed(
        self, message: InboundMessage, session_id: str, lane: str | None
    ) -> InboundMessage:
        if message.addressed or not message.follows or lane is None or is_apart(lane):
            return message
        if not await self._services.ledger.inbox.asked_in(session_id, lane):
            return message
        return replace(message, addressed=True, why="a thread that I was asked in")

    async def _earlier(self, row: InboxRow, known: BatchIndex) -> Versions:
        """Return the edit or the deletion of a message that came before it, if one did."""
        return await versions_of(self._services, row) if row.id in known.changed else NONE_EARLIER

    def note_change(self, message: InboundMessage) -> None:
        """Remember for a while that an edit or deletion here may have come before its message."""
        now = self._services.clock.monotonic()
        kept = {chat: at for chat, at in self.changed.items() if now - at < CHANGED_SECONDS}
        self.changed = {**kept, _chat_of(message): now}

    def _is_stale(self, message: InboundMessage) -> bool:
        if not message.backlog:  # a jump of the clock must not make live questions stale
            return False
        age = (self._services.clock.now() - parse_date(message.date)).total_seconds()
        return self._services.settings.delivery.replay_hours * 3600 < age < MAX_AGE_SECONDS


def _chat_of(message: InboundMessage) -> tuple[str, str, str]:
    return message.channel, message.account, message.chat_id


def _saying(row: InboxRow, message: InboundMessage, received_at: str) -> InboxRow:
    """Return a row with what is said in it now, and when: nearly always the row itself."""
    if row.message is message and row.received_at == received_at:
        return row
    return replace(row, message=message, received_at=received_at)


def _overtaken(earlier: Versions, message: InboundMessage) -> str:
    """Return that a message's deletion came first, or an edit that was taken for it, or ""."""
    if earlier.is_deleted:
        return GONE
    by_edit = earlier.known is not None and earlier.known.message.kind == "edit"
    is_overtaken = by_edit and (earlier.asked is not None or not message.addressed)
    return OVERTAKEN if is_overtaken else ""


def _is_late(row: InboxRow) -> bool:
    """Return whether something else may have been said since the message."""
    if row.message.backlog or row.replayed or not row.received_at:
        return True
    age = parse_date(row.received_at) - parse_date(row.message.date)
    return abs(age.total_seconds()) > PROMPT_SECONDS


def _entry(
    row: InboxRow,
    assignment: LaneAssignment,
    decision: Decision,
    numbers: Mapping[str, int],
    album: EarlierParts | None,
    dropped: str,
    fitted: FittedQuote,
    copied: int,
) -> tuple[NewEntry, str]:
    if not decision.allowed and closed_command(row.message):
        return refusal_event("access.opening", row, decision.rule), "waiting"
    if not decision.allowed:
        return refusal_event("access.refused", row, decision.rule), "refused"
    if dropped:
        return refusal_event("message.dropped", row, dropped), "refused"
    own = fitted.is_own
    meta = meta_of(row, assignment.lane, assignment.link, decision, quotes_own=own)
    if row.message.sender.id in numbers:
        meta["number"] = numbers[row.message.sender.id]
    if row.original is not None:
        meta["edit_of"] = row.original.entry_id
    if copied:
        meta[COPY_OF] = copied
    status = "waiting" if row.message.addressed else "taped"
    framed = frame(row.message, numbers)
    if album is not None:
        framed += album.note
        if status == "taped":
            meta[PART_OF] = album.first.entry_id
    return message("user", framed, **meta), status


def _rewritten(
    accepted: InboundMessage, decided: InboundMessage, row: InboxRow, fitted: FittedQuote
) -> InboundMessage | None:
    """Return what the row of a message must say from now on, or None if it may stay as it is."""
    if fitted.is_gone:
        return replace(decided, quote=None)
    return decided if decided is not accepted or row.original is not None else None


def _changes(row: InboxRow, lane: str | None, entry: NewEntry) -> tuple[NewEntry, ...]:
    """Return the events that say of the versions before it what an edit that asks has changed."""
    original, earlier, said = row.original, row.replaces, row.message
    if original is None:
        return ()
    data = {**changed_media(original.message, said), ASKED_IN: lane}
    return tuple(
        edit_event(one, said, str(entry.payload["content"]), **data)
        for one in (original, earlier)
        if one is not None and (one is original or one.entry_id != original.entry_id)
    )
