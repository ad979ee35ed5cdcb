"""What stands at a path that the tables call read is found in the message that the adapter makes.

Each path gets a word of its own, in the smallest message that has it, as a new message, an edit, a
quote and a forward, as far as the platform has the path there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.census import on_discord, on_slack, on_telegram
from tests.census.planting import Effect, Json, planted
from tests.census.table import PAGES, Line, census_of, row_of, rows_of

Found = Callable[[Line], Iterator[tuple[str, bool]]]
FOUND: Mapping[str, Found] = {
    "telegram": on_telegram.found,
    "discord": on_discord.found,
    "slack": on_slack.found,
}
READ: Mapping[str, Callable[[Json], object]] = {
    "telegram": on_telegram.read_of,
    "discord": on_discord.read_of,
    "slack": on_slack.read_of,
}
INDIRECT: Mapping[str, Mapping[str, Effect]] = {
    "telegram": on_telegram.INDIRECT,
    "discord": on_discord.INDIRECT,
    "slack": on_slack.INDIRECT,
}


def read_paths(platform: str) -> list[Line]:
    """Return the paths to a string or a file that the tables call read."""
    rows = rows_of(platform)
    lines = [line for line in census_of(platform) if line.what in ("", "file")]
    return [line for line in lines if (row := row_of(line, rows)) and row.how == "read"]


def is_indirect(platform: str, line: Line) -> bool:
    return line.path in INDIRECT[platform] or line.steps in INDIRECT[platform]


@pytest.mark.parametrize("platform", PAGES)
def test_every_path_that_is_read_reaches_the_message(platform: str) -> None:
    lines = [line for line in read_paths(platform) if not is_indirect(platform, line)]
    lost = [
        f"{way}: {line.steps}"
        for line in lines
        for way, is_there in FOUND[platform](line)
        if not is_there
    ]
    assert lost == []


@pytest.mark.parametrize("platform", PAGES)
def test_most_paths_are_tried_in_every_way(platform: str) -> None:
    lines = [line for line in read_paths(platform) if not is_indirect(platform, line)]
    ways = [{way for way, _is_there in FOUND[platform](line)} for line in lines]
    assert all(ways)
    assert set().union(*ways) == {"new", "edit", "quote", "forward"}
    assert sum("quote" in tried for tried in ways) > len(ways) / 2


@pytest.mark.parametrize("platform", PAGES)
def test_a_path_whose_value_is_not_shown_is_one_that_is_read(platform: str) -> None:
    lines = read_paths(platform)
    known = {line.path for line in lines} | {line.steps for line in lines}
    assert set(INDIRECT[platform]) - known == set()


@pytest.mark.parametrize("platform", PAGES)
def test_a_path_whose_value_is_not_shown_decides_what_is_read(platform: str) -> None:
    for steps, effect in INDIRECT[platform].items():
        one, other = effect.seen(steps, READ[platform])
        assert one != other, steps
        assert one is not None, steps


@pytest.mark.parametrize("platform", PAGES)
def test_a_path_that_nobody_reads_decides_nothing(platform: str) -> None:
    one, other = Effect(("a", "b")).seen("brand_new_id", READ[platform])
    assert one == other


@pytest.mark.parametrize("platform", PAGES)
def test_what_is_not_in_a_message_is_not_found(platform: str) -> None:
    unknown = Line("brand_new_id{hologram}.sku_id", "-")
    assert not any(is_there for _way, is_there in FOUND[platform](unknown))


def test_a_path_becomes_the_objects_and_lists_on_its_way() -> None:
    assert planted("a{7}.b[][]{bold}.*.c[]", "x") == {
        "a": {"type": 7, "b": [[{"type": "bold", "k": {"c": ["x"]}}]]}
    }
    with pytest.raises(ValueError, match="is no path"):
        planted("[]a", "x")
