"""What became of every question on every platform, by the log of the platform."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from tests.chaos.oracle import Verdict, judge
from tests.chaos.order import Queue, of_the_chat
from tests.chaos.plan import Plan, Question
from tests.chaos.record import LINE, Record, Row
from tests.chaos.window import Window
from tests.fleet.members import Disruption
from tests.fleet.stalls import Stall
from tests.fleet.town import Made, Quarter, Town

NEAR_SECONDS: Final = 1.0
"""Maximum seconds between a disruption and a request whose receipt it may have cut off.

The database is longer in writing a receipt if it also takes longer to answer us meanwhile.
"""

MEANWHILE_SECONDS: Final = 10.0

COUNTS: Final = ("asked", "lost", "disorder", "outside", "inside", "orphans", "acted_twice")
MAX_WAYS: Final = 12
_TOKEN: Final = re.compile(r"^(Q\d+)")


@dataclass(frozen=True, slots=True)
class Judged:
    """A platform's verdict, and of each failure the way of its message."""

    channel: str
    verdict: Verdict
    ways: list[str]

    @property
    def failed(self) -> bool:
        """Whether a promise was broken; an answer that was given up is one, too."""
        return self.verdict.failed or bool(self.verdict.errors or self.verdict.held)


class Causes:
    """Which disruptions may have hit a message between the check of its lease and its receipt."""

    def __init__(
        self,
        made: Sequence[Made],
        members: dict[str, str],
        disruptions: Sequence[Disruption],
        answers: Sequence[Stall] = (),
    ) -> None:
        self._made = {(one.place, one.message_id): one for one in made}
        self._members = members
        self._disruptions = disruptions
        self._answers = answers

    def of(self, kinds: frozenset[str], _record: Record, place: int, mid: str) -> frozenset[float]:
        """Return the beginnings of the disruptions of some kinds."""
        made = self._made.get((place, mid))
        if made is None:
            return frozenset()
        member, near = self._members.get(made.host, ""), self._near(made.at)
        return frozenset(
            one.begun
            for one in self._disruptions
            if one.kind in kinds
            and one.member in ("", member)
            and one.begun - near <= made.at <= one.ended + near
        )

    def _near(self, at: float) -> float:
        """Return how long a receipt may take at a moment: two steps more of the slowest answer."""
        until = at + MEANWHILE_SECONDS
        took = (
            ended - begun for begun, ended in self._answers if at - 1 <= ended and begun <= until
        )
        return NEAR_SECONDS + 2 * max(took, default=0.0)

    def cuts(self, _record: Record, _place: int) -> frozenset[float]:
        """Return every disruption's beginning."""
        return frozenset(one.begun for one in self._disruptions)


def window_of(channel: str, causes: Causes) -> Window:
    """Return a platform's window: where a key makes one message of two, only freezing counts."""
    frozen = partial(causes.of, frozenset({"freeze", "stall"}))
    if channel != "telegram":
        return Window(frozen, causes.cuts, frozen)
    every = partial(causes.of, frozenset({"kill", "freeze", "stall", "cut", "swallow", "restart"}))
    return Window(every, causes.cuts, frozen)


def queue_of(channel: str) -> Queue:
    """Return which questions are accepted in their order: Slack delivers in any after a cut."""
    return _alone if channel == "slack" else of_the_chat


def _alone(_plan: Plan, question: Question) -> str:
    return question.token


def judged(
    town: Town,
    rows: dict[str, Row],
    members: dict[str, str],
    disruptions: Sequence[Disruption],
    answers: Sequence[Stall],
) -> list[Judged]:
    """Judge every platform."""
    found = []
    for quarter in town.quarters:
        record = quarter.record
        record.rows = {token: row for token, row in rows.items() if token in record.tokens}
        causes = Causes(quarter.made, members, disruptions, answers)
        window = window_of(quarter.channel, causes)
        verdict = judge(record, window, queue_of(quarter.channel))
        tokens = dict.fromkeys(
            token[1] for note in verdict.notes if (token := _TOKEN.match(note)) is not None
        )
        ways = [
            _way(token, quarter, town, members, disruptions)
            for token in list(tokens)[:MAX_WAYS]
            if verdict.failed or verdict.errors or verdict.held
        ]
        found.append(Judged(quarter.channel, verdict, ways))
    return found


def _way(
    token: str,
    quarter: Quarter,
    town: Town,
    members: dict[str, str],
    disruptions: Sequence[Disruption],
) -> str:
    """Return all that is known of a question, in the order of time where there is one."""
    question, asked = town.asked[token]
    row = quarter.record.rows.get(token)
    shown = {
        mid: sorted({int(number) for name, number, _ in LINE.findall(text) if name == token})
        for mid, text in quarter.record.texts.get(question.place, ())
        if f"{token}-" in text
    }
    lines = [f"{token} {question.kind} in {quarter.channel} {question.place}, asked {asked:.3f}"]
    if row is not None:
        lines.append(f"  row {row.number} {row.status}, lane {row.lane}")
        lines += [f"  send {status} as {mid}" for status, _text, mid in row.sends]
    moments = [asked]
    for one in quarter.made:
        if one.place == question.place and one.message_id in shown:
            by = members.get(one.host, one.host)
            said = shown[one.message_id]
            moments.append(one.at)
            lines.append(f"  {one.at:.3f} {one.method} by {by}: {one.message_id} {_span(said)}")
    lines += [
        f"  {one}"
        for one in disruptions
        if min(moments) - 1 <= one.ended and one.begun <= max(moments) + 6
    ]
    return "\n".join(lines)


def _span(numbers: Sequence[int]) -> str:
    return f"lines {numbers[0]}-{numbers[-1]}" if numbers else "no lines"
