"""Serves the page's files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@cache
def _files() -> dict[str, Traversable]:
    return {file.name: file for file in (files("channels.web") / "assets").iterdir()}


def page_routes() -> list[Route]:
    async def static(request: Request) -> Response:
        return asset(request.path_params.get("name", "index.html"))

    return [Route("/", static), Route("/static/{name}", static)]


def asset(name: str) -> Response:
    """Return one of the page's files, or a 404 response."""
    kind = _TYPES.get(name.rpartition(".")[2])
    file = _files().get(name)
    if kind is None or file is None:
        return Response("Not found.", status_code=404, media_type="text/plain")
    return Response(file.read_bytes(), media_type=kind, headers={"Cache-Control": "no-cache"})
