"""Two gateways over one database: one of them listens to a bot's account, and both can send."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskStatus

from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateways import gateway_of
from tests.postgres import owned_database

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]


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
    tmp_path: Path,
) -> None:
    async with FakeTelegram() as fake, FakeOpenAI() as model:
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
