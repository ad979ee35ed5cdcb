"""The button of the page with which its owner sets up a model, while none is."""

from __future__ import annotations

from typing import Any

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.errors import AdminError
from gateway.http.json_route import json_body, json_route
from gateway.language.language import translated
from gateway.setup.providers import BY_NAME, KNOWN, LOCAL, find_providers
from gateway.setup.settings_desk import MODEL, NAME_A_MODEL, NO_KEY_FIELD, SettingsDesk


def page_setup_routes(desk: SettingsDesk) -> list[BaseRoute]:
    """Return the routes of the page's button, which are for the owner."""

    async def servers(_request: Request) -> list[dict[str, Any]]:
        """Return the servers to choose from."""
        found = await run_sync(lambda: list(find_providers(desk.environ)))
        usable = {one.provider.name: one for one in found}
        return [
            {
                "name": one.name,
                "title": one.title,
                "model": usable[one.name].model if one.name in usable else one.model,
                "needs_key": bool(one.variable) and one.name not in usable,
            }
            for one in (*KNOWN, *LOCAL)
            if one.variable or one.name in usable
        ]

    async def take(request: Request) -> dict[str, str]:
        """Try a model, and write it into the settings unless it does not answer."""
        body = await json_body(request)
        names = ("server", "address", "model", "key")
        server, address, model, key = (str(body.get(name) or "").strip() for name in names)
        if not model:
            raise AdminError(NAME_A_MODEL)
        if server in BY_NAME:
            known = BY_NAME[server]
            address = known.base_url
            key = key or desk.environ.get(known.variable, "").strip()
            if known.variable and not key:
                raise AdminError(f"Enter your API key for {known.title}")
        elif not address:
            raise AdminError("Enter the server's address, such as http://127.0.0.1:11434/v1")
        given = {"base_url": address, "model": model, "key": key, NO_KEY_FIELD: "yes"}
        person = f"web:{request.state.session.person}"
        trial = await desk.save(MODEL, given, person)
        (line,) = trial.lines
        if not trial.well:
            raise AdminError(line.says)
        return {"said": translated(line.says)}

    return [json_route("/api/model", servers), json_route("/api/model", take, "POST")]
