"""Build: what chosen entries read, in the order of the tape, calls with their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tape.construct.candidate import Readable
from tape.construct.explore import call_ids
from tape.context import Message, is_edit, to_messages
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry
from tape.quoted_results import Writer, quotes_the_tape, writer_of

Group = tuple[int, ...]
"""The entries of what is shown together or not at all."""


async def as_read(tape: Readable, found: Mapping[int, Entry], asof: int) -> dict[int, Entry]:
    """Return entries as they read once the entry `asof` was written, without what was deleted."""
    said = [number for number, entry in found.items() if entry.kind == MESSAGE]
    told = await tape.find(kinds=(EVENT,), about=tuple(said), before=asof + 1) if said else []
    read = dict(found)
    for event in told:
        data = event.payload["data"]
        number = int(data["entry"])
        if event.name == MESSAGE_DELETE:
            read.pop(number, None)
        elif is_edit(event) and number in read:
            payload = {**read[number].payload, "content": str(data.get("content", ""))}
            read[number] = replace(read[number], payload=payload)
    return read


def grouped(entries: Mapping[int, Entry]) -> list[Group]:
    """Put calls together with their results; what quotes the tape belongs to no group.

    Nor do calls or results alone. Turns write side by side: see `writer_of`.
    """
    groups: list[Group] = []
    open_calls: dict[Writer, Entry] = {}
    for number, entry in sorted(entries.items()):
        writer = writer_of(entry)
        if entry.kind == TOOL_CALL:
            open_calls[writer] = entry
        elif entry.kind == TOOL_RESULT:
            call = open_calls.pop(writer, None)
            if call is not None and _is_shown(call, entry):
                groups.append((call.id, number))
        else:
            groups.append((number,))
    return groups


def _is_shown(call: Entry, result: Entry) -> bool:
    """Tell whether calls may be shown with their results: not where these quote the tape.

    What they quote is found by itself, as it reads now.
    """
    if any(quotes_the_tape(one) for one in call.payload["calls"]):
        return False
    return len(call_ids(call)) == len(result.payload["results"])


def messages_of(groups: Iterable[Group], entries: Mapping[int, Entry]) -> list[Message]:
    """Return the messages of groups, in the order of the tape."""
    return to_messages(entries[number] for group in sorted(groups) for number in group)


def ids_of(groups: Iterable[Group]) -> tuple[int, ...]:
    """Return the entries of groups in the order in which they are shown."""
    return tuple(number for group in sorted(groups) for number in group)


def text_of(group: Sequence[int], entries: Mapping[int, Entry]) -> str:
    """Return what a group says, for a strategy that reads."""
    return "\n".join(text for number in group if (text := entries[number].text))
