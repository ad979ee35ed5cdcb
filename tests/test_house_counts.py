"""What is counted of the product only falls: lines, branches, rows as dicts, statements, hops."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.house_counts import (
    HOPS,
    complaints,
    count_file,
    counted,
    hops,
    lowered,
    read_bounds,
    write_bounds,
)

SCHEMAS = {"ledger": ("gateway/storage", frozenset({"inbox_row"}))}


def bounds_of(*, of_hops: bool) -> dict[str, int]:
    return {name: n for name, n in read_bounds().items() if name.startswith(HOPS) is of_hops}


def test_lines_branches_row_keys_and_statements_do_not_rise() -> None:
    assert "\n".join(complaints(counted(), bounds_of(of_hops=False))) == ""


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="calls are counted on Python 3.11")
def test_the_hops_of_a_question_do_not_rise() -> None:
    assert "\n".join(complaints(hops(), bounds_of(of_hops=True))) == ""


def test_what_rises_or_has_fallen_is_named_with_what_to_do() -> None:
    bounds = {"branches": 3, "lines tape": 1000, "lines agent": 1000, "hops calls": 1000}
    counts = {"branches": 4, "lines tape": 979, "lines agent": 980, "hops calls": 1010}
    fallen, risen = sorted(complaints(counts, bounds), reverse=True)
    assert risen.startswith("branches: 4, but at most 3. ")
    assert "say why in the commit's body" in risen
    assert fallen.startswith("lines tape: 979, which is less than 1000. ")
    assert "python -m tests.house_counts --lower" in fallen


@pytest.mark.parametrize(
    ("count", "bound"),
    [("branches", 2), ("lines tape", 2), ("hops calls", 1011), ("hops calls", 979)],
)
def test_small_counts_and_lines_are_exact_and_hops_have_one_percent_of_room(
    count: str, bound: int
) -> None:
    (sentence,) = complaints({count: bound}, {count: 1000 if count.startswith(HOPS) else 1})
    assert sentence.startswith(f"{count}: {bound}, ")


def test_a_new_room_and_one_that_is_gone_are_named() -> None:
    new, gone = complaints({"lines gateway/new": 7}, {"lines gateway/old": 7})
    assert new.startswith("lines gateway/new: 7, but at most 0. ")
    assert gone.startswith("lines gateway/old: 0, which is less than 7. ")


def test_lowering_raises_no_bound(tmp_path: Path) -> None:
    bounds = {"branches": 3, "row keys": 5, "lines gateway/old": 7}
    write_bounds(lowered({"branches": 4, "row keys": 2}, bounds), tmp_path / "bounds.txt")
    assert read_bounds(tmp_path / "bounds.txt") == {"branches": 3, "row keys": 2}


@pytest.mark.parametrize(("count", "bound"), [(981, 1000), (979, 979)])
def test_lowering_follows_hops_only_where_they_fall_by_more_than_they_vary(
    count: int, bound: int
) -> None:
    assert lowered({"hops calls": count}, {"hops calls": 1000}) == {"hops calls": bound}


@pytest.mark.parametrize(
    ("code", "counts"),
    [
        ("if self._services.shared is None:\n    pass", {"branches": 1}),
        ("held = own if claimer is not None else shared.held", {"branches": 1}),
        ("if services.shared and not services.shared.works:\n    pass", {"branches": 1}),
        ("while not self._services.shared:\n    pass", {"branches": 1}),
        ("alone = not isinstance(store, (SharedStore, Other))", {"branches": 1}),
        ("if store.one_transaction and found is None:\n    pass", {"branches": 1}),
        ("one_transaction = True", {}),
        ("if chat.shared:\n    pass", {}),
        ("text = row['text'] + self.row['key']", {"row keys": 2}),
        ("first = row[0]", {}),
        ("await store.select('ledger.inbox_row', {})", {"statements": 1}),
        ("await store.select(f'ledger.{name}', {})", {"statements": 1}),
        ("log.info('ledger.failed', text='ledger')", {}),
    ],
)
def test_what_counts(code: str, counts: dict[str, int]) -> None:
    found = count_file("gateway/turn/runner.py", code, SCHEMAS)
    assert +found == {"lines gateway/turn": len(code.splitlines()), **counts}


def test_the_storage_may_use_rows_and_name_statements() -> None:
    code = "row['text']\nstore.select('ledger.inbox_row', {})"
    found = count_file("gateway/storage/ledger/inbox.py", code, SCHEMAS)
    assert +found == {"lines gateway/storage": 2}
