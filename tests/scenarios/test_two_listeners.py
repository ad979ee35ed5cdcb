"""Two gateways over one database: one of them listens to a bot's account, and both can send."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.abc import TaskStatus

from gateway.app import Gateway, access_admin
from gateway.console.chats import key_of
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateway.console.scene import OUTSIDE, TOKEN
from tests.kit.gateways import gateway_of
from tests.kit.waiting import Patience
from tests.postgres import owned_database

pytestmark = pytest.mark.postgresql


class Room:
    """A Telegram, a model and a database, with gateways that come and go."""

    def __init__(self, home: Path, url: str, fake: FakeTelegram, model: FakeOpenAI) -> None:
        self.leaves = {"a": anyio.Event(), "b": anyio.Event()}
        self.left = {"a": anyio.Event(), "b": anyio.Event()}
        self._home = home
        self._model = model
        self._settings = {
            "TAPE__URL": url,
            "ACCESS__MODE": "open",
            "HTTP__TOKEN": TOKEN,
            "TELEGRAM__TOKEN": fake.token,
            "TELEGRAM__BASE_URL": fake.base_url,
        }

    async def run(
        self, name: str, *, task_status: TaskStatus[Gateway] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        home, only = self._home / name, ["telegram"]
        async with gateway_of(home, self._model, only=only, **self._settings) as gateway:
            task_status.started(gateway)
            await self.leaves[name].wait()
        self.left[name].set()


async def test_a_bot_is_polled_by_one_gateway_and_after_its_goodbye_by_the_other(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with FakeTelegram() as fake:
        chat = fake.private_chat(ada := fake.user(7, "Ada"))
        with owned_database() as url, anyio.fail_after(60):
            room = Room(tmp_path, url, fake, model)
            async with anyio.create_task_group() as group:
                first: Gateway = await group.start(room.run, "a")
                second: Gateway = await group.start(room.run, "b")
                state = second.status.states["telegram"]
                assert (state.state, first.services.ledger.owner in state.why) == ("ready", True)
                fake.say(chat, ada, "hello")
                await fake.wait_for(lambda _: len(fake.messages(chat.id)) == 1)
                room.leaves["a"].set()
                await room.left["a"].wait()
                fake.say(chat, ada, "who is there?")
                await fake.wait_for(lambda _: len(fake.messages(chat.id)) == 2)
                assert second.status.states["telegram"].why == ""
                room.leaves["b"].set()


async def test_the_gateway_that_does_not_listen_knows_who_administers_a_chat(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with FakeTelegram() as fake:
        ada = fake.user(7, "Ada")
        group, private = fake.group(), fake.private_chat(ada)
        with owned_database() as url, anyio.fail_after(60):
            room = Room(tmp_path, url, fake, model)
            async with anyio.create_task_group() as tasks:
                first: Gateway = await tasks.start(room.run, "a")
                second: Gateway = await tasks.start(room.run, "b")
                await access_admin(first).grant(f"telegram:{group.id}", "member", "")
                fake.promote(group, ada)
                fake.say(group, ada, "@tapeway_bot are you here?")
                await fake.wait_for(lambda _: len(fake.messages(group.id)) == 1)
                patience = Patience("the other gateway knows the rule")
                while not second.parts.requests.openings.access.rules():
                    await patience.pause()
                fake.say(private, ada, "/console")
                await fake.wait_for(lambda _: len(fake.messages(private.id)) == 1)
                found = re.search(r"#code=([0-9a-f]{32})", fake.text_of(private.id))
                assert found, fake.text_of(private.id)
                at = httpx2.AsyncClient(base_url=second.url, trust_env=False, headers=OUTSIDE)
                async with at as browser:
                    entered = await browser.post("/console/code", json={"code": found[1]})
                    assert entered.is_success, entered.text
                    deck = (await browser.get("/api/console/deck")).json()
                assert [one["chat"] for one in deck["chats"]] == [key_of(f"telegram:{group.id}")]
                state = second.status.states["telegram"]
                assert first.services.ledger.owner in state.why
                for leaves in room.leaves.values():
                    leaves.set()
