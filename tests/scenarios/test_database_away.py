"""Processes whose database is away: each says so, whatever it does, until it is back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from psycopg import conninfo

from gateway.settings.intervals import Intervals
from tests.fakes.cutting_proxy import CuttingProxy
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import PATIENT
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.scenarios.shared import gateways

pytestmark = pytest.mark.postgresql

QUICK = replace(PATIENT, intervals=Intervals(workers=0.2, probe=0.2, first_retry=0.1))


async def becomes(url: str, status: int) -> dict[str, object]:
    """Wait until the process at a URL serves, or does not; return how ready it is."""
    patience = Patience(f"/health/serving answers {status}")
    async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        while (await client.get("/health/serving")).status_code != status:
            await patience.pause()
        ready: dict[str, object] = (await client.get("/health/ready")).json()
        return ready


@contextmanager
def proxy_before(url: str) -> Iterator[tuple[str, CuttingProxy, BlockingPortal]]:
    """Put a proxy before a database, in a loop of its own: a store is opened in one go."""
    port = str(conninfo.conninfo_to_dict(url)["port"])
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(CuttingProxy(int(port))) as proxy,
    ):
        yield url.replace(f":{port}/", f":{proxy.port}/"), proxy, portal


async def test_processes_that_nobody_asks_say_that_their_database_is_away_and_that_it_is_back(
    model: FakeOpenAI, tape_url: str, tmp_path: Path
) -> None:
    with proxy_before(tape_url) as (there, proxy, portal):
        async with gateways(2, tmp_path, there, model, internals=QUICK) as both:
            proxy.away = True
            portal.call(proxy.drop)
            for one in both:
                assert "the database is away" in str((await becomes(one.url, 503))["store"])
            proxy.away = False
            for one in both:
                assert "store" not in await becomes(one.url, 200)
            async with visit(both[0].url, "Alice") as (alice,):
                model.enqueue(Text(("It is back.",)))
                asked = await alice.say("Are you there?")
                assert (await alice.answer(asked))["text"] == "It is back."
