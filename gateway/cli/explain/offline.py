"""Explain a message where the settings are needed: no gateway runs, or only they say where."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from gateway.cli.explain.command import ask_gateway
from gateway.errors import GatewayError
from gateway.explain.explainer import Explainer
from gateway.explain.read_only import read_only
from gateway.explain.report import Report
from gateway.home import find_running
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import Redactor
from gateway.settings import Settings, load_settings
from gateway.settings.files import with_remembered
from tape.errors import TapeError


def report(message: str) -> Mapping[str, Any]:
    """Return the report about a message as JSON; raises GatewayError."""
    settings = load_settings(with_remembered(os.environ))
    found = find_running(settings.home_path)
    if found is not None:
        return ask_gateway(found, message)
    path = _database(settings)
    try:
        if path is None:
            return asyncio.run(_with_plugins(settings, message)).to_json()
        with read_only(path) as reads:
            explainer = Explainer(reads, Redactor(secrets_of(settings)))
            return asyncio.run(explainer.explain(message)).to_json()
    except TapeError as cause:
        raise GatewayError(str(cause)) from cause


async def _with_plugins(settings: Settings, message: str) -> Report:
    # A plugin or a server may store the tapes: this opens a gateway here, with the plugins.
    running_gateway = import_module("gateway.app").running_gateway
    async with running_gateway(settings, only=[], http=False) as gateway:
        services = gateway.services
        explainer = Explainer(services.store, services.redactor, services.clock)
        found: Report = await explainer.explain(message)
        return found


def _database(settings: Settings) -> Path | None:
    url = settings.tape_url
    if url.startswith("postgresql:"):
        return None
    if not url.startswith("sqlite:"):
        raise GatewayError(
            "no gateway is running on this home, and its tapes are kept in memory only: there is"
            " nothing to explain"
        )
    if (settings.home_path / "ledger.db").exists():
        return None
    return Path(url.removeprefix("sqlite:").removeprefix("//").partition("?")[0])
