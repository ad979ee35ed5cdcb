"""What will be written into settings: shown as a difference without secrets, then written at once.

Secrets go to `.env` beside `tapeway.toml`, because every start reads both without being pointed at
them; a secrets folder has to be named in a variable.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from difflib import ndiff
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import Table

from gateway.errors import SettingsError
from gateway.redaction.redactor import Redactor
from gateway.settings import LoadedSettings, Settings, fields
from gateway.settings.files import SettingsFiles
from gateway.settings.load import paths, settings_of
from gateway.settings.sources import SettingsSource, of_file, read_text, variable
from tape.private_file import open_private, sync_folder

HEADER: Final = (
    "# Tapeway's settings, written by `tapeway init`: change them here, or run it again.\n"
    "# Secrets stand in the file .env beside this one. .env.example lists all settings.\n"
)
ENV_HEADER: Final = "# Tapeway's secrets, written by `tapeway init` or the page.\n"
_PLAIN: Final = re.compile(r"[\w:./@+=,-]*", re.ASCII)


class Changes:
    """New values of settings, each for the file in which it belongs.

    With `one_file`, this is the home folder's `.env` for all of them, and no other file is changed.
    """

    def __init__(
        self, files: SettingsFiles, loaded: LoadedSettings, *, one_file: bool = False
    ) -> None:
        self._files = files
        self._loaded = loaded
        self._one_file = one_file
        self._over = Changes(files.over, loaded) if files.over and not one_file else None
        self._help = {name: field.description or "" for name, _section, field in fields()}
        self._before = {path: read_text(path) for path in files.paths()}
        self._env = self._before[files.env]
        self._toml = tomlkit.parse(self._before[files.toml])
        self._wanted: dict[str, str | None] = {}
        self.redactor = Redactor(_secrets(loaded))

    def set(self, path: str, value: Any) -> None:
        """Set a setting, as in `set("http.port", 80)`; None takes it out of the files."""
        name = variable(path)
        self._wanted[path] = None if value is None else str(value)
        if self._over and (value is None or self._over.has(path)):
            self._over.set(path, value)
        if value is None:
            self._env = _assignment(name, end=r"\n?").sub("", self._env)
            self._remove(path)
        elif self._over and self._over.has(path):
            return  # it would win over the home folder's files
        elif self._one_file or _assignment(name).search(self._env):
            self._put_into_env(name, str(value))  # it would win over tapeway.toml
        else:
            self._put_into_toml(path, value)

    def set_secret(self, path: str, value: str) -> None:
        """Set a secret; an empty one is taken out of the files."""
        self.redactor.learn(value)
        if value and self._over and self._over.has(path):
            self._wanted[path] = value
            self._over.set_secret(path, value)
        elif value:
            self._wanted[path] = value
            self._put_into_env(variable(path), value)
            self._remove(path)
        else:
            self.set(path, None)

    def overruled(self) -> Iterator[str]:
        """Yield a sentence for each changed setting that another place still sets otherwise."""
        sources = self._sources()
        for path, wanted in self._wanted.items():
            source = next((one for one in sources if one.names(path)), None)
            if source is not None and str(source.value(path)) != wanted:
                yield f"{variable(path)} is set otherwise in {source.place}: change it there"

    def settings(self) -> Settings:
        """Return the settings of the next start, as valid as then; raises SettingsError."""
        return settings_of(self._sources())

    def names(self) -> list[str]:
        """Return the variables' names of the changed settings."""
        return [variable(path) for path in self._wanted]

    def has(self, path: str) -> bool:
        """Return whether these files set a setting."""
        return any(one.names(path) for one in self._loaded.sources if one.path in self._before)

    def difference(self) -> list[tuple[Path, list[str]]]:
        """Return the changed lines of each file, marked with + and -, without secrets."""
        found = []
        for path, text in self._texts().items():
            before = self._before[path].splitlines()
            marked = ndiff(before, text.splitlines())
            lines = [self.redactor.line(line).rstrip() for line in marked if line[0] in "+-"]
            if lines:
                found.append((path, lines))
        return found

    def write(self) -> None:
        """Write the changed files in one step each; raises SettingsError if others changed them."""
        for path, before in self._before.items():
            if read_text(path) != before:
                raise SettingsError(
                    f"{path} has changed meanwhile, so nothing was written: run again"
                )
            if path.is_symlink() and path.lstat().st_uid not in (os.geteuid(), 0):
                raise SettingsError(f"{path} is another user's link, so nothing was written")
        texts = {path: new for path, new in self._texts().items() if new != self._before[path]}
        made: dict[Path, Path] = {}
        try:
            for path, text in texts.items():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                made[_beside(path.resolve(), text)] = path.resolve()
            for temporary, path in made.items():
                temporary.replace(path)
                sync_folder(path.parent)
        finally:
            for temporary in made:
                temporary.unlink(missing_ok=True)

    def _sources(self) -> list[SettingsSource]:
        texts = self._texts()
        return [
            of_file(Settings, one.path, texts[one.path], one.kind) if one.path in texts else one
            for one in self._loaded.sources
        ]

    def _texts(self) -> dict[Path, str]:
        own = {self._files.env: self._env}
        if not self._one_file:
            own[self._files.toml] = tomlkit.dumps(self._toml)
        return {**(self._over._texts() if self._over else {}), **own}

    def _put_into_env(self, name: str, value: str) -> None:
        plain = _PLAIN.fullmatch(value)
        quoted = value if plain else "'" + re.sub(r"(['\\])", r"\\\1", value) + "'"
        form = _assignment(name)
        if form.search(self._env):
            self._env = form.sub(lambda _: f"{name}={quoted}", self._env)
        else:
            start = self._env or ENV_HEADER
            self._env = start + ("" if start.endswith("\n") else "\n") + f"{name}={quoted}\n"

    def _put_into_toml(self, path: str, value: Any) -> None:
        if not self._before[self._files.toml] and not self._toml.as_string():
            self._toml = tomlkit.parse(HEADER)
        section, _, key = path.rpartition(".")
        if section and section not in self._toml:
            self._toml.add(tomlkit.nl())
            self._toml.add(section, tomlkit.table())
        table: Any = self._toml[section] if section else self._toml
        if key not in table and isinstance(table, Table) and not table.is_super_table():
            table.add(tomlkit.comment(_first_sentence(self._help[variable(path)])))
        if key not in table and not section:
            # Behind a table, it would belong to that table.
            self._toml = tomlkit.parse(_with_general(self._toml.as_string(), key, str(value)))
        else:
            table[key] = value

    def _remove(self, path: str) -> None:
        section, _, key = path.rpartition(".")
        table: Any = self._toml.get(section, {}) if section else self._toml
        if key in table:
            del table[key]


