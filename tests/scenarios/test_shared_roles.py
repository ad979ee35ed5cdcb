"""`tapeway gateway --role` as processes: one kind receives, the other one answers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path

import pytest

from gateway.doctor.overview import look_over
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import Process, gateway_process, make_environ
from tests.postgres import fresh_database
from tests.visitor import visit

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]


@pytest.fixture
def database() -> Iterator[str]:
    with fresh_database() as url:
        yield url


def held(url: str) -> dict[str, int]:
    """Return how many sessions the running process of each role holds."""
    return {one.role: one.sessions for one in look_over(url).processes}


async def test_an_ingress_receives_a_worker_answers_and_one_that_ends_gives_all_back_at_once(
    tmp_path: Path, database: str
) -> None:
    kept = {"SHARING__LEASE": "600", "SHARING__KEEP": "600"}  # nothing ends by itself
    shared = {"TAPE__URL": database, "WORKSPACE": str(tmp_path / "workspace"), **kept}
    async with FakeOpenAI() as server, AsyncExitStack() as stack:

        def start(name: str, role: str) -> AbstractAsyncContextManager[Process]:
            home = tmp_path / name / "home"
            home.parent.mkdir()
            return gateway_process(make_environ(home, server, **shared), home, "--role", role)

        ingress = await stack.enter_async_context(start("ingress", "ingress"))
        worker = await stack.enter_async_context(start("first", "worker"))
        alice, bob = await stack.enter_async_context(visit(await ingress.url(), "Alice", "Bob"))
        server.enqueue(Text(("one",)))
        assert (await alice.answer(await alice.say("hello")))["text"] == "one"
        assert held(database) == {"ingress": 0, "worker": 1}
        assert await worker.interrupt(signal.SIGTERM) == 0
        assert held(database) == {"ingress": 0}
        server.enqueue(Text(("two",)))
        asked = await bob.say("is anybody there?")
        await stack.enter_async_context(start("second", "worker"))
        assert (await bob.answer(asked))["text"] == "two"
        assert held(database) == {"ingress": 0, "worker": 1}
