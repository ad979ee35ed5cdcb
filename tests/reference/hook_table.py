"""The hooks, from their specification."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from gateway.hooks.specs import TapewaySpec
from tests.reference.table import table


def lines() -> Iterator[str]:
    hooks = [hook for name, hook in vars(TapewaySpec).items() if not name.startswith("_")]
    rows = ((_call(hook), inspect.getdoc(hook) or "") for hook in hooks)
    yield from table(("Hook", "What it does, and which results count"), rows)


def _call(hook: object) -> str:
    assert inspect.isfunction(hook)
    names = [name for name in inspect.signature(hook).parameters if name != "self"]
    return f"`{hook.__name__}({', '.join(names)})`"
