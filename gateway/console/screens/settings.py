"""The settings in force, and where each comes from; no secret is among them."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.console.answers import console_route
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.settings import Settings
from gateway.settings.load import paths
from gateway.settings.shown import shown
from gateway.settings.sources import variable


def settings_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the route of the settings, which are for the instance's owner."""

    async def settings(request: Request) -> Any:
        await rights.owner(request)
        rows = settings_rows(parts.services.settings)
        return {"settings": parts.services.redactor.value(rows, lines=True)}

    return [console_route("/settings", settings)]


def settings_rows(settings: Settings) -> list[dict[str, Any]]:
    """Return every setting: its variable, section, help, value, and the source that sets it."""
    rows = []
    for path, section, field in paths():
        table = getattr(settings, section) if section else settings
        kind, place = settings.origin(path)
        rows.append(
            {
                "name": variable(path),
                "section": section,
                "help": field.description or "",
                "value": shown(getattr(table, path.rpartition(".")[2])),
                "origin": kind,
                "path": str(place) if place else "",
            }
        )
    return rows
