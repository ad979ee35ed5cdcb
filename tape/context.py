"""From entries to the messages of a model: the exact mapping, and where a message stands.

A view shows a person's message where a turn took it, not where it arrived: the event `turn.start`
(and, after an overflow, `turn.retake`) names the ids it takes. So a view is only ever appended to.
A tape without such events reads in plain order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from tape.deletions import without_deleted
from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry
from tape.reads import Reads
from tape.turn_events import TURN_START, is_take, read_take

Message = dict[str, Any]

MESSAGE_EDIT: Final = "message.edit"
MESSAGE_MEDIA: Final = "message.media"
RESET: Final = "session/reset"
FIRST_PAGE: Final = 300
SHOWN_KINDS: Final = (MESSAGE, TOOL_CALL, TOOL_RESULT, ANCHOR, EVENT)


class Latest(Enum):
    """The latest anchor, whatever its name."""

    LATEST = "latest"


LATEST: Final = Latest.LATEST


@dataclass(frozen=True, slots=True)
class TapeContext:
    """How a view is made: from which anchor on, and what makes messages of its entries.

    `anchor` is LATEST, a name (the latest of it), or None for the whole tape. `select` gets the
    entries from the anchor on, the anchor first, and returns chat messages.
    """

    anchor: str | Latest | None
    select: Callable[[Sequence[Entry]], list[Message]]


def default_tape_context() -> TapeContext:
    """Return the literal context: the latest anchor as its own message, then all after it."""
    return TapeContext(anchor=LATEST, select=to_messages)


async def view(tape: Reads, context: TapeContext, lane: str | None = None) -> list[Message]:
    """Build the messages of a tape (or of one lane of it) for a model."""
    return context.select(await view_entries(tape, context.anchor, lane))


async def view_entries(
    tape: Reads,
    anchor: str | Latest | None = LATEST,
    lane: str | None = None,
    turn: str | None = None,
) -> list[Entry]:
    """Return the entries of a view in the order in which they are shown.

    With a lane: from the later of its own anchor and the latest tape-wide one, the lane's entries.
    For a turn that runs: an anchor that is set while it runs counts from the next turn on, so that
    its own question and calls stay in sight; the anchor of its overflow, after which it has taken
    its messages again, counts at once.
    """
    own = await tape.find(turn=turn) if turn else []
    bound = max((entry.id for entry in own if _opens(entry)), default=None)
    start: Entry | None = None
    if anchor is LATEST:
        start = await tape.last_anchor(lane=lane, before=bound)
    elif anchor is not None:
        start = await tape.anchor(anchor)
    after = start.id if start else 0
    # What people said is read where it was taken: thousands of messages may wait for their turns.
    entries = await _entries_after(tape, after, lane, unauthored=bool(own))
    if bound is not None:
        entries = [entry for entry in entries if entry.kind != ANCHOR]
        if start is not None and start.name == RESET:
            # What a turn from before the reset wrote after it is before it, too.
            begun = {entry.meta.get("turn") for entry in entries if entry.name == TURN_START}
            entries = [entry for entry in entries if entry.meta.get("turn") in {None, turn, *begun}]
    listed = [start, *entries] if start else entries
    known = {entry.id: entry for entry in listed}
    elsewhere = [number for number in _taken(listed) if number not in known]
    if elsewhere:
        found = await tape.entries(elsewhere)
        known.update(found)
        foreign = [n for n, e in found.items() if n <= after or e.meta.get("lane") != lane]
        if foreign:
            told = await tape.find(about=tuple(foreign), kinds=(EVENT,), name=MESSAGE_EDIT)
            known.update((entry.id, entry) for entry in told)
    turned = own or await _has_turns(tape, listed)
    return await without_deleted(tape, arrange(listed, known, own) if turned else listed)


async def _entries_after(
    tape: Reads, after: int, lane: str | None, *, unauthored: bool
) -> list[Entry]:
    """Read what a view shows: a first page at once, and only where there is more, the rest."""
    wanted: dict[str, Any] = {"kinds": SHOWN_KINDS, "lane": lane, "unauthored": unauthored}
    first = await tape.find(after=after, limit=FIRST_PAGE, **wanted)
    if len(first) < FIRST_PAGE:
        return first
    return first + await tape.find(after=first[-1].id, **wanted)


def _opens(entry: Entry) -> bool:
    """Tell whether a turn's view begins at an entry: its start, or its take after an overflow."""
    return is_take(entry) and not read_take(entry).steered


async def _has_turns(tape: Reads, listed: Sequence[Entry]) -> bool:
    """Tell whether this tape's messages wait for turns; the newest of them may stand before."""
    if any(is_take(entry) for entry in listed):
        return True
    if not any(waits(entry) for entry in listed):
        return False
    return bool(await tape.find(kinds=(EVENT,), name=TURN_START, limit=1, newest=True))


def arrange(
    entries: Sequence[Entry], known: Mapping[int, Entry], own: Sequence[Entry] = ()
) -> list[Entry]:
    """Put people's messages where a turn took them; `known` holds what was taken from elsewhere.

    A message reads as it did when it was taken; an edit that was taken is told by itself. `own` are
    the entries of the running turn: its prompt and its images may stand before the anchor.
    """
    prompts = {
        entry.meta["prompt_of"]: entry for entry in (*entries, *own) if "prompt_of" in entry.meta
    }
    edits = [entry for _number, entry in sorted(known.items()) if is_edit(entry)]
    media = {
        entry.payload["data"]["entry"]: entry
        for entry in (*entries, *own)
        if entry.name == MESSAGE_MEDIA
    }
    shown: list[Entry] = []
    for entry in entries:
        if is_take(entry):
            for number in read_take(entry).shown:
                taken = prompts.get(number) or known.get(number)
                if taken is not None:
                    taken = _as_taken(taken, entry.id, edits)
                    shown.append(_with_media(taken, media.get(number)))
        elif not (waits(entry) or "prompt_of" in entry.meta):
            shown.append(entry)
    return shown


