"""What is examined: an instance's settings as far as they are valid, and its running gateway."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.errors import SettingsError
from gateway.home import Running, find_running, is_locked
from gateway.redaction.known_secrets import secrets_as_written, secrets_of
from gateway.redaction.redactor import Redactor
from gateway.settings import Settings, load_settings
from gateway.settings.files import DEFAULT_HOME, HOME, SettingsFiles, settings_files
from gateway.settings.intervals import INTERVALS, Intervals

_MISSPELT: Final = re.compile(r"^(\w+) is not a setting", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Subject:
    """An instance.

    settings  the effective ones without misspelt variables; if others are wrong, the defaults
    wrong     why the settings are wrong; "" if they are valid
    known     whether `settings` are the instance's own
    files     None if the named settings' file is missing
    running   the gateway that runs on the home, if it has an address
    held      whether a process holds the home's lock
    deep      whether slow checks were asked for
    intervals how long the checks wait
    """

    variables: Mapping[str, str]
    settings: Settings
    wrong: str
    known: bool
    files: SettingsFiles | None
    running: Running | None
    held: bool
    redactor: Redactor
    deep: bool = False
    intervals: Intervals = INTERVALS

    @property
    def home(self) -> Path:
        return self.settings.home_path

    @property
    def database(self) -> Path | None:
        """The file or folder of the tapes, None if they have none."""
        scheme, _, rest = self.settings.tape_url.partition(":")
        path = rest.removeprefix("//").partition("?")[0]
        return Path(path) if path and scheme in ("sqlite", "file") else None


def find_subject(variables: Mapping[str, str], *, deep: bool) -> Subject:
    """Find the instance that a command with these variables means; changes nothing."""
    wrong, files, settings = "", None, None
    try:
        files = settings_files(variables)
        settings = load_settings(variables)
    except SettingsError as cause:
        wrong = str(cause)
        settings = _without_misspelt(variables, wrong)
    known = settings is not None
    settings = settings or Settings.model_construct(home=_home(variables))
    home = settings.home_path
    running = find_running(home)
    held = running is not None or is_locked(home)
    more = [running.token] if running else []
    if wrong:  # the settings that hold the others may be among those that are not known
        more += secrets_as_written(variables)
    redactor = Redactor(secrets_of(settings, more))
    return Subject(variables, settings, wrong, known, files, running, held, redactor, deep)


def _home(variables: Mapping[str, str]) -> Path:
    named = Path(variables.get(HOME) or DEFAULT_HOME)
    try:
        return named.expanduser()
    except RuntimeError:  # of a user who does not exist; the settings' result says so
        return named.absolute()


def _without_misspelt(variables: Mapping[str, str], wrong: str) -> Settings | None:
    """Return the settings without the misspelt variables, None if something else is wrong, too."""
    names = set(_MISSPELT.findall(wrong))
    try:
        return load_settings({name: one for name, one in variables.items() if name not in names})
    except SettingsError:
        return None
