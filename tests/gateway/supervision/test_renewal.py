"""One channel begins again with other settings while the gateway, and the other channels, run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anyio
from structlog.testing import capture_logs

from channels.base import Channel
from channels.host import FullHost
from channels.registry import make_channel
from channels.telegram.adapter import TelegramChannel
from gateway.assembly import Internals
from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateway.setup.desk import save, set_up, shown, try_out
from tests.gateway.supervision.renewing import (
    RIGHT,
    WRONG,
    becomes,
    later,
    open_sends,
    state,
    telegram_gateway,
)
from tests.kit.canaries import KEY
from tests.kit.gateways import every, with_plugins
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel

NEWER = "123456:newer-token-of-the-bot"
OTHER = "654321:right-token-of-another-bot"


class Heavy(TelegramChannel):
    """Cannot take over anything."""

    def take_over(self, former: Channel) -> None:
        raise RuntimeError("too heavy")


class Slow(TelegramChannel):
    """Never comes to know who it is."""

    asks = False
    closed = 0

    async def introduce(self) -> None:
        self.asks = True
        await anyio.sleep_forever()

    async def close(self) -> None:
        self.closed += 1
        await super().close()


def become_another_bot(telegram: FakeTelegram) -> None:
    """Know the other token, and its bot, from now on."""
    telegram.token, telegram.world.bot.id = OTHER, 654321


async def test_a_wrong_token_and_then_the_right_one_without_a_restart(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, WRONG) as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        assert state(gateway) == "unfit"
        page = gateway.channels["web"]
        since = gateway.status.states["web"].since
        telegram.say(chat, ann, "are you there?")
        tried = await try_out(client, "telegram", token=f"{WRONG}-too")
        assert tried.json()["well"] is False
        assert "token" in str(tried.json()["lines"])
        assert tried.json()["lines"][0]["remedy"]
        assert (await save(client, "telegram", token=f"{WRONG}-too")).json()["well"] is False
        assert WRONG in (tmp_path / "h" / ".env").read_text()
        tried = await try_out(client, "telegram", token=RIGHT)
        assert "@tapeway_bot" in tried.json()["lines"][0]["says"]
        assert state(gateway) == "unfit"
        saved = await save(client, "telegram", token=RIGHT)
        assert saved.json()["well"], saved.text
        await becomes(lambda: state(gateway) == "ready")
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
        assert "are you there?" in telegram.text_of(chat.id)
        assert gateway.channels["web"] is page
        assert gateway.status.states["web"].since == since
        await gateway.idle()
        assert len(telegram.messages(chat.id)) == 1
        assert RIGHT not in (await client.get("/api/console/settings")).text
    assert (tmp_path / "h" / ".env").read_text() == f"TAPEWAY_TELEGRAM__TOKEN={RIGHT}\n"


async def test_a_channel_that_did_not_run_begins(model: FakeOpenAI, tmp_path: Path) -> None:
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, "") as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        assert "telegram" not in gateway.channels
        assert (await save(client, "telegram", token=RIGHT)).json()["well"]
        await becomes(lambda: "telegram" in gateway.channels and state(gateway) == "ready")
        telegram.say(chat, ann, "hello")
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
        listed = (await client.get("/api/console/channels")).json()["channels"]
        assert [one["lamp"] for one in listed if one["channel"] == "telegram"] == ["ready"]


async def test_a_channel_that_begins_has_a_state_before_it_is_known(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    states: list[str] = []

    class Begins(TelegramChannel):
        async def attach(self, host: FullHost) -> None:
            assert "telegram" not in gateway.channels
            states.append(state(gateway))
            await super().attach(host)

    def made(name: str, settings: Any) -> Channel:
        return Begins(settings) if name == "telegram" else make_channel(name, settings)

    internals = Internals(make_channel=made)
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, "", internals) as (gateway, client),
    ):
        assert (await save(client, "telegram", token=RIGHT)).json()["well"]
        await becomes(lambda: "telegram" in gateway.channels)
        assert states[0] == "starting"


async def test_a_running_answer_ends_once_beside_the_change(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    soon = every(replaced_channel=0.1)
    gate = asyncio.Event()
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, RIGHT, soon) as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        former = gateway.channels["telegram"]
        model.enqueue(Text(("the beginning ", "and the end"), gate=gate))
        telegram.say(chat, ann, "tell me")
        await telegram.wait_for(lambda it: bool(it.draft_history))
        telegram.token = NEWER  # BotFather has given out another one
        assert (await save(client, "telegram", token=NEWER)).json()["well"]
        telegram.say(chat, ann, "and this?")
        await becomes(lambda: gateway.channels["telegram"] is not former)
        await becomes(lambda: state(gateway) == "ready")
        gate.set()
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 2)
        await gateway.idle()
        first, second = (message.text for message in telegram.messages(chat.id))
        assert first == "the beginning and the end"
        assert "and this?" in second
        assert await open_sends(gateway) == 0


async def test_messages_for_a_bot_that_was_refused_are_sent_by_its_next_token(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, RIGHT) as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        model.enqueue(Text(("an ", "answer"), gate=gate))
        telegram.say(chat, ann, "question")
        await becomes(lambda: bool(model.requests))
        telegram.token = NEWER
        await becomes(lambda: state(gateway) == "unfit")
        gate.set()
        await gateway.idle()
        assert (telegram.messages(chat.id), await open_sends(gateway)) == ([], 1)
        assert (await save(client, "telegram", token=NEWER)).json()["well"]
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
        await gateway.idle()
        assert telegram.text_of(chat.id) == "an answer"
        assert await open_sends(gateway) == 0


async def test_a_token_of_another_bot_is_refused_also_after_a_restart(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with FakeTelegram(token=RIGHT) as telegram:
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        async with telegram_gateway(tmp_path / "h", telegram, model, RIGHT) as (gateway, client):
            telegram.say(chat, ann, "hello")
            await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
            await gateway.idle()
            become_another_bot(telegram)
            for ask in (try_out, save):
                found = (await ask(client, "telegram", token=OTHER)).json()
                assert found["well"] is False
                line = found["lines"][-1]
                assert "its id is 123456, and this one's is 654321" in line["says"]
                assert "TAPEWAY_HOME" in line["remedy"]
        assert RIGHT in (tmp_path / "h" / ".env").read_text()
        (tmp_path / "h" / ".env").write_text("\n")
        async with telegram_gateway(tmp_path / "h", telegram, model, "") as (gateway, client):
            assert "telegram" not in gateway.channels
            assert (await save(client, "telegram", token=OTHER)).json()["well"] is False


async def test_a_bot_that_has_received_nothing_gives_way_to_another_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, RIGHT) as (gateway, client),
    ):
        assert state(gateway) == "ready"
        become_another_bot(telegram)
        assert (await save(client, "telegram", token=OTHER)).json()["well"]
        await becomes(lambda: gateway.channels["telegram"].bot_id == "654321")
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        telegram.say(chat, ann, "hello")
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
        assert gateway.status.states["telegram"].notes == []


async def test_a_start_with_another_bot_s_token_warns(model: FakeOpenAI, tmp_path: Path) -> None:
    async with FakeTelegram(token=RIGHT) as telegram:
        async with telegram_gateway(tmp_path / "h", telegram, model, RIGHT) as (gateway, _client):
            chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
            telegram.say(chat, ann, "hello")
            await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
            await gateway.idle()
        become_another_bot(telegram)
        async with telegram_gateway(tmp_path / "h", telegram, model, OTHER) as (gateway, client):
            (note,) = gateway.status.states["telegram"].notes
            assert "messages of another bot: its id is 123456" in note
            telegram.token = f"{OTHER}-too"  # the present bot's next token is no other bot's
            assert (await save(client, "telegram", token=telegram.token)).json()["well"]


async def test_a_channel_is_started_whatever_fails_before(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, RIGHT, later(Heavy)) as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        telegram.token = NEWER
        with capture_logs() as logs:
            assert (await save(client, "telegram", token=NEWER)).json()["well"]
            await becomes(lambda: isinstance(gateway.channels["telegram"], Heavy))
            await becomes(lambda: state(gateway) == "ready")
        telegram.say(chat, ann, "are you there?")
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
        assert "channel.handover_failed" in [line["event"] for line in logs]


async def test_a_channel_that_cannot_be_made_leaves_the_former_one_running(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    tried: list[str] = []

    def fails(_settings: Any) -> Channel:
        tried.append("once")
        raise RuntimeError("no memory")

    async with (
        FakeTelegram(token=RIGHT) as telegram,
        telegram_gateway(tmp_path / "h", telegram, model, RIGHT, later(fails)) as (gateway, client),
    ):
        chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
        assert (await save(client, "telegram", token=f"{RIGHT}")).json()["well"]
        await becomes(lambda: bool(tried))
        telegram.say(chat, ann, "are you there?")
        await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
        assert state(gateway) == "ready"


async def test_a_stop_in_the_middle_closes_the_new_channel(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    slow: list[Slow] = []

    def made(settings: Any) -> Channel:
        slow.append(Slow(settings))
        return slow[0]

    async with FakeTelegram(token=RIGHT) as telegram:
        own = telegram_gateway(tmp_path / "h", telegram, model, RIGHT, later(made))
        async with own as (_gateway, client):
            assert (await save(client, "telegram", token=RIGHT)).json()["well"]
            await becomes(lambda: bool(slow) and slow[0].asks)
        assert slow[0].closed == 1


async def test_a_token_of_the_environment_is_not_changed(tmp_path: Path) -> None:
    async with FakeTelegram(token=RIGHT) as telegram:
        environ = {"TELEGRAM__BASE_URL": telegram.base_url, "TELEGRAM__TOKEN": RIGHT}
        async with set_up(tmp_path / "h", only=["web"], **environ) as (_gateway, client):
            (part,) = [one for one in (await shown(client))["parts"] if one["name"] == "telegram"]
            assert part["fields"][0]["fixed"] == "environment"
            answer = await save(client, "telegram", token=NEWER)
        assert answer.status_code == 422
        assert "TAPEWAY_TELEGRAM__TOKEN is set in the environment" in answer.json()["error"]


async def test_the_sections_of_models_are_those_that_were_tried(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home, channel = tmp_path / "h", PlainChannel()
    home.mkdir()
    toml = home / "tapeway.toml"
    toml.write_text(f'[models.spare]\napi_key = "{KEY}"\n')
    plugins = with_plugins(Brings(channel))
    async with FakeOpenAI() as other:
        lines = (
            "TAPEWAY_AGENT__MODEL=m\nTAPEWAY_AGENT__FALLBACK_MODELS=spare\n"
            f"TAPEWAY_AGENT__BASE_URL={model.base_url}\nTAPEWAY_AGENT__RETRIES=0\n"
        )
        async with set_up(home, lines, plugins=plugins, only=["plain"], ACCESS__MODE="open") as (
            gateway,
            client,
        ):
            toml.write_text(f'[models.spare]\nbase_url = "{model.base_url}"\napi_key = "{KEY}"\n')
            saved = await save(client, "model", base_url=other.base_url, model="m", keyless="yes")
            assert saved.json()["well"], saved.text
            other.enqueue(Failure(500, "boom", None, "server_error"))
            model.enqueue(Text(("from the spare one",)))
            await channel.host.accept([MESSAGE])
            await becomes(lambda: bool(channel.posts))
            await gateway.idle()
            rows = (await client.get("/api/console/settings")).json()["settings"]
    assert channel.posts[0].text == "from the spare one"
    assert {one.headers["authorization"] for one in other.requests} == {"Bearer none"}
    assert [one.headers["authorization"] for one in model.requests] == [f"Bearer {KEY}"]
    assert [row["origin"] for row in rows if row["name"] == "TAPEWAY_MODELS"] == ["toml"]
