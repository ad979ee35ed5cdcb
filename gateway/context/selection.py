"""Select what a turn takes: messages in its lane since the last turn, then the question.

Questions that wait for their own turns are left out. A young lane also shows the room's messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agent.anchors import HINT
from agent.loop import OVERFLOW_NOTICED
from gateway.context.rooms.reading import answer_of
from tape.construct import ContextConstructor
from tape.construct.selection import candidates_of
from tape.context import (
    LATEST,
    MESSAGE_EDIT,
    beginning,
    edit_as_message,
    is_edit,
    is_inbox_message,
    to_messages,
    view_entries,
)
from tape.deletions import deleted
from tape.entry import ANCHOR, EVENT, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry
from tape.errors import TapeError
from tape.excerpts import foreign_media
from tape.handle import Tape
from tape.lanes import shown_in
from tape.linking.utterance import THREAD
from tape.snapshot import TapeSnapshot
from tape.taken_messages import ASKED_IN, MEDIA_FROM
from tape.tokens import estimate
from tape.turn_events import TAKES, TurnRetake, TurnStart, further_days, is_take, read_take

MAX_LOOKBACK: Final = 400
"""Maximum messages, edits and takes of a lane to check for messages that no turn has taken."""

PART_OF: Final = "part_of"
"""The meta of a message that has the entry of the message that it is a part of."""

COPY_OF: Final = "copy_of"
"""The meta of a message that only repeats another one, which has the other's entry."""

ROOM_MESSAGES: Final = 50  # messages of the room to look at where one conversation fills it
HANDFUL: Final = 4
REFILL_SHARE: Final = 0.5
"""The share of the token budget that earlier messages may fill after an overflow."""

