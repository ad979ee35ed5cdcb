"""What is written down of a schedule: what was asked, what was done to the gateway, what was seen.

An answer is made of lines that each name their question and their place, so that whoever looks at
a chat can tell which part of which answer a message has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import apsw

from tests.chaos.plan import Plan, Question

ASKED: Final = re.compile(r"\b(Q\d{4,}) (short|long|tool)\b")
LINE: Final = re.compile(r"\b(Q\d{4,})-(\d+)/(\d+)\b")


def line(token: str, number: int, count: int) -> str:
    """Return a line of an answer, which names its question and its place."""
    return f"{token}-{number}/{count} the deploy of the billing service went through.\n\n"


def is_final(text: str) -> bool:
    """Return whether a text has the last line of an answer."""
    return any(number == count for _token, number, count in LINE.findall(text))


@dataclass(slots=True)
class Sent:
    """A message as the gateway sent it; `heard`: the answer to that was given to the gateway.

    `message_id` is empty where the platform never made the message.
    """

    message_id: str
    place: int
    called_at: float
    applied_at: float
    heard: bool


@dataclass(slots=True)
class Row:
    """What the ledger says of a question, and of what was sent for it."""

    status: str
    lane: str
    sends: list[tuple[str, str, str]]
    """Status, text, and the platform's id of each."""
    number: int = 0
    """Its place in the order of acceptance."""
    asked_with: str = ""
    """The last question of the same turn, which has the answer to this one, too."""


Messages = list[tuple[str, str]]
"""The ids and texts of a chat's messages, as they stand."""


@dataclass(slots=True)
class Record:
    """What was asked and what came of it; moments are of the monotonic clock.

    talk     what was said and asks nothing
    texts    by place, what can be seen of the agent in the end
    strange  what a stage saw that nobody should
    """

    plan: Plan
    home: Path
    asked: list[Question] = field(default_factory=list)
    talk: list[str] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    traps: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    texts: dict[int, Messages] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    may_fail: set[str] = field(default_factory=set)
    acts: Counter[str] = field(default_factory=Counter)
    drafts: int = 0
    strange: list[str] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)
    stuck: str = ""
    seconds: float = 0.0

    @property
    def tokens(self) -> set[str]:
        """The names of what was asked."""
        return {question.token for question in self.asked}


TOLD: Final = ("taped", "refused")
"""How a version of a question ends that does not ask it: another one has."""

INBOX: Final = "SELECT payload, status, lane, id, turn_id FROM inbox ORDER BY id"
OUTBOX: Final = "SELECT payload, status, turn_id, platform_id, idem FROM outbox ORDER BY id"


def read_ledger(home: Path) -> tuple[dict[str, Row], list[str]]:
    """Return what the ledger says of every question, and what else is not at its end."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(str(home / "tapeway.db"), flags=flags)) as connection:
        return rows_of(connection.execute(INBOX), connection.execute(OUTBOX))


def rows_of(
    inbox: Iterable[Sequence[object]], outbox: Iterable[Sequence[object]]
) -> tuple[dict[str, Row], list[str]]:
    """Return the rows of `INBOX` and `OUTBOX` by question, and what is not at its end."""
    rows: dict[str, Row] = {}
    turns: dict[str, str] = {}
    waiting = 0
    for payload, status, lane, number, turn_id in inbox:
        found = ASKED.search(str(payload))
        if found and not (found[1] in rows and status in TOLD):
            rows[found[1]] = Row(str(status), str(lane), [], int(str(number)))
            before = turns.get(str(turn_id)) if turn_id else None
            if before is not None:
                rows[before].asked_with = found[1]
            turns[str(turn_id)] = found[1]
        elif status == "accepted":
            waiting += 1
    still_open = [f"{waiting} messages that ask nothing"] if waiting else []
    for payload, status, turn_id, platform_id, idem in outbox:
        if status in ("draft", "pending", "sending"):
            still_open.append(f"{idem} {status}")
        if str(turn_id) in turns:
            sends = rows[turns[str(turn_id)]].sends
            sends.append((str(status), str(payload), str(platform_id)))
    return rows, still_open