def _as_taken(entry: Entry, take: int, edits: Sequence[Entry]) -> Entry:
    """Return a message as it read when it was taken; an edit that was taken, as it is told."""
    if is_edit(entry):
        return edit_as_message(entry)
    for edit in reversed(edits):
        if edit.id < take and edit.payload["data"]["entry"] == entry.id:
            return replace(entry, payload={**entry.payload, "content": _edited(edit)})
    return entry


def edit_as_message(edit: Entry) -> Entry:
    """Return an edit as the message that tells of it."""
    content = f"[The following message was edited and now reads:]\n{_edited(edit)}"
    meta = {**edit.meta, "edit_of": edit.payload["data"]["entry"]}
    return replace(edit, kind=MESSAGE, payload={"role": "user", "content": content}, meta=meta)


def _edited(edit: Entry) -> str:
    return str(edit.payload["data"]["content"])


def _with_media(entry: Entry, media: Entry | None) -> Entry:
    """Return a message with its images, and with why others are not shown."""
    if media is None:
        return entry
    data = media.payload["data"]
    refused = "".join(f"\n[{why}]" for why in data.get("refused", ()))
    text = f"{entry.payload.get('content', '')}{refused}"
    images = [{"type": "image_url", "image_url": {"url": url}} for url in data.get("images", ())]
    content = [{"type": "text", "text": text}, *images] if images else text
    return replace(entry, payload={**entry.payload, "content": content})


def is_edit(entry: Entry) -> bool:
    """Tell whether an entry is the event that a message reads otherwise now."""
    return entry.kind == EVENT and entry.name == MESSAGE_EDIT


def waits(entry: Entry) -> bool:
    """Tell whether an entry is a person's message, which is shown only where a turn takes it."""
    return entry.kind == MESSAGE and "inbox" in entry.meta


def _taken(entries: Iterable[Entry]) -> list[int]:
    return [number for entry in entries if is_take(entry) for number in read_take(entry).shown]


def to_messages(entries: Iterable[Entry]) -> list[Message]:
    """Map entries to chat messages; kinds that are not context are left out."""
    messages: list[Message] = []
    pending: dict[str, Sequence[Mapping[str, Any]]] = {}
    for entry in entries:
        # Turns of a tape run side by side: a result answers the calls of its own.
        loop = f"{entry.meta.get('turn')} {entry.meta.get('fork')}"
        if entry.kind == ANCHOR:
            messages.append(_anchor_message(entry))
        elif entry.kind == MESSAGE:
            messages.append(dict(entry.payload))
        elif entry.kind == TOOL_CALL:
            calls = pending[loop] = entry.payload["calls"]
            messages.append({"role": "assistant", "content": "", "tool_calls": list(calls)})
        elif entry.kind == TOOL_RESULT:
            answered = pending.pop(loop, ())
            messages.extend(_result_messages(entry.payload["results"], answered))
    return messages


def _anchor_message(entry: Entry) -> Message:
    state = json.dumps(entry.payload.get("state"), ensure_ascii=False)
    return {"role": "assistant", "content": f"[Anchor created: {entry.name}]: {state}"}


def _result_messages(
    results: Sequence[object], pending: Sequence[Mapping[str, Any]]
) -> Iterable[Message]:
    for position, result in enumerate(results):
        content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        message: Message = {"role": "tool", "content": content}
        if position < len(pending):
            call = pending[position]
            message["tool_call_id"] = call.get("id")
            message["name"] = (call.get("function") or {}).get("name")
        yield message


def pair_up(messages: Sequence[Message]) -> list[Message]:
    """Drop calls without a result and results without a call: providers refuse both."""
    kept: list[Message] = []
    for position, message in enumerate(messages):
        if message.get("role") == "tool":
            continue
        if not message.get("tool_calls"):
            kept.append(message)
            continue
        answers = _answers(messages, position)
        calls = [call for call in message["tool_calls"] if call.get("id") in answers]
        if calls:
            kept.append({**message, "tool_calls": calls})
            kept.extend(answers[call["id"]] for call in calls)
        elif message.get("content"):
            kept.append({key: value for key, value in message.items() if key != "tool_calls"})
    return kept


def _answers(messages: Sequence[Message], position: int) -> dict[str, Message]:
    answers: dict[str, Message] = {}
    for message in messages[position + 1 :]:
        if message.get("role") != "tool":
            break
        call_id = message.get("tool_call_id")
        if call_id is not None:
            answers.setdefault(call_id, message)
    return answers


def merge_neighbours(messages: Sequence[Message]) -> list[Message]:
    """Join neighbouring plain texts of one role, for servers with strict chat templates."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is not None and _plain(last) and _plain(message) and _alike(last, message):
            merged[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            merged.append(message)
    return merged


def _plain(message: Message) -> bool:
    return set(message) == {"role", "content"} and isinstance(message["content"], str)


def _alike(first: Message, second: Message) -> bool:
    return bool(first["role"] == second["role"] and first["role"] in ("user", "assistant"))
