"""Questions, and the turns that answer them."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agent.tool import Role
from agent.turn_log import TurnLog
from channels.message import Excerpt, InboundMessage, OutboundMessage
from gateway.settings import Settings
from gateway.storage.ledger.ledger import SUSPECT_CRASHES
from gateway.storage.ledger.rows import InboxRow
from tape.entry import Entry
from tape.handle import Tape

BurstKey = tuple[str, str | None, str]
"""The session, thread and author that messages share if they are debounced together."""

MAX_ADDED: Final = 20  # maximum messages of a question that others were added to
MAX_ADDED_MEDIA: Final = 4  # maximum images and files of them together
MAX_ADDED_CHARACTERS: Final = 20_000  # maximum characters of them together


@dataclass(frozen=True, slots=True)
class Question:
    """A question that waits for its turn: one message, or a burst of one author's messages."""

    session_id: str
    tape: str
    lane: str | None  # None in a chat that is a single conversation
    role: Role
    rows: tuple[InboxRow, ...]
    admitted: str = ""  # the decision of a plugin's `admit_message` hook, if any
    losses: int = 0  # times that this process lost its database during the turn

    @property
    def message(self) -> InboundMessage:
        """The newest message, which the answer replies to."""
        return self.rows[-1].message

    @property
    def own_words(self) -> str:
        """What its author wrote, without what they forwarded or passed on as excerpts."""
        said = [row.message.text for row in self.rows if row.message.forwarded is None]
        return "\n".join(said)

    @property
    def turn_id(self) -> str:
        """The id of the lost turn that is to be resumed, or "" for a new question."""
        first = self.rows[0]
        return (first.turn_id or "") if first.status == "taken" else ""

    @property
    def asker(self) -> str:
        """The author of its messages, as `channel:id`."""
        return f"{self.message.channel}:{self.message.sender.id}"

    @property
    def crashes(self) -> int:
        """The number of crashes in a row in which its turn was running."""
        return self.rows[0].crashes if self.turn_id else 0

    @property
    def is_suspect(self) -> bool:
        """Whether its turn may be the cause of crashes."""
        return self.crashes >= SUSPECT_CRASHES

    @property
    def messages(self) -> tuple[InboundMessage, ...]:
        """Its messages, the newest last."""
        return tuple(row.message for row in self.rows)

    @property
    def burst_key(self) -> BurstKey:
        return (self.session_id, self.message.thread_id, self.message.sender.id)

    @property
    def entry_ids(self) -> tuple[int, ...]:
        return tuple(row.entry_id for row in self.rows if row.entry_id is not None)

    def edited(self, row: InboxRow) -> Question:
        """Return the question, with the new text if one of its messages was edited."""
        if all(own.id != row.id for own in self.rows):
            return self
        return replace(self, rows=tuple(row if own.id == row.id else own for own in self.rows))

    def without(self, inbox_id: int) -> tuple[Question | None, InboxRow | None]:
        """Return the question without one message (None if nothing is left), and that message."""
        removed = next((row for row in self.rows if row.id == inbox_id), None)
        if removed is None:
            return self, None
        left = tuple(row for row in self.rows if row.id != inbox_id)
        return (replace(self, rows=left) if left else None), removed

    def with_added(self, question: Question) -> Question | None:
        """Return both as one question if one author wrote them in one place, otherwise None.

        What has begun before, what a plugin has decided about, and what follows from a press of a
        button stays by itself.
        """
        rows = (*self.rows, *question.rows)
        places = {(row.message.channel, row.account_id, row.message.chat_id) for row in rows}
        alone = self.admitted or question.admitted or self.turn_id or question.turn_id
        if alone or len(places) > 1 or any(row.message.kind != "message" for row in rows):
            return None
        if (self.burst_key, self.lane) != (question.burst_key, question.lane):
            return None
        return replace(self, rows=rows, role=min(self.role, question.role))

    @property
    def may_be_asked_at_once(self) -> bool:
        """Whether messages that were added to a question still fit into one."""
        excerpts = [excerpt for message in self.messages for excerpt in message.excerpts]
        parts: list[InboundMessage | Excerpt] = [*self.messages, *excerpts]
        media = sum(len(part.media) for part in parts)
        characters = sum(len(part.text) for part in parts)
        fits = media <= MAX_ADDED_MEDIA and characters <= MAX_ADDED_CHARACTERS
        return fits and len(self.rows) <= MAX_ADDED

    def resuming(self, turn_id: str, attempts: int = 0) -> Question:
        """Return the question so that it resumes a turn, with `attempts` more attempts counted."""
        return replace(
            self,
            losses=self.losses + attempts,
            rows=tuple(
                replace(row, status="taken", turn_id=turn_id, attempts=row.attempts + attempts)
                for row in self.rows
            ),
        )


@dataclass(slots=True)
class TextSoFar:
    """The text that a turn has produced so far; its current step's text begins at `step`.

    `begun` is called once, with the first text, and returns when that came, in UTC (ISO 8601).
    """

    pieces: list[str] = field(default_factory=list)
    step: int = 0
    begun: Callable[[], str] | None = None
    first_at: str | None = None

    def push(self, delta: str) -> None:
        self.pieces.append(delta)
        if self.begun is not None and delta.strip():
            self.first_at = self.begun()
            self.begun = None

    def reset(self) -> None:
        self.pieces.clear()
        self.step = 0

    def end_step(self) -> None:
        """End a step: the tape has its text, so it is no part of the final message."""
        self.step = len(self.pieces)

    def whole(self) -> str:
        return "".join(self.pieces)

    def of_step(self) -> str:
        return "".join(self.pieces[self.step :])


@dataclass(frozen=True, slots=True)
class Turn:
    """A running turn: its question, its tape, and the messages that it has taken."""

    id: str
    question: Question
    tape: Tape
    log: TurnLog
    epoch: int = 0
    pictured: tuple[int, ...] = ()  # ids of entries with images that a new turn shows
    took: list[InboxRow] = field(default_factory=list)  # all messages that it answers
    steered: list[Question] = field(default_factory=list)  # its next step takes them
    stopped_by: dict[str, Any] = field(default_factory=dict)  # as in the event `turn.end`
    said: TextSoFar = field(default_factory=TextSoFar)
    kept: list[OutboundMessage] = field(default_factory=list)  # what a stopped turn still sends
    chosen: list[Settings] = field(default_factory=list)  # those that chose its model, if any
    wrote: list[Entry] = field(default_factory=list)  # what its end has put on the tape

    @property
    def message(self) -> InboundMessage:
        return self.question.message


current_turn: ContextVar[Turn | None] = ContextVar("current_turn", default=None)
"""The turn of the running pipeline; hooks do not get the turn, only plain values."""

_Key = tuple[str, str, str]


class RunningTurns:
    """Maps each message to the running turn that answers it; a message has one turn at a time."""

    def __init__(self) -> None:
        self._turns: dict[_Key, Turn] = {}

    def add(self, turn: Turn) -> None:
        self._turns[_key(turn.message)] = turn

    def remove(self, turn: Turn) -> None:
        del self._turns[_key(turn.message)]

    def by_message(self, message: InboundMessage) -> Turn | None:
        return self._turns.get(_key(message))

    def answers_in(self, channel: str) -> bool:
        """Return whether a turn answers in a channel."""
        said = (turn.message for turn in self._turns.values())
        return any(channel in (one.channel, one.output_channel) for one in said)

    def sessions(self) -> set[str]:
        return {turn.question.session_id for turn in self._turns.values()}


def _key(message: InboundMessage) -> _Key:
    return (message.channel, message.account, message.ext_id)
