"""What `--help` looks like: commands grouped by task, whole sentences, and examples.

A new builtin command gets its name into `TASKS`, and examples in its `@app.command`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

TASKS: Final[Mapping[str, Sequence[str]]] = {
    "Start it": ("init", "gateway", "open", "pair", "doctor"),
    "Talk to it": ("chat", "run"),
    "See what happened": ("tape", "explain", "ledger", "usage", "health", "workers"),
    "Change it": ("access", "config", "hooks", "token"),
    "Keep it safe": ("backup", "restore", "migrate"),
    "Your shell": ("completion",),
}
"""Maps each task to its commands, in the order of `tapeway --help`."""

OWN: Final = frozenset(name for names in TASKS.values() for name in names)
"""The builtin commands, which plugins cannot replace."""

REST: Final = "From plugins"

_UNNAMED: Final = re.compile(r"(\S+) <str>$")
_RANGE: Final = re.compile(r"; x>=\d+")


class CommandApp(typer.Typer):
    """A Typer application whose commands show examples and are listed in whole sentences."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            cls=TaskGroup,
            no_args_is_help=True,
            add_completion=False,
            rich_markup_mode=None,  # importing rich would take longer than the rest of `--help`
            pretty_exceptions_enable=False,
            **options,
        )

    def command(  # type: ignore[override]
        self, name: str | None = None, *, examples: Sequence[str] = (), **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add a command; its examples are command lines without `tapeway`."""
        lines = "\n".join(f"tapeway {example}" for example in examples)
        return super().command(name, cls=ExampleCommand, epilog=lines or None, **options)


class ExampleCommand(TyperCommand):
    """A command whose help ends with its examples, each on a line of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as wrong:
            # Typer names the class of pydantic's error, which says nothing to people.
            message = wrong.message.removeprefix("Value error, ")
            before = len(f"Error: {wrong.format_message()}") - len(wrong.message)
            lines = import_module("gateway.cli.screen").hanging("-" * before, message, 2)
            wrong.message = "\n".join(lines)[before:]
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}").upper() for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List arguments and options with names for their values, where Typer has `<str>`."""
        params = self.get_params(ctx)
        for kind in ("argument", "option"):
            found = [one.get_help_record(ctx) for one in params if one.param_type_name == kind]
            rows = [(_UNNAMED.sub(_named, a), _RANGE.sub("", b)) for a, b in filter(None, found)]
            if rows:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer's
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.splitlines():
                    formatter.write(f"  {line}\n")


class TaskGroup(TyperGroup):
    """A group that lists its commands with their whole first sentences, the root by task."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        shown = {
            name: _first_sentence(command.help or "")
            for name, command in commands.items()
            if command is not None and not command.hidden
        }
        width = max(map(len, shown), default=0)
        for task, names in self._sections(ctx, shown):
            with formatter.section(task):
                # Padded, so that the sentences of all sections begin in one column.
                formatter.write_dl([(name.ljust(width), shown[name]) for name in names])

    def _sections(self, ctx: Any, shown: Mapping[str, str]) -> list[tuple[str, list[str]]]:
        if ctx.parent is not None:
            return [("Commands", list(shown))]
        listed = [(task, [one for one in names if one in shown]) for task, names in TASKS.items()]
        listed.append((REST, [name for name in shown if name not in OWN]))
        return [(task, names) for task, names in listed if names]


def _named(found: re.Match[str]) -> str:
    name = found[1].rpartition("-")[2].upper()
    return f"{found[1]} {name}" if found[1].startswith("--") else found[1].upper()


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    sentence, period, _rest = paragraph.partition(". ")
    return sentence + period.rstrip()
