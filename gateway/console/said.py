"""What was said in chats, as the console shows it: never what was deleted or erased."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tape.deletions import deleted, source_message
from tape.entry import MESSAGE, Entry
from tape.erasing import erased_on
from tape.handle import Tape

EXCERPT: Final = 140  # characters


def is_ours(entry: Entry) -> bool:
    """Return whether the agent wrote a message."""
    return "inbox" not in entry.meta


def text_of(entry: Entry) -> str:
    """Return what somebody wrote, without the frame in which a model reads it."""
    return entry.text if is_ours(entry) else str(entry.meta.get("text", ""))


def excerpt(text: str) -> str:
    """Return the beginning of a text, in one line."""
    line = " ".join(text.split())
    return f"{line[: EXCERPT - 1]}…" if len(line) > EXCERPT else line


async def without_gone(tape: Tape, entries: Iterable[Entry]) -> list[Entry]:
    """Return the messages of people and the answers among entries that may be shown."""
    said = [entry for entry in entries if _is_said(entry)]
    about = tuple(number for one in said if (number := source_message(one)) is not None)
    gone = await deleted(tape, about=about) if about else set()
    return [one for one in said if source_message(one) not in gone]


async def texts(tape: Tape, ids: Sequence[int]) -> dict[int, str]:
    """Return the beginnings of messages by their entries' ids, of those that may be shown."""
    found = await tape.entries(list(ids))
    return {one.id: excerpt(text_of(one)) for one in await without_gone(tape, found.values())}


def _is_said(entry: Entry) -> bool:
    said = "inbox" in entry.meta or bool(entry.meta.get("final"))
    return entry.kind == MESSAGE and said and not erased_on(entry)
