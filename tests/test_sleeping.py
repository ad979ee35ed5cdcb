"""No test sleeps for a fixed time: it has events, the clock of a test, and at last `Patience`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.kit.sources import tree_of

ROOT: Final = Path(__file__).resolve().parent.parent
MODULES: Final = {"anyio", "asyncio", "time"}
PACED: Final = (
    "tests/chaos/",  # these run for a time that their options name
    "tests/fleet/",
    "tests/fakes/",  # a server is as slow as a test has it
)
SLEEPS: Final = {
    "tests/kit/waiting.py": "the one place that looks again and again",
    "tests/kit/clock.py": "a clock that is the real one, and a look at work that no loop shows",
    "tests/kit/shortcuts.py": "uvicorn's own sleep, made shorter",
    "tests/channels/discord/hosts.py": "steps of a clock, with a moment for sockets and threads",
    "tests/channels/telegram/bots.py": "steps of a clock, with a moment for sockets and threads",
    "tests/agent/test_process_pool.py": "counts the turns of the loop while a process computes",
    "tests/tape/search/test_indexer.py": "kills a process at several moments of its work",
    "tests/scenarios/backup_soak.py": "people who write at a pace",
}


def sleeps(tree: ast.AST) -> list[int]:
    """Return the lines that wait for more than no time at all, by whatever name."""
    own = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
        for name in node.names
        if name.name == "sleep"
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if _sleeps(call, own)]


def _sleeps(call: ast.Call, own: set[str]) -> bool:
    asked = call.args[0] if call.args else None
    if isinstance(asked, ast.Constant) and asked.value == 0:
        return False
    match call.func:
        case ast.Attribute(value=ast.Name(id=module), attr="sleep"):
            return module in MODULES
        case ast.Name(id=name):
            return name in own
    return False


def test_no_test_sleeps_for_a_fixed_time() -> None:
    found = {
        name: lines
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if not (name := str(path.relative_to(ROOT))).startswith(PACED)
        if (lines := sleeps(tree_of(path.read_text("utf-8"))))
    }
    assert {name: lines for name, lines in found.items() if name not in SLEEPS} == {}
    assert SLEEPS.keys() - found.keys() == set(), "these sleep no more: take them off the list"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import anyio\nawait anyio.sleep(0.1)", [2]),
        ("import time\ntime.sleep(delay)", [2]),
        ("from asyncio import sleep as nap\nawait nap(1)", [2]),
        ("await asyncio.sleep(0)", []),
        ("await clock.sleep(60)", []),
        ("def sleep(): ...\nsleep()", []),
    ],
)
def test_a_sleep_is_found(source: str, lines: list[int]) -> None:
    assert sleeps(ast.parse(source)) == lines
