"""The places that settings come from, each read once: what it sets, and what is misspelt there."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Any, Final, Literal

from dotenv import dotenv_values
from dotenv.parser import parse_stream
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NestedSecretsSettingsSource,
    SecretsSettingsSource,
)
from pydantic_settings.exceptions import SettingsError as SourceError

from gateway.errors import SettingsError
from gateway.settings.files import CONFIG, ENV_FILE, SECRETS, SettingsFiles
from gateway.settings.renames import rename

Kind = Literal["environment", "env-file", "secrets", "toml"]

FILE_KINDS: Final[tuple[Kind, Kind]] = ("env-file", "toml")
PREFIX: Final = "TAPEWAY_"
OF_THE_FILES: Final = frozenset({SECRETS, CONFIG, ENV_FILE})
FOREIGN: Final = re.compile(
    r"TAPEWAY_(TEST_\w+|SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP)(_\w+)?)?)"
)
"""Variables of the tests, and those that Kubernetes sets for a Service named tapeway."""


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """One place of settings.

    values    what it sets, as sections
    written   the names of its variables, where it has variables
    renamed   the present path of a setting, and the former one under which it stands here
    """

    kind: Kind
    path: Path | None
    values: dict[str, Any]
    written: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return str(self.path) if self.path else "the environment"

    def shown(self, path: str) -> str:
        """Return a setting's name as it is written here, as in TAPEWAY_HTTP__PORT or http.port."""
        return path if self.kind == "toml" else variable(path)

    def names(self, path: str) -> bool:
        """Return whether it sets a setting."""
        section, _, name = path.partition(".")
        found = self.values.get(section)
        return section in self.values if not name else isinstance(found, dict) and name in found

    def value(self, path: str) -> Any:
        """Return the value of a setting that it sets, as it is written here."""
        section, _, name = path.partition(".")
        return self.values[section][name] if name else self.values[section]

    def notices(self) -> Iterator[str]:
        """Yield a sentence for each setting that stands here under its former name."""
        for now, former in self.renamed.items():
            yield (
                f"{self.shown(former)} in {self.place} is now called {self.shown(now)}: the former"
                " name is read in this release only"
            )

    def misspelt(self, known: Collection[str]) -> Iterator[str]:
        """Yield a sentence for each name that is no setting, with the nearest one.

        What is misspelt inside a section is removed from the values.
        """
        shown = {self.shown(path): path for path in known}
        sections = {path.partition(".")[0] for path in known}
        for path in list(self._paths()):
            section, _, name = path.partition(".")
            if path in known or (section in ("models", *sections) and not name):
                continue
            if section == "models" and name:
                continue
            if name and section in self.values:
                self.values[section].pop(name, None)
            yield f"{not_a_setting(self.shown(path), shown)} (in {self.place})"

    def _paths(self) -> Iterator[str]:
        for name in self.written:
            section = name.removeprefix(PREFIX).partition("__")[0].lower()
            if section not in self.values:
                yield name.removeprefix(PREFIX).lower().replace("__", ".", 1)
        for section, found in self.values.items():
            if isinstance(found, dict):
                yield from (f"{section}.{name}" for name in found)
            else:
                yield section


def variable(path: str) -> str:
    return PREFIX + path.replace(".", "__").upper()


def not_a_setting(name: str, known: Collection[str], part: str = "") -> str:
    nearest = get_close_matches(part or name, known, n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return f"{name} is not a setting{hint}"


def read_sources(
    settings: type[BaseSettings], variables: Mapping[str, str], files: SettingsFiles
) -> list[SettingsSource]:
    """Read all sources of settings, the one that wins first."""
    secrets = Path(variables.get(SECRETS) or "/run/secrets").expanduser()
    folder = NestedSecretsSettingsSource(
        SecretsSettingsSource(settings), secrets_dir=secrets, secrets_dir_missing="ok"
    )
    env, toml, *under = files.paths()
    return [
        _of_variables(settings, "environment", None, variables),
        of_file(settings, env, read_text(env), "env-file"),
        _of_variables(settings, "secrets", secrets, folder.env_vars),
        of_file(settings, toml, read_text(toml), "toml"),
        *(
            of_file(settings, path, read_text(path), kind)
            for path, kind in zip(under, FILE_KINDS, strict=False)
        ),
    ]


def read_text(path: Path) -> str:
    """Return a file's text, without the mark that editors of Windows begin it with; "" for none."""
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as cause:
        raise _unreadable(path, cause) from cause


def of_file(settings: type[BaseSettings], path: Path, text: str, kind: Kind) -> SettingsSource:
    """Return what a settings' file with a text sets; raises SettingsError if it is not valid."""
    return _of_toml(path, text) if kind == "toml" else _of_env_file(settings, path, text)


def _of_env_file(settings: type[BaseSettings], path: Path, text: str) -> SettingsSource:
    for line in parse_stream(StringIO(text)):
        written = line.original.string.lstrip()
        if PREFIX in written.upper() and (line.error or (line.key and line.value is None)):
            empty = line.original.string.count("\n") - written.count("\n")
            raise _unreadable(path, f"line {line.original.line + empty} is not NAME=value")
    return _of_variables(settings, "env-file", path, dotenv_values(stream=StringIO(text)))


def _of_toml(path: Path, text: str) -> SettingsSource:
    try:
        return _source("toml", path, tomllib.loads(text))
    except ValueError as cause:
        raise _unreadable(path, cause) from cause


def _unreadable(path: Path | str, why: object) -> SettingsError:
    return SettingsError(f"cannot read the settings: {why}: check {path}")


def _of_variables(
    settings: type[BaseSettings], kind: Kind, path: Path | None, found: Mapping[str, str | None]
) -> SettingsSource:
    # Docker Compose passes an empty string for each variable that .env does not set.
    given = {name.upper(): value for name, value in found.items() if value}
    ours = (name for name in given if name.startswith(PREFIX) and name not in OF_THE_FILES)
    written = tuple(sorted(name for name in ours if not FOREIGN.fullmatch(name)))
    try:
        values = _Variables(settings, given)() if written else {}
    except SourceError as cause:
        raise _unreadable(path or "the environment", cause) from cause
    return _source(kind, path, values, written)


def _source(
    kind: Kind, path: Path | None, values: dict[str, Any], written: tuple[str, ...] = ()
) -> SettingsSource:
    renamed = {now: former for former, now in rename(values)}
    return SettingsSource(kind, path, values, written, renamed)


class _Variables(EnvSettingsSource):
    """Reads the given variables instead of the process's own."""

    def __init__(self, settings: type[BaseSettings], variables: Mapping[str, str]) -> None:
        self._variables = {name.lower(): value for name, value in variables.items()}
        super().__init__(settings)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._variables
