"""The operator's desk: rows of the ledger, tried again or dropped by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from channels.errors import SendRefused
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.errors import AdminError
from tests.fakes.openai.script import Failure, Text
from tests.kit.chats import PrivateChat
from tests.kit.editing_channel import QUESTION


async def test_rows_are_listed_newest_first_and_by_status(chat: PrivateChat) -> None:
    chat.model.enqueue(Failure(500, "boom", None, "server_error"))
    await chat.ask()
    await chat.ask(ext_id="1/2", message_id="2")
    desk = LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery)
    listed = [(row["id"], row["status"]) for row in await desk.rows()]
    failed = [row["id"] for row in await desk.rows("failed")]
    assert listed == [("in-2", "done"), ("in-1", "failed"), ("out-2", "sent"), ("out-1", "sent")]
    assert failed == ["in-1"]


async def test_a_question_that_failed_is_asked_again(chat: PrivateChat) -> None:
    chat.model.enqueue(Failure(500, "boom", None, "server_error"))
    await chat.ask()
    chat.model.enqueue(Text(("at last",)))
    desk = LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery)
    assert await desk.retry("in-1") == "in-1 will be answered again in editing:1"
    entries = await chat.settled()
    assert (await desk.show("in-1"))["status"] == "done"
    assert "at last" in chat.platform.messages.values()
    (retried,) = [entry for entry in entries if entry.name == "ledger.retry"]
    assert retried.payload["data"]["by"] == "operator"


async def test_a_send_that_was_refused_is_made_again(chat: PrivateChat) -> None:
    chat.channel.before = [SendRefused("kicked")]
    chat.model.enqueue(Text(("hello",)))
    await chat.ask()
    desk = LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery)
    (dead,) = await desk.rows("dead")
    assert (await desk.show(dead["id"]))["payload"]["text"] == "hello"
    await desk.retry(dead["id"])
    await chat.settled()
    assert await desk.rows("dead") == []
    assert "hello" in chat.platform.messages.values()


async def test_a_question_that_waits_is_dropped_and_never_asked(chat: PrivateChat) -> None:
    gate = asyncio.Event()
    chat.model.enqueue(Text(("one", "two"), gate=gate))
    desk = LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery)
    for number in (1, 2):
        question = replace(QUESTION, ext_id=f"1/{number}", message_id=str(number))
        await chat.accept(question)
        await chat.gateway.taken_in()
    await chat.model.wait_for_requests(1)
    assert await desk.drop("in-2") == "in-2 is dropped"
    gate.set()
    await chat.settled()
    assert (await desk.show("in-2"))["status"] == "dropped"
    assert len(chat.model.requests) == 1


@pytest.mark.parametrize("row", ["in-99", "out-99", "12", "in-", "in-1; DROP"])
async def test_a_row_that_is_not_there_is_a_sentence(gateway: Gateway, row: str) -> None:
    desk = LedgerAdmin(gateway.services, gateway.parts.recovery)
    for act in (desk.show, desk.retry, desk.drop):
        with pytest.raises(AdminError, match="row"):
            await act(row)


async def test_what_was_answered_is_neither_asked_again_nor_dropped(chat: PrivateChat) -> None:
    await chat.ask()
    desk = LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery)
    before = await chat.tape.size()
    for act in (desk.retry, desk.drop):
        with pytest.raises(AdminError, match="its status is done"):
            await act("in-1")
    assert await chat.tape.size() == before
    assert len(chat.model.requests) == 1
