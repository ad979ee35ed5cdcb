"""The joints of a message's way: when it came to each, how long it took, and where it ended.

A duration is shown only where the ledger or the tape recorded both of its dates. The platform's
date comes from another clock: a negative time is not shown, and a date of whole seconds says no
milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from gateway.explain.facts import MessageFacts
from gateway.explain.report import Condition, Duration, Joint
from gateway.explain.rules import refused_by
from gateway.language.language import say, translated
from tape.entry import TOOL_CALL, Entry, parse_date
from tape.turn_events import LOOP_STEP, TOOL_DONE, TURN_END
from tape.unit_of_work import Row

NAMES: Final = ("channel", "inbox", "tape", "lane", "model", "tools", "outbox", "receipt")

SLOW_MS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "arrived": 60_000,
        "written": 1_000,
        "waited": 10_000,
        "first text": 10_000,
        "ran": 30_000,
        "ready": 120_000,
        "queued": 5_000,
        "confirmed": 5_000,
    }
)
"""Milliseconds after which a duration counts as slow."""

_WORST: Final[Sequence[Condition]] = ("failed", "open", "ended", "slow", "ok", "unused")
_SENDS: Final[Mapping[str, Condition]] = MappingProxyType(
    {
        "draft": "open",
        "pending": "open",
        "sending": "open",
        "held": "open",
        "sent": "ok",
        "dropped": "ended",
        "ambiguous": "failed",
        "dead": "failed",
    }
)


def joints_of(facts: MessageFacts) -> list[Joint]:
    """Return the eight joints of a message's way, in the order of NAMES."""
    way = _Way(facts)
    taken_in = [way.channel(), way.inbox(), way.tape(), way.lane()]
    return [*taken_in, way.model(), way.tools(), *way.out()]


def times_of(joints: Sequence[Joint]) -> str:
    """Return what is known of how long a message's way took, as one sentence, or ""."""
    spans = [span for joint in joints for span in joint.spans if span.ms is not None]
    times = [say("{what} {ms} ms", what=translated(one.what), ms=one.ms) for one in spans]
    return say(", ").join(times)


@dataclass(frozen=True, slots=True)
class _Way:
    facts: MessageFacts

    @property
    def status(self) -> str:
        return str(self.facts.row["status"])

    @property
    def entry(self) -> Entry | None:
        return self.facts.entry

    @property
    def taken_at(self) -> str:
        return str(self.facts.row.get("taken_at") or "")

    @property
    def sends(self) -> Sequence[Row]:
        return self.facts.sends or self.facts.notices

    def channel(self) -> Joint:
        row, payload = self.facts.row, self.facts.payload
        says = f"{row['account_id']} {row['chat_id']}"
        if payload.get("backlog"):
            says += say(", waited on the platform")
            return Joint("channel", "slow", _date(payload), says=says)
        return Joint("channel", "ok", _date(payload), says=says)

    def inbox(self) -> Joint:
        row = self.facts.row
        arrived = _arrived(_date(self.facts.payload), row["received_at"])
        spans = [Duration("arrived", arrived)]
        joint = _timed("inbox", row["received_at"], spans, f"in-{row['id']}")
        if self.facts.is_erased:
            return replace(joint, condition="ended", says=translated(str(row["why"] or "erased")))
        if self.entry is not None:
            return joint
        return replace(joint, **_stands(row))

    def tape(self) -> Joint:
        entry = self.entry
        if entry is None:
            return Joint("tape", "unused")
        spans = [Duration("written", _between(self.facts.row["received_at"], entry.date))]
        joint = _timed("tape", entry.date, spans, say("entry {number}", number=entry.id))
        if not self.facts.is_closed:
            return joint
        rule = refused_by(entry.payload["data"]) or say("the rule was not recorded")
        return replace(joint, condition="ended", says=say("refused: {rule}", rule=rule))

    def lane(self) -> Joint:
        row, entry = self.facts.row, self.entry
        if entry is None or self.facts.is_closed:
            return Joint("lane", "unused")
        if row["lane"]:
            lane = say("the lane {lane}", lane=row["lane"])
        else:
            lane = say("the chat is one conversation")
        spans = [Duration("waited", _between(entry.date, self.taken_at))]
        if row["turn_id"]:
            lane += say(", the turn {turn}", turn=row["turn_id"])
            return _timed("lane", self.taken_at, spans, lane)
        if self.status in ("done", "taken"):
            return Joint("lane", "ok", says=say("a command, answered without the model"))
        return replace(Joint("lane", "ended", spans=()), **_stands(row, self.facts.payload))

    def model(self) -> Joint:
        row, turn = self.facts.row, self.facts.turn
        if not row["turn_id"] or self.entry is None:
            return Joint("model", "unused")
        steps = [one.payload["data"] for one in turn if one.name == LOOP_STEP]
        first = _first(self.sends, "first_text_at")
        spans = [Duration("first text", _between(self.taken_at, first))]
        names = dict.fromkeys(str(step["model"]) for step in steps if step.get("model"))
        called = ", ".join(names) or say("no model answered")
        says = say("{model}, {calls} call|{model}, {calls} calls", calls=len(steps), model=called)
        if not steps:
            says = say("no model call is recorded")
        joint = _timed("model", first, spans, says)
        ended_by = next((one for one in reversed(turn) if one.name == TURN_END), None)
        end = _data(ended_by)
        if self.status in ("failed", "stopped", "dead"):
            why = end.get("why") or row["why"] or end.get("error_id") or ""
            ended: Condition = "ended" if self.status == "stopped" else "failed"
            took = _between(self.taken_at, ended_by.date if ended_by is not None else "")
            spans.append(Duration("turn", took))
            says = say("{what}; {status}", what=says, status=_status(self.status, str(why)))
            return Joint("model", ended, first, tuple(spans), says)
        if self.status in ("taken", "held"):
            return replace(joint, condition="open", says=says if steps else say("the turn runs"))
        return joint

    def tools(self) -> Joint:
        turn = self.facts.turn
        calls = [one for one in turn if one.kind == TOOL_CALL]
        if not calls:
            return Joint("tools", "unused")
        done = [_data(one) for one in turn if one.name == TOOL_DONE]
        took = [one["elapsed_ms"] for one in done if isinstance(one.get("elapsed_ms"), int)]
        known = len(took) == sum(len(one.payload["calls"]) for one in calls)
        names = dict.fromkeys(
            str((call.get("function") or {}).get("name"))
            for one in calls
            for call in one.payload["calls"]
        )
        spans = [Duration("ran", sum(took) if known else None)]
        joint = _timed("tools", calls[0].date, spans, ", ".join(names))
        waits = [one for one in turn if one.name == TURN_END and "waits" in _data(one)]
        if waits:
            tool = _data(waits[0])["waits"]
            says = joint.says + say("; {tool} waits for a person to allow it", tool=tool)
            return replace(joint, condition="open", says=says)
        if not known and self.status == "taken":
            return replace(joint, condition="open")
        return joint

    def out(self) -> list[Joint]:
        if not self.sends:
            return [Joint("outbox", "unused"), Joint("receipt", "unused")]
        first_text, ready = _first(self.sends, "first_text_at"), _first(self.sends, "pending_at")
        begun = _first(self.sends, "sending_at")
        spans = [
            Duration("ready", _between(first_text, ready)),
            Duration("queued", _between(ready, begun)),
        ]
        rows = ", ".join(f"out-{row['id']}" for row in self.sends[:5])
        outbox = _timed("outbox", ready, spans, rows)
        found = [_SENDS.get(str(row["status"]), "failed") for row in self.sends]
        worst = min(found, key=_WORST.index)
        waits = all(row["status"] in ("draft", "pending", "held") for row in self.sends)
        if waits or worst == "ended":
            why = next((str(row["why"]) for row in self.sends if row["why"]), "")
            stands = _status(str(self.sends[0]["status"]), why)
            says = say("{rows}: {status}", rows=rows, status=stands)
            return [replace(outbox, condition=worst, says=says), Joint("receipt", "unused")]
        return [outbox, self._receipt(begun, worst)]

    def _receipt(self, begun: str, worst: Condition) -> Joint:
        sent = [str(row["sent_at"]) for row in self.sends if row.get("sent_at")]
        last = max(sent, default="")
        own = self.sends[0] if len(self.sends) == 1 else None
        spans = [Duration("confirmed", _between(begun, last) if own is not None else None)]
        ids = [str(row["platform_id"]) for row in self.sends if row["platform_id"]]
        listed = ", ".join(ids[:5])
        says = say("message {number}", number=listed) if ids else say("confirmed")
        joint = _timed("receipt", last, spans, says)
        tries = max(row["attempts"] for row in self.sends)
        if tries > 1:
            says += say(", after {tries} attempts", tries=tries)
            joint = replace(joint, condition="slow", says=says)
        if worst == "ok":
            return joint
        why = next((str(row["why"]) for row in self.sends if row["why"]), "")
        status = next(row["status"] for row in self.sends if _SENDS.get(row["status"]) == worst)
        return replace(joint, condition=worst, says=_status(str(status), why))


