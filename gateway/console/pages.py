"""Serve the console's page and its files."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from channels.web.outbound import PageFiles

ASSETS: Final = "/console/assets/"
FILES: Final = PageFiles("gateway.console", ASSETS)


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page and its files, which are for everybody."""

    async def page(request: Request) -> Response:
        return FILES.answer(request, "console.html")

    async def asset(request: Request) -> Response:
        return FILES.answer(request, request.path_params["name"])

    return [Route("/console", page), Route(f"{ASSETS}{{name:path}}", asset)]
