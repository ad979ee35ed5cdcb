"""Plants something in a message of Discord: in a new one, an edit, a quote and a forward."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from channels.discord.inbound import parse
from tests.census.planting import Effect, Json, leaf, merged, planted, root
from tests.census.table import Line
from tests.channels.discord.raw import BOB, ME, guild_cache, message, replying

WORD: Final = "canary-7f3a"
NUMBER: Final = "739112233445566778"
ADDRESS: Final = f"https://{WORD}.example/"
DATE: Final = "2031-07-08T09:10:11+00:00"
_FORWARDED: Final = ("content", "embeds", "attachments", "components", "sticker_items", "stickers")
"""Fields of a snapshot, which has the words and files of a message, but not its author."""

INDIRECT: Final[dict[str, Effect]] = {"webhook_id": Effect(("4242", None))}
"""Paths whose value itself is not read, but decides what is."""

_AROUND: Final[dict[str, Json]] = {
    "mention_channels[].name": {"content": "<#4242>", "mention_channels": [{"id": "4242"}]},
    "mentions[].username": {"content": "<@4242>", "mentions": [{"id": "4242"}]},
    "mentions[].global_name": {"content": "<@4242>", "mentions": [{"id": "4242"}]},
    "message_reference.message_id": {"type": 19},
    "application.name": {"activity": {"type": 1}},
}


def found(line: Line) -> Iterator[tuple[str, bool]]:
    """Yield each way of telling it, and whether what was planted is in the message."""
    value, expected = _value(line)
    raw = merged(_AROUND.get(line.path, {}), planted(line.steps, value))
    for way, name, said in _updates(line, raw):
        try:
            got = parse(name, said, ME, guild_cache())
        except (KeyError, TypeError, ValueError):
            got = None
        shown = json.dumps({**got.to_payload(), "raw": {}}, default=str) if got else ""
        yield way, expected in shown


def read_of(raw: Json) -> object:
    """Return what is read of a new message with these fields."""
    return parse("MESSAGE_CREATE", merged(message("see this", author=BOB), raw), ME, guild_cache())


def _value(line: Line) -> tuple[Any, str]:
    name = leaf(line.steps)
    if name in ("timestamp", "expiry", "edited_timestamp"):
        return DATE, DATE
    if name == "id" or name.endswith("_id"):
        return NUMBER, NUMBER
    if name == "url":
        return ADDRESS, WORD
    return WORD, WORD


def _updates(line: Line, raw: Json) -> Iterator[tuple[str, str, Json]]:
    said = merged(message("see this", author=BOB), raw)
    first = root(line.steps)
    if line.path != "edited_timestamp":
        yield "new", "MESSAGE_CREATE", said
    yield "edit", "MESSAGE_UPDATE", merged({**said, "edited_timestamp": DATE}, raw)
    if first in ("id", "channel_id", "timestamp", "edited_timestamp", "message_reference"):
        return
    if first == "message_snapshots" or line.path == "mentions[].id":
        return
    yield "quote", "MESSAGE_CREATE", replying(said, "and this?", id="6000")
    if first in _FORWARDED:
        reference = {"type": 1, "message_id": "9", "channel_id": "99"}
        inside = {"content": "", "type": 0, "timestamp": DATE, "mentions": []} | raw
        forward = message("", message_reference=reference, message_snapshots=[{"message": inside}])
        yield "forward", "MESSAGE_CREATE", forward
