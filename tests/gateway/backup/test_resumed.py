"""What waited to be placed when a backup was made goes on after `ledger resume`, piece by piece."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from channels.message import Media
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.backup.backup import back_up
from gateway.backup.restore import restore
from gateway.intake.waiting.messages import MAX_KEPT
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.backup.sources import quiet
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import make_settings, tape_of
from tests.kit.plain_channels import PlainChannel


def joining() -> PlainChannel:
    channel = PlainChannel()
    channel.traits = replace(channel.traits, join_wait=0.01)
    return channel


async def test_what_waited_to_be_placed_is_read_piece_by_piece_with_albums_whole(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    old, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "own.zip"
    said, album = talk("-2", range(1, 2 * MAX_KEPT + 1)), (Media("image", "photo"),)
    for at in (98, 101):
        said[at] = replace(said[at], joins="album", media=album)
    door = Door()
    async with open_group(old, model, door, channel=joining()) as group:
        await held(group, door, *said)
        await asyncio.to_thread(back_up, make_settings(old, model), file, quiet)
    restore(file, new, quiet)
    async with open_group(new, model, channel=joining()) as group:
        services = group.gateway.services
        desk = LedgerAdmin(services, group.gateway.parts.recovery, group.gateway.status.states)
        await group.gateway.taken_in()
        assert await tape_of(group.gateway, "plain:-2").read() == []
        found = await services.ledger.held.resume("in", 2)
        assert not found.questions
        assert found.accepted == {2}
        await group.gateway.parts.recovery.resume_held(found)
        await group.gateway.taken_in()
        assert await desk.resume() == f"{2 * MAX_KEPT} messages and 0 sends go on"
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    expected = [one.text for one in said]
    expected[98] = f"{expected[98]}\n{expected.pop(101)}"
    assert texts_of(entries) == expected
