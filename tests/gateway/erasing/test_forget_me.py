"""`,forget me`: asked once more, answered by that person alone, then all of it is gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.message import Author
from gateway.app import Gateway
from gateway.erasing.forget_me import ERASING, KEPT, NOBODY, USAGE
from gateway.scheduling.presses import NOT_YOURS, UNKNOWN
from tests.gateway.erasing.asking import answers_of
from tests.gateway.erasing.stage import ANN, BOB, CHAT, MARKS, SECRET, erased, hear, holding, said
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.plain_channels import Brings, PlainChannel


@pytest.mark.settings(ACCESS__MODE="open")
async def test_a_person_who_confirms_is_forgotten_and_others_are_not(
    tmp_path: Path, plain: PlainChannel, gateway: Gateway
) -> None:
    await hear(gateway, plain, said(1, SECRET), said(2, "of Bob", BOB, to=1, quote=SECRET))
    await hear(gateway, plain, said(3, ",forget me"))
    yes, _no = answers_of(plain)
    assert holding(tmp_path)
    await hear(gateway, plain, said(4, yes))
    assert plain.posts[-1].text == ERASING
    await erased(gateway)
    assert holding(tmp_path, *MARKS, ANN.name) == []
    assert [e.meta["text"] for e in await tape_of(gateway, CHAT).find(author=BOB.id)] == ["of Bob"]


async def test_another_person_cannot_confirm_it(tmp_path: Path) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE="open") as gateway:
        await hear(gateway, channel, said(1, SECRET), said(2, ",forget me"))
        yes, no = answers_of(channel)
        await hear(gateway, channel, said(3, yes, BOB))
        assert channel.posts[-1].text == NOT_YOURS
        await hear(gateway, channel, said(4, no))
        assert channel.posts[-1].text == KEPT
        assert await gateway.services.ledger.erasures.read() == []
    assert holding(tmp_path)


async def test_the_question_is_open_for_ten_minutes(tmp_path: Path) -> None:
    channel, clock = PlainChannel(), ManualClock()
    more = {"ACCESS__MODE": "open"}
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock, **more) as gateway:
        await hear(gateway, channel, said(1, ",forget me"))
        yes, _no = answers_of(channel)
        clock.jump(timedelta(minutes=10, seconds=1))
        await hear(gateway, channel, said(2, yes))
        assert channel.posts[-1].text == UNKNOWN
        assert await gateway.services.ledger.erasures.read() == []


@pytest.mark.parametrize("line", [",forget", ",forget Bob", ",forget me now"])
@pytest.mark.settings(ACCESS__MODE="open")
async def test_anything_else_is_answered_with_how_to_write_it(
    plain: PlainChannel, gateway: Gateway, line: str
) -> None:
    await hear(gateway, plain, said(1, line))
    assert plain.posts[-1].text == USAGE


async def test_who_writes_in_the_name_of_a_chat_is_nobody_to_forget(tmp_path: Path) -> None:
    channel = PlainChannel()
    anonymous = replace(ANN, acts_as="chat")
    assert isinstance(anonymous, Author)
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE="open") as gateway:
        await hear(gateway, channel, said(1, ",forget me", anonymous))
        assert channel.posts[-1].text == NOBODY
