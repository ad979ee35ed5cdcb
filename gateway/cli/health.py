"""`tapeway health`: ask the running gateway whether it is ready.

A container asks every few seconds: this loads the standard library and little else.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.errors import GatewayError
from gateway.home import find_running, is_locked

SECONDS: Final = 3.0


def health(environ: Mapping[str, str] = os.environ) -> int:
    """Print how the gateway is; 0 where it is ready, else 1."""
    try:
        home = _home(environ)
    except GatewayError as cause:
        print(f"tapeway: {cause}", file=sys.stderr)
        return 1
    ready, sentence = ask(home)
    print(sentence, file=sys.stdout if ready else sys.stderr)
    return 0 if ready else 1


def ask(home: Path) -> tuple[bool, str]:
    """Ask the gateway of a home; returns whether it is ready, and a sentence."""
    found = find_running(home)
    if found is None:
        if is_locked(home):
            return False, f"the gateway on {home} is starting or ending: ask again in a moment"
        return False, f"no gateway runs on {home}: start one with `tapeway gateway`"
    address = urlsplit(found.url)
    connection = http.client.HTTPConnection(
        address.hostname or "127.0.0.1", address.port, timeout=SECONDS
    )
    try:
        connection.request("GET", "/health/ready")
        answer = connection.getresponse()
        body = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as cause:
        why = str(cause) or type(cause).__name__
        return False, f"the gateway at {found.url} does not answer ({why}): look at its log"
    finally:
        connection.close()
    if answer.status == 200:
        return True, "\n".join([f"ready: {found.url}", *_what_could_be_better(body)])
    return False, f"not ready: {_what_is_wrong(body)}"


def _home(environ: Mapping[str, str]) -> Path:
    """Return the home folder: a container names it in its environment, and then that is quick."""
    named = environ.get("TAPEWAY_HOME")
    if named:
        return Path(named).expanduser().absolute()
    home: Path = import_module("gateway.settings").load_settings(environ).home_path
    return home


def _what_could_be_better(body: Any) -> list[str]:
    """Return what channels that run have to say, with the remedy."""
    channels = body.get("channels", {})
    return [
        f"{name}: {note}" for name, state in channels.items() for note in state.get("notes", ())
    ]


def _what_is_wrong(body: Any) -> str:
    """Say which channels are not ready and why, and whether the database is away."""
    channels = body.get("channels", {})
    wrong = [
        f"{name} is {state['state']}" + (f" ({state['why']})" if "why" in state else "")
        for name, state in channels.items()
        if state["state"] != "ready"
    ]
    if "store" in body:
        wrong.append(f"the database has been away for {body['store']['seconds']} s")
    return "; ".join(wrong) or "it does not say why"
