"""`tapeway health`: ask the running gateway whether it is ready.

Containers call this every few seconds, so it loads little more than the standard library.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from gateway.cli.reach.http_call import http_get
from gateway.cli.reach.known_home import home_of
from gateway.cli.screen import print_note, safe
from gateway.cli.table import print_json
from gateway.errors import GatewayError
from gateway.home import find_running, is_locked
from gateway.printing import print_out

TIMEOUT_SECONDS: Final = 3.0


def health(environ: Mapping[str, str] = os.environ, *, as_json: bool = False) -> int:
    """Print the gateway's state; return 0 if the gateway is ready, otherwise 1."""
    try:
        ready, sentence = ask(_home(environ))
    except GatewayError as cause:
        ready, sentence = False, f"tapeway: {cause}"
    if as_json:
        print_json({"ready": ready, "says": sentence})
    elif ready:
        print_out(safe(sentence))
    else:
        print_note(sentence)
    return 0 if ready else 1


def ask(home: Path) -> tuple[bool, str]:
    """Return whether the gateway in a home is ready, and a sentence that describes its state."""
    found = find_running(home)
    if found is None:
        if is_locked(home):
            return False, f"the gateway on {home} is starting or stopping: ask again in a moment"
        return False, f"no gateway is running on {home}: start one with `tapeway gateway`"
    try:
        status, body = http_get(found, "/health/ready", TIMEOUT_SECONDS)
    except GatewayError as cause:
        return False, str(cause)
    if status == 200:
        return True, "\n".join([f"ready: {found.url}", *_notes(body or {})])
    return False, f"not ready: {_problems(body or {})}"


def _home(environ: Mapping[str, str]) -> Path:
    if known := home_of(environ):
        return known
    variables = import_module("gateway.settings.files").with_remembered(environ)
    home: Path = import_module("gateway.settings").load_settings(variables).home_path
    return home


def _notes(body: Mapping[str, Any]) -> list[str]:
    states = body.get("channels", {}).items()
    notes = [f"{name}: {note}" for name, state in states for note in state.get("notes", ())]
    model = [f"model: {note}" for note in body.get("model", {}).get("notes", ())]
    return [*notes, *model, *body.get("notes", ())]


def _problems(body: Mapping[str, Any]) -> str:
    found = [
        f"{name} is {state['state']}" + (f" ({state['why']})" if "why" in state else "")
        for name, state in body.get("channels", {}).items()
        if state["state"] != "ready"
    ]
    if "store" in body:
        found.append(f"the database has been away for {body['store']['seconds']} s")
    return "; ".join(found) or "it does not say why"
