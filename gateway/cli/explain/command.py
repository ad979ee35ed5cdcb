"""`tapeway explain`: ask the running gateway, or read the database if none is running.

Someone is waiting for the result, so this loads no plugin, channel, model or log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import quote

from gateway.cli.explain.way import way_of
from gateway.cli.reach.http_call import http_get
from gateway.cli.reach.known_home import running_of
from gateway.cli.screen import discard_output, finish_output, print_note
from gateway.errors import GatewayError
from gateway.home import Running
from gateway.printing import print_err, print_words

TIMEOUT_SECONDS: Final = 30.0


def explain(message: str, as_json: bool) -> int:
    """Print the report about a message; return 1 if no message or several match."""
    try:
        reach = running_of(os.environ)
        if reach is not None:
            report = ask_gateway(reach[1], message)
        else:
            # The store's errors become errors of the gateway there.
            report = import_module("gateway.cli.explain.offline").report(message)
    except (GatewayError, OSError) as cause:
        print_note(f"tapeway: {cause}")
        return cause.exit_code if isinstance(cause, GatewayError) else 1
    try:
        if as_json:
            print_words(json.dumps(report, indent=2))
        elif report["head"]:
            print_words(way_of(report))
        else:
            print_err(way_of(report))
    except BrokenPipeError:
        return discard_output()
    finish_output()
    return 0 if report["head"] else 1


def ask_gateway(found: Running, message: str) -> Mapping[str, Any]:
    """Return the running gateway's report; raises GatewayError."""
    path = f"/api/explain?message={quote(message, safe='')}"
    status, body = http_get(found, path, TIMEOUT_SECONDS)
    if status != 200:
        raise GatewayError(f"the gateway answered with status {status}: is it another version?")
    report: Mapping[str, Any] = body
    return report
