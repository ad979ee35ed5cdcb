"""What became of every question of a schedule, by what people see in the chats at its end.

lost      questions without one whole answer, and a gateway that ended or hung
outside   copies that nothing declared explains, and whatever else nobody should see
inside    marked copies of a send that was cut off from its receipt: one for each kill in a chat at
          most, and none where such sends are held
held      answers that were left to the operator, as was asked for
disorder  lanes not answered as they were accepted, and queues not accepted as they were asked
orphans   beginnings of a draft that were cut off from their receipt
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from gateway.delivery.sender import RESENT
from gateway.storage.ledger.ledger import MAX_CRASHES
from tests.chaos.order import Queue
from tests.chaos.plan import Question
from tests.chaos.record import LINE, Record, Row, is_final
from tests.chaos.window import Window

ADDING: Final = frozenset({"web"})
"""Channels where what a person adds to a question that waits is asked, and answered, with it."""

SORRY: Final = "Sorry, I couldn't answer"


@dataclass(slots=True)
class Verdict:
    """Count what is not as it should be; `notes` tell of each."""

    asked: int = 0
    kills: int = 0
    lost: int = 0
    outside: int = 0
    inside: int = 0
    orphans: int = 0
    disorder: int = 0
    acted_twice: int = 0
    held: int = 0
    errors: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Return whether a promise was broken."""
        return bool(self.lost or self.outside or self.disorder or self.acted_twice)

    @property
    def counts(self) -> Mapping[str, int]:
        """The counts by their names."""
        names = [each.name for each in fields(self) if each.name != "notes"]
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Seen:
    """A message that can be seen and what it has of an answer; `at` is its place in the chat.

    `causes` are the moments that may have cut it off from its receipt, `late` those at which its
    process may have been frozen before the request.
    """

    at: int
    message_id: str
    text: str
    lines: tuple[int, ...]
    causes: frozenset[float]
    late: frozenset[float] = frozenset()

    @property
    def marked(self) -> bool:
        """Return whether it says that it may be a copy."""
        return self.text.startswith(RESENT.strip())


def judge(record: Record, window: Window, queue: Queue) -> Verdict:
    """Compare what can be seen with what was asked."""
    return _Judge(record, window, queue).judged()


