"""Rank the newest hits by BM25, and combine the scores with those for meaning.

Every hit has every phrase, so rarity matters less than frequency and length. Rarity is computed
from the hits alone, so that every store ranks alike and a frequent word does not make a search read
the whole tape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Final

import anyio.lowlevel

from tape.entry import Entry
from tape.search.query_text import SearchQuery

_CHARACTERS_PER_CHECKPOINT: Final = 8000
"""Characters to rank, in about a millisecond, before the event loop may run other tasks."""

_ENTRY_COST: Final = 500
"""Characters added to the length of each entry, for the cost of ranking the entry."""

_K1: Final = 1.2
_B: Final = 0.75


async def best_first(hits: Sequence[Entry], wanted: SearchQuery) -> list[Entry]:
    """Return hits, the best first; among equals, the newest first."""
    ranked = zip(await scores(hits, wanted), hits, strict=True)
    return [entry for _, entry in sorted(ranked, key=lambda one: (-one[0], -one[1].id))]


async def scores(hits: Sequence[Entry], wanted: SearchQuery) -> list[float]:
    """Return the score of each hit; higher is better."""
    needles = [_row(phrase) for phrase in wanted.phrases]
    lengths: list[int] = []
    counts: list[list[int]] = []
    read = _CHARACTERS_PER_CHECKPOINT
    for entry in hits:
        if read >= _CHARACTERS_PER_CHECKPOINT:
            await anyio.lowlevel.checkpoint()
            read = 0
        found = wanted.words_of(entry)
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
    # Two spaces: with one, str.count would miss every second of two equal neighbours.
    return f" {'  '.join(found)} "


def stretched(scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores scaled from 0 (the worst) to 1 (the best), or all 1 if they are equal."""
    if not scores:
        return {}
    worst, best = min(scores.values()), max(scores.values())
    if best == worst:
        return dict.fromkeys(scores, 1.0)
    return {entry: (score - worst) / (best - worst) for entry, score in scores.items()}


def fused(words: Mapping[int, float], meaning: Mapping[int, float]) -> list[int]:
    """Return the ids from both searches, the best first; among equals, the newest first.

    The two kinds of scores can't be compared, so each is scaled over its own candidates and counts
    half. An entry without a score of one kind gets 0 for that kind.
    """
    by_words, by_meaning = stretched(words), stretched(meaning)
    total = {
        entry: 0.5 * by_words.get(entry, 0.0) + 0.5 * by_meaning.get(entry, 0.0)
        for entry in by_words.keys() | by_meaning.keys()
    }
    return sorted(total, key=lambda entry: (-total[entry], -entry))