def _status(status: str, why: str) -> str:
    """Return how a message or a send stands, and why if that is recorded."""
    if not why:
        return translated(status)
    return say("{status} {why}", status=translated(status), why=translated(why))


def _stands(row: Row, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return how a message stands that no turn has taken: its condition and the sentence."""
    status, why = str(row["status"]), translated(str(row["why"] or ""))
    because = say(": {why}", why=why) if why else ""
    if status == "accepted":
        return {"condition": "open", "says": say("on its way to the tape")}
    if status == "waiting":
        return {"condition": "open", "says": say("waits for its turn")}
    if status == "held":
        return {"condition": "open", "says": say("held since a restore") + because}
    if status in ("dead", "failed"):
        return {"condition": "failed", "says": say("given up") + because}
    if status == "taped":
        unasked = translated(str((payload or {}).get("why") or "recorded only"))
        return {"condition": "ended", "says": say("not addressed: {why}", why=unasked)}
    return {"condition": "ended", "says": translated(status) + because}


def _timed(name: str, at: str, spans: Sequence[Duration], says: str) -> Joint:
    slow = any(one.ms is not None and one.ms > SLOW_MS[one.what] for one in spans)
    return Joint(name, "slow" if slow else "ok", at, tuple(spans), says)


def _first(rows: Sequence[Row], name: str) -> str:
    return min((str(row[name]) for row in rows if row.get(name)), default="")


def _data(entry: Entry | None) -> Mapping[str, Any]:
    data = entry.payload.get("data") if entry is not None else None
    return data if isinstance(data, Mapping) else {}


def _date(payload: Mapping[str, Any]) -> str:
    date = payload.get("date")
    return date if isinstance(date, str) and _moment(date) is not None else ""


def _moment(date: str) -> datetime | None:
    try:
        return parse_date(date) if date else None
    except ValueError:
        return None


def _between(begin: str, end: str) -> int | None:
    """Return the milliseconds between two dates of this gateway; None if one is missing."""
    first, last = _moment(begin), _moment(end)
    if first is None or last is None:
        return None
    passed = round((last - first).total_seconds() * 1000)
    return passed if passed >= 0 else None


def _arrived(said: str, received: str) -> int | None:
    passed, moment = _between(said, received), _moment(said)
    if passed is None or moment is None or moment.microsecond:
        return passed
    whole = passed // 1000 * 1000
    return whole or None
