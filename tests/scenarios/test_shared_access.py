"""What one gateway lets people do holds at every gateway over the same database."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from gateway.access.pairing import PAIRED, WRONG
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway, access_admin
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.access.test_pairing import PairedChannel, sent
from tests.gateway.intake.test_access import Brings
from tests.gateways import gateway_of
from tests.postgres import fresh_database
from tests.scenarios.test_shared import QUICK

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]


@pytest.fixture
def tape_url() -> Iterator[str]:
    """The address of an empty database."""
    with fresh_database() as url:
        yield url


@asynccontextmanager
async def two(folder: Path, url: str, server: FakeOpenAI) -> AsyncIterator[list[Gateway]]:
    """Run two gateways with a platform on which people pair."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                gateway_of(
                    folder / f"home-{number}",
                    server,
                    Brings(PairedChannel()),
                    TAPE__URL=url,
                    WORKSPACE=str(folder / "workspace"),
                    **QUICK,
                )
            )
            for number in range(2)
        ]


async def owners(gateway: Gateway) -> list[str]:
    """Return the owners as a gateway knows them."""
    found = await access_admin(gateway).rules()
    return [rule["id"] for rule in found["rules"] if rule["role"] == "owner"]


async def test_a_code_made_at_one_gateway_is_used_once_at_two(
    tmp_path: Path, tape_url: str
) -> None:
    async with FakeOpenAI() as server, two(tmp_path, tape_url, server) as (first, second):
        made = await access_admin(first).pair()
        second.parts.pairing.know(made["code"], made["seconds"])
        tries = [sent(f"pair {made['code']}", number, str(number)) for number in (1, 2)]
        async with anyio.create_task_group() as group:
            group.start_soon(first.parts.intake.accept, tries[:1])
            group.start_soon(second.parts.intake.accept, tries[1:])
        ledger = LedgerAdmin(first.services, None)
        said: Counter[str] = Counter()
        while said.total() < 2:
            await anyio.sleep(0.02)
            rows = [row for row in await ledger.rows() if row["id"].startswith("in")]
            said = Counter(row["why"] for row in rows if row["status"] != "accepted")
        assert said == {f"a pairing code: {PAIRED}": 1, f"a pairing code: {WRONG}": 1}


async def test_who_pairs_at_one_gateway_with_another_ones_code_is_an_owner_at_both(
    tmp_path: Path, tape_url: str
) -> None:
    async with FakeOpenAI() as server, two(tmp_path, tape_url, server) as (first, second):
        made = await access_admin(first).pair()
        code = ""
        while code != made["code"]:
            code, _seconds = await second.services.shared.workers.code()  # type: ignore[union-attr]
        second.parts.pairing.know(made["code"], made["seconds"])
        await second.parts.intake.accept([sent(f"pair {made['code']}")])
        for gateway in (first, second):
            while await owners(gateway) != ["7"]:  # noqa: ASYNC110 - it hears of the rule
                await anyio.sleep(0.02)