def _secrets(loaded: LoadedSettings) -> Iterator[str]:
    """Yield the secrets of every source, also of those that another one overrules."""
    for path, section, field in paths():
        if section and "SecretStr" in str(field.annotation):
            for source in loaded.sources:
                value = source.values.get(section, {}).get(path.rpartition(".")[2], "")
                yield from map(str, value.values() if isinstance(value, dict) else [value])


def _with_general(text: str, key: str, value: str) -> str:
    """Put a setting without a section above the first section."""
    before, mark, rest = text.partition("\n[")
    line = f"{key} = {tomlkit.item(value).as_string()}\n"
    if text.startswith("["):
        return f"{line}\n{text}"
    return f"{before.rstrip()}\n\n{line}{mark}{rest}".lstrip()


def _assignment(name: str, end: str = "") -> re.Pattern[str]:
    """Return the pattern of a setting in `.env`, where letters are not case-sensitive."""
    quoted = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")?"""
    form = rf"^[ \t]*(?:export[ \t]+)?{name}[ \t]*=[ \t]*{quoted}.*${end}"
    return re.compile(form, re.MULTILINE | re.IGNORECASE)


def _first_sentence(text: str) -> str:
    sentence, period, _rest = text.partition(". ")
    return (sentence + period).strip()


def _beside(path: Path, text: str) -> Path:
    """Write a private file beside a path, and give it to the path's or its folder's owner."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            like = (path if path.exists() else path.parent).stat()
            with suppress(OSError):  # root only, as in `sudo tapeway init` for a service's user
                os.chown(descriptor, like.st_uid, like.st_gid)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
