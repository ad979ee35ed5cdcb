"""`tapeway hooks`: which hooks there are, who implements them, and what did not load."""

from __future__ import annotations

import inspect

from gateway.hooks.loader import load_plugins
from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import TapewaySpec
from gateway.settings import Settings
from gateway.turn.agent_plugin import AgentPlugin


def show_hooks(_settings: Settings) -> int:
    """Print every hook with its implementations, first to run first; 1 where a plugin failed."""
    runtime = HookRuntime()
    runtime.register(AgentPlugin, "builtin")
    failures = load_plugins(runtime)
    for name, function in inspect.getmembers(TapewaySpec, inspect.isfunction):
        who = [found.plugin_name for found in runtime.implementations(name)]
        print(f"{name:22} {', '.join(who) or '-':20} {inspect.getdoc(function)}")
    for failure in failures:
        print(f"\nThe plugin {failure.name} did not load: {failure.error}")
    return 1 if failures else 0
