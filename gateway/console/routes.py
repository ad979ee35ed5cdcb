"""The routes of the console, of all its screens."""

from __future__ import annotations

from starlette.routing import BaseRoute

from gateway.console.entrance import Admissions, Entrance
from gateway.console.inspect.finding import finding_routes
from gateway.console.inspect.rerun import RunAgain
from gateway.console.inspect.turns import turn_routes
from gateway.console.inspect.why import why_routes
from gateway.console.live import LiveStreams
from gateway.console.pages import page_routes
from gateway.console.parts import ConsoleParts
from gateway.console.pulse import Pulse
from gateway.console.rights import Rights
from gateway.console.screens.channels import channel_routes
from gateway.console.screens.deck import deck_routes
from gateway.console.screens.ledger import ledger_routes
from gateway.console.screens.links import LinksScreen
from gateway.console.screens.money import money_routes
from gateway.console.screens.people import PeopleScreen
from gateway.console.screens.sessions import session_routes
from gateway.console.screens.settings import settings_routes
from gateway.console.screens.timeline import timeline_routes
from gateway.http.auth import Gatekeeper


def console_routes(
    parts: ConsoleParts, rights: Rights, gate: Gatekeeper, pulse: Pulse
) -> list[BaseRoute]:
    """Return the routes of the console."""
    return [
        *page_routes(),
        *Entrance(parts, rights, gate, Admissions(parts.services.clock)).routes(),
        *LiveStreams(parts.services, pulse, rights, gate).routes(),
        *deck_routes(parts, rights),
        *ledger_routes(parts, rights),
        *channel_routes(parts, rights),
        *PeopleScreen(parts, rights).routes(),
        *session_routes(parts, rights),
        *money_routes(parts, rights),
        *settings_routes(parts, rights),
        *timeline_routes(parts, rights),
        *LinksScreen(parts, rights).routes(),
        *why_routes(parts, rights),
        *finding_routes(parts, rights),
        *turn_routes(parts, rights, RunAgain(parts)),
    ]
