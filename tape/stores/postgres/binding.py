"""Write the named parameters of our SQL files in the way of psycopg, and bind values to them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Final

_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z_]\w*)")
_COMMENT: Final = re.compile(r"^\s*--.*$", re.MULTILINE)
NUL: Final = "\x00"
NUL_SHOWN: Final = "\u2400"
"""PostgreSQL's text has no NUL: columns have this symbol instead; JSON escapes it anyway."""


@functools.lru_cache(maxsize=4096)
def driver_sql(sql: str) -> str:
    """Return a statement with `%(name)s` for each `:name`, without its comment lines."""
    bare = _COMMENT.sub("", sql).replace("%", "%%").strip()
    return _PARAMETER.sub(r"%(\1)s", bare)


def bound(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that PostgreSQL can hold."""
    return {name: _storable(value) for name, value in values.items()}


def expecting(frame: str, sql: str) -> str:
    """Return a statement that fails unless it changes the expected number of rows."""
    bare = sql.rstrip()
    return frame.replace(":statement", bare if returns(sql) else bare + "\nRETURNING 1")


def is_select(sql: str) -> bool:
    """Return whether a statement only reads."""
    return driver_sql(sql).upper().startswith("SELECT")


def returns(sql: str) -> bool:
    """Return whether a statement that changes rows returns some."""
    return "RETURNING" in driver_sql(sql)


def _storable(value: Any) -> Any:
    if isinstance(value, str) and NUL in value:
        return value.replace(NUL, NUL_SHOWN)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return value
