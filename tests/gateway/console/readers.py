"""Read-only links, and the browsers that read by them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import httpx2

from tests.gateway.console.scene import GROUP, Scene, key

API = "/api/console"
DAY = 24
NUMBERS = count()


async def made(
    browser: httpx2.AsyncClient, chat: str = GROUP, hours: object = DAY
) -> httpx2.Response:
    """Have somebody make a link to a chat."""
    return await browser.post(f"{API}/links", json={"chat": key(chat), "hours": hours})


async def secret_of(browser: httpx2.AsyncClient, chat: str = GROUP, hours: int = DAY) -> str:
    answer = await made(browser, chat, hours)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["secret"])


async def trade(browser: httpx2.AsyncClient, secret: str, address: str = "") -> httpx2.Response:
    """Trade a secret, from an address where nobody else is unless one is given."""
    number = next(NUMBERS)
    headers = {"X-Forwarded-For": address or f"198.18.{number // 250}.{number % 250}"}
    return await browser.post("/console/link", json={"link": secret}, headers=headers)


async def listed(browser: httpx2.AsyncClient, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await browser.get(f"{API}/links{query}")).json()["links"]
    return found


def tape(chat: str = GROUP, rest: str = "/page") -> str:
    return f"{API}/tape/{key(chat)}{rest}"


@asynccontextmanager
async def reading(scene: Scene, secret: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Have a browser, which is nobody's, that traded the secret of a link."""
    async with scene.outside() as browser:
        answer = await trade(browser, secret)
        assert answer.status_code == 200, answer.text
        yield browser
