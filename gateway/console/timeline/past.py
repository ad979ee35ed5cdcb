"""Show a room as it was at a time: what stood there then, without what was deleted since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from gateway.console.reads import ConsoleReads
from gateway.console.said import shown_text
from gateway.console.timeline.marks import ANSWER, SAID, chapter_of, kind_of, who_of
from gateway.explain.words import edited_words
from tape.context import MESSAGE_EDIT
from tape.deletions import deleted
from tape.entry import ANCHOR, MESSAGE, Entry, as_date, parse_date, utc_iso
from tape.erasing import ERASED
from tape.handle import Tape
from tape.query import Query, subject_of
from tape.search.edits import edits_of, with_edits
from tape.turn_events import TURN_END, TURN_START

Json = dict[str, Any]

ENTRIES: Final = 300  # entries before a time among which the messages of the room are looked for
MESSAGES: Final = 40  # maximum messages of the room
STEPS: Final = 200  # maximum entries that are replayed from one answer
MAX_TEXT: Final = 4000


async def room_at(reads: ConsoleReads, name: str, date: str) -> Json:
    """Return a room as it was at a date.

    entry     the last entry up to then, or 0
    messages  the newest messages up to then, as they read at that time, in order
    working   the turns that ran
    next      the date of the first entry after it, or ""
    """
    tape = reads.tape(name)
    end = utc_iso(parse_date(as_date(date)) + timedelta(microseconds=1))
    last = await reads.page(Query(name, until=end, limit=1, newest=True))
    number = last[0].id if last else 0
    before = await reads.page(Query(name, before=number + 1, limit=ENTRIES, newest=True))
    later = await reads.page(Query(name, after=number, limit=1))
    edits = edits_of(name, before, asof=number)
    then = with_edits(before, await tape.run_query(edits)) if edits else before
    return {
        "entry": number,
        "messages": (await _steps(tape, then, only_said=True))[-MESSAGES:],
        "working": _working(before),
        "next": later[0].date if later else "",
    }


async def steps_after(reads: ConsoleReads, name: str, after: int) -> Json:
    """Return what happened after an entry, in order: messages as first written, edits, turns.

    upto  the last entry that is in it; more follows if `more`
    """
    found = await reads.page(Query(name, after=after, limit=STEPS))
    steps = await _steps(reads.tape(name), found, only_said=False)
    upto = found[-1].id if found else after
    return {"steps": steps, "upto": upto, "more": bool(found) and upto < await reads.size(name)}


async def _steps(tape: Tape, entries: Sequence[Entry], *, only_said: bool) -> list[Json]:
    subjects = {entry.id: entry.id for entry in entries if entry.kind == MESSAGE}
    for entry in entries:
        if entry.name == MESSAGE_EDIT and (about := subject_of(entry)) is not None:
            subjects[entry.id] = int(about)
    about_ids = tuple(dict.fromkeys(subjects.values()))
    gone = await deleted(tape, about=about_ids) if about_ids else set()
    found = []
    for entry in entries:
        if subjects.get(entry.id) in gone:
            continue
        step = _said(entry) or (None if only_said else _other(entry))
        if step is not None:
            found.append({"id": entry.id, "at": entry.date, **step})
    return found


def _said(entry: Entry) -> Json | None:
    kind = kind_of(entry)
    if kind not in (SAID, ANSWER):
        return None
    lane = entry.meta.get("lane")
    return {
        "kind": kind,
        "who": who_of(entry),
        "text": shown_text(entry)[:MAX_TEXT],
        **({"lane": lane} if isinstance(lane, str) else {}),
        **({"turn": entry.meta["turn"]} if "turn" in entry.meta else {}),
    }


def _other(entry: Entry) -> Json | None:
    data = entry.payload.get("data")
    if ERASED in entry.meta or not (entry.kind == ANCHOR or isinstance(data, Mapping)):
        return None
    if entry.kind == ANCHOR:
        return {"kind": "chapter", **chapter_of(entry)}
    assert isinstance(data, Mapping)
    if entry.name == MESSAGE_EDIT and (about := subject_of(entry)) is not None:
        return {"kind": "edit", "to": int(about), "text": edited_words(entry)[:MAX_TEXT]}
    if entry.name in (TURN_START, TURN_END):
        kind = "turn" if entry.name == TURN_START else "end"
        lane = entry.meta.get("lane")
        return {"kind": kind, "turn": str(data.get("turn", "")), "lane": lane}
    return None


def _working(entries: Sequence[Entry]) -> list[Json]:
    running: dict[str, Json] = {}
    for entry in entries:
        data = entry.payload.get("data")
        turn = str(data.get("turn", "")) if isinstance(data, Mapping) else ""
        if entry.name == TURN_START:
            running[turn] = {"turn": turn, "at": entry.date, "lane": entry.meta.get("lane")}
        elif entry.name == TURN_END:
            running.pop(turn, None)
    return list(running.values())
