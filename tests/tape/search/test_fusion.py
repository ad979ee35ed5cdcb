"""One order from two kinds of scores."""

from __future__ import annotations

from tape.search.bm25 import fused, stretched


def test_scores_are_stretched_from_the_worst_to_the_best() -> None:
    assert stretched({1: 2.0, 2: 4.0, 3: 3.0}) == {1: 0.0, 2: 1.0, 3: 0.5}
    assert stretched({1: 7.0}) == {1: 1.0}
    assert stretched({}) == {}


def test_each_kind_counts_half_and_of_equals_the_newest_comes_first() -> None:
    assert fused({1: 10.0, 2: 5.0, 3: 0.0}, {2: 0.9, 3: 0.1, 4: 0.8}) == [2, 1, 4, 3]
    assert fused({1: 1.0, 2: 1.0}, {}) == [2, 1]
    assert fused({}, {5: 0.2}) == [5]
