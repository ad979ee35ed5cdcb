"""The one question of the first `make run`: the answer is saved, and Enter starts offline."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from agent.models.offline import OFFLINE
from gateway.cli.screen import print_note
from gateway.errors import GatewayError
from gateway.printing import print_err
from gateway.settings import LoadedSettings, load_with_sources
from gateway.settings.files import settings_files
from gateway.setup.changes import Changes
from gateway.setup.model_choice import ModelChoice, whole
from gateway.setup.providers import Found, find_providers

ABOUT_A_START: Final = ("agent", "models", "telegram", "discord", "slack")
_NAME: Final = re.compile(r"\w[\w.:/@+-]+")


def ask_first_question() -> None:
    """Ask for a model if nothing is set, the home is new and a person is at the terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or _is_in_background():
        return
    with suppress(GatewayError, OSError):  # the start says what is wrong
        loaded = load_with_sources()
        if _is_new(loaded):
            changes = Changes(settings_files(os.environ), loaded)
            _ask(list(find_providers(os.environ))).put_into(changes)
            changes.write()
            written = " and ".join(str(path) for path, _lines in changes.difference())
            print_note(f"  Saved in {written}; `tapeway init` changes it.")


def _ask(found: Sequence[Found]) -> ModelChoice:
    """Ask until the answer can be used."""
    usable = next((one for one in found if one.model), None)
    hint = f", y takes {usable.model} of {usable.provider.title}" if usable else ""
    print_note("  No model is set up yet; `tapeway init` does that, with your bots.")
    while True:
        print_err(f"  Model? Enter starts offline{hint}: ", end="")
        answer = sys.stdin.readline().strip()
        if answer.lower() in ("", "n", "no", OFFLINE):
            return ModelChoice(OFFLINE)
        agreed = answer.lower() in ("y", "yes") and usable
        name = agreed.model if agreed else answer
        server = agreed or _server_of(name, found)
        if not _NAME.fullmatch(name):
            print_note(f"  {name} is no model's name; one is gpt-5-mini, for example.")
        elif server is None:
            print_note(f"  No server here has {name}, and no key was found; see `tapeway init`.")
        else:
            choice = whole(ModelChoice(name, server.provider.base_url, server.key), os.environ)
            where = f" ({choice.base_url})" if choice.base_url else ""
            print_note(f"  {name} of {server.provider.title} will answer{where}.")
            return choice


def _server_of(name: str, found: Sequence[Found]) -> Found | None:
    """Return the server that lists a model, otherwise the first provider with a key."""
    listed = (one for one in found if name in one.models)
    return next(listed, None) or next((one for one in found if one.key), None)


def _is_in_background() -> bool:
    """Return whether reading from the terminal would stop this process, as with `make run &`."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp()
    except OSError:
        return False


def _is_new(loaded: LoadedSettings) -> bool:
    """Return whether no start is set up or has been: a restart after a crash must not wait."""
    is_set = any(section in one.values for one in loaded.sources for section in ABOUT_A_START)
    return not is_set and not any(loaded.settings.home_path.glob("*.db"))
