"""How many and how much, in words."""

from __future__ import annotations

import pytest

from gateway.wording import counted, megabytes


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 entries"), (1, "1 entry"), (1.0, "1 entry"), (2, "2 entries"), (0.5, "0.5 entries")],
)
def test_only_one_is_in_the_singular(number: float, words: str) -> None:
    assert counted(number, "entry", "entries") == words
    assert counted(1, "tape") + counted(2, "tape") == "1 tape2 tapes"


def test_what_is_less_than_a_megabyte_is_not_none() -> None:
    assert [megabytes(size) for size in (0, 999_999, 1_000_000, 2_900_000)] == [
        *("under 1 MB", "under 1 MB", "1 MB", "2 MB")
    ]
