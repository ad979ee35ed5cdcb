"""Serve the console's page and its files, which say nothing about anybody."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from channels.web.outbound import whole

TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
PAGE: Final = "console.html"


def page_routes() -> list[BaseRoute]:
    """Return the routes of the page and its files, which are for everybody."""

    async def page(request: Request) -> Response:
        return _answer(request, PAGE)

    async def asset(request: Request) -> Response:
        return _answer(request, request.path_params["name"])

    return [Route("/console", page), Route("/console/assets/{name:path}", asset)]


def _answer(request: Request, name: str) -> Response:
    kind, found = TYPES.get(name.rpartition(".")[2]), _files().get(name)
    if kind is None or found is None:
        return Response("Not found.", status_code=404, media_type="text/plain")
    body, tag = found
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Map the files' paths to what they hold, and to its tag."""
    found: dict[str, tuple[bytes, str]] = {}
    _read(files("gateway.console") / "assets", "", found)
    return found


def _read(folder: Traversable, prefix: str, found: dict[str, tuple[bytes, str]]) -> None:
    for one in folder.iterdir():
        if one.is_dir():
            _read(one, f"{prefix}{one.name}/", found)
        else:
            body = whole(one.read_bytes()) if one.name == PAGE else one.read_bytes()
            found[f"{prefix}{one.name}"] = body, f'"{sha256(body).hexdigest()[:20]}"'
