"""The one question of `make run` without settings: Enter starts offline at once."""

from __future__ import annotations

import os
import sys

from gateway.cli.setup.providers import find_providers
from gateway.errors import GatewayError
from gateway.settings import load_with_sources
from gateway.settings.sources import variable

ABOUT_A_START = ("agent", "models", "telegram", "discord", "slack")


def ask_first_question() -> None:
    """Ask for a model, for this start only, if nothing is set and a person is at the terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or _is_in_background() or _is_set_up():
        return
    found = next(find_providers(os.environ), None)
    usable = found is not None and found.model
    print("\n  No model is set up yet; `tapeway init` does that, with your bots.", file=sys.stderr)
    hint = f", y takes {found.model} of {found.provider.title}" if found and usable else ""
    print(f"  Model? Enter starts offline{hint}: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip()
    agrees = answer.lower() in ("y", "yes")
    name = (found.model if found else "") if agrees else answer
    if not name or answer.lower() in ("n", "no"):
        return
    os.environ[variable("agent.model")] = name
    if found:
        os.environ[variable("agent.base_url")] = found.provider.base_url
        os.environ[variable("agent.api_key")] = found.key


def _is_in_background() -> bool:
    """Return whether reading from the terminal would stop this process, as with `make run &`."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) != os.getpgrp()
    except OSError:
        return False


def _is_set_up() -> bool:
    try:
        loaded = load_with_sources()
    except GatewayError:
        return True  # the start says what is wrong
    return any(section in source.values for source in loaded.sources for section in ABOUT_A_START)
