"""Rank: the best of the newest hits, by BM25 over those hits alone.

Every hit has every phrase, so how rare a phrase is matters less than how often and in how short a
text it stands; rarity is taken from the hits themselves. So every store ranks alike, and no
frequent word makes a search read the whole tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final

from tape.entry import Entry
from tape.search.wanted import Wanted
from tape.search.words import Words, words

RANKED: Final = 300
"""How many of the newest hits are ranked."""

_K1: Final = 1.2
_B: Final = 0.75


def scores(hits: Sequence[Entry], wanted: Wanted) -> list[float]:
    """Return how well each hit answers, higher is better."""
    found = [words(entry) for entry in hits]
    lengths = [len(one.text) + 1 for one in found]
    total = sum(lengths)
    counts = [[_count(one, phrase) for phrase in wanted.phrases] for one in found]
    weights = [log(1 + total / (1 + sum(column))) for column in zip(*counts, strict=True)]
    mean = total / max(len(found), 1)
    return [
        sum(
            weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / mean))
            for weight, count in zip(weights, row, strict=True)
        )
        for row, length in zip(counts, lengths, strict=True)
    ]


def _count(found: Words, phrase: tuple[str, ...]) -> int:
    size = len(phrase)
    return sum(
        tuple(row[place : place + size]) == phrase
        for row in (found.text, found.who)
        for place in range(len(row) - size + 1)
        if row[place] == phrase[0]
    )


def best_first(hits: Sequence[Entry], wanted: Wanted) -> list[Entry]:
    """Return hits with the best first; of equals the newest."""
    ranked = zip(scores(hits, wanted), hits, strict=True)
    return [entry for _, entry in sorted(ranked, key=lambda one: (-one[0], -one[1].id))]
