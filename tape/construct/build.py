"""Build messages from chosen entries, in the order of the tape; calls stay with their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tape.construct.candidate import Readable
from tape.construct.explore import call_ids
from tape.context import Message, is_edit, to_messages
from tape.deletions import MESSAGE_DELETE
from tape.entry import EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry
from tape.payloads import is_sound
from tape.quoted_results import Writer, quotes_the_tape, writer_of

Group = tuple[int, ...]  # the ids of entries that are either all shown or all left out


async def as_read(tape: Readable, found: Mapping[int, Entry], asof: int) -> dict[int, Entry]:
    """Return entries with the edits up to the entry `asof`, and without deleted ones."""
    ids = tuple(number for number, entry in found.items() if entry.kind == MESSAGE)
    changes = await tape.find(kinds=(EVENT,), about=ids, before=asof + 1) if ids else []
    read = dict(found)
    for event in changes:
        data = event.payload["data"]
        number = int(data["entry"])
        if event.name == MESSAGE_DELETE:
            read.pop(number, None)
        elif is_edit(event) and number in read:
            payload = {**read[number].payload, "content": str(data.get("content", ""))}
            read[number] = replace(read[number], payload=payload)
    return read


def grouped(entries: Mapping[int, Entry]) -> list[Group]:
    """Group calls with their results; leave out unpaired ones and those that quote the tape."""
    # Concurrent turns interleave their calls and results: see `writer_of`.
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
    if not (is_sound(call) and is_sound(result)):
        return False
    # Searches find the quoted entries themselves, with their edits.
    if any(quotes_the_tape(one) for one in call.payload["calls"]):
        return False
    return len(call_ids(call)) == len(result.payload["results"])


def messages_of(groups: Iterable[Group], entries: Mapping[int, Entry]) -> list[Message]:
    """Return the messages for groups of entries, in the order of the tape."""
    return to_messages(entries[number] for group in sorted(groups) for number in group)


def ids_of(groups: Iterable[Group]) -> tuple[int, ...]:
    """Return the ids of all groups in the order in which their entries are shown."""
    return tuple(number for group in sorted(groups) for number in group)
