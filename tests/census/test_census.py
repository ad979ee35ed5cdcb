"""The tables of docs/reference say of every path in the platforms' types what becomes of it.

`make census` writes the types' paths into the files beside this one; newer.json has what is newer
than the types, with its source.
"""

from __future__ import annotations

import json

import pytest

from tests.census.table import HERE, HOWS, PAGES, Row, census_of, row_of, rows_of

pytestmark = pytest.mark.parametrize("platform", PAGES)


def test_every_path_of_the_types_is_covered_by_a_row(platform: str) -> None:
    rows = rows_of(platform)
    uncovered = [line.steps for line in census_of(platform) if row_of(line, rows) is None]
    assert uncovered == []


def test_every_row_counts_for_a_path_and_each_of_its_patterns_covers_one(platform: str) -> None:
    rows, lines = rows_of(platform), census_of(platform)
    counting = {row_of(line, rows) for line in lines}
    assert [row.patterns for row in rows if row not in counting] == []
    patterns = [pattern for row in rows for pattern in row.patterns]
    alone = {pattern: Row((pattern,), "", "") for pattern in patterns}
    assert [one for one in patterns if not any(map(alone[one].covers, lines))] == []


def test_every_row_says_that_its_paths_are_read_named_or_left_out_and_where_or_why(
    platform: str,
) -> None:
    assert [row for row in rows_of(platform) if row.how not in HOWS or not row.where] == []


def test_what_is_newer_than_the_types_names_its_source_and_is_not_in_them_yet(
    platform: str,
) -> None:
    types = json.loads((HERE / f"{platform}.json").read_text())
    known = {line.partition(" ")[0] for line in types["paths"]}
    newer = json.loads((HERE / "newer.json").read_text())[platform]
    assert [one for one in newer if one.split(" ")[0] in known or not one.endswith(")")] == []


def test_a_path_that_nobody_has_written_down_is_not_covered_by_chance(platform: str) -> None:
    line = census_of(platform)[0]
    new = type(line)("brand_new.words", "BrandNew.words")
    assert row_of(new, rows_of(platform)) is None
