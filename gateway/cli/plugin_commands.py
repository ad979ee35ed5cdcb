"""Commands of plugins: they are loaded only when the command line names one that is not ours."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

OWN: Final = frozenset(
    {"gateway", "chat", "run", "token", "health", "explain", "ledger", "tape", "hooks"}
)


def add_plugin_commands(app: Any, arguments: Sequence[str]) -> None:
    """Let plugins add their commands, where one of them may be meant."""
    named = next((argument for argument in arguments if not argument.startswith("-")), None)
    if named is None or named in OWN:
        return
    runtime = import_module("gateway.hooks.runtime").HookRuntime()
    import_module("gateway.hooks.loader").load_plugins(runtime)
    runtime.call_many_sync("register_cli_commands", app=app)