FEW: Final = 6
"""How many of the room's last messages a question that refers shows if none is likely."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The messages that a turn shows.

    include   messages from other lanes, shown first
    takes     messages from its own lane: what was said before, then the questions with their parts
              and what their author added, in the order said
    pictured  those of these messages that have images, except for the questions
    whole     whether the view shows the room's last messages, because one conversation fills it
    dates     the lines of the days that begin within these messages
    recent    whether it includes the room's last messages instead of a conversation's
    doubted   those of `include` that are shown in case the conversation was not recognized
    """

    include: tuple[int, ...] = ()
    takes: tuple[int, ...] = ()
    pictured: tuple[int, ...] = ()
    whole: bool = False
    dates: tuple[str, ...] = ()
    recent: bool = False
    doubted: tuple[int, ...] = ()

    def start(self, turn: str) -> TurnStart:
        more = (self.whole, self.dates, self.recent, self.doubted)
        return TurnStart(turn, self.takes, self.include, *more)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Messages outside a question's lane that may be included.

    whole      whether to include the room's last messages, because one conversation fills it
    refers     whether the question begins a conversation but does not stand alone, so that the
               room's last messages are included if none is likely
    likely     entries of other lanes that seem to belong to the question
    doubted    entries that are shown in case the conversation was not recognized
    recent     whether `likely` are the room's last messages, instead of a conversation's
    left_out   entries, and keys of answers, that are clearly of others, though one fills the room
    evidence   old entries with the question's rarest words
    opened_on  the entry on which the question's thread was opened
    thread     the question's thread; messages from other threads are excluded
    apart      whether the lane is apart, so that nothing else of the room may be included
    opened     the entries that the topic of such a lane was opened on
    """

    whole: bool = False
    refers: bool = True
    likely: tuple[int, ...] = ()
    doubted: tuple[int, ...] = ()
    recent: bool = False
    left_out: frozenset[int | str] = frozenset()
    evidence: tuple[int, ...] = ()
    opened_on: int = 0
    thread: str | None = None
    apart: bool = False
    opened: tuple[int, ...] = ()


NOTHING_NEAR: Final = Nearby()


async def select_messages(
    tape: Tape,
    lane: str | None,
    asked: Sequence[int],
    waiting: Collection[int],
    budget: int,
    near: Nearby = NOTHING_NEAR,
) -> Selection:
    """Return the messages that a new turn takes within `budget` tokens.

    The questions and their parts are always taken, last and in the order said, together with what
    their author has added since.

    `waiting` are the entries that wait for turns of their own. What asks the agent after the
    questions gets a turn of its own, too, also if it came too late to be among them.
    """
    anchor, _outdated = await beginning(tape, lane)
    after = await _begin(tape, anchor) if anchor else 0
    recent = await _recent(tape, lane, after)
    taken = set(selected_ids(recent))
    gone = await deleted(tape, after)
    unseen = set(waiting) | set(asked)
    settled = taken | gone | unseen | _edited_to_ask(recent)
    settled |= {entry.id for entry in recent if _asks_after(entry, asked)}
    rest = [entry for entry in recent if entry.id not in settled]
    fresh = [e for e in rest if _is_chatter(e) or _must_show(e, recent, unseen, lane)]
    questions = await _known(tape, asked, recent)
    parts = {entry.id for entry in fresh if entry.meta.get(PART_OF) in asked}
    fitting = parts | {entry.id for entry in _newest_within(fresh, budget)}
    kept = [entry for entry in fresh if entry.id in fitting]
    include: list[Entry] = []
    if lane is not None:
        young = sum(entry.kind == MESSAGE for entry in recent) < HANDFUL
        few = young and near.refers and not (near.likely or near.doubted)
        room = await _elsewhere(tape, lane, near, after, max(asked) + 1, few=few, first=not taken)
        room = [entry for entry in room if entry.id not in settled]
        include = _newest_within(room, budget - _cost(kept))
    seen = {*taken, *gone, *asked, *(entry.id for entry in (*include, *kept))}
    kept = [entry for entry in kept if entry.meta.get(COPY_OF) not in seen]
    added = [entry for entry in kept if entry.id in parts or _adds_to(entry, questions)]
    before = [entry for entry in kept if entry not in added]
    edited = {one.payload["data"]["entry"] for one in recent if is_edit(one) and _is_pictured(one)}
    pictured = tuple(e.id for e in (*include, *kept) if _is_pictured(e) or e.id in edited)
    takes = (*(e.id for e in before), *sorted({*asked, *(e.id for e in added)}))
    said = sorted((*questions, *added), key=lambda entry: entry.id)
    dates = _dates([*include, *before, *said], recent, anchor)
    ids = tuple(entry.id for entry in include)
    doubted = tuple(number for number in ids if number in near.doubted)
    return Selection(ids, takes, pictured, near.whole, dates, near.recent, doubted)


async def _recent(tape: Tape, lane: str | None, after: int) -> list[Entry]:
    """Return the newest messages, edits and takes of a lane; thumbs and titles push none out."""
    messages = await tape.find(
        after=after, lane=lane, kinds=(MESSAGE,), limit=MAX_LOOKBACK, newest=True
    )
    if len(messages) == MAX_LOOKBACK:
        after = messages[0].id
    names = (*TAKES, MESSAGE_EDIT)
    events = await tape.find(
        after=after, lane=lane, kinds=(EVENT,), names=names, limit=MAX_LOOKBACK, newest=True
    )
    own = (entry for entry in (*messages, *events) if shown_in(entry, lane))
    return sorted(own, key=lambda entry: entry.id)[-MAX_LOOKBACK:]


async def _known(tape: Tape, asked: Sequence[int], recent: Sequence[Entry]) -> list[Entry]:
    """Return the questions' entries, which may be older than what is looked back over."""
    known = {entry.id: entry for entry in recent}
    if not all(number in known for number in asked):
        known.update(await tape.entries(list(asked)))
    return [known[number] for number in asked if number in known]


def _adds_to(entry: Entry, questions: Sequence[Entry]) -> bool:
    """Return whether the author of the questions has said something after the first of them."""
    authors = {_author(question) for question in questions} - {None}
    return _author(entry) in authors and entry.id > min(question.id for question in questions)


def _author(entry: Entry) -> tuple[str, str] | None:
    meta = entry.meta
    return (str(meta.get("channel")), str(meta["author"])) if "author" in meta else None


def _dates(
    shown: Sequence[Entry], recent: Sequence[Entry], anchor: Entry | None
) -> tuple[str, ...]:
    """Return the lines of the days that begin within a turn's messages."""
    # What stands before the anchor is no longer shown.
    start = anchor.id if anchor else 0
    earlier = [read_take(e).dates for e in recent if e.id > start and is_take(e)]
    last = next((dates[-1] for dates in reversed(earlier) if dates), "")
    return further_days(shown, last)


