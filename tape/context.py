"""Views decide which entries a model sees, in which order, and as which messages.

A view shows a person's message at the position where a turn took the message, not where it
arrived: the event `turn.start` (and, after an overflow, `turn.retake`) lists the ids taken. So a
view only ever grows at its end. Without such events, a view keeps the order of the tape.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from inspect import isawaitable, signature
from typing import Any, Final

from tape.deletions import without_deleted
from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry
from tape.erasing import erased_on
from tape.lanes import holds_in, shown_in
from tape.payloads import is_sound, sound
from tape.reads import Reads
from tape.taken_messages import NOW_READS, below, with_media
from tape.turn_events import TURN_START, DayLines, is_take, read_take

Message = dict[str, Any]

MESSAGE_EDIT: Final = "message.edit"
MESSAGE_MEDIA: Final = "message.media"
RESET: Final = "session/reset"
REWIND: Final = "session/rewind"
FIRST_PAGE_SIZE: Final = 300  # the number of entries that a view reads before it asks for the rest
SHOWN_KINDS: Final = (MESSAGE, TOOL_CALL, TOOL_RESULT, ANCHOR, EVENT)


class Latest(Enum):
    """Stands for the latest anchor, whatever its name."""

    LATEST = "latest"


LATEST: Final = Latest.LATEST
Select = Callable[..., "list[Message] | Awaitable[list[Message]]"]


@dataclass(frozen=True, slots=True)
class TapeContext:
    """Says where a view starts and how its entries become messages.

    anchor  where the view starts: LATEST, a name (its latest anchor), or None for the whole tape
    select  maps the entries of the view, anchor first, to chat messages: a function of the entries,
            or of the entries and a `context`, and async if it likes
    state   the anchor's state, in the context that `select` gets
    """

    anchor: str | Latest | None = LATEST
    select: Select = field(default_factory=lambda: to_messages)
    state: Mapping[str, Any] = field(default_factory=dict)

    async def messages(self, entries: Sequence[Entry]) -> list[Message]:
        """Select the messages from a view's entries."""
        if not _takes_context(self.select):
            found = self.select(entries)
        else:
            first = entries[0] if entries and self.anchor is not None else None
            state = first.payload.get("state") if first and first.kind == ANCHOR else None
            found = self.select(entries, replace(self, state=state or {}))
        return await found if isawaitable(found) else found


