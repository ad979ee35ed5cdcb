"""Ask the running gateway of the home over HTTP."""

from __future__ import annotations

from typing import Any, Final

import httpx2

from gateway.home import Running

SECONDS: Final = 5.0


async def ask(running: Running, path: str) -> tuple[int, Any]:
    """Return the status and the JSON body at a path; raises httpx2.HTTPError."""
    headers = {"Authorization": f"Bearer {running.token}"}
    async with httpx2.AsyncClient(
        base_url=running.url, headers=headers, trust_env=False, timeout=SECONDS
    ) as client:
        response = await client.get(path)
    try:
        return response.status_code, response.json()
    except ValueError:
        return response.status_code, None