async def reselect_messages(tape: Tape, turn: str, asked: Sequence[int], budget: int) -> TurnRetake:
    """Return the event that takes a turn's messages again after its anchor, in view order.

    The questions are always taken, then as many as fit into `budget` tokens: the turn's newest
    calls with their results, then its other messages. After `context:overflow`, earlier messages
    fill half the budget, so that the conversation does not overflow again at once.
    """
    own = await tape.find(turn=turn)
    earlier = [number for number in selected_ids(own) if number not in asked]
    found = await tape.entries([*dict.fromkeys(earlier), *asked])
    messages = {n: entry for n, entry in found.items() if entry.kind == MESSAGE or is_edit(entry)}
    steps = [entry for entry in own if entry.kind in (MESSAGE, TOOL_CALL, TOOL_RESULT)]
    left = budget - _cost(messages[number] for number in asked if number in messages)
    pairs = _newest_within(_pairs(steps), left, together=True)
    left -= _cost(pairs)
    others = [messages[number] for number in dict.fromkeys(earlier) if number in messages]
    kept = _newest_within(others, left)
    left -= _cost(kept) + budget - int(budget * REFILL_SHARE)
    lane = next((entry.meta["lane"] for entry in own if "lane" in entry.meta), None)
    old = await _shown_before(tape, turn, own, lane)
    # Where the view is of the room, the newest messages are the better choice.
    takes = [read_take(entry) for entry in own if is_take(entry)]
    if old and lane and not any(take.whole_room or take.recent for take in takes):
        question = " ".join(messages[number].text for number in asked if number in messages)
        past = TapeSnapshot(tape, own[0].id - 1)
        old = await _related_to(question, old, past, lane, left) or old
    old = _newest_within(old, left)
    added = _taken_after(own, asked)
    before = [*old, *(entry for entry in kept if entry.id not in added)]
    last = sorted({*asked, *(entry.id for entry in kept if entry.id in added)})
    questions = [messages[number] for number in last if number in messages]
    ids = [entry.id for entry in before] + last + [entry.id for entry in pairs]
    return TurnRetake(turn, tuple(ids), dates=further_days([*before, *questions]))


def _taken_after(own: Iterable[Entry], asked: Sequence[int]) -> set[int]:
    """Return what a turn has taken after the first of its questions."""
    found: set[int] = set()
    for take in map(read_take, filter(is_take, own)):
        takes = take.takes
        first = next((place for place, number in enumerate(takes) if number in asked), len(takes))
        found.update(takes if take.steered else takes[first:])
    return found


async def _shown_before(tape: Tape, turn: str, own: list[Entry], lane: str | None) -> list[Entry]:
    """Return the messages that a turn's view showed before its anchor, except the turn's own."""
    anchors = [entry for entry in own if entry.kind == ANCHOR]
    if not anchors or anchors[-1].name != OVERFLOW_NOTICED:
        return []  # Providers do not say by how much a prompt was too long.
    shown = await view_entries(TapeSnapshot(tape, anchors[-1].id - 1), LATEST, lane, turn)
    mine = {*selected_ids(own), *(entry.id for entry in own)}
    others = (entry for entry in shown if entry.kind == MESSAGE and entry.id not in mine)
    return [entry for entry in others if "edit_of" not in entry.meta or is_inbox_message(entry)]


async def _related_to(
    question: str, shown: Sequence[Entry], past: Tape, lane: str | None, budget: int
) -> list[Entry]:
    """Return those of the shown messages that help most with a question."""
    constructor = ContextConstructor()
    try:
        explored = await constructor.explore(question, past, lane)
    except TapeError:
        return []
    known = {entry.id: entry for entry in shown if entry.id in explored.entries}
    choices = await constructor.select(question, candidates_of(explored, known), budget)
    chosen = sorted(number for one in choices if one.chosen for number in one.candidate.ids)
    return [known[number] for number in chosen]


def selected_ids(entries: Iterable[Entry]) -> list[int]:
    """Return the ids listed by those of the entries that are takes, in order."""
    return [number for entry in entries if is_take(entry) for number in read_take(entry).shown]


def _is_pictured(entry: Entry) -> bool:
    if is_edit(entry) and MEDIA_FROM not in entry.payload["data"]:
        return False
    media = (*entry.meta.get("media", ()), *(one for _whose, one in foreign_media(entry)))
    return any(one.get("kind") == "image" for one in media)


async def _begin(tape: Tape, anchor: Entry) -> int:
    # Messages that arrived during the anchor's turn come before the anchor, though no turn has
    # shown them: what no turn has taken is looked for from where that turn began.
    turn = anchor.meta.get("turn")
    own = await tape.find(turn=turn, limit=1) if isinstance(turn, str) else []
    return min([anchor.id, *(entry.id for entry in own)])


