"""The routes of the console, of all its screens."""

from __future__ import annotations

from starlette.routing import BaseRoute

from gateway.console.entrance import Entrance
from gateway.console.inspect.turns import turn_routes
from gateway.console.inspect.why import why_routes
from gateway.console.pages import page_routes
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.console.screens.deck import deck_routes
from gateway.http.auth import WrongLogins


def console_routes(parts: ConsoleParts, wrong: WrongLogins) -> list[BaseRoute]:
    """Return the routes of the console; `wrong` slows down who tries codes."""
    rights = Rights(parts)
    return [
        *page_routes(),
        *Entrance(parts, rights, wrong).routes(),
        *deck_routes(parts, rights),
        *why_routes(parts, rights),
        *turn_routes(parts, rights),
    ]
