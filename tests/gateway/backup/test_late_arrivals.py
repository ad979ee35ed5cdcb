"""What a platform delivers after a restore, though it was said or asked before it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.backup.backup import back_up
from gateway.backup.restore import restore
from gateway.storage.holding import hold_all
from gateway.storage.ledger.cards import Card
from tape.entry import utc_iso
from tape.unit_of_work import Unit
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.backup.sources import quiet, said
from tests.kit.editing_channel import EditingChannel, Platform
from tests.kit.gateways import gateway_of, make_settings, settled
from tests.kit.plain_channels import Brings

OLD = timedelta(minutes=5)


async def _card(gateway: Gateway) -> None:
    expires = datetime.now(UTC) + timedelta(hours=1)
    unit, cards = Unit(), gateway.services.ledger.cards
    cards.issue(unit, Card("0123456789", "confirm", "editing", "", "editing:1", {}, expires))
    await gateway.services.store.commit(unit)


async def test_a_question_with_buttons_is_closed_since_somebody_may_have_answered_it(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    file, new = tmp_path / "own.zip", tmp_path / "new"
    async with gateway_of(tmp_path / "old", model, Brings(EditingChannel(Platform()))) as it:
        await _card(it)
        back_up(make_settings(tmp_path / "old", model), file, quiet)
        assert await it.services.ledger.cards.open("confirm", datetime.now(UTC))
    restore(file, new, quiet)
    async with gateway_of(new, model, Brings(EditingChannel(Platform()))) as it:
        assert await it.services.ledger.cards.open("confirm", datetime.now(UTC)) == []


async def test_nothing_is_sent_about_an_old_pairing_code_or_an_old_unreadable_message(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    file, new = tmp_path / "own.zip", tmp_path / "new"
    async with gateway_of(tmp_path / "old", model, Brings(EditingChannel(Platform()))):
        back_up(make_settings(tmp_path / "old", model), file, quiet)
    restore(file, new, quiet)
    channel = EditingChannel(Platform())
    async with gateway_of(new, model, Brings(channel)) as gateway:
        code = replace(said(1, OLD), text="/pair ABCD-23", chat_kind="private")
        unreadable = replace(said(2, OLD), kind="unreadable", why="broken")
        added = replace(said(3, OLD), kind="change", change="added", chat_kind="group")
        await channel.host.accept([code, unreadable, added])
        await gateway.taken_in()
        await settled(gateway, "editing:1")
        rows = await gateway.services.ledger.store.select(
            "ledger.list_inbox", {"status": "dropped", "limit": 9}
        )
    assert channel.platform.messages == {}
    assert [row["why"] for row in rows] == [
        "it is older than the restore, and may have been answered before"
    ] * 2


async def test_an_old_message_that_the_operator_retries_is_answered(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    file, new = tmp_path / "own.zip", tmp_path / "new"
    async with gateway_of(tmp_path / "old", model, Brings(EditingChannel(Platform()))) as it:
        unit, inbox = Unit(), it.services.ledger.inbox
        inbox.end(unit, await inbox.accept([said(1, OLD)]), "dead", "a reason")
        await it.services.store.commit(unit)
        back_up(make_settings(tmp_path / "old", model), file, quiet)
    restore(file, new, quiet)
    channel = EditingChannel(Platform())
    async with gateway_of(new, model, Brings(channel)) as gateway:
        model.enqueue(Text(("after all",)))
        await LedgerAdmin(gateway.services, gateway.parts.recovery).retry("in-1")
        await gateway.taken_in()
        await settled(gateway, "editing:1")
    assert list(channel.platform.messages.values()) == ["after all"]


@pytest.mark.parametrize("days", [-9_000, 1])
async def test_a_wrong_clock_at_the_restore_neither_answers_the_past_nor_holds_the_present(
    model: FakeOpenAI, tmp_path: Path, days: int
) -> None:
    async with gateway_of(tmp_path, model, Brings(EditingChannel(Platform()))) as gateway:
        now, unit = datetime.now(UTC), Unit()
        hold_all(unit, now + timedelta(days=days), utc_iso(now))
        await gateway.services.store.commit(unit)
    channel = EditingChannel(Platform())
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Text(("at once",)))
        await channel.host.accept([said(1, OLD), said(2)])
        await gateway.taken_in()
        await settled(gateway, "editing:1")
        held = await LedgerAdmin(gateway.services, None).rows("held")
    assert [row["id"] for row in held] == ["in-1"]
    assert list(channel.platform.messages.values()) == ["at once"]


async def test_a_restore_in_the_very_second_of_its_backup_holds_nothing_that_is_said_in_it(
    gateway: Gateway,
) -> None:
    ledger, second = gateway.services.ledger, datetime.now(UTC).replace(microsecond=0)
    unit = Unit()
    hold_all(unit, second.replace(microsecond=1), utc_iso(second.replace(microsecond=9)))
    await gateway.services.store.commit(unit)
    await ledger.held.load()
    assert ledger.held.restored_at == second  # platforms date messages in whole seconds
