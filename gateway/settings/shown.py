"""The values of settings as people may see them: without any secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, SecretStr

HIDDEN: Final = "(set, hidden)"
SECRET: Final = re.compile(r"token|secret|passw|key|auth|signature", re.IGNORECASE)


def shown(value: Any) -> Any:
    """Return a value as JSON data, with every secret in it hidden."""
    if isinstance(value, SecretStr):
        return HIDDEN if value.get_secret_value() else ""
    if isinstance(value, BaseModel):
        return {name: shown(getattr(value, name)) for name in sorted(value.model_fields_set)}
    if isinstance(value, Mapping):
        return {str(key): _shown_in_json(str(key), one) for key, one in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _shown_in_json(key: str, value: Any) -> Any:
    """Return a value of a setting that is JSON, such as a request's body: it may hold a key."""
    return HIDDEN if isinstance(value, str) and SECRET.search(key) else shown(value)
