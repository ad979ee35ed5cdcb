"""docs/explanation/local-state.md lists exactly the state that a process keeps to itself.

What counts as state, and what lives for one call only, is written in tests/local_state.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import Final

import pytest

from tests.local_state import ROOT, local_state, modules

PAGE: Final = ROOT / "docs" / "explanation" / "local-state.md"
OWNERS: Final = ("poller lease", "session lease", "database", "harmless to lose")
CONSTANT: Final = {
    ("Crowd", "_trusted"): "the networks of a setting",
    ("DiscordApi", "_hosts"): "the hosts of the addresses in the settings",
    ("Settings", "_models_in_use"): "the other settings, by model",
}
"""What looks like state but follows from the settings, which never change."""


@dataclass(frozen=True, slots=True)
class StateRow:
    """A row of the page: the pieces of state, and the folders that its table is about."""

    folders: tuple[str, ...]
    states: tuple[str, ...]
    what: str
    owner: str
    why: str


def rows_of(page: str) -> Iterator[StateRow]:
    """Yield the rows of the tables below headings that name folders."""
    folders: tuple[str, ...] = ()
    for line in page.splitlines():
        if line.startswith("#"):
            folders = tuple(re.findall(r"`(\w[\w/]*)`", line)) if line.startswith("### ") else ()
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if folders and line.startswith("| `"):
            name, *attributes = re.findall(r"`([^`]+)`", cells[0])
            states = tuple(f"{name}.{one}" for one in attributes) or (name,)
            yield StateRow(folders, states, *cells[1:])


def problems(page: str, found: dict[str, str]) -> list[str]:
    """Return a sentence about each piece of state that the page lacks, repeats or places wrongly.

    `found` maps each piece of state to its module.
    """
    said: list[str] = []
    seen: set[str] = set()
    for row in rows_of(page):
        for state in row.states:
            module = found.get(state, "")
            if state in seen:
                said.append(f"{state} has two rows: delete one.")
            elif not module:
                said.append(f"{state} has a row, but the code has no such state: delete the row.")
            elif not module.startswith(tuple(f"{folder}/" for folder in row.folders)):
                said.append(f"{state} is listed below another folder than {module}: move the row.")
            seen.add(state)
    missing = [
        f"{state} ({module}) has no row: say what it is, and who owns it."
        for state, module in sorted(found.items())
        if state not in seen
    ]
    return said + missing


def test_the_page_lists_exactly_the_state_that_the_code_has() -> None:
    found, constant = local_state(modules()), {".".join(names) for names in CONSTANT}
    assert constant <= found.keys(), "delete from CONSTANT what the code no longer has"
    state = {name: module for name, module in found.items() if name not in constant}
    said = problems(PAGE.read_text(), state)
    assert not said, "\n".join(["docs/explanation/local-state.md:", *said])


def test_each_row_has_one_of_the_four_owners_and_a_reason() -> None:
    rows = list(rows_of(PAGE.read_text()))
    assert len(rows) > 100
    assert [row.states for row in rows if row.owner.strip("`") not in OWNERS] == []
    assert [row.states for row in rows if not (row.what and row.why)] == []


def test_what_the_rest_of_the_page_names_is_in_its_tables() -> None:
    page = PAGE.read_text()
    listed = {state for row in rows_of(page) for state in row.states}
    named = re.findall(r"`(_?[A-Z]\w+\.\w+)`", page)
    assert named
    assert [name for name in named if name not in listed] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("self._seen: dict[str, int] = {}", {"_seen"}),
        ("self._wake = anyio.Event()", {"_wake"}),
        ("self._names: Mapping[str, int] = {}", set()),
        ("self._limit = limit", set()),
    ],
)
def test_a_container_or_something_to_wait_on_is_state(code: str, expected: set[str]) -> None:
    assert attributes(f"def __init__(self, limit: int) -> None:\n    {code}") == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("self._at = 1", {"_at"}),
        ("self._at += 1", {"_at"}),
        ("_, self._at = 1, 2", {"_at"}),
        ("del self._given[1]", {"_given"}),
        ("self._given.pop(1)", {"_given"}),
        ("self._other.pop(1)", set()),
        ("at = self._at", set()),
    ],
)
def test_what_changes_after_the_constructor_is_state(code: str, expected: set[str]) -> None:
    given = "def __init__(self, given: dict[int, int]) -> None:\n    self._given = given"
    assert attributes(f"{given}\ndef change(self) -> None:\n    {code}") == expected


def test_an_attribute_that_other_code_changes_is_state() -> None:
    room = "@dataclass\nclass Room:\n    open: bool = False\n    size: int = 0"
    use = "def shut(room: Room) -> None:\n    room.open = False"
    assert state_in(room, use, "ROOM = Room()") == {"Room.open"}


def test_a_frozen_object_has_state_where_code_fills_its_container() -> None:
    turn = """\
        @dataclass(frozen=True)
        class Turn:
            took: list[int]
            said: list[int] = field(default_factory=list)
        """
    take = "def take(turn: Turn) -> None:\n    turn.took.append(1)"
    assert state_in(dedent(turn), take, "TURN = Turn([])") == {"Turn.took"}


def test_an_object_outlives_a_call_if_a_lasting_one_holds_or_makes_it() -> None:
    stateful = "class {}:\n    def __init__(self) -> None:\n        self.all: list[int] = []"
    names = ("Held", "Kept", "Made", "Parser")
    keeper = """\
        @dataclass
        class Keeper:
            by_name: dict[str, Held]

            def __init__(self, kept: Kept) -> None:
                self._kept = kept

            async def run(self) -> None:
                made = Made()
        """
    parse = "def parse(text: str) -> list[int]:\n    return Parser().all"
    code = [stateful.format(name) for name in names]
    assert state_in(*code, dedent(keeper), parse, "KEEPER = Keeper(Kept())") == {
        "Held.all",
        "Kept.all",
        "Made.all",
    }


def test_a_cache_counts_by_its_parameters_only() -> None:
    code = "@cache\ndef to_html(text: str) -> str: ...\n@cache\ndef schema() -> str: ..."
    assert state_in(code) == {"one.py:to_html"}


def test_a_missing_a_stale_and_a_misplaced_row_are_each_reported() -> None:
    page = "### `gateway/http`\n| `Hub`: `rooms`, `gone` | x | `database` | y |\n"
    found = {"Hub.rooms": "channels/room/hub.py", "Hub.people": "channels/room/hub.py"}
    assert problems(page, found) == [
        "Hub.rooms is listed below another folder than channels/room/hub.py: move the row.",
        "Hub.gone has a row, but the code has no such state: delete the row.",
        "Hub.people (channels/room/hub.py) has no row: say what it is, and who owns it.",
    ]


def attributes(methods: str) -> set[str]:
    """Return the state of a lasting class with these methods."""
    body = "\n".join(f"    {line}" for line in methods.splitlines())
    found = state_in(f"class Hub:\n{body}", "HUB = Hub()")
    return {name.removeprefix("Hub.") for name in found}


def state_in(*code: str) -> set[str]:
    """Return the state in a module with this code; what it assigns outlives every call."""
    return set(local_state({"one.py": ast.parse("\n".join(code))}))
