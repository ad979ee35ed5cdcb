"""`tapeway gateway --role` as processes: one kind receives, the other one answers."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
from anyio import to_thread

from gateway.doctor.overview import look_over
from tape.stores.postgres.store import PostgresStore
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import Process, gateway_process, make_environ
from tests.kit.visitor import visit
from tests.postgres import fresh_database
from tests.tape.stores.following import ADDS, BREAKS, following

pytestmark = pytest.mark.postgresql


@pytest.fixture
def database() -> Iterator[str]:
    with fresh_database() as url:
        yield url


def held(url: str) -> dict[str, int]:
    """Return how many sessions the running process of each role holds."""
    return {one.role: one.sessions for one in look_over(url).processes}


async def test_an_ingress_receives_a_worker_answers_and_one_that_ends_gives_all_back_at_once(
    model: FakeOpenAI, tmp_path: Path, database: str
) -> None:
    kept = {"SHARING__LEASE": "600", "SHARING__KEEP": "600"}  # nothing ends by itself
    shared = {"TAPE__URL": database, "WORKSPACE": str(tmp_path / "workspace"), **kept}
    async with AsyncExitStack() as stack:

        def start(name: str, role: str) -> AbstractAsyncContextManager[Process]:
            home = tmp_path / name / "home"
            home.parent.mkdir()
            return gateway_process(make_environ(home, model, **shared), home, "--role", role)

        ingress = await stack.enter_async_context(start("ingress", "ingress"))
        worker = await stack.enter_async_context(start("first", "worker"))
        alice, bob = await stack.enter_async_context(visit(await ingress.url(), "Alice", "Bob"))
        model.enqueue(Text(("one",)))
        assert (await alice.answer(await alice.say("hello")))["text"] == "one"
        assert held(database) == {"ingress": 0, "worker": 1}
        assert await worker.interrupt(signal.SIGTERM) == 0
        assert held(database) == {"ingress": 0}
        model.enqueue(Text(("two",)))
        asked = await bob.say("is anybody there?")
        await stack.enter_async_context(start("second", "worker"))
        assert (await bob.answer(asked))["text"] == "two"
        assert held(database) == {"ingress": 0, "worker": 1}


async def test_a_process_goes_on_beside_a_version_that_adds_and_ends_when_one_takes_away(
    model: FakeOpenAI, tmp_path: Path, database: str
) -> None:
    home = tmp_path / "one" / "home"
    home.parent.mkdir()
    environ = make_environ(home, model, TAPE__URL=database)
    async with gateway_process(environ, home) as before:
        url = await before.url()
        await migrated(database, ADDS)
        async with visit(url, "Alice") as (alice,):
            assert (await alice.answer(await alice.say("are you still here?")))["text"]
        await migrated(database, ADDS, BREAKS)
        assert await before.ended() == 1
    said = " ".join((tmp_path / "one" / "gateway.log").read_text().split())
    assert re.search(r"install Tapeway \d\S* or a newer one", said)


async def migrated(url: str, *migrations: str) -> None:
    """Migrate a database as a pretended later version would."""
    opened = partial(PostgresStore.open, url, [following(*migrations)])
    store = await to_thread.run_sync(opened)
    await store.close()
