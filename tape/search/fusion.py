"""Fuse two kinds of scores that can't be compared into one order.

Each kind is scaled to 0..1 over its own candidates, and both count half. An entry that one kind
doesn't know gets 0 there.
"""

from __future__ import annotations

from collections.abc import Mapping


def stretched(scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores scaled from 0 (the worst) to 1 (the best); all 1 if they are equal."""
    if not scores:
        return {}
    worst, best = min(scores.values()), max(scores.values())
    if best == worst:
        return dict.fromkeys(scores, 1.0)
    return {entry: (score - worst) / (best - worst) for entry, score in scores.items()}


def fused(words: Mapping[int, float], meaning: Mapping[int, float]) -> list[int]:
    """Return the ids of both, the best first; the newest first among equals."""
    by_words, by_meaning = stretched(words), stretched(meaning)
    total = {
        entry: 0.5 * by_words.get(entry, 0.0) + 0.5 * by_meaning.get(entry, 0.0)
        for entry in by_words.keys() | by_meaning.keys()
    }
    return sorted(total, key=lambda entry: (-total[entry], -entry))
