"""What somebody said, in words, for everybody who lists messages."""

from __future__ import annotations

from typing import Final

from gateway.language.language import say
from tape.entry import Entry
from tape.excerpts import files_of, others_of

ALLOWS: Final = "allows"
"""The key in the meta of the entry that lets a recorded call run, since somebody allowed it."""

PRESSED: Final = "{name} pressed Allow"


def is_persons(entry: Entry) -> bool:
    """Return whether a person's message has its own text in its meta."""
    return "inbox" in entry.meta and isinstance(entry.meta.get("text"), str)


def words_of(entry: Entry, *, files: bool = True) -> str:
    """Return what a person said, and below it in brackets and quoted what came with it.

    Without any of it, the person's own `files` are named: a photo, a poll, a place.
    """
    if ALLOWS in entry.meta:
        return say(PRESSED, name=entry.meta.get("name") or say("somebody"))
    words = "\n".join(filter(None, [str(entry.meta.get("text") or ""), others_of(entry)]))
    return words or (files_of(entry) if files else "")
