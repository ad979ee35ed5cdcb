"""Trees are summed as they are written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.linking.boosted_trees import TREES_AT_ONCE, UNLIKELY, Trees, chance

WIDTH = 3
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
TREES = st.recursive(
    NUMBERS,
    lambda tree: st.tuples(st.integers(0, WIDTH - 1), NUMBERS, tree, tree).map(list),
    max_leaves=12,
)


def walk(tree: Any, row: list[float]) -> float:
    while isinstance(tree, list):
        tree = tree[2] if row[tree[0]] <= tree[1] else tree[3]
    return float(tree)


@given(
    st.lists(TREES, max_size=2 * TREES_AT_ONCE), st.lists(NUMBERS, min_size=WIDTH, max_size=WIDTH)
)
def test_a_score_is_the_sum_of_the_leaves_that_a_row_reaches(
    trees: list[Any], row: list[float]
) -> None:
    expected = sum(walk(tree, row) for tree in trees)
    assert Trees(WIDTH, trees).score(row) == pytest.approx(expected, abs=1e-3)


def test_what_the_first_trees_find_hopeless_is_not_finished() -> None:
    first = [0, 0.5, -3.0, 3.0]
    trees = Trees(1, [first] + [0.0] * (TREES_AT_ONCE - 1) + [[0, 0.5, 5.0, 1.0]])
    assert trees.scores([[0.0], [1.0]], margin=4.0) == [UNLIKELY, 4.0]
    assert trees.scores([[0.0], [1.0]], margin=9.0) == [2.0, 4.0]


def test_an_estimate_is_the_sum_or_what_it_was_when_a_row_fell_behind() -> None:
    one_function = [0.0] * (TREES_AT_ONCE - 1)
    first, second = [0, 0.5, -3.0, 3.0], [0, 0.5, -1.0, 1.0]
    last = [0, 0.5, 50.0, 1.0]
    trees = Trees(1, [first, *one_function, second, *one_function, last])
    assert trees.estimates([[0.0], [1.0]], margin=9.0) == [46.0, 5.0]
    assert trees.estimates([[0.0], [1.0]], margin=7.0) == [-4.0, 5.0]
    assert trees.estimates([[0.0], [1.0]], margin=5.0) == [-3.0, 5.0]
    assert trees.estimates([], margin=5.0) == Trees(1, []).estimates([], 5.0) == []


def test_a_row_may_have_more_numbers_than_the_trees_know_and_not_fewer() -> None:
    trees = Trees(1, [[0, 1.5, 0.25, 0.5]])
    assert trees.score((1.0, 7.0)) == 0.25
    assert trees.scores([(2.0, 7.0)], 4.0) == [0.5]
    with pytest.raises(ValueError, match="unpack"):
        trees.score(())


def test_no_trees_say_nothing() -> None:
    assert Trees(1, []).scores([[1.0]], 4.0) == Trees(1, []).estimates([[1.0]], 4.0) == [0.0]
    assert chance(0.0) == 0.5


@pytest.mark.parametrize(
    "tree",
    [[3, 0.5, 1.0, 2.0], [-1, 0.5, 1.0, 2.0], ["0", 0.5, 1.0, 2.0], [0, 0.5, 1.0], "f", None],
)
def test_what_is_no_tree_is_refused(tree: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Trees(WIDTH, [tree])


@pytest.mark.parametrize("number", ["__import__('os')", "1.0"])
def test_a_text_is_no_number(number: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        Trees(WIDTH, [[0, number, 1.0, [number]]])
