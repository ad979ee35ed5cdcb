"""Doctor compares each platform's bot with the one whose messages the home has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from channels.checkup import CheckResult
from gateway.doctor.examination import examine
from gateway.doctor.subject import find_subject
from tests.doctor.break_platforms import telegram_of
from tests.doctor.scene import Scene
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.gateways import gateway_of
from tests.postgres import owned_database

RIGHT, OTHER = "123456:right-token-of-the-bot", "654321:right-token-of-another-bot"


@pytest.fixture(params=["sqlite", "files", pytest.param("postgres", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Return the settings of a database."""
    if request.param == "postgres":
        with owned_database() as url:
            yield {"TAPE__URL": url}
    else:
        yield {} if request.param == "sqlite" else {"TAPE__URL": f"file://{tmp_path}/tapes"}


async def test_a_token_of_another_bot_is_named_before_a_start_and_that_of_the_same_is_not(
    model: FakeOpenAI, tmp_path: Path, database: dict[str, str]
) -> None:
    scene = Scene(tmp_path)
    async with FakeTelegram(token=RIGHT) as telegram:

        async def found() -> list[CheckResult]:
            environ = scene.environ(**telegram_of(telegram), **database)
            diagnosis = await examine(find_subject(environ, deep=False))
            (checkup,) = diagnosis.checkups
            assert checkup.bot == "@tapeway_bot"
            return [one for one in checkup.results if one.check == "telegram.bot"]

        assert await found() == []  # there is no database yet
        more = {**telegram_of(telegram), **database, "ACCESS__MODE": "open"}
        async with gateway_of(scene.home, model, only=["telegram"], **more) as gateway:
            chat = telegram.private_chat(ann := telegram.user(7, "Ann"))
            telegram.say(chat, ann, "hello")
            await telegram.wait_for(lambda it: len(it.messages(chat.id)) == 1)
            await gateway.idle()
        assert await found() == []
        telegram.token, telegram.world.bot.id = OTHER, 654321
        (result,) = await found()
    assert (result.state, result.trouble and result.trouble.id) == ("warning", "bot.other")
    assert "bot 123456" in result.says
    assert "654321" in result.says
