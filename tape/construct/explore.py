"""Find the entries that may matter for a task, in several ways.

Each way reads a bounded number of entries: the newest of the lane and of the room, the newest
anchors, hits for a few words, and the neighbours of the best hits. If a lane is given, nothing from
other lanes is found. If the task's words name one, only its recent messages count, not the room's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import log
from typing import Any, Final

from tape.construct.candidate import Readable
from tape.construct.keywords import words_of_task
from tape.deletions import source_message
from tape.entry import ANCHOR, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry
from tape.query import Query
from tape.search.entry_terms import words
from tape.search.query_text import SearchQuery

SHOWN: Final = frozenset({MESSAGE, ANCHOR, TOOL_CALL, TOOL_RESULT})
SPOKEN: Final = (MESSAGE, ANCHOR)
ASIDE: Final = frozenset({"command", "hint"})
"""Keys in `meta` that mark messages outside a conversation: commands and system hints."""

MAX_NEWEST_ENTRIES: Final = 200  # maximum newest entries to read from the lane, and from the room
MAX_ANCHORS: Final = 60  # maximum newest anchors to search for words from the task
MAX_HITS: Final = 30  # maximum newest hits to read for each word
MAX_PAIRS: Final = 6
NEIGHBOURED_HITS: Final = 10  # number of best hits whose neighbours are added
NAMING_SHARE: Final = 0.8
"""The share of the hits, by weight, that a lane must have so that the words name it."""

MIN_NAMING_HITS: Final = 3
MAX_DISTANCE: Final = 6  # maximum number of entries between a hit and a neighbour


@dataclass(slots=True)
class Explored:
    """The ids that were found, and how.

    asof    the newest id that was read
    lane    the task's lane: the given one, or the one that its words name
    within  whether the lane was given, so that other lanes are left out
    latest  the anchor at which a view would begin
    ranked  maps each way of searching to the ids it found, the best first
    rarity  maps each word that was searched to the weight of a hit
    """

    asof: int
    lane: str | None = None
    within: bool = False
    latest: int | None = None
    ranked: dict[str, list[int]] = field(default_factory=dict)
    entries: dict[int, Entry] = field(default_factory=dict)
    rarity: dict[str, float] = field(default_factory=dict)
    searches: int = 0

    def add(self, way: str, entries: Iterable[Entry]) -> None:
        """Add the entries that one way found, best first; an entry counts once per way."""
        ranked = self.ranked.setdefault(way, [])
        for entry in entries:
            if self.holds(entry):
                number = subject_of(entry)
                if entry.id == number:
                    self.entries[number] = entry
                if number not in ranked:
                    ranked.append(number)

    def holds(self, entry: Entry) -> bool:
        """Return whether an entry may be shown; one without a lane is in every lane."""
        near = not self.within or entry.meta.get("lane") in (None, self.lane)
        return near and entry.id <= self.asof and _may_be_shown(entry)


async def explore(tape: Readable, task: str, lane: str | None) -> Explored:
    found = Explored(await tape.size(), lane, within=lane is not None)
    before = found.asof + 1
    room = await tape.find(before=before, limit=MAX_NEWEST_ENTRIES, newest=True)
    hits = await _by_words(tape, task, found)
    found.lane = lane or _named_lane(task, hits, room, found.rarity)
    latest = await tape.last_anchor(lane=found.lane, before=before)
    if latest is not None:
        found.latest = latest.id
        found.add("anchor", [latest])
    if found.lane is not None:
        own = {"lane": found.lane, "before": before, "limit": MAX_NEWEST_ENTRIES, "newest": True}
        found.add("lane", reversed(await tape.find(**own)))
    if found.within or found.lane is None:
        found.add("room", reversed(room))
    found.add("anchor", await _spoken_of(tape, found))
    if tape.semantic is not None:
        nearest = Query(tape.name, before=before, kinds=SPOKEN, limit=MAX_HITS, lane=lane)
        found.add("meaning", [entry for entry, _score in await tape.near(nearest, task)])
    await _add_neighbours(tape, found)
    await _complete(tape, found)
    return found


async def _by_words(tape: Readable, task: str, found: Explored) -> list[Entry]:
    """Search for each word, then for pairs of words too frequent alone; return the hits."""
    hits: dict[int, Entry] = {}
    frequent: list[str] = []
    for word in words_of_task(task):
        newest = await _search(tape, word, found)
        hits.update((entry.id, entry) for entry in newest)
        found.rarity[word] = _rarity(newest, found.asof)
        if len(newest) >= MAX_HITS:
            frequent.append(word)
    frequent.sort(key=lambda word: -found.rarity[word])
    for first, second in islice(combinations(frequent, 2), MAX_PAIRS):
        hits.update((e.id, e) for e in await _search(tape, f"{first} {second}", found))
    worth = {number: _worth(entry, found.rarity) for number, entry in hits.items()}
    best = sorted(hits.values(), key=lambda entry: (-worth[entry.id], -entry.id))
    found.add("words", best)
    return best


def _named_lane(
    task: str, hits: Sequence[Entry], room: Sequence[Entry], rarity: Mapping[str, float]
) -> str | None:
    """Return the lane whose name is in the task, or that has nearly all of the words' hits."""
    said = set(words_of_task(task))
    lanes = {lane for entry in (*room, *hits) if isinstance(lane := entry.meta.get("lane"), str)}
    called = [lane for lane in lanes if said.issuperset(words_of_task(lane) or [lane])]
    if len(called) == 1:
        return called[0]
    worth: Counter[str | None] = Counter()
    for hit in hits:
        lane = hit.meta.get("lane")
        worth[lane if isinstance(lane, str) else None] += round(1000 * _worth(hit, rarity))
    best = max(worth, key=worth.__getitem__, default=None)
    few = sum(hit.meta.get("lane") == best for hit in hits) < MIN_NAMING_HITS
    return None if few or worth[best] < NAMING_SHARE * worth.total() else best


