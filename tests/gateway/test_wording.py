"""How many and how much, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.wording import amount, as_called, counted, megabytes
from tests.kit.amounts import AMOUNTS


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 entries"), (1, "1 entry"), (1.0, "1 entry"), (2, "2 entries"), (0.5, "0.5 entries")],
)
def test_only_one_is_in_the_singular(number: float, words: str) -> None:
    assert counted(number, "entry", "entries") == words
    assert counted(1, "tape") + counted(2, "tape") == "1 tape2 tapes"


@pytest.mark.parametrize(("value", "text"), AMOUNTS)
def test_a_small_amount_has_the_digits_that_it_needs(value: float, text: str) -> None:
    assert amount(value) == text


def test_what_is_less_than_a_megabyte_is_not_none() -> None:
    assert [megabytes(size) for size in (0, 999_999, 1_000_000, 2_900_000)] == [
        *("under 1 MB", "under 1 MB", "1 MB", "2 MB")
    ]


def test_a_command_is_named_as_it_was_called_unless_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = tmp_path / "own" / "tapeway", tmp_path / "other" / "tapeway"
    for path in (own, other):
        path.parent.mkdir()
        path.touch(0o700)
    monkeypatch.setattr("sys.argv", [str(own), "health"])
    monkeypatch.setenv("PATH", str(other.parent))
    assert as_called("Run `tapeway init`.") == f"Run `{own} init`."
    monkeypatch.setenv("PATH", str(own.parent))
    assert as_called("Run `tapeway init`.") == "Run `tapeway init`."
