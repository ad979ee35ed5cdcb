"""`tapeway explain`: ask the running gateway, or read the database if none is running.

Someone is waiting for the result, so this loads no plugin, channel, model or log.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gateway.cli.reach.http_call import http_get
from gateway.errors import GatewayError
from gateway.explain.explainer import Explainer
from gateway.explain.read_only import read_only
from gateway.explain.report import Report, to_text
from gateway.home import Running, find_running
from gateway.settings import Settings, load_settings
from gateway.settings.files import with_remembered
from tape.errors import TapeError

TIMEOUT_SECONDS: Final = 30.0


def explain(message: str, as_json: bool) -> int:
    """Print the report about a message; return 1 if no message or several match."""
    try:
        report = _report(load_settings(with_remembered(os.environ)), message)
    except (GatewayError, TapeError, OSError) as cause:
        print(f"tapeway: {cause}", file=sys.stderr)
        return cause.exit_code if isinstance(cause, GatewayError) else 1
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        print(to_text(report), file=sys.stdout if report.head else sys.stderr)
    return 0 if report.head else 1


def _report(settings: Settings, message: str) -> Report:
    found = find_running(settings.home_path)
    if found is not None:
        return _remote(found, message)
    path = _database(settings)
    if path is None:
        return asyncio.run(_with_plugins(settings, message))
    with read_only(path) as reads:
        return asyncio.run(Explainer(reads, settings).explain(message))


def _remote(found: Running, message: str) -> Report:
    path = f"/api/explain?message={quote(message, safe='')}"
    status, body = http_get(found, path, TIMEOUT_SECONDS)
    if status != 200:
        raise GatewayError(f"the gateway answered with status {status}: is it another version?")
    return Report.from_json(body)


async def _with_plugins(settings: Settings, message: str) -> Report:
    # A plugin may store the tapes, so this opens a gateway in this process, with the plugins.
    running_gateway = import_module("gateway.app").running_gateway
    async with running_gateway(settings, only=[], http=False) as gateway:
        report: Report = await Explainer(gateway.services.store, settings).explain(message)
        return report


def _database(settings: Settings) -> Path | None:
    url = settings.tape_url
    if not url.startswith("sqlite:"):
        raise GatewayError(
            "no gateway is running on this home, and its tapes are kept in memory only: there is"
            " nothing to explain"
        )
    if (settings.home_path / "ledger.db").exists():
        return None
    return Path(url.removeprefix("sqlite:").removeprefix("//").partition("?")[0])