async def _search(tape: Readable, text: str, found: Explored) -> list[Entry]:
    found.searches += 1
    lane = found.lane if found.within else None
    return await tape.search(text, limit=MAX_HITS, before=found.asof + 1, lane=lane)


def _rarity(hits: Sequence[Entry], asof: int) -> float:
    """Return the weight of a word's hits; for a frequent word, the newest hits give an estimate."""
    count = float(len(hits))
    if len(hits) >= MAX_HITS:
        count *= asof / max(1, asof - hits[-1].id + 1)
    return log(1 + asof / max(1.0, count))


def _worth(entry: Entry, rarity: Mapping[str, float]) -> float:
    says = words(entry)
    return sum(
        value for word, value in rarity.items() if SearchQuery.read(word).matches_words(says)
    )


async def _spoken_of(tape: Readable, found: Explored) -> list[Entry]:
    anchors = await tape.find(
        kinds=(ANCHOR,), before=found.asof + 1, limit=MAX_ANCHORS, newest=True
    )
    worth = {anchor.id: _worth(anchor, found.rarity) for anchor in anchors}
    spoken = [anchor for anchor in anchors if worth[anchor.id]]
    return sorted(spoken, key=lambda anchor: (-worth[anchor.id], -anchor.id))


async def _add_neighbours(tape: Readable, found: Explored) -> None:
    """Add the messages before and after the best hits, preferably those of the same lane."""
    hits = [
        *found.ranked.get("meaning", [])[:NEIGHBOURED_HITS],
        *found.ranked["words"][:NEIGHBOURED_HITS],
    ]
    around = {hit + step for hit in hits for step in range(-MAX_DISTANCE, MAX_DISTANCE + 1)}
    near = await tape.entries(sorted(number for number in around if number > 0))
    for hit in hits:
        lane = near[hit].meta.get("lane") if hit in near else None
        for direction in (-1, 1):
            window = [near.get(hit + direction * step) for step in range(1, MAX_DISTANCE + 1)]
            messages = [e for e in window if e is not None and e.kind == MESSAGE]
            own = [entry for entry in messages if entry.meta.get("lane") == lane]
            found.add("beside", (own or messages)[:1])


async def _complete(tape: Readable, found: Explored) -> None:
    missing = {n for ranked in found.ranked.values() for n in ranked} - found.entries.keys()
    for number, entry in (await tape.entries(sorted(missing))).items():
        if found.holds(entry):
            found.entries[number] = entry


def subject_of(entry: Entry) -> int:
    """Return the id that represents an entry: for a prompt, the id of its message."""
    number = source_message(entry)
    return entry.id if number is None else number


def _may_be_shown(entry: Entry) -> bool:
    return entry.kind in SHOWN and ASIDE.isdisjoint(entry.meta) and is_sound(entry)


def is_sound(entry: Entry) -> bool:
    """Return whether an entry is a valid message; imported entries may have any content."""
    payload: Mapping[str, Any] = entry.payload
    if entry.kind == MESSAGE:
        plain = payload.get("role") in ("system", "user", "assistant")
        return plain and "content" in payload and "tool_calls" not in payload
    if entry.kind == TOOL_CALL:
        return bool(call_ids(entry))
    if entry.kind == TOOL_RESULT:
        return isinstance(payload.get("results"), list)
    return True


def call_ids(entry: Entry) -> list[str]:
    """Return the ids of an entry's calls, or an empty list if an id is missing or repeated."""
    calls = entry.payload.get("calls")
    if not isinstance(calls, list):
        return []
    found = {call.get("id"): None for call in calls if isinstance(call, Mapping)}
    ids = [number for number in found if isinstance(number, str) and number]
    return ids if len(ids) == len(calls) else []
