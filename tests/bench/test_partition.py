"""The field's figures of lanes, against values worked out by hand."""

from __future__ import annotations

from itertools import permutations
from math import log
from random import Random

import pytest

from bench.linker.partition import Partition, best_pairing


def partition(*lines: str) -> Partition:
    """Return a partition of lines, each its lane and its conversation."""
    found = Partition()
    for line in lines:
        found.add("file", line[0], line[1])
    return found


def test_the_same_partition_has_full_marks() -> None:
    assert partition("ax", "ax", "by", "by", "cz").figures() == pytest.approx(
        {"1-VI": 100, "1-1": 100, "exact F1": 100}
    )


def test_two_conversations_in_one_lane() -> None:
    found = partition("ax", "ax", "ay", "ay").figures()
    # VI = H(conversation | lane) = log 2, of log 4 at most.
    assert found["1-VI"] == pytest.approx(100 * (1 - log(2) / log(4)))
    assert found["1-1"] == pytest.approx(50)
    assert found["exact F1"] == 0


def test_what_is_one_line_long_counts_for_no_exact_match() -> None:
    # Lanes of two lines or more: a, b; conversations: x, y, z. Only a is one of them.
    found = partition("ax", "ax", "by", "bz", "cz", "dy", "ew").figures()
    assert found["exact F1"] == pytest.approx(100 * 2 * 1 / (2 + 3))


def test_files_are_counted_together_and_their_names_are_their_own() -> None:
    one, other = Partition(), Partition()
    for _line in range(2):
        one.add("one", "lane", "conversation")
        other.add("other", "lane", "conversation")
    one.extend(other)
    assert one.figures() == pytest.approx({"1-VI": 100, "1-1": 100, "exact F1": 100})
    assert len(one.overlap) == 2


def test_partitions_that_say_nothing_of_each_other_vary_by_both_entropies() -> None:
    # Four lines: lanes ab|cd, conversations ac|bd. H(X|Y) = H(Y|X) = log 2.
    found = partition("ax", "ay", "bx", "by").figures()
    assert found["1-VI"] == pytest.approx(100 * (1 - 2 * log(2) / log(4)), abs=1e-9)
    assert found["1-1"] == pytest.approx(50)


def test_the_best_pairing_may_leave_the_largest_overlap() -> None:
    # a-x shares 5, but a-y with b-x shares 4 + 4.
    rows = ["ax"] * 5 + ["ay"] * 4 + ["bx"] * 4
    assert best_pairing(partition(*rows).overlap) == 8


@pytest.mark.parametrize("seed", range(40))
def test_no_pairing_shares_more(seed: int) -> None:
    rng = Random(seed)
    lanes, conversations = "abcde"[: rng.randint(1, 5)], "vwxyz"
    rows = [rng.choice(lanes) + rng.choice(conversations) for _ in range(rng.randint(1, 30))]
    overlap = partition(*rows).overlap
    pairings = permutations(conversations, len(lanes))
    best = max(
        sum(
            overlap[f"file {lane}", f"file {one}"] for lane, one in zip(lanes, pairing, strict=True)
        )
        for pairing in pairings
    )
    assert best_pairing(overlap) == best


def test_nothing_is_all_right() -> None:
    assert Partition().figures() == {"1-VI": 100.0, "1-1": 100.0, "exact F1": 100.0}
    assert partition("ax").figures() == {"1-VI": 100.0, "1-1": 100.0, "exact F1": 100.0}
