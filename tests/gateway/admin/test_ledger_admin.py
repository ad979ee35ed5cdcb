"""The operator's desk: rows of the ledger, tried again or dropped by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.errors import SendRefused
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.errors import AdminError
from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform, ask
from tests.kit.gateways import gateway_of, settled, tape_of
from tests.kit.plain_channels import Brings


async def test_rows_are_listed_newest_first_and_by_status(
    gateway: Gateway, model: FakeOpenAI, editing: EditingChannel
) -> None:
    model.enqueue(Failure(500, "boom", None, "server_error"))
    await ask(gateway, editing)
    await ask(gateway, editing, ext_id="1/2", message_id="2")
    desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
    listed = [(row["id"], row["status"]) for row in await desk.rows()]
    failed = [row["id"] for row in await desk.rows("failed")]
    assert listed == [("in-2", "done"), ("in-1", "failed"), ("out-2", "sent"), ("out-1", "sent")]
    assert failed == ["in-1"]


async def test_a_question_that_failed_is_asked_again(model: FakeOpenAI, tmp_path: Path) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Failure(500, "boom", None, "server_error"))
        await ask(gateway, channel)
        model.enqueue(Text(("at last",)))
        desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
        assert await desk.retry("in-1") == "in-1 will be answered again in editing:1"
        entries = await settled(gateway, "editing:1")
        assert (await desk.show("in-1"))["status"] == "done"
    assert "at last" in platform.messages.values()
    (retried,) = [entry for entry in entries if entry.name == "ledger.retry"]
    assert retried.payload["data"]["by"] == "operator"


async def test_a_send_that_was_refused_is_made_again(model: FakeOpenAI, tmp_path: Path) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    channel.before = [SendRefused("kicked")]
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Text(("hello",)))
        await ask(gateway, channel)
        desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
        (dead,) = await desk.rows("dead")
        assert (await desk.show(dead["id"]))["payload"]["text"] == "hello"
        await desk.retry(dead["id"])
        await settled(gateway, "editing:1")
        assert await desk.rows("dead") == []
    assert "hello" in platform.messages.values()


async def test_a_question_that_waits_is_dropped_and_never_asked(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = EditingChannel(Platform())
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Text(("one", "two"), gate=gate))
        desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
        for number in (1, 2):
            question = replace(QUESTION, ext_id=f"1/{number}", message_id=str(number))
            await channel.host.accept([question])
            await gateway.taken_in()
        await model.wait_for_requests(1)
        assert await desk.drop("in-2") == "in-2 is dropped"
        gate.set()
        await settled(gateway, "editing:1")
        assert (await desk.show("in-2"))["status"] == "dropped"
    assert len(model.requests) == 1


@pytest.mark.parametrize("row", ["in-99", "out-99", "12", "in-", "in-1; DROP"])
async def test_a_row_that_is_not_there_is_a_sentence(gateway: Gateway, row: str) -> None:
    desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
    for act in (desk.show, desk.retry, desk.drop):
        with pytest.raises(AdminError, match="row"):
            await act(row)


async def test_what_was_answered_is_neither_asked_again_nor_dropped(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = EditingChannel(Platform())
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        await ask(gateway, channel)
        desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
        before = await tape_of(gateway, "editing:1").size()
        for act in (desk.retry, desk.drop):
            with pytest.raises(AdminError, match="its status is done"):
                await act("in-1")
        assert await tape_of(gateway, "editing:1").size() == before
    assert len(model.requests) == 1
