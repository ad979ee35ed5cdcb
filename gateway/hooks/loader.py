"""Load plugins from the entry points in the group `tapeway`; a failing plugin stops no other."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import Final

from gateway.hooks.runtime import BUILTIN, HookRuntime
from gateway.logs import get_log

GROUP: Final = "tapeway"

MOVED: Final = MappingProxyType(
    {
        "agent.compute": "agent.process_pool",
        "agent.models": "agent.models.registry",
        "channels.addressing": "channels.mentions",
        "channels.chunk": "channels.markdown.split",
        "channels.markdown": "channels.markdown.render",
        "channels.message.Sender": "channels.message.Author",
        "channels.rooms": "channels.room.channel",
        "channels.rooms_http": "channels.room.routes",
        "channels.typing": "channels.typing_indicator",
        "gateway.accessors": "gateway.plugin",
        "gateway.hook_runtime": "gateway.hooks.runtime",
        "gateway.hookspecs": "gateway.plugin",
        "tape.file": "tape.stores.jsonl.store",
        "tape.memory": "tape.stores.memory",
        "tape.past": "tape.snapshot",
        "tape.registry": "tape.stores.registry",
        "tape.sqlite": "tape.stores.sqlite",
        "tape.unit": "tape.unit_of_work",
    }
)
"""Maps old import paths to new ones."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A plugin that did not load, and the reason."""

    name: str
    error: str


def load_plugins(hooks: HookRuntime, points: list[EntryPoint] | None = None) -> list[Failure]:
    """Register every plugin (an object, or a callable that returns one); return the failures."""
    failures: list[Failure] = []
    found = metadata.entry_points(group=GROUP) if points is None else points
    for point in sorted(found, key=lambda point: point.name):
        try:
            if point.name == BUILTIN:
                raise ValueError(f"the name {BUILTIN} is Tapeway's own: choose another")
            loaded = point.load()
            hooks.register(loaded() if callable(loaded) else loaded, point.name)
        except (Exception, SystemExit) as cause:
            failures.append(Failure(point.name, load_error(cause)))
            get_log().error("plugin.load_failed", plugin=point.name, exc_info=cause)
    return failures


def load_error(cause: BaseException) -> str:
    """Say why a plugin did not load and, if an import has moved, give its new path."""
    sentence = f"{type(cause).__name__}: {cause}"
    moved = _moved(cause) if isinstance(cause, ImportError) else None
    return f"{sentence}. {moved[0]} is now {moved[1]}: import it from there" if moved else sentence


def _moved(cause: ImportError) -> tuple[str, str] | None:
    name = cause.name or ""
    # `from channels.message import Sender` reports the module; the class is in `name_from`.
    inner = getattr(cause, "name_from", None)  # since Python 3.12
    inner = inner or str(cause).partition("cannot import name '")[2].partition("'")[0]
    for old in (f"{name}.{inner}", name):
        while old:
            if old in MOVED:
                return old, MOVED[old]
            old = old.rpartition(".")[0] if isinstance(cause, ModuleNotFoundError) else ""
    children = [(old, new) for old, new in MOVED.items() if old.startswith(f"{name}.")]
    return children[0] if isinstance(cause, ModuleNotFoundError) and len(children) == 1 else None
