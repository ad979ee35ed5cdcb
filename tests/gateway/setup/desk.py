"""A running gateway whose settings are in files, and its owner, who sets a model or a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from gateway.app import Gateway
from gateway.settings import load_settings
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import OUTSIDE, TOKEN
from tests.kit.canaries import KEY
from tests.kit.gateways import PATIENT, make_environ, running, with_plugins

OTHER_KEY = "sk-canary-of-another-server-77aa"


@asynccontextmanager
async def set_up(
    home: Path,
    stored: str = "",
    *,
    plugins: Any = None,
    only: Any = None,
    internals: Any = PATIENT,
    **more: str,
) -> AsyncIterator[tuple[Gateway, httpx2.AsyncClient]]:
    """Run a gateway whose `.env` has `stored` lines; yield it with its owner's client."""
    home.mkdir(exist_ok=True)  # noqa: ASYNC240 - a test may wait for its own disk
    if stored:
        (home / ".env").write_text(stored)
        (home / ".env").chmod(0o600)
    environ = make_environ(home, None, HTTP__TOKEN=TOKEN, **more)
    settings = load_settings(environ)
    how = {"plugins": plugins or with_plugins(), "only": only, "internals": internals}
    async with running(settings, environ=environ, **how) as gateway, client_of(gateway) as client:
        yield gateway, client


@asynccontextmanager
async def client_of(gateway: Gateway) -> AsyncIterator[httpx2.AsyncClient]:
    """Have a client with the access token, which is not on this machine."""
    async with httpx2.AsyncClient(
        base_url=gateway.url, trust_env=False, headers=OUTSIDE, timeout=60
    ) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


async def shown(client: httpx2.AsyncClient) -> dict[str, Any]:
    """Return what may be set."""
    answer = await client.get("/api/console/settings")
    found: dict[str, Any] = answer.json()["may"]
    return found


async def save(
    client: httpx2.AsyncClient, part: str, version: str | None = None, **values: str
) -> httpx2.Response:
    """Save values, by default over the settings as they are now."""
    version = (await shown(client))["version"] if version is None else version
    body = {"values": values, "version": version}
    return await client.post(f"/api/console/settings/{part}", json=body)


async def remove(
    client: httpx2.AsyncClient, part: str, version: str | None = None
) -> httpx2.Response:
    """Remove a channel's tokens; without a version, of the settings as they are shown now."""
    if version is None:
        version = (await shown(client))["version"]
    return await client.post(f"/api/console/settings/{part}/remove", json={"version": version})


async def try_out(client: httpx2.AsyncClient, part: str, **values: str) -> httpx2.Response:
    """Try values."""
    return await client.post(f"/api/console/settings/{part}/try", json={"values": values})


def stored(server: FakeOpenAI, model: str = "first") -> str:
    """Return the lines of a `.env` with a model."""
    return (
        f"# mine\nTAPEWAY_AGENT__MODEL={model}\nTAPEWAY_AGENT__BASE_URL={server.base_url}\n"
        f"TAPEWAY_AGENT__API_KEY={KEY}\n"
    )


def fields(may: dict[str, object], part: str = "model") -> dict[str, dict[str, object]]:
    """Return what is shown of a part's fields, by name."""
    parts = may["parts"]
    assert isinstance(parts, list)
    (found,) = [one for one in parts if one["name"] == part]
    return {field["name"]: field for field in found["fields"]}
