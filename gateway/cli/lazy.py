"""Run a command's function by its dotted name, so that `--help` need not import it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer


def run(target: str, *arguments: Any) -> None:
    """Import `module:function`, run it with the settings, and exit with the returned code."""
    module, _, name = target.partition(":")
    work = getattr(import_module(module), name)
    code = import_module("gateway.cli.runner").run_command(work, *arguments)
    if code:
        raise typer.Exit(code)
