"""The figures by which the field compares conversations, from how two partitions overlap.

They are those of Kummerfeld et al. (2019), "A Large-Scale Corpus for Conversation Disentanglement",
over all files at once:

1-VI   100 times 1 - VI / log n, VI the variation of information (Meila 2007) of n lines
1-1    one-to-one overlap: the share of the lines in the best pairing of each lane with one
       conversation at most (Elsner and Charniak 2008)
exact  F1 of the conversations of two lines or more that are a lane, line by line
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import log
from typing import TypeAlias

Overlap: TypeAlias = Counter[tuple[str, str]]


@dataclass(slots=True)
class Partition:
    """How many lines each lane shares with each conversation; both are named once for all files."""

    overlap: Overlap = field(default_factory=Counter)

    def add(self, file: str, lane: object, conversation: object) -> None:
        """Count a line."""
        self.overlap[f"{file} {lane}", f"{file} {conversation}"] += 1

    def extend(self, other: Partition) -> None:
        """Count the lines of other files."""
        self.overlap.update(other.overlap)

    def figures(self) -> dict[str, float]:
        """Return the figures, in percent; 100 each if there is nothing to get wrong."""
        lanes, conversations = _sums(self.overlap)
        lines = self.overlap.total()
        if not lines:
            return {"1-VI": 100.0, "1-1": 100.0, "exact F1": 100.0}
        return {
            "1-VI": 100 * scaled_information(self.overlap, lanes, conversations),
            "1-1": 100 * best_pairing(self.overlap) / lines,
            "exact F1": 100 * exact_matches(self.overlap, lanes, conversations),
        }


def scaled_information(
    overlap: Overlap, lanes: Mapping[str, int], conversations: Mapping[str, int]
) -> float:
    """Return 1 - VI / log n."""
    lines = overlap.total()
    if lines < 2:
        return 1.0
    varied = sum(
        shared * (2 * log(shared) - log(lanes[lane]) - log(conversations[conversation]))
        for (lane, conversation), shared in overlap.items()
    )
    return 1 + varied / lines / log(lines)


def exact_matches(
    overlap: Overlap, lanes: Mapping[str, int], conversations: Mapping[str, int]
) -> float:
    """Return the F1 of the conversations that are a lane; what has one line only is left out."""
    same = sum(
        shared > 1 and shared == lanes[lane] == conversations[conversation]
        for (lane, conversation), shared in overlap.items()
    )
    long = [sum(size > 1 for size in sums.values()) for sums in (lanes, conversations)]
    return 2 * same / sum(long) if sum(long) else 1.0


def best_pairing(overlap: Overlap) -> int:
    """Return the most lines that a pairing of lanes with conversations can share."""
    return sum(_best(part) for part in _parts(overlap))


def _sums(overlap: Overlap) -> tuple[Counter[str], Counter[str]]:
    lanes, conversations = Counter[str](), Counter[str]()
    for (lane, conversation), shared in overlap.items():
        lanes[lane] += shared
        conversations[conversation] += shared
    return lanes, conversations


def _parts(overlap: Overlap) -> Iterator[Overlap]:
    """Give the parts of the overlap that have neither a lane nor a conversation in common."""
    there: dict[str, list[tuple[str, str]]] = {}
    for pair in overlap:
        for name in (f"lane {pair[0]}", f"conversation {pair[1]}"):
            there.setdefault(name, []).append(pair)
    while there:
        waiting, part = [next(iter(there))], Counter[tuple[str, str]]()
        while waiting:
            for pair in there.pop(waiting.pop(), ()):
                part[pair] = overlap[pair]
                waiting += (f"lane {pair[0]}", f"conversation {pair[1]}")
        yield part


def _best(overlap: Overlap) -> int:
    """Return the weight of the best pairing: the most gainful exchanges, until none gains."""
    if len(overlap) == 1:
        return overlap.total()
    paired: dict[str, str] = {}  # the lane of each conversation
    total = 0
    while True:
        gain, chain = _exchange(overlap, paired)
        if gain <= 0:
            return total
        total += gain
        paired.update((conversation, lane) for lane, conversation in chain)


def _exchange(overlap: Overlap, paired: dict[str, str]) -> tuple[int, list[tuple[str, str]]]:
    """Return the pairs that gain most: a free lane takes a conversation, whose lane takes another,
    and so on, until the last one was free."""
    taken = set(paired.values())
    gains = {lane: 0 for lane, _conversation in overlap if lane not in taken}
    reached: dict[str, tuple[int, str]] = {}
    changed = True
    while changed:
        changed = False
        for (lane, conversation), shared in overlap.items():
            gain = gains.get(lane, -1) + shared
            old = paired.get(conversation)
            if lane not in gains or old == lane:
                continue
            if conversation not in reached or gain > reached[conversation][0]:
                reached[conversation] = gain, lane
                changed = True
                if old is not None:
                    gains[old] = gain - overlap[old, conversation]
    free = [(gain, end) for end, (gain, _lane) in reached.items() if end not in paired]
    if not free:
        return 0, []
    gain, end = max(free)
    chain: list[tuple[str, str]] = []
    while True:
        lane = reached[end][1]
        chain.append((lane, end))
        if lane not in taken:
            return gain, chain
        end = next(one for one, other in paired.items() if other == lane)
