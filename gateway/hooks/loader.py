"""Plugins from the entry points of the group `tapeway`; one that does not load stops nothing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from gateway.hooks.runtime import HookRuntime
from gateway.logs import get_log

GROUP: Final = "tapeway"
BUILTIN: Final = "builtin"


@dataclass(frozen=True, slots=True)
class Failure:
    """A plugin that did not load, and why."""

    name: str
    error: str


def load_plugins(hooks: HookRuntime, points: list[EntryPoint] | None = None) -> list[Failure]:
    """Register every plugin in the order of their names; returns those that failed.

    An entry point is a plugin object, or a class or function without arguments that makes one.
    """
    failures: list[Failure] = []
    found = list(entry_points(group=GROUP)) if points is None else points
    for point in sorted(found, key=lambda point: point.name):
        try:
            if point.name == BUILTIN:
                raise ValueError(f"the name {BUILTIN} is Tapeway's own: choose another")
            loaded = point.load()
            hooks.register(loaded() if callable(loaded) else loaded, point.name)
        except Exception as cause:
            failures.append(Failure(point.name, f"{type(cause).__name__}: {cause}"))
            get_log().error("plugin.load_failed", plugin=point.name, exc_info=cause)
    return failures
