"""Write down all that a room remembers, and read it back.

A room that was read back links like the one that was written, message by message.
"""

from __future__ import annotations

from array import array
from sys import intern
from typing import Any, Final

from tape.linking.asleep import Outline
from tape.linking.room import Heard, LinkerRoom, signs_of
from tape.linking.utterance import THREAD

FORM: Final = 1
"""The form of what is written; another is to be taken where texts give other words than before."""

_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "key": str,
    "minute": int,
    "author": str,
    "called": str,
    "agent": bool,
    "calls": bool,
    "alone": bool,
    "reply_to": (str, type(None)),
    "lane": str,
    "parent": (str, type(None)),
    "length": int,
    "opens": int,
    "asks": bool,
    "holds": bool,
    "text": str,
}
"""What is written of each message, beside those whom it mentions and its words."""


def written(room: LinkerRoom) -> dict[str, Any]:
    """Return all that a room remembers, for JSON."""
    return {
        "form": FORM,
        "most": room.most,
        "reach": room.reach,
        "number": room.number,
        "heard": [
            [*(getattr(one, name) for name in _KINDS), one.mentions, one.words.tolist()]
            for one in room.heard
        ],
        "outlines": [[*outline, words.tolist()] for outline, words in room.asleep],
    }


def read_back(found: Any) -> LinkerRoom:
    """Return the room that was written.

    Raises ValueError, TypeError, LookupError, AttributeError or OverflowError if it is unreadable.
    """
    if found["form"] != FORM:
        raise ValueError(f"form {found['form']!r} is not {FORM}")
    room = LinkerRoom(int(found["most"]), int(found["reach"]))
    for *outline, words in found["outlines"]:
        lane, key, author, at = outline
        one = Outline(intern(_of(str, lane)), _of(str, key), intern(_of(str, author)), _of(int, at))
        room.asleep.add(one, array("H", words))
    first = int(found["number"]) - len(found["heard"])
    for number, row in enumerate(found["heard"], first):
        room.remember(_heard(row, number))
    room.number = int(found["number"])
    return room


def _heard(row: list[Any], number: int) -> Heard:
    *plain, mentions, words = row
    heard = object.__new__(Heard)
    for (name, kind), value in zip(_KINDS.items(), plain, strict=True):
        setattr(heard, name, _of(kind, value))
    heard.author, heard.called = intern(heard.author), intern(heard.called)
    heard.lane = intern(heard.lane)
    heard.mentions = tuple(intern(_of(str, one)) for one in mentions)
    heard.words = array("H", words)
    heard.signs = signs_of(heard.words)
    heard.number = number
    heard.replied = heard.reply_to is not None
    heard.threaded = heard.lane.startswith(THREAD)
    return heard


def _of(kind: type | tuple[type, ...], value: Any) -> Any:
    """Return a value; raises TypeError if it is of another kind."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is not of {kind}")
    return value
