"""Erasing a person from sessions that a plugin named, which may hold several platforms' chats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from channels.message import InboundMessage
from gateway.admin.erase_admin import EraseAdmin
from gateway.errors import AdminError
from gateway.hooks.specs import hookimpl
from tests.gateway.erasing.asking import answers_of
from tests.gateway.erasing.stage import ANN, BOB, MARKS, SECRET, erased, hear, holding, said
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.plain_channels import Brings, PlainChannel

TOGETHER = "together"


class Together:
    """A plugin with one session for everything."""

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str:
        del message
        return TOGETHER


class OtherChannel(PlainChannel):
    """Another platform, where the same ids are other people."""

    name: ClassVar[str] = "other"


async def test_who_asks_to_be_forgotten_is_erased_from_a_session_of_any_name(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    more = {"ACCESS__MODE": "open"}
    async with gateway_of(tmp_path, None, Brings(channel), Together(), **more) as gateway:
        await hear(gateway, channel, said(1, SECRET), said(2, "of Bob", BOB, to=1, quote=SECRET))
        await hear(gateway, channel, said(3, ",forget me"))
        yes, _no = answers_of(channel)
        await hear(gateway, channel, said(4, yes))
        await erased(gateway)
        assert holding(tmp_path, *MARKS, ANN.name) == []
        found = await tape_of(gateway, TOGETHER).find(author=BOB.id)
        assert [entry.meta["text"] for entry in found] == ["of Bob"]


async def test_in_a_session_of_two_platforms_only_the_named_one_s_person_is_erased(
    tmp_path: Path,
) -> None:
    channel, other = PlainChannel(), OtherChannel()
    plugins = (Brings(channel), Brings(other), Together())
    async with gateway_of(tmp_path, None, *plugins, ACCESS__MODE="open") as gateway:
        await hear(gateway, channel, said(1, SECRET))
        await hear(gateway, other, replace(said(2, "of somebody else"), channel="other"))
        tape = tape_of(gateway, TOGETHER)
        admin = EraseAdmin(gateway.services, gateway.parts.eraser)
        with pytest.raises(AdminError, match="another platform"):
            await admin.begin("person", tape.name, f"third:{ANN.id}")
        await admin.begin("person", tape.name, f"plain:{ANN.id}")
        await erased(gateway, at_least=1)
        assert holding(tmp_path) == []
        found = await tape.find(author=ANN.id)
        assert [entry.meta["text"] for entry in found] == ["of somebody else"]
