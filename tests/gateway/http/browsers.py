"""Browsers of the owner, of strangers and of members."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2

from gateway.app import Gateway

TOKEN = "a-token-of-sixteen-characters"
ELSEWHERE = {"X-Forwarded-For": "203.0.113.9"}
"""What a proxy adds: the person is not the user who runs the gateway."""

OWNERS = [
    ("GET", "/api/tapes"),
    ("POST", "/api/tapes/entries"),
    ("POST", "/api/tapes/search"),
    ("POST", "/api/tapes/rewind"),
    ("POST", "/api/tapes/import"),
    ("GET", "/api/ledger"),
    ("GET", "/api/usage"),
    ("GET", "/api/explain?message=1"),
    ("GET", "/api/access"),
    ("POST", "/api/access/grant"),
    ("POST", "/api/access/pair"),
    ("GET", "/api/sessions"),
    ("POST", "/api/sessions/end"),
    ("POST", "/api/invitations"),
    ("POST", "/api/codes"),
    ("GET", "/api/terminal/lobby/events"),
    ("POST", "/api/terminal/lobby/messages"),
    ("GET", "/slack/install"),
]
"""Routes that only owners may use."""


def browser(url: str, **headers: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, trust_env=False, headers=headers, timeout=60)


def outside(url: str, **headers: str) -> httpx2.AsyncClient:
    return browser(url, **ELSEWHERE, **headers)


def post(text: str = "hi", name: str = "Gus", **more: Any) -> dict[str, Any]:
    return {"id": str(uuid4()), "person": {"name": name}, "text": text, **more}


async def invited(owner: httpx2.AsyncClient, room: str = "lobby", **more: Any) -> str:
    answer = await owner.post("/api/invitations", json={"room": room, **more})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["code"])


@asynccontextmanager
async def member_of(
    gateway: Gateway, room: str = "lobby"
) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient]]:
    """Invite a member to a room; yield the browsers of the owner and the member."""
    async with browser(gateway.url) as owner, outside(gateway.url) as guest:
        used = await guest.post("/login/code", json={"code": await invited(owner, room)})
        led = used.json()
        assert led["room"] == room
        guest.base_url = httpx2.URL(gateway.url).join(led["path"])
        yield owner, guest