def _takes_context(select: Select) -> bool:
    try:
        listed = signature(select).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    named = [one for one in listed if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    second = named[1] if len(named) > 1 else None
    return second is not None and (second.default is second.empty or second.name == "context")


def default_tape_context() -> TapeContext:
    """Return the context that shows the latest anchor as a message, then everything after it."""
    return TapeContext()


async def view(tape: Reads, context: TapeContext, lane: str | None = None) -> list[Message]:
    """Return the messages of a tape, or of one lane, as a model gets them."""
    return await context.messages(await view_entries(tape, context.anchor, lane))


async def view_entries(
    tape: Reads,
    anchor: str | Latest | None = LATEST,
    lane: str | None = None,
    turn: str | None = None,
) -> list[Entry]:
    """Return the entries of a view in the order in which the view shows them.

    With a lane, the view has only the lane's entries and starts at the later of the lane's own
    anchor and the latest tape-wide one; without, one from the latest anchor on leaves out what is
    apart (`tape.lanes`). With the id of a running turn, the view starts at an anchor from before
    that turn (or before its retake after an overflow), so that it still sees its own calls.
    """
    own = sound(tape.name, await tape.find(turn=turn)) if turn else []
    opened = max(
        (entry.id for entry in own if is_take(entry) and not read_take(entry).steered), default=None
    )
    start: Entry | None = None
    outdated: set[str] = set()
    if anchor is LATEST:
        start, outdated = await beginning(tape, lane, turn, opened)
    elif anchor is not None:
        start = await tape.anchor(anchor)
    after = start.id if start else 0
    # People's messages are read by the ids that turns took: thousands may wait for their turns.
    entries = sound(tape.name, await _entries_after(tape, after, lane, unauthored=bool(own)))
    if anchor is LATEST and lane is None:
        entries = [entry for entry in entries if shown_in(entry, lane)]
    if outdated:
        entries = [entry for entry in entries if entry.meta.get("turn") not in outdated]
    if opened is not None:
        entries = _of_running_turn(entries, start, turn)
    listed = [start, *entries] if start else entries
    known = await _with_taken(tape, listed, after, lane)
    turned = own or await _has_turns(tape, listed)
    return await without_deleted(tape, arrange(listed, known, own) if turned else listed)


async def beginning(
    tape: Reads, lane: str | None, turn: str | None = None, before: int | None = None
) -> tuple[Entry | None, set[str]]:
    """Return the anchor at which a lane's view begins, and the turns whose anchors do not count.

    An anchor of a turn that began before a reset or rewind does not undo it, except in that turn.
    """
    outdated: set[str] = set()
    while (start := await tape.last_anchor(lane=lane, before=before)) is not None:
        owner = start.meta.get("turn")
        if not isinstance(owner, str) or owner == turn:
            break
        if owner not in outdated:
            opened = (await tape.find(turn=owner, limit=1))[0].id
            span = {"after": opened, "before": start.id, "lane": lane, "unlaned": lane is not None}
            names, most = (RESET, REWIND), FIRST_PAGE_SIZE
            marks = await tape.find(kinds=(ANCHOR,), names=names, limit=most, newest=True, **span)
            if all(mark.meta.get("turn") == owner for mark in marks if holds_in(mark, lane)):
                break
            outdated.add(owner)
        before = start.id
    return start, outdated


def _of_running_turn(entries: list[Entry], start: Entry | None, turn: str | None) -> list[Entry]:
    entries = [entry for entry in entries if entry.kind != ANCHOR]
    if start is None or start.name not in (RESET, REWIND):
        return entries
    # A turn that began before the reset may have written entries after the reset.
    started = {entry.meta.get("turn") for entry in entries if entry.name == TURN_START}
    shown = {None, turn, *started}
    return [entry for entry in entries if entry.meta.get("turn") in shown]


async def _with_taken(
    tape: Reads, listed: Sequence[Entry], after: int, lane: str | None
) -> dict[int, Entry]:
    """Map ids to the listed entries, and to messages from outside that turns took, with edits."""
    known = {entry.id: entry for entry in listed}
    takes = [read_take(entry).shown for entry in listed if is_take(entry)]
    elsewhere = [number for shown in takes for number in shown if number not in known]
    if not elsewhere:
        return known
    found = {one.id: one for one in sound(tape.name, (await tape.entries(elsewhere)).values())}
    known.update(found)
    foreign = [n for n, e in found.items() if n <= after or e.meta.get("lane") != lane]
    if foreign:
        edits = await tape.find(about=tuple(foreign), kinds=(EVENT,), name=MESSAGE_EDIT)
        known.update((entry.id, entry) for entry in sound(tape.name, edits))
    return known


async def _entries_after(
    tape: Reads, after: int, lane: str | None, *, unauthored: bool
) -> list[Entry]:
    # A store answers a bounded query without its reader thread.
    conditions: dict[str, Any] = {"kinds": SHOWN_KINDS, "lane": lane, "unauthored": unauthored}
    first = await tape.find(after=after, limit=FIRST_PAGE_SIZE, **conditions)
    whole = len(first) < FIRST_PAGE_SIZE
    return first if whole else first + await tape.find(after=first[-1].id, **conditions)


async def _has_turns(tape: Reads, listed: Sequence[Entry]) -> bool:
    if any(is_take(entry) for entry in listed):
        return True
    said = any(is_inbox_message(entry) for entry in listed)
    return said and bool(await tape.find(kinds=(EVENT,), name=TURN_START, limit=1, newest=True))


def arrange(
    entries: Sequence[Entry], known: Mapping[int, Entry], own: Sequence[Entry] = ()
) -> list[Entry]:
    """Move each person's message to the position where a turn took the message.

    known  maps ids to entries, including those taken from outside the view
    own    entries of the running turn, whose prompt and images may be before the anchor

    A message keeps the text it had when it was taken; an edit that was taken is a message itself.
    Above it stands that it is an edit, if the view shows the text from before.
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
    taken_before: set[int] = set()
    for entry in entries:
        if is_take(entry):
            take = read_take(entry)
            days = DayLines(take.dates)
            for number in take.shown:
                said = known.get(number)
                taken = prompts.get(number) or said
                if taken is not None:
                    day = days.above(said or taken)
                    if said is not None and taken is not said and "quote" in said.meta:
                        taken = replace(taken, meta={**taken.meta, "quote": said.meta["quote"]})
                    framed = said is None or said.text in taken.text  # a plugin's prompt may not be
                    taken = _as_taken(taken, entry.id, edits)
                    if said is not None and said.meta.get("edit_of") in taken_before:
                        taken = below(NOW_READS, taken)
                    taken = with_media(taken, media.get(number))
                    shown.append(below(day, taken) if day and framed else taken)
                    taken_before.add(number)
        elif not (is_inbox_message(entry) or "prompt_of" in entry.meta):
            shown.append(entry)
    return shown


def _as_taken(entry: Entry, take: int, edits: Sequence[Entry]) -> Entry:
    if is_edit(entry):
        return edit_as_message(entry)
    for edit in reversed(edits):
        if edit.id < take and edit.payload["data"]["entry"] == entry.id:
            taint = {name: edit.meta[name] for name in ("taint",) if name in edit.meta}
            payload = {**entry.payload, "content": _edited(edit)}
            return replace(entry, payload=payload, meta={**entry.meta, **taint})
    return entry


def edit_as_message(edit: Entry) -> Entry:
    changed = edit.payload["data"].get("changed")
    what = NOW_READS
    if changed:
        what = f"The {changed} of the following message was changed. It now reads:"
    content = f"[{what}]\n{_edited(edit)}"
    meta = {**edit.meta, "edit_of": edit.payload["data"]["entry"]}
    return replace(edit, kind=MESSAGE, payload={"role": "user", "content": content}, meta=meta)


def _edited(edit: Entry) -> str:
    return str(edit.payload["data"]["content"])


def is_edit(entry: Entry) -> bool:
    return entry.kind == EVENT and entry.name == MESSAGE_EDIT and is_sound(entry)


def is_inbox_message(entry: Entry) -> bool:
    """Return whether an entry is a person's message, shown only where a turn takes it."""
    return entry.kind == MESSAGE and "inbox" in entry.meta


def to_messages(entries: Iterable[Entry]) -> list[Message]:
    """Convert entries to chat messages, without events, errors, other kinds and unreadable ones."""
    messages: list[Message] = []
    pending: dict[str, Entry] = {}
    for entry in entries:
        # Turns of a tape run concurrently: a result answers the calls of its own turn.
        loop = f"{entry.meta.get('turn')} {entry.meta.get('fork')}"
        if not is_sound(entry) or erased_on(entry):
            continue
        if entry.kind == ANCHOR:
            messages.append(_anchor_message(entry))
        elif entry.kind == MESSAGE:
            messages.append(dict(entry.payload))
        elif entry.kind == TOOL_CALL:
            pending[loop] = entry
            calls = list(entry.payload["calls"])
            calling = {"role": "assistant", "content": "", "tool_calls": calls}
            messages.append(StepMessage(calling, entry.id))
        elif entry.kind == TOOL_RESULT:
            answered = pending.pop(loop, None)
            messages.extend(_result_messages(entry.payload["results"], answered))
    return messages


class StepMessage(Message):
    """A message of calls or of a result, which knows the id of its step's calls on the tape."""

    def __init__(self, message: Message, step: int) -> None:
        super().__init__(message)
        self.step = step

    def copy(self) -> StepMessage:
        return StepMessage(self, self.step)


def _anchor_message(entry: Entry) -> Message:
    state = json.dumps(entry.payload.get("state"), ensure_ascii=False)
    return {"role": "assistant", "content": f"[Anchor created: {entry.name}]: {state}"}


def _result_messages(results: Sequence[object], calling: Entry | None) -> Iterable[Message]:
    calls = calling.payload["calls"] if calling else ()
    for position, result in enumerate(results):
        content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        message: Message = {"role": "tool", "content": content}
        if calling and position < len(calls):
            call = calls[position]
            message["tool_call_id"] = call.get("id")
            message["name"] = (call.get("function") or {}).get("name")
            message = StepMessage(message, calling.id)
        yield message


def pair_up(messages: Sequence[Message]) -> list[Message]:
    """Put results behind their calls; drop calls without a result and results without a call.

    Providers reject anything else. A result belongs to the calls of its own step, wherever they
    stand: turns of a tape run side by side. Where a message knows no step, its calls are the last
    ones with its id in an unbroken row of calls and results.
    """
    answers = _answers(messages)
    kept: list[Message] = []
    for position, message in enumerate(messages):
        if message.get("role") == "tool":
            continue
        if not message.get("tool_calls"):
            kept.append(message)
            continue
        found = answers[position]
        calls = [call for call in message["tool_calls"] if call.get("id") in found]
        if calls:
            kept.append({**message, "tool_calls": calls})
            kept.extend(found[call["id"]] for call in calls)
        elif message.get("content"):
            kept.append({key: value for key, value in message.items() if key != "tool_calls"})
    return kept


def _answers(messages: Sequence[Message]) -> dict[int, dict[str, Message]]:
    """Map the position of each message with calls to its results, by the calls' ids."""
    answers: dict[int, dict[str, Message]] = {}
    steps: dict[int, int] = {}
    row: list[int] = []
    for position, message in enumerate(messages):
        step = message.step if isinstance(message, StepMessage) else None
        if message.get("tool_calls"):
            answers[position] = {}
            row.append(position)
            if step is not None:
                steps[step] = position
        elif message.get("role") != "tool":
            row.clear()
        elif (call_id := message.get("tool_call_id")) is not None:
            near = [steps[step]] if step in steps else row[::-1]
            for at in near:
                wanted = any(call.get("id") == call_id for call in messages[at]["tool_calls"])
                if wanted and call_id not in answers[at]:
                    answers[at][call_id] = message
                    break
    return answers


def merge_neighbours(messages: Sequence[Message]) -> list[Message]:
    """Join adjacent plain texts of one role, for servers whose chat template requires it."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is not None and _joinable(last, message):
            merged[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            merged.append(message)
    return merged


def _joinable(first: Message, second: Message) -> bool:
    for message in (first, second):
        if set(message) != {"role", "content"} or not isinstance(message["content"], str):
            return False
    return bool(first["role"] == second["role"] and first["role"] in ("user", "assistant"))
