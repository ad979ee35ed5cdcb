"""A room from a file that `tapeway tape export` wrote: who said what, and what the agent answered.

The messages are played again as they came, and linked by the linker of today, not as the tape says.
Where the agent answered, it is asked again and says the same. Edits, deletions and commands are
left out, and so is a reply to the agent's own message: the file does not tell which one it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bench.replay.room import PlayedRoom, Said, said_as
from channels.message import Author
from tape.entry import MESSAGE, parse_date
from tape.turn_events import TURN_START

LEFT_OUT: Final = ("command", "edit_of", "prompt_of")


class NotAGroup(Exception):
    """A file holds no messages of a group."""


def read_export(path: Path) -> PlayedRoom:
    """Read an exported tape; raises NotAGroup if nobody in it speaks in a lane."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    said = [row for row in rows if _is_said(row)]
    if not said:
        raise NotAGroup(f"{path}: no line is a message of a group, as `tapeway tape export` writes")
    numbers = {str(row["meta"].get("message_id")): int(row["id"]) for row in said}
    replies = {
        int(row["id"]): numbers[to]
        for row in said
        if (to := str(row["meta"].get("reply_to"))) in numbers and numbers[to] < int(row["id"])
    }
    answers = dict(_answers(rows, {int(row["id"]) for row in said}))
    room = path.stem
    played = tuple(
        _said(room, row, replies.get(int(row["id"])), answers.get(int(row["id"]), ""))
        for row in said
    )
    return PlayedRoom(room, played, replies)


def _is_said(row: Mapping[str, Any]) -> bool:
    meta = row.get("meta", {})
    return (
        row.get("kind") == MESSAGE
        and "inbox" in meta
        and isinstance(meta.get("lane"), str)
        and not any(mark in meta for mark in LEFT_OUT)
    )


def _said(room: str, row: Mapping[str, Any], reply: int | None, answer: str) -> Said:
    meta = row["meta"]
    author = Author(
        str(meta.get("author", "")), str(meta.get("name", "")), handle=str(meta.get("handle", ""))
    )
    return said_as(
        room,
        int(row["id"]),
        parse_date(str(meta.get("said_at") or row["date"])),
        author,
        str(meta.get("text", "")),
        mentions=tuple(map(str, meta.get("mentions", ()))),
        reply=reply,
        thread=str(meta["thread"]) if meta.get("thread") else None,
        answer=answer,
    )


def _answers(rows: list[dict[str, Any]], said: set[int]) -> Iterator[tuple[int, str]]:
    """Give the answer of each turn with the last message that the turn took."""
    asked: dict[str, int] = {}
    for row in rows:
        payload, meta = row.get("payload", {}), row.get("meta", {})
        if payload.get("name") == TURN_START:
            data = payload["data"]
            took = [number for number in data.get("takes", ()) if number in said]
            if took:
                asked[str(data["turn"])] = took[-1]
        elif meta.get("final") and str(meta.get("turn")) in asked:
            yield asked[str(meta["turn"])], str(payload.get("content", ""))
