"""Read entries as the timeline draws them: light rows, without what was deleted or erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.console.said import shown_text
from gateway.context.reactions import REACTION
from tape.context import MESSAGE_EDIT, RESET, REWIND
from tape.deletions import MESSAGE_DELETE, deleted
from tape.entry import ANCHOR, ERROR, EVENT, MESSAGE, SESSION_START, TOOL_CALL, Entry
from tape.erasing import ERASED
from tape.handle import Tape
from tape.query import subject_of
from tape.rollups import is_answer, is_refusal, is_said
from tape.search.search import as_edited
from tape.turn_events import OUTBOUND, RECEIPT, TURN_END, TURN_START

Json = dict[str, Any]

MAX_TEXT: Final = 280  # maximum characters of a row's text
MAX_TOOLS: Final = 5

SAID: Final = "said"
ANSWER: Final = "answer"
CHAPTER: Final = "chapter"

_EVENTS: Final = {
    TURN_START: "turn",
    TURN_END: "end",
    MESSAGE_EDIT: "edit",
    MESSAGE_DELETE: "delete",
    REACTION: "reaction",
    OUTBOUND: "out",
    RECEIPT: "receipt",
}
_CUTS: Final = {RESET: "reset", REWIND: "rewind"}


async def rows_of(tape: Tape, entries: Sequence[Entry]) -> list[Json]:
    """Return a row for each entry, in order.

    id, at, kind  the entry, its date, and how it is drawn: said, answer, turn, end, tool, chapter,
                  edit, delete, reaction, refused, out, receipt, error, erased or other
    lane, turn    of its meta, if it has them
    who, text     the name of who wrote it, and the first MAX_TEXT characters, as last edited
    gone          whether its text was deleted; it has none, then
    to            the entry that an edit, deletion or reaction is about
    value         what somebody thought of an answer: up, down, or "" for what they took back
    status        how a turn ended; inbox: the number by which a message is explained
    """
    edited = await as_edited(tape, tape.name, entries)
    ids = tuple(entry.id for entry in entries if entry.kind == MESSAGE)
    gone = await deleted(tape, about=ids) if ids else set()
    return [_row(entry, gone=entry.id in gone) for entry in edited]


def kind_of(entry: Entry) -> str:
    """Return how an entry is drawn; see `rows_of`."""
    if ERASED in entry.meta and entry.kind != ANCHOR:
        return "erased"
    if is_said(entry):
        return SAID
    if is_answer(entry):
        return ANSWER
    if is_refusal(entry):
        return "refused"
    if entry.kind == EVENT:
        return _EVENTS.get(entry.name or "", "other")
    return {ANCHOR: CHAPTER, TOOL_CALL: "tool", ERROR: "error"}.get(entry.kind, "other")


def who_of(entry: Entry) -> str:
    """Return the name of a message's author, their id if it has none, or "" for the agent."""
    meta = entry.meta
    return str(meta.get("name") or meta.get("author") or "") if is_said(entry) else ""


def chapter_of(anchor: Entry) -> Json:
    """Return an anchor as a chapter: what it is called, and whether it cuts the conversation."""
    name = anchor.name or ""
    erased = ERASED in anchor.meta
    kind = "start" if name == SESSION_START else _CUTS.get(name, "checkpoint")
    title = "" if erased or kind != "checkpoint" else name
    lane = anchor.meta.get("lane")
    return {
        "id": anchor.id,
        "at": anchor.date,
        "cut": kind,
        "text": title[:MAX_TEXT],
        **({"lane": lane} if isinstance(lane, str) else {}),
    }


def _row(entry: Entry, *, gone: bool) -> Json:
    kind = kind_of(entry)
    row: Json = {"id": entry.id, "at": entry.date, "kind": kind}
    for name in ("lane", "turn"):
        if isinstance(value := entry.meta.get(name), str):
            row[name] = value
    if kind in (SAID, ANSWER):
        row |= {"who": who_of(entry)} if kind == SAID else {}
        row |= {"gone": True} if gone else {"text": shown_text(entry)[:MAX_TEXT]}
        if isinstance(inbox := entry.meta.get("inbox"), int):
            row["inbox"] = inbox
    elif kind == CHAPTER:
        row |= chapter_of(entry)
    elif kind == "tool":
        row["text"] = ", ".join(_tools(entry)[:MAX_TOOLS])
    elif kind in ("edit", "delete"):
        about = subject_of(entry)
        row |= {"to": int(about)} if about is not None else {}
    elif kind == "reaction":
        data = entry.payload.get("data")
        if isinstance(data, Mapping):
            row |= {"to": data.get("entry"), "value": str(data.get("value", ""))}
    elif kind in ("turn", "end"):
        data = entry.payload.get("data")
        if isinstance(data, Mapping):
            row |= {name: str(data[name]) for name in ("turn", "status") if name in data}
    return row


def _tools(entry: Entry) -> list[str]:
    calls = entry.payload.get("calls")
    found = (call.get("function") for call in calls or () if isinstance(call, Mapping))
    return [str(one.get("name", "")) for one in found if isinstance(one, Mapping)]
