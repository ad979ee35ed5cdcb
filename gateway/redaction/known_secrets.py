"""The secrets of an instance: those of its settings and files, and what libraries read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, SecretStr
from pydantic_settings.exceptions import SettingsError as SourceError

from gateway.errors import GatewayError
from gateway.settings import Settings
from gateway.settings.files import settings_files
from gateway.settings.sources import read_sources

MAX_TOKEN: Final = 4096
_NAMES: Final = re.compile(r"(token|key|secret|password|passwd)$", re.IGNORECASE)


def secrets_of(settings: Settings, more: Iterable[str] = ()) -> list[str]:
    """Return the secrets of the settings and their files, and what libraries read themselves."""
    files = (settings.http.token_file, settings.slack.installations)
    found = [text for file in files if file for text in _in_file(settings.home_path / file)]
    return [*_secrets(settings), *found, *_of_libraries(os.environ), *more]


def secrets_as_written(variables: Mapping[str, str]) -> list[str]:
    """Return what is a secret by its name, in the environment and in files with wrong settings."""
    found = [value for name, value in variables.items() if _NAMES.search(name)]
    with suppress(GatewayError, SourceError, ValueError, OSError):
        for source in read_sources(Settings, variables, settings_files(variables)):
            found += _written(source.values)
    return [*found, *_of_libraries(variables)]


def _written(values: Mapping[str, Any], *, hidden: bool = False) -> Iterator[str]:
    for name, value in values.items():
        secret = hidden or _NAMES.search(name) is not None
        if isinstance(value, Mapping):
            yield from _written(value, hidden=secret or name == "headers")
        elif secret:
            yield str(value)
        elif isinstance(value, str):
            yield from _passwords(value)


def _of_libraries(variables: Mapping[str, str]) -> Iterator[str]:
    """Yield the secrets in variables that libraries read by themselves."""
    for name, value in variables.items():
        if name in ("OPENAI_API_KEY", "PGPASSWORD"):
            yield value
        elif name.lower().endswith("_proxy"):
            yield from _passwords(value)


def _in_file(path: Path) -> Iterator[str]:
    """Yield the token that a file consists of, or the tokens of a JSON file of installations."""
    try:
        text = path.expanduser().read_text()
    except (OSError, ValueError):
        return
    yield from re.findall(r'"(xox[^"]+)"', text) or [text.strip()[:MAX_TOKEN]]


def _secrets(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _secrets(one)
    elif isinstance(value, str) and "@" in value and "://" in value:
        yield from _passwords(value)


def _passwords(url: str) -> Iterator[str]:
    try:
        password = urlsplit(url).password or ""
    except ValueError:
        return
    yield from (password, unquote(password))
