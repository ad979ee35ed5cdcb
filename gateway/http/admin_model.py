"""The routes with which the page's owner sets up a model."""

from __future__ import annotations

from typing import Any, Protocol

from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.http.json_route import json_body, json_route


class ModelSetup(Protocol):
    """Sets up a model; whoever runs the gateway has one if it can start with new settings."""

    async def servers(self) -> list[dict[str, Any]]:
        """Return the servers to choose from: name, title, a model, and whether a key is needed."""
        ...

    async def take(self, server: str, address: str, model: str, key: str) -> str:
        """Try a model and write it into the settings; return what it said.

        `server` names a known server; `address` is that of another one. Raises AdminError, and
        then nothing was written.
        """
        ...


def model_routes(setup: ModelSetup | None) -> list[BaseRoute]:
    """Return the routes of the page's button; without a setup, there is no such button."""
    if setup is None:
        return []

    async def servers(_request: Request) -> Any:
        return await setup.servers()

    async def take(request: Request) -> Any:
        body = await json_body(request)
        names = ("server", "address", "model", "key")
        server, address, model, key = (str(body.get(name) or "").strip() for name in names)
        return {"said": await setup.take(server, address, model, key)}

    return [json_route("/api/model", servers), json_route("/api/model", take, "POST")]
