"""Parse a command line: `,name`, bare words, and `key=value` pairs.

A value with spaces needs quotes; a list is written `key=one,two` or `key=["one", "two"]`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent.tool import Tool
from gateway.errors import CommandRefused
from tape.entry import load

_SPACE: Final = re.compile(r"[^\S\n]")  # of any script, such as one that does not break
_KEPT: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'|(?<==)\[[^\[\]\n]*\]")
_CURLY: Final = re.compile('(?<==)[“„”]([^“„”"\n]*)[“”]')
_QUOTES: Final = " \"'“„”"


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed command line: the command's name, its bare words, and its `key=value` pairs."""

    name: str
    words: tuple[str, ...]
    pairs: dict[str, str]


def parse_command(line: str) -> Command:
    """Parse a line that begins with `,` and a name; raise CommandRefused if a quote is open."""
    plain = _CURLY.sub(r'"\1"', _SPACE.sub(" ", line.removeprefix(",")))
    try:
        parts = shlex.split(_KEPT.sub(_whole, plain))
    except ValueError as cause:
        raise CommandRefused(
            'A quotation mark is not closed. Try it like this: `,tape.search query="two words"`.'
        ) from cause
    name, *given = parts or [""]
    pairs = dict(part.split("=", 1) for part in given if "=" in part)
    words = tuple(part for part in given if "=" not in part)
    return Command(name.lower(), words, pairs)


def arguments_of(tool: Tool, command: Command) -> dict[str, Any]:
    """Return a command's arguments for a tool: bare words are the first, and lists are lists."""
    given: dict[str, Any] = dict(command.pairs)
    names = list(tool.arguments.model_fields)
    if command.words and names and names[0] not in given:
        given[names[0]] = " ".join(command.words)
    specs = tool.schema()["function"]["parameters"]["properties"]
    return {
        name: _items(value) if _is_list(specs.get(name, {})) else value
        for name, value in given.items()
    }


def _whole(found: re.Match[str]) -> str:
    """Return a quoted text as it is, and a list in quotes, so that it stays in one part."""
    return shlex.quote(found[0]) if found[0].startswith("[") else found[0]


def _is_list(spec: Mapping[str, Any]) -> bool:
    return any(one.get("type") == "array" for one in (spec, *spec.get("anyOf", ())))


def _items(value: str) -> list[Any]:
    said = value.strip()
    try:
        found = load(said)
        if isinstance(found, list):
            return found
    except ValueError:
        pass
    items = (one.strip(_QUOTES) for one in said.removeprefix("[").removesuffix("]").split(","))
    return [one for one in items if one]
