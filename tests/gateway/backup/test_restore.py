"""A backup of a gateway that runs, restored into another home."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.message import OutboundMessage
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.backup.backup import MAX_AGENTS, back_up
from gateway.backup.manifest import AGENTS, BackupError, Manifest, public_settings, secret_names
from gateway.backup.restore import restore
from gateway.errors import AdminError, GatewayError
from gateway.home import locked
from gateway.settings import load_settings
from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import Database
from tape.entry import MESSAGE
from tape.stores.sqlite import tape_schema
from tape.unit_of_work import Unit
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.backup.sources import quiet, said
from tests.kit.editing_channel import EditingChannel, Platform
from tests.kit.gateways import gateway_of, make_settings, settled
from tests.kit.plain_channels import Brings


async def saved(home: Path, model: FakeOpenAI, file: Path, **more: str) -> Manifest:
    """Save a gateway that has answered a question and is answering another one."""
    gate = asyncio.Event()
    channel = EditingChannel(Platform())
    settings = make_settings(home, model, **more)
    async with gateway_of(home, model, Brings(channel), **more) as gateway:
        model.enqueue(Text(("answered",)), Text(("late",), gate=gate))
        await channel.host.accept([said(1)])
        await gateway.taken_in()
        await settled(gateway, "editing:1")
        await channel.host.accept([said(2)])
        await model.wait_for_requests(2)
        manifest = await asyncio.to_thread(back_up, settings, file, quiet)
        gate.set()
        await settled(gateway, "editing:1")
    return manifest


def desk_of(gateway: Gateway) -> LedgerAdmin:
    return LedgerAdmin(gateway.services, gateway.parts.recovery, gateway.status.states)


@pytest.mark.parametrize("kind", ["sqlite", "file"])
async def test_what_was_open_is_held_listed_and_answered_once_somebody_resumes_it(
    model: FakeOpenAI, tmp_path: Path, kind: str
) -> None:
    old, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "own.zip"
    more = {} if kind == "sqlite" else {"TAPE__URL": f"file://{tmp_path / 'tapes'}"}
    manifest = await saved(old, model, file, **more)
    assert (manifest.counts["messages"], manifest.counts["open"]) == (2, 1)
    restore(file, new, quiet)
    more = {} if kind == "sqlite" else {"TAPE__URL": f"file://{new / 'tapes'}"}
    channel = EditingChannel(Platform())
    async with gateway_of(new, model, Brings(channel), **more) as gateway:
        assert "held since a restore: 1 message and" in gateway.services.ledger.held.notes()[0]
        before = await settled(gateway, "editing:1")
        assert channel.platform.messages == {}
        assert [row["id"] for row in await desk_of(gateway).rows("held")] == ["in-2"]
        model.enqueue(Text(("at last",)))
        assert await desk_of(gateway).resume() == "1 message and 0 sends go on"
        after = await settled(gateway, "editing:1")
        assert gateway.services.ledger.held.notes() == []
        model.enqueue(Text(("a new answer",)))
        await channel.host.accept([said(3)])
        await gateway.taken_in()
        await settled(gateway, "editing:1")
    texts = [entry.text for entry in before if entry.kind == MESSAGE]
    assert "answered" in texts
    assert len(after) > len(before)
    assert sorted(channel.platform.messages.values()) == ["a new answer", "at last"]


async def test_a_send_that_was_open_is_made_only_after_resume(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    new, file = tmp_path / "new", tmp_path / "own.zip"
    channel = EditingChannel(Platform())
    async with gateway_of(tmp_path / "old", model, Brings(channel)) as gateway:
        row_id = await _pending(gateway)
        back_up(make_settings(tmp_path / "old", model), file, quiet)
    restore(file, new, quiet)
    channel = EditingChannel(Platform())
    async with gateway_of(new, model, Brings(channel)) as gateway:
        await settled(gateway, "editing:1")
        assert channel.platform.messages == {}
        assert await desk_of(gateway).resume(f"out-{row_id}") == "0 messages and 1 send go on"
        await settled(gateway, "editing:1")
    assert list(channel.platform.messages.values()) == ["waiting to be sent"]


async def _pending(gateway: Gateway) -> int:
    unit, ledger = Unit(), gateway.services.ledger
    message = OutboundMessage("editing", "1", "waiting to be sent", idem="t-1:0", turn="t-1")
    ledger.outbox.send_later(unit, message, "editing:1", None)
    return int((await ledger.store.commit(unit))[0].rows[0]["id"])


async def test_what_a_platform_sends_again_from_before_the_restore_is_only_recorded(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    new, file = tmp_path / "new", tmp_path / "own.zip"
    await saved(tmp_path / "old", model, file)
    restore(file, new, quiet)
    channel = EditingChannel(Platform())
    async with gateway_of(new, model, Brings(channel)) as gateway:
        old = replace(said(9, timedelta(minutes=5)), backlog=True)
        await channel.host.accept([old, said(1, timedelta(minutes=9))])
        await gateway.taken_in()
        entries = await settled(gateway, "editing:1")
        held = [row["id"] for row in await desk_of(gateway).rows("held")]
        assert channel.platform.messages == {}
        model.enqueue(Text(("asked for",)))
        await desk_of(gateway).resume("in-3")
        await settled(gateway, "editing:1")
    assert [entry.meta["text"] for entry in entries if "text" in entry.meta].count(
        "question 9"
    ) == 1
    assert held == ["in-3", "in-2"]
    assert list(channel.platform.messages.values()) == ["asked for"]


async def test_nothing_goes_on_while_its_channel_is_not_connected(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    new, file = tmp_path / "new", tmp_path / "own.zip"
    await saved(tmp_path / "old", model, file)
    restore(file, new, quiet)
    channel = EditingChannel(Platform())
    async with gateway_of(new, model, Brings(channel)) as gateway:
        channel.host.down("Another program polls with this token.")
        with pytest.raises(AdminError, match="Another program polls"):
            await desk_of(gateway).resume()
        assert len(await desk_of(gateway).rows("held")) == 1


async def test_a_held_question_can_be_dropped(model: FakeOpenAI, tmp_path: Path) -> None:
    new, file = tmp_path / "new", tmp_path / "own.zip"
    await saved(tmp_path / "old", model, file)
    restore(file, new, quiet)
    async with gateway_of(new, model, Brings(EditingChannel(Platform()))) as gateway:
        await desk_of(gateway).drop("in-2")
        assert await desk_of(gateway).rows("held") == []
        assert gateway.services.ledger.held.notes() == []
        with pytest.raises(AdminError, match="not held"):
            await desk_of(gateway).resume("in-2")


async def test_a_restore_waits_for_the_old_gateway_to_end_and_wants_an_empty_folder(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    old, new, file = tmp_path / "old", tmp_path / "new", tmp_path / "own.zip"
    await saved(old, model, file)
    with locked(old), pytest.raises(BackupError, match="still runs in"):
        restore(file, new, quiet)
    assert not new.exists()
    with pytest.raises(BackupError, match="is not empty"):
        restore(file, old, quiet)
    new.mkdir()
    (new / ".restoring").mkdir()
    with pytest.raises(BackupError, match=r"was cut off: delete what it left there \(.restoring\)"):
        restore(file, new, quiet)


async def test_no_gateway_starts_in_a_home_whose_restore_was_cut_off(tmp_path: Path) -> None:
    (tmp_path / ".restoring").mkdir()
    with pytest.raises(GatewayError, match="was cut off"):
        async with gateway_of(tmp_path):
            pass
    assert not (tmp_path / "tapeway.db").exists()


async def test_a_broken_file_leaves_the_new_home_as_it_was(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    new, file = tmp_path / "new", tmp_path / "own.zip"
    await saved(tmp_path / "old", model, file)
    whole = file.read_bytes()
    file.write_bytes(whole[:200] + bytes([whole[200] ^ 255]) + whole[201:])
    with pytest.raises(BackupError, match="not an intact backup"):
        restore(file, new, quiet)
    assert not new.exists()


async def test_a_restored_home_can_be_saved_and_restored_again(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    await saved(tmp_path / "old", model, first)
    restore(first, tmp_path / "new", quiet)
    back_up(make_settings(tmp_path / "new", model), second, quiet)
    restore(second, tmp_path / "newer", quiet)
    async with gateway_of(tmp_path / "newer", model, Brings(EditingChannel(Platform()))) as it:
        assert "answered" in [entry.text for entry in await settled(it, "editing:1")]


async def test_a_home_that_is_also_reached_by_a_link_keeps_its_tapes(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    file, link, real = tmp_path / "own.zip", tmp_path / "link", tmp_path / "real"
    real.mkdir()
    link.symlink_to(real)
    await saved(tmp_path / "old", model, file)
    restore(file, link / "new", quiet)
    async with gateway_of(real / "new", model, Brings(EditingChannel(Platform()))) as it:
        assert "answered" in [entry.text for entry in await settled(it, "editing:1")]


def test_settings_come_back_without_secrets(tmp_path: Path) -> None:
    models = '{"qwen3:8b": {"base_url": "http://user:hunter22hunter@127.0.0.1/v1", "window": 8192}}'
    more = {
        "AGENT__API_KEY": "sk-0123456789abcdef",
        "AGENT__MODEL": 'a "quoted" \\ name',
        "TELEGRAM__TOKEN": "123456:abcdefghijklmnopqrstuvwxyz0123456789",
        "TAPE__KEEP_DAYS": '{"telegram:-100": 30, "*": 365}',
        "MODELS": models,
        "BUDGET__MEMBER_COST": "2.5",
    }
    settings = make_settings(tmp_path, None, **more)
    text = public_settings(settings)
    for secret in ("0123456789abcdef", "abcdefghijklmnopqrstuvwxyz", "hunter22"):
        assert secret not in text
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "tapeway.toml").write_text(text)
    again = load_settings({"TAPEWAY_SECRETS": str(tmp_path / "none")}, tmp_path / "again")
    assert again.agent.model == settings.agent.model
    assert again.tape == settings.tape.model_copy(update={"url": ""})
    assert again.budget == settings.budget
    assert again.models["qwen3:8b"].context_window == 8192
    assert (again.telegram.enabled, settings.telegram.enabled) == (False, True)


def test_a_model_s_own_key_headers_and_fields_do_not_keep_a_backup_from_being_made(
    tmp_path: Path,
) -> None:
    own = '"api_key": "sk-canary-1", "headers": {"Authorization": "Bearer canary-2"}'
    body = '"body": {"stop": null, "extra": {"list": [{"a": 1}]}}'
    more = {
        "MODELS": f'{{"own:8b": {{{own}, {body}, "base_url": "http://me:canary3@127.0.0.1/v1"}}}}',
        "AGENT__BASE_URL": "http://127.0.0.1/v1?api_key=canary-4",
        "TELEGRAM__PROXY": "http://canary-5@127.0.0.1:3128",
        "SLACK__INSTALLATIONS": str(tmp_path / "installed.json"),
    }
    settings = make_settings(tmp_path, None, **more)
    text = public_settings(settings)
    assert "canary" not in text
    assert {
        "api_key of [models.own:8b]",
        "headers of [models.own:8b]",
        f"the file {tmp_path / 'installed.json'}",
    } <= set(secret_names(settings))
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "tapeway.toml").write_text(text)
    again = load_settings({"TAPEWAY_SECRETS": str(tmp_path / "none")}, tmp_path / "again")
    assert again.models["own:8b"].body == {"extra": {"list": [{"a": 1}]}}


def test_an_image_is_saved_and_other_files_of_the_home_are_not(tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "old")
    Database.open(tmp_path / "old" / "tapeway.db", (tape_schema(), ledger_schema()))
    media = tmp_path / "old" / "media"
    media.mkdir()
    (media / "0a1b.png").write_bytes(b"image")
    (media / "not an image").write_bytes(b"?")
    (media / "link.png").symlink_to("/etc/passwd")
    os.mkfifo(media / "pipe.png")
    for name in (".env", "http-token", "chat-history"):
        (tmp_path / "old" / name).write_text("secret")
    (tmp_path / "old" / "workspace").mkdir()
    (tmp_path / "old" / "workspace" / "notes.md").write_text("own")
    back_up(settings, tmp_path / "own.zip", quiet)
    restore(tmp_path / "own.zip", tmp_path / "new", quiet)
    found = {str(one.relative_to(tmp_path / "new")) for one in (tmp_path / "new").rglob("*")}
    assert found == {"gateway.lock", "tapeway.db", "tapeway.toml", "media", "media/0a1b.png"}
    assert all((tmp_path / "new" / name).stat().st_mode & 0o077 == 0 for name in found)


def test_the_agent_s_instructions_are_saved_unless_they_are_larger_than_any_model_reads(
    tmp_path: Path,
) -> None:
    settings = make_settings(tmp_path / "old", WORKSPACE=str(tmp_path / "desk"))
    Database.open(tmp_path / "old" / "tapeway.db", (tape_schema(), ledger_schema()))
    (tmp_path / "desk").mkdir()
    own = tmp_path / "desk" / "AGENTS.md"
    own.write_text("You are the librarian of a chess club.")
    back_up(settings, tmp_path / "own.zip", quiet)
    own.write_text("You are newer.")
    manifest = restore(tmp_path / "own.zip", tmp_path / "new", quiet)
    restored = tmp_path / "new" / "workspace" / "AGENTS.md"
    assert restored.read_text() == "You are the librarian of a chess club."
    assert (manifest.chosen, own.read_text()) == (True, "You are newer.")
    own.write_bytes(b"x" * (MAX_AGENTS + 1))
    assert AGENTS not in back_up(settings, tmp_path / "other.zip", quiet).members
