"""Plants something in a message of Telegram: in a new one, an edit, a quote and a forward."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from channels.telegram.content import ENVELOPE
from channels.telegram.inbound import parse
from tests.census.planting import Effect, Json, leaf, merged, planted, root
from tests.census.table import Line
from tests.channels.telegram.raw import BOB, FORUM, GROUP, ME

WORD: Final = "canary-7f3a"
ADDRESS: Final = f"https://{WORD}.example/"
_UNQUOTED: Final = ("via_bot", "forum_topic_created")
"""Fields of which a quote says nothing: how it was written, and that a topic began with it."""

_OPTIONS: Final = [{"persistent_id": one, "text": f"the words of {one}"} for one in ("a", "b")]
_POLL: Final = {"message_id": 4, "date": 1, "from": BOB, "poll": {"options": _OPTIONS}}
INDIRECT: Final[dict[str, Effect]] = {
    "reply_to_poll_option_id": Effect(("a", "b"), {"text": "why?", "reply_to_message": _POLL})
}
"""Paths whose value itself is not read, but decides what is."""

_CHAT: Final = {"id": -200, "type": "channel"}
_AROUND: Final[dict[str, Json]] = {
    "external_reply": {"external_reply": {"origin": {"type": "hidden_user"}}},
    "quote": {"reply_to_message": {"message_id": 4, "date": 1, "text": "a", "from": BOB}},
    "author_signature": {"sender_chat": {**_CHAT, "title": "News"}},
    "forward_origin.author_signature": {"forward_origin": {"chat": _CHAT, "sender_chat": _CHAT}},
    "external_reply.origin.author_signature": {
        "external_reply": {"origin": {"chat": _CHAT, "sender_chat": _CHAT}}
    },
    "direct_messages_topic": {
        "direct_messages_topic": {"topic_id": 3},
        "chat": {"is_direct_messages": True},
    },
    "sender_chat": {"sender_chat": _CHAT},
}
"""What stands around a field wherever it occurs."""

_ORIGIN: Final = {"type": "user", "sender_user": {"id": 8, "first_name": "Bob"}}
_BESIDE: Final = ("reply_markup", "link_preview_options", "via_bot")
"""Fields that say something beside a text."""

_IN_PLACE: Final = ENVELOPE - {*_BESIDE, "text", "entities", "caption", "caption_entities"}
"""Fields that a message has as such: what they say of a quoted or forwarded one is not read."""


def payload(line: Line) -> Json:
    """Return the fields of a message with something to find at the path."""
    value: Any = ADDRESS if "url" in leaf(line.steps) else WORD
    if line.what == "file":
        value = {"file_id": WORD, "file_unique_id": "u", "width": 9, "height": 9}
    raw = planted(line.steps, value)
    _complete(raw)
    del raw["id"]
    first = root(line.steps)
    raw = merged(_AROUND.get(line.path, _AROUND.get(first, {})), raw)
    return {"text": "see this", **raw} if first in _IN_PLACE | {*_BESIDE} else raw


def found(line: Line) -> Iterator[tuple[str, bool]]:
    """Yield each way of telling it, and whether what was planted is in the message."""
    for way, update in _updates(line):
        try:
            message = parse(update, ME)
        except (KeyError, TypeError, ValueError):
            yield way, False
            continue
        assert message is not None
        said = json.dumps({**message.to_payload(), "raw": {}}, default=str)
        yield way, WORD in said


def read_of(raw: Json) -> object:
    """Return what is read of a new message with these fields."""
    said = {"message_id": 5, "date": 1767225600, "chat": FORUM, "from": BOB} | raw
    return parse({"update_id": 1, "message": said}, ME)


def _updates(line: Line) -> Iterator[tuple[str, Json]]:
    raw = payload(line)
    said = {"message_id": 5, "date": 1767225600, "chat": FORUM, "from": BOB} | raw
    for name, known in (("chat", GROUP), ("from", BOB)):
        if name in raw:
            said[name] = {**known, **raw[name], "id": known["id"]}
    yield "new", {"update_id": 1, "message": said}
    yield "edit", {"update_id": 2, "edited_message": {**said, "edit_date": 1767225700}}
    if root(line.steps) in _IN_PLACE:
        return
    if root(line.steps) not in _UNQUOTED:
        yield "quote", {"update_id": 3, "message": {**_asked(), "reply_to_message": said}}
    yield "forward", {"update_id": 4, "message": {**said, "forward_origin": _ORIGIN}}


def _asked() -> Json:
    who = {"id": 7, "is_bot": False, "first_name": "Ada"}
    return {"message_id": 6, "date": 1767225601, "chat": FORUM, "from": who, "text": "and this?"}


def _complete(raw: Any) -> None:
    """Add what Telegram never leaves out: ids, and the texts that entities are in."""
    if isinstance(raw, list):
        for one in raw:
            _complete(one)
    if not isinstance(raw, dict):
        return
    for name, value in list(raw.items()):
        if name.endswith("entities"):
            text = name.removesuffix("entities").rstrip("_") or "text"
            raw.setdefault(text, "here they are")
            for one in value:
                one |= {"offset": 0, "length": 4}
        _complete(value)
    raw.setdefault("id", 77)
