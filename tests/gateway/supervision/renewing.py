"""A gateway whose settings change while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2

from channels.base import Channel
from channels.registry import make_channel
from gateway.app import Gateway
from gateway.assembly import Internals
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateway.console.scene import until
from tests.gateway.setup.desk import set_up
from tests.kit.canaries import KEY
from tests.kit.gateways import PATIENT

RIGHT, WRONG = "123456:right-token-of-the-bot", "123456:wrong-token-of-the-bot"


@asynccontextmanager
async def telegram_gateway(
    home: Path,
    telegram: FakeTelegram,
    model: FakeOpenAI,
    token: str,
    internals: Internals = PATIENT,
) -> AsyncIterator[tuple[Gateway, httpx2.AsyncClient]]:
    """Run a gateway with a page and a bot, whose token is in its `.env`."""
    environ = {
        "ACCESS__MODE": "open",
        "AGENT__MODEL": "m",
        "AGENT__API_KEY": KEY,
        "AGENT__BASE_URL": model.base_url,
        "TELEGRAM__BASE_URL": telegram.base_url,
        "TELEGRAM__POLL_SECONDS": "1",
    }
    line = f"TAPEWAY_TELEGRAM__TOKEN={token}\n" if token else ""
    async with set_up(home, line, internals=internals, **environ) as found:
        yield found


def later(make: Callable[[Any], Channel]) -> Internals:
    """Return the internals of a gateway whose later channels to Telegram are made by `make`."""
    count = 0

    def one(name: str, settings: Any) -> Channel:
        nonlocal count
        count += name == "telegram"
        is_later = name == "telegram" and count > 1
        return make(settings) if is_later else make_channel(name, settings)

    return Internals(make_channel=one)


def state(gateway: Gateway) -> str:
    return gateway.status.states["telegram"].state


async def becomes(true: Callable[[], bool]) -> None:
    """Wait until something is true."""

    async def asked() -> bool:
        return true()

    with anyio.fail_after(40):
        await until(asked)


async def open_sends(gateway: Gateway) -> int:
    return len(await gateway.services.ledger.outbox.open_rows())
