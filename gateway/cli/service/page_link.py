"""`tapeway open`: print a link that signs one browser in as the owner."""

from __future__ import annotations

import json

import httpx2

from gateway.cli.chat.chat_client import client_of
from gateway.errors import GatewayError
from gateway.home import find_running
from gateway.http.sessions import OPEN_MINUTES
from gateway.printing import print_out, print_secret
from gateway.settings import Settings


async def open_page(settings: Settings, as_json: bool) -> int:
    link = await page_link(settings)
    if as_json:
        print_secret(json.dumps({"link": link, "minutes": OPEN_MINUTES}))
    else:
        print_secret(link)
        print_out(f"The link works once, for {OPEN_MINUTES} minutes.")
    return 0


async def page_link(settings: Settings) -> str:
    """Return the link; browsers do not send its fragment, so no proxy's log has the code."""
    found = find_running(settings.home_path)
    if found is None:
        raise GatewayError(
            f"no gateway is running on {settings.home_path}: start one with `tapeway gateway`"
        )
    try:
        async with client_of(found) as client:
            response = await client.post("/api/codes", json={})
            response.raise_for_status()
    except httpx2.HTTPError as cause:
        raise GatewayError(
            f"the gateway at {found.url} does not answer ({type(cause).__name__}): check its log"
        ) from cause
    return f"{found.url}login#code={response.json()['code']}"
