"""Gateways that end before they have read all that was missed on Slack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import anyio
import pytest

from gateway.app import Gateway
from tests.canaries import TOKENS
from tests.clock import QuickClock
from tests.contracts.opened import params
from tests.fakes.base.faults import Hang, Slow
from tests.fakes.slack.server import FakeSlack
from tests.gateways import make_settings, running, tape_of, with_plugins
from tests.postgres import owned_database

pytestmark = pytest.mark.anyio

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
        chosen = {
            "WEB__ENABLED": "false",
            "ACCESS__MODE": "open",
            "SLACK__BOT_TOKEN": fake.bot_token,
            "SLACK__APP_TOKEN": fake.app_token,
            "SLACK__BASE_URL": fake.base_url,
            **store,
        }
        for life in (1, 2):
            before, hang = reads(fake), Hang()
            fake.fail(READS, *[Slow(0)] * READS_A_LIFE, hang)
            settings = make_settings(tmp_path / "home", None, **{**TOKENS, **chosen})
            how = {"plugins": with_plugins(), "clock": ReadingClock(fake), "only": ["slack"]}
            async with running(settings, **how) as gateway:
                with anyio.fail_after(30):
                    while reads(fake) <= before + READS_A_LIFE:  # noqa: ASYNC110
                        await anyio.sleep(0.01)
                    while life == 2 and len(await texts(gateway, busy.id)) < len(said):  # noqa: ASYNC110
                        await anyio.sleep(0.01)
                if life == 2:
                    found = await texts(gateway, busy.id)
                    assert sorted(found) == sorted(said)
                    for number in range(THREADS):
                        assert found.index(f"root {number}") < found.index(f"reply {number}")
                    assert await texts(gateway, quiet.id) == ["not forgotten"]
            hang.release()


async def texts(gateway: Gateway, chat: str) -> list[str]:
    """Return what was taped of a chat."""
    await gateway.taken_in()
    entries = await tape_of(gateway, f"slack:{chat}").read()
    return [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
