"""Whether a payload is what discord.py's own types say it is."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union

import discord
import typing_extensions

# Each after those whose classes it derives from or renames.
_ORDER: Final = (
    "snowflake",
    "user",
    "emoji",
    "role",
    "embed",
    "sticker",
    "poll",
    "team",
    "welcome_screen",
    "components",
    "member",
    "threads",
    "channel",
    "message",
    "interactions",
    "command",
    "appinfo",
    "automod",
    "guild",
    "integration",
    "activity",
    "sku",
    "voice",
    "invite",
    "scheduled_event",
    "audit_log",
    "soundboard",
    "subscription",
    "gateway",
)


def misfits(value: Any, shape: Any, where: str = "it") -> Iterator[str]:
    """Yield what of a value is not as a TypedDict, or a type made of them, says."""
    origin = typing.get_origin(shape)
    if shape is Any:
        return
    if typing_extensions.is_typeddict(shape):
        yield from _of_fields(value, shape, where)
    elif origin in (Union, UnionType):
        yield from _of_union(value, typing.get_args(shape), where)
    elif origin is Literal:
        if value not in typing.get_args(shape):
            yield f"{where} is {value!r}"
    elif origin is list:
        yield from _of_list(value, typing.get_args(shape)[0], where)
    elif origin is dict:
        if not isinstance(value, dict):
            yield f"{where} is {value!r}, not an object"
    elif not _is(value, shape):
        yield f"{where} is {value!r}, not {shape}"


def _is(value: Any, shape: Any) -> bool:
    if shape in (None, type(None)):
        return value is None
    if shape is int and isinstance(value, bool):
        return False
    if shape is str and value is None:
        return True  # Discord sends null where these types know only absence
    return isinstance(value, shape)


def _of_list(value: Any, inner: Any, where: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{where} is {value!r}, not a list"
        return
    for number, one in enumerate(value):
        yield from misfits(one, inner, f"{where}[{number}]")


def _of_union(value: Any, shapes: tuple[Any, ...], where: str) -> Iterator[str]:
    found = [list(misfits(value, shape, where)) for shape in shapes]
    if all(found):
        yield from min(found, key=len)


def _of_fields(value: Any, shape: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is {value!r}, not an object"
        return
    for name, (inner, required) in _fields(shape).items():
        if name in value:
            yield from misfits(value[name], inner, f"{where}.{name}")
        elif required:
            yield f"{where}.{name} is missing"


def shape(module: str, name: str) -> Any:
    """Return a type of `discord.types`."""
    return _MODULES[module][name]


def _fields(shape: Any) -> dict[str, tuple[Any, bool]]:
    """Return the fields of a TypedDict: their types, and whether they must be there."""
    names = _EVERYTHING | _MODULES[shape.__module__]
    return {
        name: _required(_resolved(hint, names), name in shape.__required_keys__)
        for name, hint in shape.__annotations__.items()
    }


def _resolved(hint: Any, names: dict[str, Any]) -> Any:
    return typing_extensions.get_type_hints(
        type("Holder", (), {"__annotations__": {"hint": hint}}), names, names, include_extras=True
    )["hint"]


def _required(hint: Any, total: bool) -> tuple[Any, bool]:
    origin = typing.get_origin(hint)
    if origin is typing_extensions.NotRequired:
        return typing.get_args(hint)[0], False
    if origin is typing_extensions.Required:
        return typing.get_args(hint)[0], True
    return hint, total


def _loaded() -> dict[str, dict[str, Any]]:
    """Return what the SDK's modules of types define.

    They import each other in a circle, for type checkers only: here each is run without that, its
    annotations being looked up when they are asked for.
    """
    folder = Path(discord.__file__).parent / "types"
    modules: dict[str, dict[str, Any]] = {}
    known: dict[str, Any] = {}
    for name in _ORDER:
        tree = ast.parse((folder / f"{name}.py").read_text())
        tree.body = [node for node in tree.body if not _skipped(node)]
        future = ast.parse("from __future__ import annotations").body
        tree.body[:0] = future
        modules[name] = known | {"__name__": name}
        exec(compile(tree, name, "exec"), modules[name])
        known = known | modules[name]
    return modules


def _skipped(node: ast.stmt) -> bool:
    """Return whether a statement imports one of the modules, or says something of the future."""
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or node.module == "__future__"
    return isinstance(node, ast.If)


_MODULES: Final = _loaded()
_EVERYTHING: Final = _MODULES[_ORDER[-1]]
