"""The settings, from the classes that declare them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from agent.model_settings import ModelSettings
from gateway.settings import Settings, fields
from gateway.settings.renames import RENAMED
from tests.reference.table import table

HEADINGS = ("Variable", "Default", "Value", "What it does")


def lines() -> Iterator[str]:
    for section, found in groupby(fields(), key=lambda one: one[1]):
        yield f"## `[{section}]`" if section else "## At the top"
        yield ""
        declared = Settings.model_fields[section].annotation if section else None
        if declared is not None and declared.__doc__:
            yield from (declared.__doc__, "")
        former = {name: was for was, name in RENAMED.get(section, {}).items()}
        yield from table(HEADINGS, (_row(*one, former) for one in found))
        yield ""
    yield from ("## `[models.NAME]`", "", "The settings of one model, in `tapeway.toml`.", "")
    rows = (_row(name, "", field, {}) for name, field in ModelSettings.model_fields.items())
    yield from table(("Name", *HEADINGS[1:]), rows)


def former_name(section: str, was: str) -> str:
    """Return the variable of a setting's former name."""
    return f"TAPEWAY_{section}__{was}".upper()


def _row(name: str, section: str, field: FieldInfo, former: Mapping[str, str]) -> tuple[str, ...]:
    default = _default(field)
    example = str(field.examples[0]) if field.examples else ""
    text = field.description or ""
    if example not in ("", "{}", default):
        text += f" Example: `{example}`."
    if was := former.get(name.rpartition("__")[2].lower()):
        text += f" Formerly `{former_name(section, was)}`."
    return f"`{name}`", f"`{default}`" if default else "", _kind(field.annotation), text


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, SecretStr):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


_KINDS = {bool: "true or false", int: "whole number", float: "number", SecretStr: "secret"}


def _kind(annotation: Any) -> str:
    """Return what a value may be; for most, any text."""
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation) if value != "")
    if get_origin(annotation) in (Union, UnionType):
        found = [_kind(one) for one in get_args(annotation) if one is not type(None)]
        return " or ".join(dict.fromkeys(found))
    if get_origin(annotation) is dict:
        return "table"
    return _KINDS.get(annotation, "text")
