"""What was said in chats, as the console shows it: never what was deleted or erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from channels.markdown.plain import plain
from gateway.explain.words import is_persons, words_of
from tape.context import is_edit
from tape.deletions import MESSAGE_DELETE, deleted, source_message
from tape.entry import MESSAGE, Entry
from tape.erasing import erased_on
from tape.handle import Tape
from tape.query import subject_of
from tape.search.edits import with_edits
from tape.search.search import as_edited

EXCERPT: Final = 140  # characters
MAX_SHOWN: Final = 2000  # characters


def is_ours(entry: Entry) -> bool:
    """Return whether the agent wrote a message."""
    return "inbox" not in entry.meta


def said_text(entry: Entry) -> str:
    """Return what a person or the agent said, without what the gateway added for models."""
    return words_of(entry) if is_persons(entry) else entry.text


def shown_text(entry: Entry) -> str:
    """Return the beginning of what was said as it is shown in a line: an answer without marks."""
    text = said_text(entry)[:MAX_SHOWN]
    return plain(text) if is_ours(entry) else text


def excerpt(text: str) -> str:
    """Return the beginning of a text, in one line."""
    line = " ".join(text.split())
    return f"{line[: EXCERPT - 1]}…" if len(line) > EXCERPT else line


async def without_gone(tape: Tape, entries: Iterable[Entry]) -> list[Entry]:
    """Return the messages of people and the answers that may be shown, as they were last edited."""
    said = [entry for entry in entries if _is_said(entry)]
    about = tuple(number for one in said if (number := source_message(one)) is not None)
    gone = await deleted(tape, about=about) if about else set()
    shown = [one for one in said if source_message(one) not in gone]
    return await as_edited(tape, tape.name, shown)


def last_of_tail(entries: Sequence[Entry]) -> Entry | None:
    """Return the last message among the newest entries of a tape, as `without_gone` does.

    What was changed of a message came after it, except if its entry repeats an older one.
    """
    gone = {subject_of(entry) for entry in entries if entry.name == MESSAGE_DELETE}
    said = [entry for entry in entries if _is_said(entry) and entry.id not in gone]
    if not said or source_message(said[-1]) != said[-1].id:
        return None
    edits = [entry for entry in entries if is_edit(entry)]
    return with_edits(said[-1:], edits)[0]


async def texts(tape: Tape, ids: Sequence[int]) -> dict[int, str]:
    """Return the beginnings of messages by their entries' ids, of those that may be shown."""
    found = await tape.entries(list(ids))
    return {one.id: excerpt(shown_text(one)) for one in await without_gone(tape, found.values())}


def _is_said(entry: Entry) -> bool:
    said = "inbox" in entry.meta or bool(entry.meta.get("final"))
    return entry.kind == MESSAGE and said and not erased_on(entry)
