"""Since when a chat of the deck is stalled."""

from __future__ import annotations

from dataclasses import replace

from gateway.console.screens.deck import silent_since
from gateway.supervision.status import StatusBoard
from tape.entry import utc_iso
from tests.kit.clock import START, ManualClock
from tests.kit.plain_channels import PlainChannel


async def test_a_channel_that_hears_nothing_does_so_since_it_heard_the_last() -> None:
    channel = PlainChannel()
    channel.traits = replace(channel.traits, stalled_after=60.0)
    clock = ManualClock()
    board = StatusBoard(clock, [channel])
    board.connected("plain")
    await clock.advance(172_800)
    board.heartbeat("plain")
    heard = clock.now()
    assert silent_since(board, clock.now()) == {}
    await clock.advance(300)
    assert silent_since(board, clock.now()) == {"plain": utc_iso(heard)}
    board.down("plain", "away")
    assert silent_since(board, clock.now()) == {"plain": utc_iso(clock.now())}
    assert heard > START
