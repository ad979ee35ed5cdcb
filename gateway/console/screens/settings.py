"""The settings in force, and where each comes from; a model and tokens can be set and tried.

No secret is ever among what is shown. Who owns an account sets nothing here: a token is that of the
whole channel, with all its accounts, so it is for the owner of the instance.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.console.answers import console_route
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.errors import AdminError
from gateway.http.json_route import json_body
from gateway.language.language import translated
from gateway.settings import Settings
from gateway.settings.load import paths
from gateway.settings.shown import shown
from gateway.settings.sources import variable
from gateway.setup.settings_desk import SettingsDesk, SettingsStale
from gateway.setup.trials import Trial

NOT_HERE: Final = "This gateway was started without the means to change its settings."


def settings_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of the settings, which are for the instance's owner."""
    desk, clean = parts.desk, parts.services.redactor.value

    async def settings(request: Request) -> Any:
        await rights.owner(request)
        rows = settings_rows(parts.services.settings)
        may: dict[str, Any] = {"why": NOT_HERE, "version": "", "parts": []}
        if desk is not None:
            may = await desk.shown()
        for one in (may, *may["parts"]):
            one["why"] = translated(one["why"])
        return clean({"settings": rows, "may": may}, lines=True)

    async def try_out(request: Request) -> Any:
        async def run(desk: SettingsDesk, part: str, body: dict[str, Any], by: str) -> Trial:
            return await desk.try_out(part, _values(body), by)

        return await answer(request, run)

    async def save(request: Request) -> Any:
        async def run(desk: SettingsDesk, part: str, body: dict[str, Any], by: str) -> Trial:
            return await desk.save(part, _values(body), by, str(body.get("version") or ""))

        return await answer(request, run)

    async def remove(request: Request) -> Any:
        async def run(desk: SettingsDesk, part: str, body: dict[str, Any], by: str) -> Trial:
            await desk.remove(part, by, str(body.get("version") or ""))
            return Trial(well=True, lines=[])

        return await answer(request, run)

    async def answer(
        request: Request, run: Callable[[SettingsDesk, str, dict[str, Any], str], Awaitable[Trial]]
    ) -> Any:
        visitor = await rights.owner(request)
        if desk is None:
            raise HTTPException(403, NOT_HERE)
        body = await json_body(request)
        try:
            trial = await run(desk, request.path_params["part"], body, visitor.person)
        except SettingsStale as stale:
            raise HTTPException(409, str(stale)) from stale
        lines = [{name: translated(one[name]) for name in one} for one in trial.as_json()["lines"]]
        return clean({"well": trial.well, "lines": lines}, lines=True)

    return [
        console_route("/settings", settings),
        console_route("/settings/{part}/try", try_out, "POST"),
        console_route("/settings/{part}/remove", remove, "POST"),
        console_route("/settings/{part}", save, "POST"),
    ]


def _values(body: dict[str, Any]) -> dict[str, str]:
    """Return the values that somebody has entered; raises AdminError."""
    given = body.get("values")
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        raise AdminError("the request has no values")
    return given


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
                "help": translated(field.description or ""),
                "value": shown(getattr(table, path.rpartition(".")[2])),
                "origin": kind,
                "path": str(place) if place else "",
            }
        )
    return rows
