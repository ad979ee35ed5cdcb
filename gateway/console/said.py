"""What was said in chats, as the console shows it: never what was deleted or erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from channels.markdown.plain import plain
from tape.deletions import deleted, source_message
from tape.entry import MESSAGE, Entry
from tape.erasing import erased_on
from tape.handle import Tape
from tape.search.search import as_edited

EXCERPT: Final = 140  # characters
MAX_SHOWN: Final = 2000  # characters


def is_ours(entry: Entry) -> bool:
    """Return whether the agent wrote a message."""
    return "inbox" not in entry.meta


def said_text(entry: Entry) -> str:
    """Return what a person or the agent said, without what the gateway added for models."""
    own = entry.meta.get("text")
    return own if isinstance(own, str) and not is_ours(entry) else entry.text


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


async def texts(tape: Tape, ids: Sequence[int]) -> dict[int, str]:
    """Return the beginnings of messages by their entries' ids, of those that may be shown."""
    found = await tape.entries(list(ids))
    return {one.id: excerpt(shown_text(one)) for one in await without_gone(tape, found.values())}


def _is_said(entry: Entry) -> bool:
    said = "inbox" in entry.meta or bool(entry.meta.get("final"))
    return entry.kind == MESSAGE and said and not erased_on(entry)
