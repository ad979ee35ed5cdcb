"""`tapeway explain`: ask the running gateway, or read the database where none runs.

Somebody waits for it, so it loads little: no plugin, no channel, no model, no log.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path

from gateway.errors import GatewayError
from gateway.explain.explainer import Explainer
from gateway.explain.read_only import read_only
from gateway.explain.render import to_text
from gateway.explain.report import Report
from gateway.home import find_running
from gateway.settings import Settings, load_settings
from tape.errors import TapeError


def explain(asked: str, as_json: bool) -> int:
    """Print what became of a message; 1 where none was found, or several may be meant."""
    try:
        story = _story(load_settings(), asked)
    except (GatewayError, TapeError, OSError) as cause:
        print(f"tapeway: {cause}", file=sys.stderr)
        return cause.exit_code if isinstance(cause, GatewayError) else 1
    if as_json:
        print(json.dumps(story.to_json(), indent=2))
    else:
        print(to_text(story), file=sys.stdout if story.head else sys.stderr)
    return 0 if story.head else 1


def _story(settings: Settings, asked: str) -> Report:
    found = find_running(settings.home_path)
    if found is not None:
        told: Report = import_module("gateway.cli.explain_remote").story_of(found, asked)
        return told
    path = _database(settings)
    if path is None:
        story: Report = import_module("gateway.cli.explain_local").story_of(settings, asked)
        return story
    with read_only(path) as reads:
        return asyncio.run(Explainer(reads, settings).explain(asked))


def _database(settings: Settings) -> Path | None:
    """Return the database that holds ledger and tapes; None where a plugin may have the tapes."""
    url = settings.tape_url
    if not url.startswith("sqlite:"):
        raise GatewayError(
            "no gateway runs on this home, and its tapes are kept in memory only: there is nothing"
            " to explain"
        )
    if (settings.home_path / "ledger.db").exists():
        return None
    return Path(url.removeprefix("sqlite:").removeprefix("//").partition("?")[0])
