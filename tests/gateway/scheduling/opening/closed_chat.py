"""A group whose admin may let the bot in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.app import Gateway
from gateway.assembly import AS_SHIPPED
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.scheduling.opening.court import CourtChannel
from tests.kit.gateways import gateway_of, over
from tests.kit.mortal import MortalStore
from tests.kit.plain_channels import Brings


@asynccontextmanager
async def court(
    home: Path, store: MortalStore | None = None, **more: str
) -> AsyncIterator[tuple[Gateway, CourtChannel]]:
    """Run a gateway that is closed by default, in the given store or in one of its own."""
    channel = CourtChannel()
    internals = AS_SHIPPED if store is None else over(store)
    plugin, given = Brings(channel), {"ACCESS__MODE": "paired", **more}
    async with (
        FakeOpenAI() as server,
        gateway_of(home, server, plugin, internals=internals, **given) as gateway,
    ):
        yield gateway, channel
