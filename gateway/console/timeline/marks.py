"""Read entries as the timeline draws them: light rows, without what was deleted or erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from channels.markdown.plain import plain
from gateway.console.said import shown_text
from gateway.context.reactions import REACTION
from gateway.explain.rules import refused_by
from gateway.scheduling.notices import GIVEN_UP
from gateway.turn.runner import SORRY
from gateway.turn.stopped import STOPPED
from tape.context import MESSAGE_EDIT, RESET, REWIND
from tape.deletions import MESSAGE_DELETE, deleted
from tape.entry import ANCHOR, ERROR, EVENT, MESSAGE, SESSION_START, TOOL_CALL, Entry
from tape.erasing import ERASE, ERASED
from tape.handle import Tape
from tape.query import subject_of
from tape.rollups import is_answer, is_refusal, is_said
from tape.search.search import as_edited
from tape.turn_events import OUTBOUND, RECEIPT, TURN_END, TURN_START

Json = dict[str, Any]

MAX_TEXT: Final = 280  # maximum characters of a row's text
MAX_WHY: Final = 200  # maximum characters of a row's reason
MAX_TOOLS: Final = 5

SAID: Final = "said"
ANSWER: Final = "answer"
CHAPTER: Final = "chapter"
NOTICE: Final = "notice"
REFUSED: Final = "refused"

PLAIN_NOTICES: Final = ("refusal", "full", "stopped", "poison", "stale", "greeting")
"""Notices without words of people, by the beginnings of their keys; others may quote a message."""

_EVENTS: Final = {
    TURN_START: "turn",
    TURN_END: "end",
    MESSAGE_EDIT: "edit",
    MESSAGE_DELETE: "delete",
    REACTION: "reaction",
    ERASE: "erase",
    OUTBOUND: "out",
    RECEIPT: "receipt",
}
_CUTS: Final = {RESET: "reset", REWIND: "rewind"}


async def rows_of(tape: Tape, entries: Sequence[Entry]) -> list[Json]:
    """Return a row for each entry, in order.

    id, at, kind  the entry, its date, and how it is drawn: said, answer, turn, end, tool, chapter,
                  edit, delete, erase, reaction, refused, notice, out, receipt, error, erased
                  or other
    lane, turn    of its meta, if it has them
    who, text     the name of who wrote it, and the first MAX_TEXT characters, as last edited
    gone          whether its text was deleted; it has none, then
    to            the entry that an edit, deletion or reaction is about
    value         what somebody thought of an answer: up, down, or "" for what they took back; of
                  what was refused, whether it is a message, one that was dropped, or a call
    why           the recorded reason of what was refused or failed, in one line
    sent          what a notice says, unless it may quote somebody
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
        return REFUSED
    if entry.name == OUTBOUND and _data(entry).get("kind") == NOTICE:
        return NOTICE
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
    elif kind == "reaction" and (data := _data(entry)):
        row |= {"to": data.get("entry"), "value": str(data.get("value", ""))}
    elif kind in ("turn", "end"):
        data = _data(entry)
        row |= {name: str(data[name]) for name in ("turn", "status") if name in data}
        row |= _why(data.get("error") or data.get("why"))
    elif kind == "error":
        row |= _why(entry.payload.get("message"))
    elif kind == REFUSED:
        row |= _refused(entry.name or "", _data(entry))
    elif kind == NOTICE:
        row |= _sent(_data(entry))
    return row


def _data(entry: Entry) -> Mapping[str, Any]:
    data = entry.payload.get("data")
    return data if isinstance(data, Mapping) else {}


def _why(reason: object) -> Json:
    line = " ".join(str(reason or "").split())
    return {"why": line if len(line) <= MAX_WHY else f"{line[: MAX_WHY - 1]}…"} if line else {}


def _refused(name: str, data: Mapping[str, Any]) -> Json:
    if name == "confirm.refused":
        return {"value": "call", "text": str(data.get("tool", ""))[:MAX_TEXT]}
    known = {"inbox": data["inbox"]} if isinstance(data.get("inbox"), int) else {}
    value = "dropped" if name == "message.dropped" else "message"
    return {"value": value, **_why(refused_by(data)), **known}


def _sent(data: Mapping[str, Any]) -> Json:
    """Return what a notice said, if the gateway alone has written it."""
    text, key = str(data.get("text") or ""), str(data.get("idem") or "")
    ours = key.removeprefix("n-").partition(":")[0] in PLAIN_NOTICES if key[:2] == "n-" else False
    ours = ours or text.startswith(SORRY) or text in (STOPPED, GIVEN_UP)
    return {"sent": plain(text)[:MAX_TEXT]} if text and ours else {}


def _tools(entry: Entry) -> list[str]:
    calls = entry.payload.get("calls")
    found = (call.get("function") for call in calls or () if isinstance(call, Mapping))
    return [str(one.get("name", "")) for one in found if isinstance(one, Mapping)]
