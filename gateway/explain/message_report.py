"""The report lines about a message: seen, addressed, access, lane, changed, outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from gateway.explain.conversation import conversation_of
from gateway.explain.facts import MessageFacts
from gateway.explain.joints import joints_of, times_of
from gateway.explain.quotes import quote_lines
from gateway.explain.report import ReportLine, StoreReads, bounded, payload_of, quoted
from gateway.explain.rules import refused_by
from gateway.explain.turn_report import send_lines, turn_lines
from gateway.explain.words import words_of
from gateway.language.language import say, translated
from tape.context import MESSAGE_EDIT
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, Entry, parse_date
from tape.linking.utterance import AGENT
from tape.query import Query
from tape.turn_events import is_take, read_take
from tape.unit_of_work import Row

ACCEPTED: Final = "accepted by {account} as {key}"
MAX_TOGETHER: Final = 100  # maximum messages of one question to name
LOOK_AHEAD: Final = 1000  # maximum entries to check for turns that showed an unaddressed message

BY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "edit": "edited by {name}",
        "delete": "deleted by {name}",
        "change": "changed by {name}",
        "message": "written by {name}",
    }
)
"""What an author did, by the kind of the message."""

JUDGED: Final = (
    "judged as a new message: its author edited it within five minutes, and it had asked nothing,"
    " or it waited still"
)

OUTCOMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accepted": "accepted, but not on its tape yet",
        "waiting": "waiting for its turn",
        "taken": "being answered by the turn {turn}",
        "done": "answered by the turn {turn}",
        "failed": "the turn {turn} failed, and its author got a notice{because}",
        "stopped": "stopped{because}",
        "dead": "given up{because}",
        "dropped": "not answered: dropped{because}",
        "held": "held since a restore{because}; `tapeway ledger resume` lets it go on",
        "joined": "part of another message, and answered there",
    }
)
"""How a message ended, by its status; those that were refused or only recorded have their own."""


async def message_lines(
    reads: StoreReads, facts: MessageFacts, now: datetime, *, quotes: bool = True
) -> list[ReportLine]:
    """Return the lines about a message; `quotes` looks for what repeats a deleted one, too."""
    row, payload, entry = facts.row, facts.payload, facts.entry
    if facts.is_erased:
        return _erased(row)
    lines = [_seen(facts), _addressed(payload), _access(facts)]
    if is_edit(payload) and asks_itself(row):
        lines.insert(1, ReportLine("", "rule", say(JUDGED)))
    if entry is not None and not facts.is_closed:
        lines += await _lane(reads, facts)
        lines += _changes(facts)
        if quotes and facts.is_deleted:
            lines += await quote_lines(reads, facts.tape, entry, facts.changes)
    if row["turn_id"]:
        lines += await _asked_together(reads, row)
        lines += turn_lines(facts.tape, row["turn_id"], facts.turn)
        lines += send_lines(facts.sends)
    elif entry is not None and row["status"] == "taped":
        lines += await _shown(reads, facts.tape, entry)
    lines += send_lines(facts.notices)
    if times := times_of(joints_of(facts)):
        lines.append(ReportLine("", "times", times))
    if row["status"] == "accepted":
        lines.append(await _waits(reads, row, now))
    else:
        lines.append(ReportLine("", "outcome", outcome(row, payload), {"status": row["status"]}))
    return lines


async def _waits(reads: StoreReads, row: Row, now: datetime) -> ReportLine:
    """Return a line that says for how long a message has waited to be placed, and behind what."""
    names = ("id", "account_id", "chat_id", "session_id")
    (found,) = await reads.select("ledger.waiting_before", {name: row[name] for name in names})
    before, since = int(found["messages"]), (now - parse_date(row["received_at"])).total_seconds()
    seconds = max(0, round(since))
    says = say(OUTCOMES["accepted"]) + say(": it has waited for {seconds} s", seconds=seconds)
    if before:
        says += say(
            ", and {before} message of its session stands before it"
            "|, and {before} messages of its session stand before it",
            before=before,
        )
    data = {"status": row["status"], "before": before, "seconds": seconds}
    return ReportLine("", "outcome", says, data)


def _erased(row: Row) -> list[ReportLine]:
    accepted = say(ACCEPTED, account=row["account_id"], key=row["ext_id"])
    why = translated(str(row["why"]))
    says = say("{why}: only its ids, its kind and its date are left", why=why)
    data = {"status": row["status"]}
    return [
        ReportLine(row["received_at"], "seen", accepted, {"row": f"in-{row['id']}"}),
        ReportLine("", "outcome", says, data),
    ]


def _seen(facts: MessageFacts) -> ReportLine:
    row, payload, entry = facts.row, facts.payload, facts.entry
    says = say(ACCEPTED, account=row["account_id"], key=row["ext_id"])
    if row["alt_id"]:
        says += say(" (delivery {number})", number=row["alt_id"])
    if payload.get("backlog"):
        says += say(", after waiting on the platform")
    says += say("; {who}", who=_who(payload, entry))
    if row["folded"]:
        says += say(", since emptied here of its content")
    if payload.get("date"):
        says += say(", at {moment} UTC by the platform's clock", moment=payload["date"][:19])
    if payload.get("chat_title"):
        says += say(", in {chat}", chat=quoted(str(payload["chat_title"]), 80))
    if payload.get("thread_id"):
        says += say(", thread {thread}", thread=payload["thread_id"])
    # An edit changes the row, but the entry keeps the original text. A chat without an entry may
    # never have been let in.
    text = words_of(entry) if entry is not None else ""
    if text and not (facts.is_closed or facts.is_deleted):
        says += say(": {text}", text=quoted(str(text)))
    names = ("account_id", "ext_id", "alt_id", "chat_id", "message_id", "session_id", "entry_id")
    data = {name: row[name] for name in names} | {"row": f"in-{row['id']}"}
    return ReportLine(row["received_at"], "seen", says, data)


def _who(payload: Mapping[str, Any], entry: Entry | None) -> str:
    sender = payload.get("sender")
    if not isinstance(sender, Mapping):
        return say("author unknown")
    name = sender.get("name") or (entry.meta.get("name") if entry is not None else "") or ""
    by = say(BY.get(str(payload.get("kind")), BY["message"]), name=quoted(str(name), 80))
    who = sender.get("id")
    return by + (
        say(" (id {id}, a bot)", id=who) if sender.get("is_bot") else say(" (id {id})", id=who)
    )


def _addressed(payload: Mapping[str, Any]) -> ReportLine:
    asked, why = bool(payload.get("addressed")), str(payload.get("why") or "")
    data = {"addressed": asked, "why": why}
    if asked:
        says = say("yes: {why}", why=translated(why) or say("the platform says so"))
    else:
        says = say("no: {why}", why=translated(why) or say("it does not ask the agent"))
    return ReportLine("", "addressed", says, data)


def _access(facts: MessageFacts) -> ReportLine:
    entry = facts.entry
    if facts.is_closed:
        rule = facts.row["why"]
        if entry is not None and entry.kind == EVENT:
            rule = entry.payload["data"].get("why")
        recorded = entry.payload["data"] if entry is not None else {"why": rule}
        was = refused_by(recorded) or say("the rule was not recorded")
        says = say("refused: {rule}", rule=was)
        return ReportLine("", "access", says, {"rule": rule, "was": was})
    access = entry.meta.get("access") if entry is not None else None
    if isinstance(access, Mapping):
        role, rule = translated(str(access.get("role"))), translated(str(access.get("rule")))
        says = say("allowed as {role}: {rule}", role=role, rule=rule)
        return ReportLine("", "access", says, access)
    if entry is not None and entry.name == "access.opening":
        says = say("a command that a closed chat understands; its author's role decided")
        return ReportLine("", "access", says)
    if entry is None:
        return ReportLine("", "access", say("not decided yet, or never put on a tape"))
    return ReportLine("", "access", say("allowed; the rule was not recorded at that time"))


def _own_mention(payload: Mapping[str, Any]) -> str:
    mentions = set(payload.get("mentions") or ())
    mine = payload.get("addressed") and payload.get("why") == "mention" and len(mentions) == 1
    return str(mentions.pop()).removeprefix("@") if mine else ""


async def _lane(reads: StoreReads, facts: MessageFacts) -> list[ReportLine]:
    """Return a line that says which conversation a message belongs to, why, and its place."""
    entry = facts.entry
    if entry is None or facts.is_closed:
        return []
    lane, link = entry.meta.get("lane"), entry.meta.get("link")
    found = await conversation_of(reads, facts)
    data = {"lane": lane, "link": link, "entry": entry.id, "conversation": found.to_json()}
    says = say("{conversation}. It is entry {number}", conversation=found.says, number=entry.id)
    if lane is not None:
        says += say(" in the lane {lane}", lane=lane)
    if isinstance(link, Mapping):
        says += say(" ({link})", link=translated(str(link["why"]))) if link.get("why") else ""
        says += _addressees(link, _own_mention(facts.payload))
    return [ReportLine(entry.date, "lane", says, data)]


def _addressees(link: Mapping[str, Any], own: str) -> str:
    to = link.get("to")
    people = [str(one) for one in to] if isinstance(to, list) else []
    others = [one for one in people if one not in (AGENT, own)]
    calls = link.get("calls") or AGENT in people  # former versions recorded a call as a mention
    named = [*([say("the agent")] if calls else []), *others]
    return say(", addressed to {people}", people=", ".join(named)) if named else ""


def _changes(facts: MessageFacts) -> list[ReportLine]:
    lines = []
    for event in facts.changes:
        data = bounded(dict(event.payload["data"]))
        if event.name == MESSAGE_EDIT and facts.is_deleted:
            lines.append(ReportLine(event.date, "changed", say("edited"), {"event": event.id}))
        elif event.name == MESSAGE_EDIT:
            data = {"event": event.id, **data}
            lines.append(ReportLine(event.date, "changed", _edited(data), data))
        elif event.name == MESSAGE_DELETE:
            lines.append(ReportLine(event.date, "changed", say("deleted on its platform"), data))
    return lines


def _edited(data: Mapping[str, Any]) -> str:
    text = quoted(str(data.get("content", "")))
    if data.get("changed"):
        says = say(
            "edited; other than before: {what}; it reads now: {text}",
            text=text,
            what=data["changed"],
        )
    else:
        says = say("edited; its new text: {text}", text=text)
    if data.get("unasked"):
        says += say("; the edit asked nothing: {why}", why=translated(str(data["unasked"])))
    return says


async def _asked_together(reads: StoreReads, row: Row) -> list[ReportLine]:
    """Return a line that names the other messages of the question, which has one answer."""
    values = {"turn_id": row["turn_id"], "limit": MAX_TOGETHER}
    rows = await reads.select("ledger.told_turn", values)
    others = [f"in-{other['id']}" for other in rows if other["id"] != row["id"]]
    if not others:
        return []
    says = say("asked together with {rows}, and answered at once with it", rows=", ".join(others))
    return [ReportLine("", "together", says, {"others": others})]


async def _shown(reads: StoreReads, tape: str, entry: Entry) -> list[ReportLine]:
    lane = entry.meta.get("lane")
    near = Query(tape, after=entry.id, before=entry.id + LOOK_AHEAD, kinds=(EVENT,))
    found = await reads.query(near)
    if lane is not None:
        own = Query(tape, after=entry.id, lane=lane, limit=LOOK_AHEAD)
        found = [*await reads.query(own), *found]
    turns: dict[str, ReportLine] = {}
    for take in found:
        if is_take(take) and entry.id in read_take(take).shown:
            turn = read_take(take).turn
            says = say("shown to the turn {turn}, as context", turn=turn)
            data = {"turn": turn, "entry": take.id}
            turns.setdefault(turn, ReportLine(take.date, "view", says, data))
    return list(turns.values())


def outcome(row: Row, payload: Mapping[str, Any]) -> str:
    """Return one sentence that says how a message ended."""
    status = str(row["status"])
    why = translated(str(row["why"] or ""))
    because = say(": {why}", why=why) if why else ""
    kind = payload.get("kind", "message")
    if status == "taped" and kind != "message":
        return say("recorded") + because
    if status == "taped":
        unasked = translated(str(payload.get("why") or "recorded only"))
        return say("not answered: not addressed ({why})", why=unasked)
    if status == "refused":
        return say("not answered: {why}", why=why or translated("refused"))
    if status == "taken" and not row["turn_id"]:
        return say("being run without the model, as a command")
    if status == "done" and not row["turn_id"]:
        return say("answered without the model, as a command")
    if status not in OUTCOMES:
        return f"{status}{because}"
    return say(OUTCOMES[status], turn=row["turn_id"], because=because)


def head_of(row: Row, payload: Mapping[str, Any]) -> str:
    """Return one line that identifies a message."""
    number = row["message_id"]
    said = say("message {number}", number=number) if number else say("a message")
    kind = payload.get("kind")
    if kind == "edit":
        said = say("an edit of {message}", message=said)
    elif kind == "delete":
        said = say("the deletion of {message}", message=said)
    elif kind == "change":
        said = say("a change of the chat")
    where = f"{row['account_id']} {row['chat_id']}"
    return say("{row} is {what} in {where}", row=f"in-{row['id']}", what=said, where=where)


def is_edit(payload: Mapping[str, Any]) -> bool:
    return payload.get("kind") == "edit"


def is_about_another(payload: Mapping[str, Any]) -> bool:
    return payload.get("kind") in ("edit", "delete")


def asks_itself(row: Row) -> bool:
    """Return whether an edit was taken in as a question."""
    return row["status"] not in ("accepted", "taped", "refused", "joined")


def first_of(rows: Sequence[Row]) -> Row | None:
    """Return the message itself among the rows with its id."""
    return next((row for row in rows if not is_about_another(payload_of(row))), None)
