"""The HTTP routes, from the application that a gateway serves, each with a sentence."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import anyio
from starlette.routing import Route

from channels.registry import make_channel
from gateway.app import running_gateway, web_app
from gateway.http.app import channel_routes
from gateway.http.auth import Audience, audience
from gateway.setup.settings_desk import SettingsDesk
from tests.kit.gateways import make_settings, with_plugins
from tests.reference.route_sentences import SENTENCES
from tests.reference.table import table

AUDIENCES: Final[dict[Audience, str]] = {
    "everybody": "everybody",
    "console": "owners and admins, each what is theirs",
    "members": "members, in their room",
    "owner": "the owner",
    "platforms": "the platform, with its own secret",
}

CREDENTIALS: Final = {
    "TELEGRAM__TOKEN": "1:none",
    "SLACK__BOT_TOKEN": "xoxb-none",
    "SLACK__APP_TOKEN": "xapp-none",
    "SLACK__CLIENT_ID": "1.2",
    "SLACK__CLIENT_SECRET": "none",
    "TAPE__URL": "memory:",
}


def lines() -> Iterator[str]:
    rows = (
        (f"`{method}`", f"`{path}`", AUDIENCES[audience(path)], SENTENCES.get((method, path), ""))
        for method, path in sorted(routes(), key=lambda one: (one[1], one[0]))
    )
    yield from table(("Method", "Path", "Who may", "What it does"), rows)


@cache
def routes() -> list[tuple[str, str]]:
    """Return the method and path of every route of a gateway with all its channels."""
    return anyio.run(_routes)


async def _routes() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        installations = str(Path(folder, "installations.json"))
        more = {**CREDENTIALS, "SLACK__INSTALLATIONS": installations}
        settings = make_settings(Path(folder), None, **more)
        own, plugins = ["cli", "web"], with_plugins()
        async with running_gateway(settings, only=own, http=False, plugins=plugins) as gateway:
            for name in ("slack", "telegram"):  # never started: their servers are far away
                gateway.channels[name] = make_channel(name, getattr(settings, name))
            gateway.desk = SettingsDesk({}, gateway.renewal)
            app = web_app(gateway, "", "")
            return [
                (method, route.path)
                for route in (*app.routes, *channel_routes(gateway.channels.values()))
                if isinstance(route, Route)
                for method in (route.methods or set()) - {"HEAD"}
            ]
