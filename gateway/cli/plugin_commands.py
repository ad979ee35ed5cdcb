"""Commands that plugins add.

A package declares a command as an entry point in the group `tapeway.commands`: a function or a
`typer.Typer`. It is imported only when it runs; its help is the package's summary. For an
undeclared command, every plugin is loaded and may add it in `register_cli_commands`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import typer

from gateway.cli.help import OWN
from gateway.printing import print_err

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "tapeway.commands"


def add_plugin_commands(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Add the plugins' commands, unless the command line uses a builtin one."""
    given = [one for before, one in pairwise(("", *arguments)) if before != "--env-file"]
    named = next((argument for argument in given if not argument.startswith("-")), None)
    if named in OWN:
        return
    # Loaded only here: it takes longer than a builtin command's other imports.
    entry_points = import_module("importlib.metadata").entry_points
    declared = {point.name: point for point in entry_points(group=GROUP) if point.name not in OWN}
    for name in sorted(declared):
        _declare(app, declared[name])
    if named is not None:
        # Before a plugin's code runs, so that its errors show neither secrets nor variables.
        import_module("gateway.cli.runner").set_up_for_plugins()
    if named is not None and named not in declared:
        runtime = import_module("gateway.hooks.runtime").HookRuntime()
        import_module("gateway.hooks.loader").load_plugins(runtime)
        runtime.call_many_sync("register_cli_commands", app=app)


def _declare(app: typer.Typer, point: EntryPoint) -> None:
    metadata = point.dist.metadata if point.dist else None
    summary = metadata["Summary"] if metadata and "Summary" in metadata else ""

    # The command parses its own arguments, including `--help`.
    @app.command(
        point.name,
        help=summary or "A command of a plugin.",
        context_settings={
            "ignore_unknown_options": True,
            "allow_extra_args": True,
            "allow_interspersed_args": False,
            "help_option_names": [],
        },
    )
    def command(context: typer.Context) -> None:
        loaded = _load(point)
        loaded.pretty_exceptions_enable = False  # they would show local variables
        loaded(args=context.args, prog_name=f"tapeway {point.name}")


def _load(point: EntryPoint) -> typer.Typer:
    try:
        loaded = point.load()
    except (Exception, SystemExit) as cause:
        why = import_module("gateway.hooks.loader").load_error(cause)
        print_err(f"tapeway: the command {point.name} did not load: {why}")
        raise typer.Exit(1) from cause
    if isinstance(loaded, typer.Typer):
        return loaded
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(loaded)
    return app
