"""Two ingress processes behind a balancer hear each event of a platform, and one answer comes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web

from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of
from tests.kit.stages.slack import SlackHttpStage
from tests.kit.stages.telegram import TelegramStage

pytestmark = pytest.mark.postgresql

QUESTIONS = 5


class Balancer:
    """An address that passes each request on to every process, as if it were delivered twice."""

    def __init__(self) -> None:
        self.url = ""
        self.passed = Counter[str]()
        self._targets: list[str] = []
        self._client = httpx2.AsyncClient(trust_env=False, timeout=60)

    def serve(self, gateways: list[Gateway]) -> None:
        """Pass requests on to these from now on."""
        self._targets = [gateway.url.rstrip("/") for gateway in gateways]

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {k: v for k, v in request.headers.items() if k.lower() != "host"}
        posts = [
            self._client.post(target + request.path, content=body, headers=headers)
            for target in self._targets
        ]
        answers = await asyncio.gather(*posts)
        for target, answer in zip(self._targets, answers, strict=True):
            self.passed[target] += answer.is_success
        status = max((answer.status_code for answer in answers), default=503)
        return web.Response(status=status, body=answers[0].content if answers else b"")

    async def close(self) -> None:
        await self._client.aclose()


@asynccontextmanager
async def balancer() -> AsyncIterator[Balancer]:
    made, served = Balancer(), web.Application()
    served.router.add_post("/{path:.*}", made.handle)
    runner = web.AppRunner(served, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}"
    try:
        yield made
    finally:
        await runner.cleanup()
        await made.close()


@asynccontextmanager
async def fleet(
    folder: Path, model: FakeOpenAI, settings: Mapping[str, str]
) -> AsyncIterator[list[Gateway]]:
    """Run two ingress processes and a worker."""
    async with AsyncExitStack() as stack:
        made: list[Gateway] = []
        for number, role in enumerate(("ingress", "ingress", "worker")):
            more: dict[str, Any] = {
                "WORKSPACE": str(folder / "workspace"),
                "ACCESS__MODE": "open",
                "SHARING__ROLE": role,
                **settings,
            }
            own = gateway_of(folder / f"home-{number}", model, **more)
            made.append(await stack.enter_async_context(own))
        yield made


@pytest.mark.parametrize("platform", ["telegram", "slack"])
async def test_an_event_that_both_of_two_ingress_processes_hear_is_answered_once(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, platform: str
) -> None:
    stage = TelegramStage() if platform == "telegram" else SlackHttpStage()
    async with balancer() as front, stage:
        settings = {**stage.settings(), "TAPE__URL": tape_url}
        settings["TELEGRAM__WEBHOOK_URL"] = f"{front.url}/webhooks/telegram"
        async with fleet(tmp_path, model, settings) as (first, second, worker):
            front.serve([first, second])
            async with stage.connected(f"{front.url}/"):
                group, people = stage.group(), [stage.person(name) for name in ("Ann", "Ben")]
                for number in range(QUESTIONS):
                    await stage.say(group, people[number % 2], f"question {number}")
                await stage.until(lambda: len(stage.answers(group)) >= QUESTIONS)
                await stage.taken()
                await worker.idle()
            rows = await worker.services.store.select(
                "ledger.list_inbox", {"status": "", "limit": 99}
            )
    assert len(stage.answers(group)) == QUESTIONS
    assert [row["status"] for row in rows] == ["done"] * QUESTIONS
    assert len({row["turn_id"] for row in rows}) == QUESTIONS
    assert len(model.requests) == QUESTIONS
    assert min(front.passed.values()) >= QUESTIONS
