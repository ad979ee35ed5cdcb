"""What is told of a message: seen, asked or not and why, let in or not, where it went, its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.explain.report import ReportLine, StoreReads, bounded, quoted
from gateway.explain.turn_report import send_lines, turn_lines
from tape.context import MESSAGE_EDIT
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, Entry, load
from tape.linking.utterance import AGENT
from tape.query import Query
from tape.turn_events import is_take, read_take
from tape.unit_of_work import Row

LOOK_AHEAD: Final = 1000
"""So many entries after a message that nobody asked are looked through for who was shown it."""

NOTICES: Final = ("command", "full", "stopped", "poison", "stale")
"""The notices that answer one message; their keys end in its row."""


def payload_of(row: Row) -> dict[str, Any]:
    """Return what a row holds; nothing where that cannot be read."""
    try:
        payload = load(row["payload"])
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


async def message_lines(reads: StoreReads, row: Row, tape: str) -> list[ReportLine]:
    """Tell what became of a message that came in."""
    said = payload_of(row)
    entries = await reads.query(Query(tape, ids=(row["entry_id"],))) if row["entry_id"] else []
    entry = entries[0] if entries else None
    lines = [_seen(row, said, entry), _addressed(said), _access(row, entry)]
    if entry is not None and not _is_closed(row, entry):
        lines += _lane(entry, _own_mention(said))
        lines += await _changes(reads, tape, entry)
    if row["turn_id"]:
        lines += await turn_lines(reads, tape, row["turn_id"])
        lines += await send_lines(reads, row["turn_id"])
    elif entry is not None and row["status"] == "taped":
        lines += await _shown(reads, tape, entry)
    for notice in NOTICES:
        lines += await send_lines(reads, f"n-{notice}:{row['id']}")
    if _is_closed(row, entry):
        lines += await _told_closed(reads, row, said)
    lines.append(ReportLine("", "outcome", outcome(row, said), {"status": row["status"]}))
    return lines


def _is_closed(row: Row, entry: Entry | None) -> bool:
    """Tell whether a message was not let in: its words are on no tape, and are not shown."""
    return row["status"] == "refused" and (entry is None or entry.kind == EVENT)


def _seen(row: Row, said: Mapping[str, Any], entry: Entry | None) -> ReportLine:
    number = f" (delivery {row['alt_id']})" if row["alt_id"] else ""
    says = f"accepted by {row['account_id']} as {row['ext_id']}{number}"
    if said.get("backlog"):
        says += ", which had waited at the platform"
    says += f"; {_who(said)}"
    if said.get("date"):
        says += f", at {said['date'][:19]} by the platform's clock"
    if said.get("chat_title"):
        says += f", in {quoted(str(said['chat_title']), 80)}"
    if said.get("thread_id"):
        says += f", thread {said['thread_id']}"
    # An edit changes the row; the entry keeps what was said first. What is on no tape may be of a
    # chat that nobody let the agent into.
    text = entry.meta.get("text") if entry is not None else ""
    if text and not _is_closed(row, entry):
        says += f": {quoted(str(text))}"
    names = ("account_id", "ext_id", "alt_id", "chat_id", "message_id", "session_id", "entry_id")
    data = {name: row[name] for name in names} | {"row": f"in-{row['id']}"}
    return ReportLine(row["received_at"], "seen", says, data)


def _who(said: Mapping[str, Any]) -> str:
    sender = said.get("sender")
    if not isinstance(sender, Mapping):
        return "nobody knows by whom"
    bot = ", a bot" if sender.get("is_bot") else ""
    kind = {"edit": "edited", "delete": "deleted", "change": "changed"}.get(
        str(said.get("kind")), "said"
    )
    return f"{kind} by {quoted(str(sender.get('name', '')), 80)} (id {sender.get('id')}{bot})"


def _addressed(said: Mapping[str, Any]) -> ReportLine:
    asked, why = bool(said.get("addressed")), str(said.get("why") or "")
    data = {"addressed": asked, "why": why}
    if asked:
        return ReportLine("", "addressed", f"yes: {why or 'the platform says so'}", data)
    return ReportLine("", "addressed", f"no: {why or 'nothing in it asks the agent'}", data)


def _access(row: Row, entry: Entry | None) -> ReportLine:
    if _is_closed(row, entry):
        rule = row["why"]
        if entry is not None and entry.kind == EVENT:
            rule = entry.payload["data"].get("why")
        return ReportLine(
            "", "access", f"not let in: {rule or 'nobody wrote down why'}", {"rule": rule}
        )
    access = entry.meta.get("access") if entry is not None else None
    if isinstance(access, Mapping):
        says = f"let in as {access.get('role')}: {access.get('rule')}"
        return ReportLine("", "access", says, access)
    if entry is None:
        return ReportLine("", "access", "not decided yet, or it never came to a tape")
    return ReportLine("", "access", "let in; the rule was not written down at that time")


def _own_mention(said: Mapping[str, Any]) -> str:
    """Return how a message mentions the agent, where that is certain: it mentions nobody else."""
    mentions = set(said.get("mentions") or ())
    mine = said.get("addressed") and said.get("why") == "mention" and len(mentions) == 1
    return str(mentions.pop()).removeprefix("@") if mine else ""


def _lane(entry: Entry, own: str) -> list[ReportLine]:
    lane, link = entry.meta.get("lane"), entry.meta.get("link")
    data = {"lane": lane, "link": link, "entry": entry.id}
    if lane is None:
        return [
            ReportLine(entry.date, "lane", f"entry {entry.id}; the chat is one conversation", data)
        ]
    says = f"entry {entry.id} in the lane {lane}"
    if isinstance(link, Mapping):
        # A conversation is named after its first message.
        begins = str(lane).partition(":")[2] == entry.meta.get("message_id")
        says += _linked(link, begins=begins) + _said_to(link.get("to"), own)
    elif entry.meta.get("reply_to"):
        says += f"; a reply to message {entry.meta['reply_to']}"
    return [ReportLine(entry.date, "lane", says, data)]


def _linked(link: Mapping[str, Any], *, begins: bool) -> str:
    """Tell from what a message goes on, and why that was found."""
    parent, why = str(link.get("parent") or ""), link.get("why")
    says = ""
    if parent:
        turn = parent.removeprefix("turn:")
        what = f"message {parent}" if turn == parent else f"the answer of the turn {turn}"
        says = f"; it goes on from {what}"
    elif begins:
        says = "; it begins a conversation"
    return says + (f" ({why})" if why else "")


def _said_to(to: object, own: str) -> str:
    """Tell to whom a message speaks; `own` is the agent by another name."""
    people = [str(one) for one in to] if isinstance(to, list) else []
    others = [one for one in people if one not in (AGENT, own)]
    told = [*(["the agent"] if AGENT in people else []), *others]
    return f", said to {', '.join(told)}" if told else ""


async def _changes(reads: StoreReads, tape: str, entry: Entry) -> list[ReportLine]:
    """Tell of edits and of a deletion."""
    told = await reads.query(Query(tape, kinds=(EVENT,), about=(entry.id,), limit=100))
    lines = []
    for event in told:
        data = bounded(dict(event.payload["data"]))
        if event.name == MESSAGE_EDIT:
            says = f"edited; it reads since then: {quoted(str(data.get('content', '')))}"
            lines.append(ReportLine(event.date, "changed", says, {"event": event.id, **data}))
        elif event.name == MESSAGE_DELETE:
            lines.append(ReportLine(event.date, "changed", "deleted by its platform", data))
    return lines


async def _shown(reads: StoreReads, tape: str, entry: Entry) -> list[ReportLine]:
    """Tell which turns were shown a message that asked nothing, as far as they came soon."""
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
            says = f"shown to the turn {turn}, as context"
            turns.setdefault(
                turn, ReportLine(take.date, "view", says, {"turn": turn, "entry": take.id})
            )
    return list(turns.values())


async def _told_closed(reads: StoreReads, row: Row, said: Mapping[str, Any]) -> list[ReportLine]:
    """Tell what a chat that is not open was told that day."""
    where = f"{said.get('channel')}:{said.get('account', '')}:{row['chat_id']}"
    return await send_lines(reads, f"n-refusal:{where}:{row['received_at'][:10]}")


def outcome(row: Row, said: Mapping[str, Any]) -> str:
    """Say in one sentence what became of a message."""
    status, why = row["status"], row["why"]
    because = f": {why}" if why else ""
    kind = said.get("kind", "message")
    if status == "taped" and kind != "message":
        return "written down"
    if status == "done" and not row["turn_id"]:
        return "answered without the model: it was a command"
    told = {
        "accepted": "accepted, and not on its tape yet",
        "waiting": "it waits for its turn",
        "taken": f"the turn {row['turn_id']} has it and has not ended",
        "taped": f"not answered: it asked nothing ({said.get('why') or 'it was only heard'})",
        "refused": f"not answered{because or ': it was not let in'}",
        "done": f"answered by the turn {row['turn_id']}",
        "failed": f"the turn {row['turn_id']} failed, and that was said{because}",
        "stopped": f"stopped{because}",
        "dead": f"given up{because}",
        "dropped": f"not answered: dropped{because}",
        "joined": "a part of another message, and answered there",
    }
    return told.get(status, f"{status}{because}")


def head_of(row: Row, said: Mapping[str, Any]) -> str:
    """Return a message that came in as one line."""
    what = {"edit": "an edit", "delete": "a deletion", "change": "a change of the chat"}.get(
        str(said.get("kind")), "a message"
    )
    where = f"{row['account_id']} {row['chat_id']}"
    number = f" {row['message_id']}" if row["message_id"] else ""
    return f"in-{row['id']} is {what}{number} of {where}"


def is_about_another(said: Mapping[str, Any]) -> bool:
    """Tell whether what came in tells of another message: its edit, or its deletion."""
    return said.get("kind") in ("edit", "delete")


def first_of(rows: Sequence[Row]) -> Row | None:
    """Return the message among what came in under its id."""
    return next((row for row in rows if not is_about_another(payload_of(row))), None)
