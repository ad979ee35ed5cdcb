"""A model server of the operator's own: when it is used, and when it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from gateway.supervision.local_model import MARK, RETURN_SECONDS, with_local_model
from tests.doctor.scene import Scene, examined, results
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_process, make_environ, make_settings
from tests.kit.visitor import visit
from tests.kit.waiting import Patience

MODEL = "qwen3:4b-instruct"


class Late(list[str]):
    """Names of models that a server has from its second list on."""

    lists = 0

    def __iter__(self) -> Iterator[str]:
        self.lists += 1
        return super().__iter__() if self.lists > 1 else iter(())


async def test_while_no_model_is_set_the_local_one_is_used_within_its_window(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI(models=[MODEL]) as server:
        settings = make_settings(tmp_path, LOCAL__SERVER=server.base_url)
        found = await with_local_model(settings, ManualClock())
    assert found.agent.model == MODEL
    assert found.model().base_url == server.base_url
    assert found.model().prompt_budget(32_000) == 8192 * 3 // 4
    assert found.model().read_timeout == 600


@pytest.mark.parametrize(
    ("name", "value"),
    [("MODEL", "offline"), ("BASE_URL", "http://127.0.0.1:9/v1"), ("API_KEY", "k")],
)
async def test_what_the_operator_sets_wins(tmp_path: Path, name: str, value: str) -> None:
    async with FakeOpenAI(models=[MODEL]) as server:
        more = {"LOCAL__SERVER": server.base_url, f"AGENT__{name}": value}
        settings = make_settings(tmp_path, None, **more)
        assert await with_local_model(settings, ManualClock()) is settings
    assert not server.requests


async def test_a_server_without_the_model_is_not_used(tmp_path: Path) -> None:
    async with FakeOpenAI(models=["other"]) as server:
        settings = make_settings(tmp_path, LOCAL__SERVER=server.base_url)
        assert await with_local_model(settings, ManualClock()) is settings


async def test_a_server_that_was_there_last_time_is_waited_for_and_a_missing_one_is_not(
    tmp_path: Path,
) -> None:
    async with FakeOpenAI(models=[MODEL]) as server:
        settings = make_settings(tmp_path, LOCAL__SERVER=server.base_url)
        await with_local_model(settings, ManualClock())
        server.models = []
        clock = ManualClock()
        found: list[str] = []
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                found.append((await with_local_model(settings, clock)).agent.model)

            group.start_soon(wait)
            await clock.advance(RETURN_SECONDS / 2)
            server.models = [MODEL]
            await clock.advance(2)
        server.models = []
        (tmp_path / MARK).unlink()
        assert await with_local_model(settings, clock) is settings
    assert found == [MODEL]


async def test_a_gateway_that_runs_goes_on_with_the_local_model_once_it_is_there(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with FakeOpenAI(models=Late([MODEL])) as server:
        server.enqueue(Text(("from the local model",)))
        environ = make_environ(home, LOCAL__SERVER=server.base_url)
        async with gateway_process(environ, home) as gateway:
            patience = Patience("the first life has begun")
            while not (home / MARK).exists():
                await patience.pause()
            async with visit(await gateway.url(), "Alice") as (alice,):
                answer = await alice.answer(await alice.say("who are you?"))
    assert answer["text"] == "from the local model"


async def test_doctor_asks_the_local_model_that_the_gateway_uses(tmp_path: Path) -> None:
    async with FakeOpenAI(models=[MODEL]) as server:
        server.enqueue(Text(("ok",)))
        scene = Scene(tmp_path)
        code, report = await examined(scene.environ(LOCAL__SERVER=server.base_url))
    says = [one["says"] for one in results(report) if one["check"] == "model"]
    assert code == 0
    assert len(says) == 1
    assert says[0].startswith(f"{MODEL} at {server.base_url} answered in ")
