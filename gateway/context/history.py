"""Read a chat's messages from its tape, for channels that show the history themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agent.loop import OVERFLOW_NOTICED, OVERFLOW_REPORTED
from channels.message import Media, Reactions, ShownMessage
from gateway.context.images import images_of
from gateway.context.reactions import reactions_in
from gateway.explain.words import words_of
from tape.context import RESET, REWIND
from tape.deletions import deleted
from tape.entry import ANCHOR, EVENT, MESSAGE, SESSION_START, Entry
from tape.erasing import erased_on
from tape.handle import Tape
from tape.turn_events import OUTBOUND

ENTRIES_PER_MESSAGE: Final = 4
"""Entries to read for each message wanted: a turn appends other entries in between."""


async def read_history(tape: Tape, agent: str, limit: int) -> list[ShownMessage]:
    """Return a chat's newest messages, oldest first."""
    most = limit * ENTRIES_PER_MESSAGE
    entries = await tape.find(kinds=(MESSAGE, EVENT), limit=most, newest=True)
    return (await _shown(tape, entries, agent))[-limit:]


async def read_news(tape: Tape, agent: str, after: int | None) -> tuple[int, list[ShownMessage]]:
    """Return the messages after an entry, and the newest entry's id; after None, there are none."""
    if after is None:
        return await tape.size(), []
    entries = await tape.find(kinds=(MESSAGE, EVENT), after=after)
    newest = entries[-1].id if entries else after
    return newest, await _shown(tape, entries, agent)


async def read_track(tape: Tape, limit: int) -> dict[str, Any]:
    """Return what the page draws beside a chat's newest messages, as JSON.

    lanes    maps the ids of messages to their lanes
    splices  the anchors among them: where the conversation was cut, as a tape is
    """
    most = limit * ENTRIES_PER_MESSAGE
    entries = await tape.find(kinds=(MESSAGE, EVENT, ANCHOR), limit=most, newest=True)
    lanes = {}
    for entry in entries:
        lane = entry.meta.get("lane")
        if lane is not None and entry.kind == MESSAGE and "inbox" in entry.meta:
            lanes[entry.meta["message_id"]] = lane
        elif lane is not None and entry.name == OUTBOUND:
            lanes[entry.payload["data"]["idem"]] = lane
    cuts = [entry for entry in entries if entry.kind == ANCHOR and entry.name != SESSION_START]
    names = await tape.entries([one.meta["rewind"] for one in cuts if one.name == REWIND])
    return {"lanes": lanes, "splices": [_splice(cut, names) for cut in cuts if not erased_on(cut)]}


async def answer_text(tape: Tape, answer: str) -> str | None:
    """Return the text of an answer with an id, as it was sent, or None."""
    turn = answer.rpartition(":")[0]
    own = await tape.find(turn=turn) if turn else []
    finals = _finals(own)
    shown = (_ours(entry, "", finals) for entry in own if entry.name == OUTBOUND)
    return next((one.text for one in shown if one.id == answer and one.role == "agent"), None)


async def shown_image(tape: Tape, number: int, place: int) -> Media | None:
    """Return an image of the message with an entry's number, unless it was deleted or erased."""
    entry = (await tape.entries([number])).get(number)
    if entry is None or number in await deleted(tape, about=(number,)):
        return None
    images = list(images_of(entry))
    return images[place] if place < len(images) else None


def _splice(anchor: Entry, names: Mapping[int, Entry]) -> dict[str, Any]:
    older = names.get(anchor.meta.get("rewind", 0))
    other = "aside" if anchor.name in (OVERFLOW_NOTICED, OVERFLOW_REPORTED) else "checkpoint"
    kind = {RESET: "reset", REWIND: "rewind"}.get(anchor.name or "", other)
    title = older.name if older else "" if kind != "checkpoint" else anchor.name
    return {"id": anchor.id, "kind": kind, "title": title, "date": anchor.date}


async def _shown(tape: Tape, entries: Sequence[Entry], agent: str) -> list[ShownMessage]:
    gone = await deleted(tape, entries[0].id) if entries else set()
    finals, liked = _finals(entries), reactions_in(entries)
    shown: list[ShownMessage] = []
    for entry in entries:
        if entry.kind == MESSAGE and "inbox" in entry.meta and entry.id not in gone:
            shown.append(_person(entry))
        elif entry.name == OUTBOUND:
            ours = _ours(entry, agent, finals)
            shown.append(replace(ours, reactions=liked.get(ours.id, Reactions())))
    return shown


def _finals(entries: Sequence[Entry]) -> Mapping[str, str]:
    finals = (entry for entry in entries if entry.kind == MESSAGE and entry.meta.get("final"))
    return {entry.meta["turn"]: entry.text for entry in finals}


def _person(entry: Entry) -> ShownMessage:
    meta, images = entry.meta, tuple(images_of(entry))
    return ShownMessage(
        id=meta["message_id"],
        role="person",
        author_id=meta["author"],
        author=meta.get("name", ""),
        text=words_of(entry, files=not images),
        date=meta["said_at"],
        reply_to=meta.get("reply_to"),
        addressed=meta.get("addressed"),
        images=images,
    )


def _ours(entry: Entry, agent: str, finals: Mapping[str, str]) -> ShownMessage:
    data: Mapping[str, Any] = entry.payload["data"]
    return ShownMessage(
        id=data["idem"],
        role="agent" if data["kind"] == "answer" else "notice",
        author_id="agent",
        author=agent,
        text=data.get("text", finals.get(entry.meta.get("turn", ""), "")),
        date=entry.date,
        reply_to=data.get("reply_to"),
    )
