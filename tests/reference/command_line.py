"""The commands of `tapeway`, from the tree that typer makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import typer

from gateway.cli.main import app
from tests.reference.table import table


def lines() -> Iterator[str]:
    yield from _command("tapeway", typer.main.get_command(app), 2)


def _command(name: str, command: Any, level: int) -> Iterator[str]:
    yield from (f"{'#' * level} `{name}`", "", *_prose(command.help), "")
    arguments = [_argument(one) for one in command.params if not one.opts[0].startswith("-")]
    options = [_option(one) for one in command.params if one.opts[0].startswith("-")]
    if arguments:
        yield from (*table(("Argument", "Default", "What it is"), arguments), "")
    if options:
        yield from (*table(("Option", "Default", "What it does"), options), "")
    if command.epilog:
        examples = _unmarked(command.epilog)
        is_code = examples.startswith("tapeway ")
        yield from ("```text", *examples.splitlines(), "```", "") if is_code else (examples, "")
    for inner, found in getattr(command, "commands", {}).items():
        if not found.hidden:
            yield from _command(f"{name} {inner}", found, min(level + 1, 4))


def _prose(text: str | None) -> list[str]:
    return _unmarked(text or "").splitlines()


def _unmarked(text: str) -> str:
    """Return a help text without the mark that keeps its lines apart."""
    return text.replace("\b\n", "").strip()


def _argument(given: Any) -> tuple[str, str, str]:
    name = given.metavar or given.name.upper()
    return f"`{name}`", _default(given) or "none", _text(given)


def _option(given: Any) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in (*given.opts, *given.secondary_opts))
    return names, _default(given), _text(given)


def _text(given: Any) -> str:
    """Return the help of an argument or an option, with the values that it may have."""
    named = given.type_descriptor.annotation
    allowed = ", ".join(f"`{value}`" for value in get_args(named) if get_origin(named) is Literal)
    return f"{given.help or ''} One of {allowed}." if allowed else given.help or ""


def _default(given: Any) -> str:
    value = given.default
    if value in (None, "", False) or not given.show_default or callable(value):
        return "required" if given.required else ""
    return f"`{str(value).lower() if value is True else value}`"
