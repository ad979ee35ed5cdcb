"""The log's events, from every call in the product that logs one, each with a sentence."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from tests.kit.sources import tree_of
from tests.reference.event_sentences import SENTENCES
from tests.reference.table import table

ROOT: Final = Path(__file__).resolve().parents[2]
LEVELS: Final = ("debug", "info", "warning", "error")


@dataclass(slots=True)
class LogEvent:
    """An event, with the levels that it is logged with and the keys that it may have."""

    levels: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)


def lines() -> Iterator[str]:
    found = log_events()
    rows = (
        (
            f"`{name}`",
            ", ".join(sorted(event.levels, key=LEVELS.index)),
            ", ".join(f"`{key}`" for key in sorted(event.keys)),
            SENTENCES.get(name, ""),
        )
        for name, event in sorted(found.items())
    )
    yield from table(("Event", "Level", "Keys", "What has happened"), rows)


@cache
def log_events() -> dict[str, LogEvent]:
    """Return every event of the product; raises ValueError for one that is not a constant."""
    found: dict[str, LogEvent] = defaultdict(LogEvent)
    for package in ("gateway", "channels", "agent", "tape"):
        for path in (ROOT / package).rglob("*.py"):
            if "log" in (text := path.read_text()):
                for call in _calls(tree_of(text)):
                    _note(found, call, path)
    return dict(found)


def _calls(tree: ast.AST) -> Iterator[tuple[set[str], ast.Call]]:
    """Yield each call that logs an event, with its levels."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "log_exception":
            yield {"error"}, node
        elif levels := _levels(node.func):
            yield levels, node
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _by_name(function)


def _by_name(function: ast.AST) -> Iterator[tuple[set[str], ast.Call]]:
    """Yield each call of a logging method that was first given a name, as in `log = ...`."""
    names: dict[str, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if not isinstance(node.value, ast.Call):
                levels = {one for part in ast.walk(node.value) for one in _levels(part)}
                names.update({node.targets[0].id: levels} if levels else {})
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in names:
            yield names[ast.unparse(node.func)], node


def _levels(function: ast.AST) -> set[str]:
    """Return the level of `get_log().LEVEL`; no level for anything else."""
    if isinstance(function, ast.Attribute) and ast.unparse(function.value) == "get_log()":
        return {"error" if function.attr == "exception" else function.attr}
    return set()


def _note(found: dict[str, LogEvent], call: tuple[set[str], ast.Call], path: Path) -> None:
    levels, node = call
    name = ast.unparse(node.args[0])
    if name == "event":  # the host's own, which channels call as `log_exception`
        return
    if not isinstance(node.args[0], ast.Constant):
        raise ValueError(f"{path}:{node.lineno} logs an event that is not a constant")
    event = found[ast.literal_eval(name)]
    event.levels |= levels
    event.keys |= {one.arg for one in node.keywords if one.arg} - {"exc_info"}
    if ast.unparse(node.func).endswith("log_exception"):
        event.keys.add("channel")