class _Judge:
    """Looks at one schedule."""

    def __init__(self, record: Record, window: Window, queue: Queue) -> None:
        self._record = record
        self._window = window
        self._queue = queue
        self._verdict = Verdict(asked=len(record.asked), kills=len(record.kills))
        self._copies: dict[int, list[frozenset[float]]] = {}
        self._held: Counter[int] = Counter()
        self._shown = _shown(record)

    def judged(self) -> Verdict:
        record, verdict = self._record, self._verdict
        answered: dict[tuple[int, str], list[tuple[int, int]]] = {}
        accepted: dict[tuple[int, str, Hashable], list[int]] = {}
        ends: dict[str, int | None] = {}
        for question in reversed(record.asked):  # the last of a turn has the answer
            ends[question.token] = self._end(question, ends)
        for question in record.asked:
            ended = ends[question.token]
            row = record.rows.get(question.token)
            if ended is not None and row is not None:
                lane = (question.place, row.lane)
                answered.setdefault(lane, []).append((row.number, ended))
                queue = (*lane, self._queue(record.plan, question))
                accepted.setdefault(queue, []).append(row.number)
        for lane, rows in answered.items():
            self._in_order(f"answered in {lane}", [ended for _number, ended in sorted(rows)])
        for queue, numbers in accepted.items():
            self._in_order(f"accepted in {queue}", numbers)
        for token, count in record.acts.items():
            if count > 1:
                verdict.acted_twice += 1
                verdict.notes.append(f"{token}: its tool ran {count} times")
        self._bounds()
        for told in (record.stuck and f"never idle: {record.stuck}", *map(_exit, record.exits)):
            if told:
                self._lost(told)
        for told in record.strange:
            self._outside(told)
        verdict.orphans += record.drafts
        return verdict

    def _end(self, question: Question, ends: Mapping[str, int | None]) -> int | None:
        """Judge a question by its own answer, or by that to the one that it was asked with."""
        row = self._record.rows.get(question.token)
        if row is None or not row.asked_with:
            return self._ended(question)
        plan = self._record.plan
        other = next(one for one in self._record.asked if one.token == row.asked_with)
        own = self._queue(plan, question) == self._queue(plan, other)
        if plan.channel not in ADDING or question.place != other.place or not own:
            self._outside(f"{question.token}: asked with {other.token}, which is another's")
        if self._seen(question.token, question.place):
            self._outside(f"{question.token}: answered by itself, and with {other.token}")
        return ends[other.token] if other.token in ends else self._end(other, ends)

    def _ended(self, question: Question) -> int | None:
        """Judge one answer; returns where the message stands with which it was complete."""
        record, token = self._record, question.token
        for place in record.texts:
            if place != question.place and self._seen(token, place):
                self._outside(f"{token}: told in the wrong chat {place}")
        seen = self._seen(token, question.place)
        row = record.rows.get(token)
        if "ambiguous" in _states(row):
            self._verdict.held += 1
            self._held[question.place] += 1
        sorry = self._sorry(question.place, row)
        if sorry is not None:
            self._error(token, seen)
            return sorry
        if not _is_whole(seen):
            self._not_whole(token, row, seen)
            return None
        return min(each.at for each in self._without_copies(question, seen) if is_final(each.text))

    def _seen(self, token: str, place: int) -> list[Seen]:
        found = []
        for at, lines in self._shown.get((place, token), {}).items():
            message_id, text = self._record.texts[place][at]
            causes = self._window.causes(self._record, place, message_id)
            late = self._window.late(self._record, place, message_id)
            found.append(Seen(at, message_id, text, tuple(lines), causes, late))
        return found

    def _sorry(self, place: int, row: Row | None) -> int | None:
        """Return where it stands that a question could not be answered."""
        sends = row.sends if row is not None else []
        told = [mid for status, text, mid in sends if SORRY in text and status == "sent"]
        ids = [mid for mid, text in self._record.texts.get(place, ()) if SORRY in text]
        if not told or not set(ids).issuperset(told):
            return None
        return [mid for mid, _text in self._record.texts[place]].index(told[-1])

    def _error(self, token: str, seen: list[Seen]) -> None:
        """Judge an answer that ended in an error, and what is left of it."""
        self._verdict.errors += 1
        given_up = len(self._record.kills) >= MAX_CRASHES
        if token not in self._record.may_fail and not given_up:
            self._lost(f"{token}: an error nobody caused")
        for each in seen:
            if each.causes:
                self._verdict.orphans += 1
            else:
                self._outside(f"{token}: an error, and {_told(each.lines)} still there")

    def _not_whole(self, token: str, row: Row | None, seen: list[Seen]) -> None:
        sends = _states(row)
        if "ambiguous" in sends:
            return
        found = [(each.message_id, _told(each.lines)) for each in seen]
        status = row.status if row else "never accepted"
        self._lost(f"{token}: not answered; {status}, sends {sends}, seen {found}")

    def _without_copies(self, question: Question, seen: list[Seen]) -> list[Seen]:
        """Count what is there twice: take away what the answer is whole without."""
        # First what is marked, then beginnings that no end came to, then the rest, newest first.
        for each in sorted(seen, key=lambda it: (not it.marked, is_final(it.text), -it.at)):
            rest = [other for other in seen if other is not each]
            if _is_whole(rest):
                seen = rest
                self._copy(question, each, rest)
        often = Counter(number for each in seen for number in each.lines)
        twice = tuple(number for number, count in often.items() if count > 1)
        if twice:
            self._outside(f"{question.token}: {_told(twice)} are there twice")
        return seen

    def _copy(self, question: Question, each: Seen, rest: list[Seen]) -> None:
        """Count a message that the answer is whole without."""
        twins = [other for other in rest if set(other.lines) & set(each.lines)]
        causes: frozenset[float] = frozenset().union(*(other.causes for other in twins))
        late: frozenset[float] = each.late.union(*(other.late for other in twins))
        if late or (each.marked and causes):
            self._verdict.inside += 1
            causes = causes or late
            told = f"{question.token}: a copy {each.message_id} in {question.place}"
            self._verdict.notes.append(f"{told}, cut off at {sorted(causes)}")
            self._copies.setdefault(question.place, []).append(causes)
        elif not is_final(each.text) and each.causes and each.lines[0] == 1:
            self._verdict.orphans += 1
        else:
            self._outside(
                f"{question.token}: doubled by message {each.message_id} ({_told(each.lines)}"
                f"{', marked' if each.marked else ''}{', uncertain' if each.causes else ''})"
            )

    def _bounds(self) -> None:
        """Hold what lies inside the window to its bounds."""
        record = self._record
        for place, copies in self._copies.items():
            if record.plan.policy == "hold":
                self._outside(f"{len(copies)} marked copies in {place}, where sends are held")
            elif not _each_has_its_own(copies):
                self._outside(f"more marked copies in {place} than kills: {copies}")
        for place, held in self._held.items():
            cuts = self._window.cuts(record, place)
            if record.plan.policy != "hold" or held > len(cuts):
                self._lost(f"{held} answers are held in {place}, and {len(cuts)} sends were cut")

    def _in_order(self, what: str, order: list[int]) -> None:
        if order != sorted(order):
            self._verdict.disorder += 1
            self._verdict.notes.append(f"{what} out of order: {order}")

    def _lost(self, note: str) -> None:
        self._verdict.lost += 1
        self._verdict.notes.append(note)

    def _outside(self, note: str) -> None:
        self._verdict.outside += 1
        self._verdict.notes.append(note)


def _shown(record: Record) -> dict[tuple[int, str], dict[int, list[int]]]:
    """Return which lines of an answer are where, by its place and name and then by message."""
    found: dict[tuple[int, str], dict[int, list[int]]] = {}
    for place, messages in record.texts.items():
        for at, (_message_id, text) in enumerate(messages):
            for token, number, _count in LINE.findall(text):
                lines = found.setdefault((place, token), {}).setdefault(at, [])
                lines.append(int(number))
    return found


def _each_has_its_own(copies: list[frozenset[float]]) -> bool:
    """Return whether every copy can be laid to a moment of its own (a chat sends one by one)."""
    owner: dict[float, int] = {}

    def placed(number: int, tried: set[float]) -> bool:
        for cause in copies[number] - tried:
            tried.add(cause)
            if cause not in owner or placed(owner[cause], tried):
                owner[cause] = number
                return True
        return False

    return all(placed(number, set()) for number in range(len(copies)))


def _is_whole(seen: list[Seen]) -> bool:
    lines = {number for each in seen for number in each.lines}
    ends = [each for each in seen if is_final(each.text)]
    return bool(ends) and lines == set(range(1, max(lines) + 1))


def _states(row: Row | None) -> list[str]:
    return [status for status, _text, _id in row.sends] if row is not None else []


def _exit(code: int) -> str:
    return f"the gateway ended by itself: {code}"


def _told(lines: tuple[int, ...]) -> str:
    return f"lines {min(lines)} to {max(lines)}"
