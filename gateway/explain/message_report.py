"""The report lines about a message: seen, addressed, access, lane, changed, outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.explain.conversation import conversation_of
from gateway.explain.facts import MessageFacts
from gateway.explain.joints import joints_of, times_of
from gateway.explain.quotes import quote_lines
from gateway.explain.report import ReportLine, StoreReads, bounded, payload_of, quoted
from gateway.explain.rules import refused_by
from gateway.explain.turn_report import send_lines, turn_lines
from gateway.language.language import say
from tape.context import MESSAGE_EDIT
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, Entry
from tape.linking.utterance import AGENT
from tape.query import Query
from tape.turn_events import is_take, read_take
from tape.unit_of_work import Row

MAX_TOGETHER: Final = 100  # maximum messages of one question to name
LOOK_AHEAD: Final = 1000  # maximum entries to check for turns that showed an unaddressed message


async def message_lines(
    reads: StoreReads, facts: MessageFacts, *, quotes: bool = True
) -> list[ReportLine]:
    """Return the lines about a message; `quotes` looks for what repeats a deleted one, too."""
    row, payload, entry = facts.row, facts.payload, facts.entry
    if facts.is_erased:
        return _erased(row)
    lines = [_seen(facts), _addressed(payload), _access(facts)]
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
    lines.append(ReportLine("", "outcome", outcome(row, payload), {"status": row["status"]}))
    return lines


def _erased(row: Row) -> list[ReportLine]:
    accepted = f"accepted by {row['account_id']} as {row['ext_id']}"
    says = f"{row['why']}: only its ids, its kind and its date are left"
    data = {"status": row["status"]}
    return [
        ReportLine(row["received_at"], "seen", accepted, {"row": f"in-{row['id']}"}),
        ReportLine("", "outcome", says, data),
    ]


def _seen(facts: MessageFacts) -> ReportLine:
    row, payload, entry = facts.row, facts.payload, facts.entry
    number = f" (delivery {row['alt_id']})" if row["alt_id"] else ""
    says = f"accepted by {row['account_id']} as {row['ext_id']}{number}"
    if payload.get("backlog"):
        says += ", after waiting on the platform"
    says += f"; {_who(payload, entry)}"
    if row["folded"]:
        says += ", since emptied here of its content"
    if payload.get("date"):
        says += f", at {payload['date'][:19]} UTC by the platform's clock"
    if payload.get("chat_title"):
        says += f", in {quoted(str(payload['chat_title']), 80)}"
    if payload.get("thread_id"):
        says += f", thread {payload['thread_id']}"
    # An edit changes the row, but the entry keeps the original text. A chat without an entry may
    # never have been let in.
    text = entry.meta.get("text") if entry is not None else ""
    if text and not (facts.is_closed or facts.is_deleted):
        says += f": {quoted(str(text))}"
    names = ("account_id", "ext_id", "alt_id", "chat_id", "message_id", "session_id", "entry_id")
    data = {name: row[name] for name in names} | {"row": f"in-{row['id']}"}
    return ReportLine(row["received_at"], "seen", says, data)


def _who(payload: Mapping[str, Any], entry: Entry | None) -> str:
    sender = payload.get("sender")
    if not isinstance(sender, Mapping):
        return "author unknown"
    bot = ", a bot" if sender.get("is_bot") else ""
    verbs = {"edit": "edited", "delete": "deleted", "change": "changed"}
    kind = verbs.get(str(payload.get("kind")), "written")
    name = sender.get("name") or (entry.meta.get("name") if entry is not None else "") or ""
    return f"{kind} by {quoted(str(name), 80)} (id {sender.get('id')}{bot})"


def _addressed(payload: Mapping[str, Any]) -> ReportLine:
    asked, why = bool(payload.get("addressed")), str(payload.get("why") or "")
    data = {"addressed": asked, "why": why}
    yes, no = why or "the platform says so", why or "it does not ask the agent"
    return ReportLine("", "addressed", f"yes: {yes}" if asked else f"no: {no}", data)


def _access(facts: MessageFacts) -> ReportLine:
    entry = facts.entry
    if facts.is_closed:
        rule = facts.row["why"]
        if entry is not None and entry.kind == EVENT:
            rule = entry.payload["data"].get("why")
        recorded = entry.payload["data"] if entry is not None else {"why": rule}
        was = refused_by(recorded) or "the rule was not recorded"
        return ReportLine("", "access", f"refused: {was}", {"rule": rule, "was": was})
    access = entry.meta.get("access") if entry is not None else None
    if isinstance(access, Mapping):
        says = f"allowed as {access.get('role')}: {access.get('rule')}"
        return ReportLine("", "access", says, access)
    if entry is not None and entry.name == "access.opening":
        says = "a command that a closed chat understands; its author's role decided"
        return ReportLine("", "access", says)
    if entry is None:
        return ReportLine("", "access", "not decided yet, or never put on a tape")
    return ReportLine("", "access", "allowed; the rule was not recorded at that time")


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
    says = f"{found.says}. " + say("It is entry {number}", number=entry.id)
    if lane is not None:
        says += say(" in the lane {lane}", lane=lane)
    if isinstance(link, Mapping):
        says += f" ({link['why']})" if link.get("why") else ""
        says += _addressees(link.get("to"), _own_mention(facts.payload))
    return [ReportLine(entry.date, "lane", says, data)]


def _addressees(to: object, own: str) -> str:
    people = [str(one) for one in to] if isinstance(to, list) else []
    others = [one for one in people if one not in (AGENT, own)]
    named = [*([say("the agent")] if AGENT in people else []), *others]
    return say(", addressed to {people}", people=", ".join(named)) if named else ""


def _changes(facts: MessageFacts) -> list[ReportLine]:
    lines = []
    for event in facts.changes:
        data = bounded(dict(event.payload["data"]))
        if event.name == MESSAGE_EDIT and facts.is_deleted:
            lines.append(ReportLine(event.date, "changed", "edited", {"event": event.id}))
        elif event.name == MESSAGE_EDIT:
            says = f"edited; its new text: {quoted(str(data.get('content', '')))}"
            lines.append(ReportLine(event.date, "changed", says, {"event": event.id, **data}))
        elif event.name == MESSAGE_DELETE:
            lines.append(ReportLine(event.date, "changed", "deleted on its platform", data))
    return lines


async def _asked_together(reads: StoreReads, row: Row) -> list[ReportLine]:
    """Return a line that names the other messages of the question, which has one answer."""
    values = {"turn_id": row["turn_id"], "limit": MAX_TOGETHER}
    rows = await reads.select("ledger.told_turn", values)
    others = [f"in-{other['id']}" for other in rows if other["id"] != row["id"]]
    if not others:
        return []
    says = f"asked together with {', '.join(others)}, and answered at once with it"
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
            says, data = f"shown to the turn {turn}, as context", {"turn": turn, "entry": take.id}
            turns.setdefault(turn, ReportLine(take.date, "view", says, data))
    return list(turns.values())


def outcome(row: Row, payload: Mapping[str, Any]) -> str:
    """Return one sentence that says how a message ended."""
    status, why = row["status"], row["why"]
    because = f": {why}" if why else ""
    kind = payload.get("kind", "message")
    if status == "taped" and kind != "message":
        return "recorded"
    if status == "done" and not row["turn_id"]:
        return "answered without the model, as a command"
    outcomes = {
        "accepted": "accepted, but not on its tape yet",
        "waiting": "waiting for its turn",
        "taken": f"being answered by the turn {row['turn_id']}",
        "taped": f"not answered: not addressed ({payload.get('why') or 'recorded only'})",
        "refused": f"not answered{because or ': refused'}",
        "done": f"answered by the turn {row['turn_id']}",
        "failed": f"the turn {row['turn_id']} failed, and its author got a notice{because}",
        "stopped": f"stopped{because}",
        "dead": f"given up{because}",
        "dropped": f"not answered: dropped{because}",
        "held": f"held since a restore{because}; `tapeway ledger resume` lets it go on",
        "joined": "part of another message, and answered there",
    }
    return outcomes.get(status, f"{status}{because}")


def head_of(row: Row, payload: Mapping[str, Any]) -> str:
    """Return one line that identifies a message."""
    said = f"message {row['message_id']}" if row["message_id"] else "a message"
    names = {"edit": f"an edit of {said}", "delete": f"the deletion of {said}"}
    names["change"] = "a change of the chat"
    what = names.get(str(payload.get("kind")), said)
    return f"in-{row['id']} is {what} in {row['account_id']} {row['chat_id']}"


def is_about_another(payload: Mapping[str, Any]) -> bool:
    return payload.get("kind") in ("edit", "delete")


def first_of(rows: Sequence[Row]) -> Row | None:
    """Return the message itself among the rows with its id."""
    return next((row for row in rows if not is_about_another(payload_of(row))), None)
