"""What somebody said, and what is known of a room, in words, for everybody who shows it."""

from __future__ import annotations

from typing import Final

from gateway.language.language import say
from tape.entry import Entry
from tape.excerpts import files_of, others_of
from tape.linking.recognition import Recognition

ALLOWS: Final = "allows"
"""The key in the meta of the entry that lets a recorded call run, since somebody allowed it."""

PRESSED: Final = "{name} pressed Allow"
RECOGNIZED: Final = "In this room, conversations are recognized in {share} of 100 replies"
BY_RECENCY: Final = ", so views show its last messages"


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


def edited_words(edit: Entry) -> str:
    """Return what a message says after an edit, and the files that it changed, or that are all."""
    data = edit.payload.get("data") or {}
    text = str(data.get("text", data.get("content")) or "")
    files = files_of(edit) if data.get("changed") or not text else ""
    return "\n".join(filter(None, [text, files, others_of(edit)]))


def recognized(known: Recognition) -> str:
    """Return how well a room's conversations are recognized, or "" if that is not known yet."""
    if not known.is_known:
        return ""
    says = say(RECOGNIZED, share=round(100 * known.in_lane))
    return says + say(BY_RECENCY) if known.by_recency else says
