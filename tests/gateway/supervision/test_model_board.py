"""What is known about the model in use: from the probe, and from what was learned."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.models.learned import Learned
from agent.models.probe import Probed
from gateway.supervision.model_board import MEMORY, ModelBoard
from tests.fakes.openai.script import Failure
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of, make_environ, make_settings, run_tapeway


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI() as fake:
        yield fake


async def probe(home: Path, server: FakeOpenAI, clock: ManualClock, **more: str) -> str:
    """Probe as a gateway does that has just started; returns the sentence."""
    settings = make_settings(home, server, **{"AGENT__PROBE": "true", **more})
    finding = await ModelBoard(settings, clock).probe()
    return finding.sentence if finding else ""


def asked(server: FakeOpenAI) -> int:
    return sum(request.path.endswith("/completions") for request in server.requests)


async def test_a_model_is_asked_at_most_hourly_also_over_restarts(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    clock = ManualClock()
    first = await probe(tmp_path, server, clock)
    assert first.startswith("model answered in ")
    clock.jump(timedelta(minutes=59))
    assert await probe(tmp_path, server, clock) == f"{first} (asked at 03:04 UTC)"
    assert asked(server) == 1
    clock.jump(timedelta(minutes=1))
    await probe(tmp_path, server, clock)
    assert asked(server) == 2


@pytest.mark.parametrize("name", ["MODEL", "API_KEY"])
async def test_another_model_or_key_is_asked_at_once(
    tmp_path: Path, server: FakeOpenAI, name: str
) -> None:
    clock = ManualClock()
    await probe(tmp_path, server, clock)
    await probe(tmp_path, server, clock, **{f"AGENT__{name}": "another"})
    await probe(tmp_path, server, clock)
    assert asked(server) == 2


async def test_what_is_remembered_holds_no_key(tmp_path: Path, server: FakeOpenAI) -> None:
    await probe(tmp_path, server, ManualClock(), AGENT__API_KEY="sk-canary")
    memory = tmp_path / MEMORY
    assert "sk-canary" not in memory.read_text()
    assert memory.stat().st_mode & 0o777 == 0o600


async def test_a_refusal_that_cost_nothing_is_asked_again_after_it_was_remedied(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    server.enqueue(Failure(402, "Insufficient Balance"))
    clock = ManualClock()
    assert "is empty" in await probe(tmp_path, server, clock)
    assert (await probe(tmp_path, server, clock)).startswith("model answered in ")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": ["x", "y", true]}'])
async def test_a_broken_memory_is_no_memory(tmp_path: Path, server: FakeOpenAI, text: str) -> None:
    (tmp_path / MEMORY).write_text(text)
    await probe(tmp_path, server, ManualClock())
    assert asked(server) == 1


@pytest.mark.parametrize("more", [{"AGENT__PROBE": "false"}, {"AGENT__MODEL": "offline"}])
async def test_nothing_is_asked_where_the_probe_is_off_or_no_model_is_set(
    tmp_path: Path, server: FakeOpenAI, more: dict[str, str]
) -> None:
    assert await probe(tmp_path, server, ManualClock(), **more) == ""
    assert server.requests == []


async def test_health_says_what_the_probe_saw_and_what_was_learned(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    async with gateway_of(tmp_path, server, AGENT__PROBE="true") as gateway:
        assert server.requests == []
        await gateway.models.probe()
        server.enqueue(Failure(400, "Unrecognized request argument supplied: stream_options"))
        await gateway.ask({"channel": "cli", "chat_id": "1", "content": "hi"})
        code, out, _err = await run_tapeway(make_environ(tmp_path, server), "health")
    assert code == 0
    assert "model: model answered in" in out
    assert f"model: model on {server.base_url} refuses stream_options" in out


async def test_a_probe_of_a_model_that_was_replaced_meanwhile_says_nothing_of_the_next_one(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    found = Probed("the next one answers", True)

    class Meanwhile(ManualClock):
        def monotonic(self) -> float:  # the model is being asked
            following = make_settings(tmp_path, server, AGENT__MODEL="next")
            board.begin(following, Learned(self.now), found)
            return super().monotonic()

    board = ModelBoard(make_settings(tmp_path, server, AGENT__PROBE="true"), Meanwhile())
    assert await board.probe() is found
    assert board.finding is found
    assert asked(server) == 1
