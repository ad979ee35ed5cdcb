"""A token that is removed while the gateway runs: its channel stops, and nothing else does."""

from __future__ import annotations

import asyncio
from pathlib import Path

from structlog.testing import capture_logs

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateway.setup.desk import remove, save, set_up
from tests.gateway.supervision.renewing import RIGHT, becomes, open_sends, state, telegram_gateway
from tests.kit.gateways import every


async def test_a_channel_without_a_token_stops_and_goes_on_with_another_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home, gate, soon = tmp_path / "h", asyncio.Event(), every(replaced_channel=0.1)
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(home, telegram, model, RIGHT, soon) as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        former, page = gateway.channels["telegram"], gateway.channels["web"]
        model.enqueue(Text(("an ", "answer"), gate=gate))
        telegram.say(chat, ann, "question")
        await becomes(lambda: bool(model.requests))
        with (home / ".env").open("a") as file:
            file.write("TAPEWAY_AGENT__NAME=Robin\n")
        with capture_logs() as logs:
            removed = await remove(client, "telegram")
            assert removed.json()["well"], removed.text
            await becomes(lambda: "telegram" not in gateway.status.everywhere())
        assert (home / ".env").read_text() == "TAPEWAY_AGENT__NAME=Robin\n"
        assert (home / ".env").stat().st_mode & 0o777 == 0o600
        (said,) = [line for line in logs if line["event"] == "settings.removed"]
        assert (said["part"], said["names"]) == ("telegram", ["TAPEWAY_TELEGRAM__TOKEN"])
        assert said["person"].startswith("web:")
        listed = (await client.get("/api/console/channels")).json()["channels"]
        assert "telegram" not in [one["channel"] for one in listed]
        assert (await client.get("/health/ready")).status_code == 200
        assert gateway.channels["web"] is page
        telegram.say(chat, ann, "are you still there?")
        gate.set()
        await becomes(lambda: gateway.channels["telegram"] is not former)
        await gateway.idle()
        assert (telegram.messages(chat.id), await open_sends(gateway)) == ([], 1)
        assert RIGHT not in str(gateway.services.settings.telegram)
        assert (await save(client, "telegram", token=RIGHT)).json()["well"]
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 2)
        await gateway.idle()
        first, second = (message.text for message in telegram.messages(chat.id))
        assert (first, "are you still there?" in second) == ("an answer", True)
        assert state(gateway) == "ready"


async def test_what_cannot_be_removed_stays_and_is_said(tmp_path: Path) -> None:
    home = tmp_path / "h"
    lines = f"TAPEWAY_TELEGRAM__TOKEN={RIGHT}\nTAPEWAY_SLACK__BOT_TOKEN=xoxb-1-of-the-file\n"
    home.mkdir()
    (home / "tapeway.toml").write_text('[discord]\ntoken = "of-the-toml"\n')
    environ = {"TELEGRAM__TOKEN": RIGHT, "SLACK__APP_TOKEN": "xapp-1-of-the-environment"}
    async with set_up(home, lines, only=["web"], **environ) as (_gateway, client):
        for part, sentence in (
            ("telegram", "TAPEWAY_TELEGRAM__TOKEN is set in the environment"),
            ("slack", "TAPEWAY_SLACK__APP_TOKEN is set in the environment"),
            ("discord", f"TAPEWAY_DISCORD__TOKEN is set otherwise in {home / 'tapeway.toml'}"),
            ("model", "Only the tokens of a channel"),
            ("http", "There is nothing of that name"),
        ):
            answer = await remove(client, part)
            assert answer.status_code == 422, part
            assert sentence in answer.json()["error"]
        assert (await remove(client, "telegram", "of another day")).status_code == 409
        assert (home / ".env").read_text() == lines
    async with set_up(tmp_path / "other", only=["web"]) as (_gateway, client):
        nothing = await remove(client, "telegram")
        assert (nothing.status_code, "No token" in nothing.json()["error"]) == (422, True)