async def _elsewhere(
    tape: Tape, lane: str, near: Nearby, after: int, until: int, *, few: bool, first: bool
) -> list[Entry]:
    """Return what others said until then: the last if a lane fills the room, the likely, a few."""
    if near.apart:
        opened = [number for number in near.opened if number > after] if first else []
        return sorted((await tape.entries(opened)).values(), key=lambda entry: entry.id)
    likely = (number for number in (*near.likely, *near.doubted) if number > after)
    wanted = [*near.evidence, *likely]
    if first and near.opened_on:
        wanted.append(near.opened_on)
    found = dict(await tape.entries(list(dict.fromkeys(wanted))))
    if few or near.whole:
        most = ROOM_MESSAGES if near.whole else FEW * 2
        room = await tape.find(after=after, before=until, kinds=(MESSAGE,), limit=most, newest=True)
        last = [e for e in room if _is_said(e) and e.meta.get("lane") != lane]
        found.update((entry.id, entry) for entry in last[0 if near.whole else -FEW :])
    said = [entry for _number, entry in sorted(found.items()) if _is_said(entry)]
    again = _edited_to_ask(said)
    others = [e for e in said if e.id not in again and e.meta.get("lane") != lane]
    return [entry for entry in others if _may_leave(entry, near)]


def _may_leave(entry: Entry, near: Nearby) -> bool:
    """Return whether a message may be shown: it is not left out, nor of another thread."""
    lane, out = str(entry.meta.get("lane")), near.left_out & {entry.id, answer_of(entry)}
    lane_thread = lane.removeprefix(THREAD) if lane.startswith(THREAD) else None
    return not out and {entry.meta.get("thread"), lane_thread} <= {None, near.thread}


def _is_said(entry: Entry) -> bool:
    said = "inbox" in entry.meta or entry.payload.get("role") == "user" or entry.meta.get("final")
    return bool(said) and not any(mark in entry.meta for mark in ("command", HINT, "prompt_of"))


def _edited_to_ask(entries: Iterable[Entry]) -> set[int]:
    """Return the messages of which an edit asks: its own entry has their text."""
    found: set[int] = set()
    for entry in entries:
        if is_edit(entry) and ASKED_IN in entry.payload["data"]:
            found.add(entry.payload["data"]["entry"])
        elif is_inbox_message(entry) and "edit_of" in entry.meta:
            found.add(entry.meta["edit_of"])
    return found


def _asks_after(entry: Entry, asked: Sequence[int]) -> bool:
    """Return whether an entry is a message that asks the agent, and came after the questions."""
    return bool(asked) and entry.id > max(asked) and bool(entry.meta.get("addressed"))


def _is_chatter(entry: Entry) -> bool:
    return is_inbox_message(entry) and "command" not in entry.meta


def _must_show(
    entry: Entry, recent: Sequence[Entry], unseen: Collection[int], lane: str | None
) -> bool:
    """Return whether an edit must be shown because an earlier turn showed the old text.

    One that asks in the same lane is a message there, which shows the new text.
    """
    if not is_edit(entry):
        return False
    data = entry.payload["data"]
    edited = data["entry"]
    if edited in unseen or (ASKED_IN in data and data[ASKED_IN] == lane):
        return False
    takes = [take.id for take in recent if is_take(take) and edited in selected_ids([take])]
    # If no take lists the message, it was taken long ago or not yet.
    return max(takes) < entry.id if takes else all(other.id != edited for other in recent)


def _pairs(steps: Sequence[Entry]) -> list[Entry]:
    kinds = (TOOL_CALL, TOOL_RESULT)
    pairs = (pair for pair in pairwise(steps) if (pair[0].kind, pair[1].kind) == kinds)
    return [entry for pair in pairs for entry in pair]


def _newest_within(entries: Sequence[Entry], budget: int, *, together: bool = False) -> list[Entry]:
    """Return the newest entries within a token budget; `together` never splits a pair."""
    size = 2 if together else 1
    groups = [entries[start : start + size] for start in range(0, len(entries), size)]
    kept: list[Entry] = []
    for group in reversed(groups):
        cost = _cost(group)
        if cost > budget:
            break
        budget -= cost
        kept[:0] = group
    return kept


def _cost(entries: Iterable[Entry]) -> int:
    return estimate(to_messages(edit_as_message(e) if is_edit(e) else e for e in entries))
