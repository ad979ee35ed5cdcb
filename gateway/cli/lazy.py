"""Run a command's function by its dotted name, so that `--help` need not import it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import typer


def run(target: str, *arguments: Any) -> None:
    """Import `module:function`, run it with the settings, and exit with the returned code."""
    code = import_module("gateway.cli.runner").run_command(_work(target), *arguments)
    if code:
        raise typer.Exit(code)


def ask(target: str, *arguments: Any) -> None:
    """Run a function that asks the running gateway; only if none runs, load the settings.

    The function's coroutine waits for nothing but the gateway's response.
    """
    reach = import_module("gateway.cli.reach.known_home").running_of(os.environ)
    if reach is None:
        run(target, *arguments)
        return
    code = import_module("gateway.cli.reach.asking").run_beside(_work(target), reach[0], *arguments)
    if code:
        raise typer.Exit(code)


def _work(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
