"""Rank: the best of the newest hits, by BM25 over those hits alone.

Every hit has every phrase, so how rare a phrase is matters less than how often and in how short a
text it stands; rarity is taken from the hits themselves. So every store ranks alike, and no
frequent word makes a search read the whole tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final

import anyio.lowlevel

from tape.entry import Entry
from tape.search.entry_terms import words
from tape.search.query_text import SearchQuery

MAX_RANKED: Final = 200
"""How many of the newest hits are ranked."""

MAX_RANKED_CHARACTERS: Final = 4000
"""So many characters of a hit are ranked: a longer one is no better for its end."""

_CHARACTERS_PER_CHECKPOINT: Final = 8000
"""After so many characters, about a millisecond, the event loop has its turn."""

_ENTRY_COST: Final = 500
"""An entry counts as so many characters beside its own."""

_K1: Final = 1.2
_B: Final = 0.75


async def best_first(hits: Sequence[Entry], wanted: SearchQuery) -> list[Entry]:
    """Return hits with the best first; of equals the newest."""
    ranked = zip(await scores(hits, wanted), hits, strict=True)
    return [entry for _, entry in sorted(ranked, key=lambda one: (-one[0], -one[1].id))]


async def scores(hits: Sequence[Entry], wanted: SearchQuery) -> list[float]:
    """Return how well each hit answers; higher is better."""
    needles = [_row(phrase) for phrase in wanted.phrases]
    lengths: list[int] = []
    counts: list[list[int]] = []
    read = _CHARACTERS_PER_CHECKPOINT
    for entry in hits:
        if read >= _CHARACTERS_PER_CHECKPOINT:
            await anyio.lowlevel.checkpoint()
            read = 0
        found = words(entry, MAX_RANKED_CHARACTERS)
        read += _ENTRY_COST + sum(map(len, found.text))
        lengths.append(len(found.text) + 1)
        row = f"{_row(found.text)}\n{_row(found.who)}"
        counts.append([row.count(needle) for needle in needles])
    return _bm25(counts, lengths)


def _bm25(counts: Sequence[Sequence[int]], lengths: Sequence[int]) -> list[float]:
    total = sum(lengths)
    weights = [log(1 + total / (1 + sum(column))) for column in zip(*counts, strict=True)]
    mean = total / max(len(lengths), 1)
    return [
        sum(
            weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / mean))
            for weight, count in zip(weights, row, strict=True)
        )
        for row, length in zip(counts, lengths, strict=True)
    ]


def _row(found: Sequence[str]) -> str:
    """Put terms in a row in which neighbours share nothing, so that each is counted."""
    return f" {'  '.join(found)} "
