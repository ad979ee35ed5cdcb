"""`tapeway hooks`: list the hooks with the plugins that implement them, and check the plugins."""

from __future__ import annotations

import inspect
from functools import partial

import anyio
import typer

from gateway.cli.screen import BOLD, hanging, painted, safe
from gateway.cli.table import print_json
from gateway.home import is_locked
from gateway.hooks.check import check_plugins
from gateway.hooks.loader import load_plugins
from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import TapewaySpec
from gateway.printing import print_out
from gateway.settings import Settings
from gateway.turn.agent_plugin import AgentPlugin


def show_hooks(_settings: Settings, as_json: bool = False) -> int:
    """Print every hook with its implementations in call order; return 1 if there are problems."""
    runtime = HookRuntime()
    runtime.register(AgentPlugin, "builtin")
    problems = _load(runtime)
    for name, function in inspect.getmembers(TapewaySpec, inspect.isfunction):
        who = [found.plugin_name for found in runtime.implementations(name)]
        says = " ".join((inspect.getdoc(function) or "").split())
        if as_json:
            print_json({"hook": name, "plugins": who, "says": says})
        else:
            print_out(painted(name, BOLD) + f"  {safe(', '.join(who) or '-')}")
            print_out("\n".join(hanging("  ", says, 2)))
    return _print_problems(problems, as_json)


def check_hooks(settings: Settings, as_json: bool = False) -> int:
    """Call the plugins, and print each problem and how to fix it; return 1 if there are any."""
    runtime = HookRuntime()
    problems = _load(runtime)
    plugins = runtime.names()
    alone = not is_locked(settings.home_path)
    anyio.run(partial(check_plugins, runtime, typer.Typer(), with_store=alone))
    if not alone and not as_json:
        print_out("A gateway is running on this home, so provide_tape_store was not called.")
    problems += [str(finding) for finding in runtime.findings if str(finding) not in problems]
    if not problems and not as_json:
        print_out(f"Checked {', '.join(plugins) or 'no plugin'}: no problems.")
    return _print_problems(problems, as_json)


def _load(runtime: HookRuntime) -> list[str]:
    failed = [f"The plugin {one.name} did not load: {one.error}" for one in load_plugins(runtime)]
    return [*failed, *map(str, runtime.findings)]


def _print_problems(problems: list[str], as_json: bool) -> int:
    for problem in problems:
        if as_json:
            print_json({"problem": problem})
        else:
            print_out(safe(problem))
    return 1 if problems else 0
