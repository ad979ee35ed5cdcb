"""What one gateway asks of the sessions that another one holds, or may no longer hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from channels.message import Author, InboundMessage
from gateway.app import Gateway
from gateway.clock import SystemClock
from tape.unit_of_work import Unit
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.postgres import fresh_database
from tests.scenarios.test_shared import answered, expire, gateways, until
from tests.visitor import visit

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]

KEPT = {"SHARING__LEASE": "30", "SHARING__KEEP": "60"}


@pytest.fixture
def tape_url() -> Iterator[str]:
    """The address of an empty database."""
    with fresh_database() as url:
        yield url


def said(text: str, number: int) -> InboundMessage:
    """A message to the lobby that no page sent."""
    return InboundMessage(
        channel="web",
        chat_id="lobby",
        chat_kind="group",
        message_id=f"m{number}",
        ext_id=f"lobby/m{number}",
        sender=Author("carol", "Carol"),
        text=text,
        addressed=True,
        date=SystemClock().now().isoformat(),
        invited=True,
    )


async def test_what_a_holder_is_asked_is_not_hidden_by_messages_that_come_with_it(
    tmp_path: Path, tape_url: str
) -> None:
    async with (
        FakeOpenAI() as server,
        gateways(2, tmp_path, tape_url, server, **KEPT) as (first, second),
    ):
        async with visit(first.url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        shared, unit = second.services.shared, Unit()
        assert shared is not None
        two = [said("two", 2), said("three", 3)]
        second.services.ledger.inbox.write(unit, two, None, ["web:lobby", "web:lobby"])
        step = shared.controls.add(unit, "web:lobby", "nothing known", "operator", {})
        number = (await second.services.store.commit(unit))[step].rows[0]["id"]
        await answered(first, "lobby", 2)
        await carried_out(second, number)


async def carried_out(gateway: Gateway, number: int) -> None:
    """Wait until the holder of a session has answered a control."""
    store = gateway.services.store
    while (await store.select("sharing.control_answer", {"id": number}))[0]["answer"] is None:
        await anyio.sleep(0.02)
