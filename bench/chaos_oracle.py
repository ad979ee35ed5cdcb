"""What became of every question of a schedule, by what people see in the chats at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from bench.chaos_plan import Question
from bench.chaos_stage import LINE, Record, is_final
from gateway.delivery import RESENT

SORRY: Final = "Sorry, I could not answer"
RECEIPT_SECONDS: Final = 1.0
"""A kill so soon after a send counts as one between the request and its receipt."""

FLIGHT_SECONDS: Final = 0.5
"""A request so soon after a kill was made before it."""


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
        """Tell whether a promise was broken."""
        return bool(self.lost or self.outside or self.disorder or self.acted_twice)


@dataclass(frozen=True, slots=True)
class Seen:
    """A message that can be seen and what it has of an answer."""

    message_id: int
    text: str
    lines: tuple[int, ...]
    uncertain: bool

    @property
    def marked(self) -> bool:
        """Tell whether it says that it may be a copy."""
        return self.text.startswith(RESENT.strip())


def judge(record: Record) -> Verdict:
    """Compare what can be seen with what was asked."""
    verdict = Verdict(asked=len(record.asked), kills=len(record.kills))
    ends: dict[tuple[int, str], list[int]] = {}
    for question in record.asked:
        ended = _judge(record, question, verdict)
        row = record.rows.get(question.token)
        if ended is not None and row is not None:
            ends.setdefault((question.place, row.lane), []).append(ended)
    for place, order in ends.items():
        if order != sorted(order):
            verdict.disorder += 1
            verdict.notes.append(f"out of order in {place}: {order}")
    for token, count in record.acts.items():
        if count > 1:
            verdict.acted_twice += 1
            verdict.notes.append(f"{token}: its tool ran {count} times")
    if record.stuck:
        verdict.lost += 1
        verdict.notes.append(f"never idle: {record.stuck}")
    if record.exits:
        verdict.lost += 1
        verdict.notes.append(f"the gateway ended by itself: {record.exits}")
    verdict.orphans += record.drafts
    return verdict


def _judge(record: Record, question: Question, verdict: Verdict) -> int | None:
    """Judge one answer; returns the message with which it was complete."""
    token, own = question.token, record.chats[question.place].id
    for chat in record.chats:
        if chat.id != own and _seen(record, token, chat.id):
            verdict.outside += 1
            verdict.notes.append(f"{token}: told in the wrong chat {chat.id}")
    seen = _seen(record, token, own)
    row = record.rows.get(token)
    sends = row.sends if row is not None else []
    sorry = [platform for status, text, platform in sends if SORRY in text and status == "sent"]
    visible = {str(number) for number, text in record.texts[own] if SORRY in text}
    if sorry and visible.issuperset(sorry):
        verdict.errors += 1
        if token not in record.may_fail:
            verdict.lost += 1
            verdict.notes.append(f"{token}: an error nobody caused")
        _judge_rest(token, seen, verdict)
        return int(sorry[-1])
    if not _is_whole(seen):
        if any(status == "ambiguous" for status, _text, _platform in sends):
            verdict.held += 1
        else:
            verdict.lost += 1
            found = [(each.message_id, _told(each.lines)) for each in seen]
            states = [status for status, _text, _platform in sends]
            status = row.status if row else "never accepted"
            verdict.notes.append(f"{token}: not answered; {status}, sends {states}, seen {found}")
        return None
    seen = _without_copies(token, seen, verdict)
    return min(each.message_id for each in seen if is_final(each.text))


def _seen(record: Record, token: str, chat_id: int) -> list[Seen]:
    found = []
    for message_id, text in record.texts[chat_id]:
        lines = tuple(int(number) for name, number, _count in LINE.findall(text) if name == token)
        if lines:
            found.append(Seen(message_id, text, lines, _uncertain(record, chat_id, message_id)))
    return found


def _uncertain(record: Record, chat_id: int, message_id: int) -> bool:
    """Tell whether the gateway could not know, or not write down, that a message was made."""
    for sent in record.sent:
        if (sent.chat_id, sent.message_id) == (chat_id, message_id):
            # A request can lie in the socket when its sender is killed; a start takes longer.
            since, until = sent.called_at - FLIGHT_SECONDS, sent.applied_at + RECEIPT_SECONDS
            killed = any(since <= kill <= until for kill in record.kills)
            return killed or not sent.heard
    return False


def _is_whole(seen: list[Seen]) -> bool:
    lines = {number for each in seen for number in each.lines}
    ends = [each for each in seen if is_final(each.text)]
    return bool(ends) and lines == set(range(1, max(lines) + 1))


def _without_copies(token: str, seen: list[Seen], verdict: Verdict) -> list[Seen]:
    """Count what is there twice: take away what the answer is whole without."""
    # First what is marked, then beginnings that no end came to, then the rest, newest first.
    order = sorted(seen, key=lambda each: (not each.marked, is_final(each.text), -each.message_id))
    for each in order:
        rest = [other for other in seen if other is not each]
        if not _is_whole(rest):
            continue
        seen = rest
        twin = any(
            other.uncertain and set(other.lines) & set(each.lines) for other in [*rest, each]
        )
        if each.marked and twin:
            verdict.inside += 1
        elif not is_final(each.text) and each.uncertain and each.lines[0] == 1:
            verdict.orphans += 1
        else:
            verdict.outside += 1
            verdict.notes.append(
                f"{token}: doubled by message {each.message_id} ({_told(each.lines)}"
                f"{', marked' if each.marked else ''}{', uncertain' if each.uncertain else ''})"
            )
    twice = [
        number for number, count in Counter(n for s in seen for n in s.lines).items() if count > 1
    ]
    if twice:
        verdict.outside += 1
        verdict.notes.append(f"{token}: lines {_told(tuple(twice))} are there twice")
    return seen


def _judge_rest(token: str, seen: list[Seen], verdict: Verdict) -> None:
    """Count what is left of an answer that ended in an error."""
    for each in seen:
        if each.uncertain:
            verdict.orphans += 1
        else:
            verdict.outside += 1
            verdict.notes.append(f"{token}: an error, and lines {_told(each.lines)} still there")


def _told(lines: tuple[int, ...]) -> str:
    return f"lines {min(lines)} to {max(lines)}"
