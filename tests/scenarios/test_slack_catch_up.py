"""Gateways that end before they have read all that was missed on Slack."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from gateway.app import Gateway
from gateway.settings import Settings
from tests.contracts.opened import params
from tests.fakes.base.faults import Hang, Slow
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.slack.server import FakeSlack
from tests.kit.canaries import TOKENS
from tests.kit.clock import QuickClock
from tests.kit.gateways import make_settings, running, tape_of, with_plugins
from tests.kit.waiting import Patience
from tests.postgres import owned_database

READS: Final = "conversations.history|conversations.replies"
READ_SECONDS: Final = 3.0
READS_A_LIFE: Final = 6
THREADS: Final = 5


class ReadingClock(QuickClock):
    """A clock for which each reading of a history takes some seconds."""

    def __init__(self, fake: FakeSlack) -> None:
        super().__init__()
        self._fake = fake

    def monotonic(self) -> float:
        return super().monotonic() + READ_SECONDS * reads(self._fake)


def reads(fake: FakeSlack) -> int:
    return len(fake.calls_of(*READS.split("|")))


@pytest.fixture(params=params(("sqlite", "postgresql")))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The setting of a store; the server's is dropped in the end."""
    if request.param == "sqlite":
        yield {}
        return
    with owned_database() as url:
        yield {"TAPE__URL": url, "WORKSPACE": str(tmp_path / "workspace")}


async def test_d2_what_each_process_has_read_is_left_out_by_the_next(
    tmp_path: Path, store: dict[str, str]
) -> None:
    async with FakeSlack() as fake:
        ada = fake.user("Ada")
        busy, quiet = fake.channel("busy"), fake.channel("quiet")
        fake.deliveries.hold()
        said: list[str] = []
        for number in range(THREADS):
            root = fake.say(busy, ada, f"root {number}")
            fake.say(busy, ada, f"reply {number}", thread=root)
            said += [f"root {number}", f"reply {number}"]
        fake.say(quiet, ada, "not forgotten")
        fake.deliveries.forget()
        fake.deliveries.release()
        for life in (1, 2):
            before, hang = reads(fake), Hang()
            fake.fail(READS, *[Slow(0)] * READS_A_LIFE, hang)
            settings = slack_settings(tmp_path, fake, store)
            how = {"plugins": with_plugins(), "clock": ReadingClock(fake), "only": ["slack"]}
            async with running(settings, **how) as gateway:
                patience = Patience("the reads of this life are over")
                while reads(fake) <= before + READS_A_LIFE:
                    await patience.pause()
                patience = Patience("all that was said is on the tape")
                while life == 2 and len(await texts(gateway, busy.id)) < len(said):
                    await patience.pause()
                if life == 2:
                    found = await texts(gateway, busy.id)
                    assert sorted(found) == sorted(said)
                    for number in range(THREADS):
                        assert found.index(f"root {number}") < found.index(f"reply {number}")
                    assert await texts(gateway, quiet.id) == ["not forgotten"]
            hang.release()


async def test_d2_the_first_reply_to_an_answer_is_found_when_nothing_listened_for_hours(
    model: FakeOpenAI, tmp_path: Path, store: dict[str, str]
) -> None:
    async with FakeSlack() as fake:
        ada, room = fake.user("Ada"), fake.channel("room")
        model.default = lambda _request: Text(("Blue.",))
        clock, settings = QuickClock(), slack_settings(tmp_path, fake, store, model)
        how = {"plugins": with_plugins(), "clock": clock, "only": ["slack"]}
        async with running(settings, **how) as gateway:
            asked = fake.say(room, ada, f"@{fake.workspace.bot.name} what colour is it?")
            await fake.wait_for(lambda it: len(it.messages(room.id)) > 0)
            hours_pass(5, clock, fake)
            fake.say(room, ada, "good morning")
            await taped(gateway, room.id, "good morning")
        hours_pass(5, clock, fake)
        fake.deliveries.hold()
        fake.say(room, ada, "are you sure?", thread=asked)
        fake.deliveries.forget()
        fake.deliveries.release()
        async with running(settings, **how) as gateway:
            await taped(gateway, room.id, "are you sure?")


def hours_pass(hours: int, clock: QuickClock, fake: FakeSlack) -> None:
    clock.jump(timedelta(hours=hours))
    fake.epoch += hours * 3600


async def taped(gateway: Gateway, chat: str, text: str) -> None:
    patience = Patience("the text is on the tape")
    while text not in await texts(gateway, chat):
        await patience.pause()


def slack_settings(
    tmp_path: Path, fake: FakeSlack, store: dict[str, str], model: FakeOpenAI | None = None
) -> Settings:
    chosen = {
        "WEB__ENABLED": "false",
        "ACCESS__MODE": "open",
        "SLACK__BOT_TOKEN": fake.bot_token,
        "SLACK__APP_TOKEN": fake.app_token,
        "SLACK__BASE_URL": fake.base_url,
        **store,
    }
    return make_settings(tmp_path / "home", model, **{**TOKENS, **chosen})


async def texts(gateway: Gateway, chat: str) -> list[str]:
    """Return what was taped of a chat."""
    await gateway.taken_in()
    entries = await tape_of(gateway, f"slack:{chat}").read()
    return [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
