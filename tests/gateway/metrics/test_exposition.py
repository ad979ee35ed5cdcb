"""`/metrics` over HTTP: its formats, its readers, and what a scrape costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import httpx2
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_text

from channels.message import OutboundMessage
from gateway.app import Gateway
from gateway.metrics.catalog import MESSAGES, MODEL_CALLS, OWN, PROCESS
from gateway.metrics.exposition import Exposition
from gateway.metrics.meters import MAX_UNSENT, Meters, Reading
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.metrics.scraping import Samples, key, parsed, scrape
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel
from tests.kit.visitor import visit

OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
TOKEN = "a-token-of-twenty-letters"


async def ask(url: str, accept: str = "*/*", bearer: str = "") -> httpx2.Response:
    headers = {"Accept": accept, **({"Authorization": f"Bearer {bearer}"} if bearer else {})}
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        return await client.get(f"{url}metrics", headers=headers)


async def test_every_metric_is_there_in_both_formats_and_no_other(tmp_path: Path) -> None:
    async with gateway_of(tmp_path) as gateway:
        plain, open_metrics = await ask(gateway.url), await ask(gateway.url, OPEN)
    assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert open_metrics.headers["content-type"].startswith("application/openmetrics-text;")
    known = {one.name.removesuffix("_total"): one for one in (*OWN, *PROCESS)}
    for parse, response in ((parse_text, plain), (parse_open, open_metrics)):
        families = {family.name: family for family in parse(response.text)}
        assert families.keys() == known.keys()
        for name, family in families.items():
            assert family.type == known[name].kind
            assert known[name] in PROCESS or family.documentation == known[name].text


@pytest.mark.settings(HTTP__TOKEN=TOKEN)
async def test_only_the_owner_reads_them_and_a_scraper_logs_in_with_the_token(
    gateway: Gateway,
) -> None:
    assert (await ask(gateway.url)).status_code == 401
    assert (await ask(gateway.url, bearer="another")).status_code == 401
    assert (await ask(gateway.url, bearer=TOKEN)).status_code == 200


async def test_scrapers_within_a_second_share_one_rendering() -> None:
    clock, read = ManualClock(), []

    async def states() -> list[Reading]:
        read.append(clock.monotonic())
        await anyio.lowlevel.checkpoint()
        return []

    meters = Meters(clock)
    meters.know(["telegram"])
    exposition = Exposition(meters, states)
    bodies: list[bytes] = []

    async def render() -> None:
        bodies.append(await exposition.render())

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(render)
    meters.add(MESSAGES, "telegram", "new")
    await render()
    assert len(read) == len(set(bodies)) == 1
    await clock.advance(1)
    later = parsed((await exposition.render()).decode())
    assert later[key("tapeway_messages_total", channel="telegram", outcome="new")] == 1
    assert len(read) == 2


async def test_unknown_channels_and_models_share_one_label() -> None:
    meters = Meters(ManualClock())
    meters.know(["telegram"], ["small"])
    for number in range(3):
        meters.add(MESSAGES, f"strange-{number}", "new")
        meters.add(MODEL_CALLS, f"strange-{number}", "ok")
    counted = {one.labels: one.value for one in meters.readings() if one.value == 3}
    assert counted == {("other", "new"): 3, ("other", "ok"): 3}


async def test_answers_that_are_never_sent_are_forgotten() -> None:
    meters = Meters(ManualClock())
    for number in range(MAX_UNSENT + 1):
        meters.turn_ended("telegram", "done", f"t-{number}", "2026-01-01T00:00:00+00:00")
    assert meters.asked_at("t-0") == ""
    assert meters.asked_at("t-1")


class Away(PlainChannel):
    """A platform that takes no message before it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.there = anyio.Event()

    async def prepare(self, message: OutboundMessage) -> OutboundMessage:
        await self.there.wait()
        return await super().prepare(message)


async def test_after_a_restart_only_what_still_happens_is_counted(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    away, back = Away(), Away()
    back.there.set()
    other = replace(MESSAGE, chat_id="-200", ext_id="-200/1")
    async with gateway_of(tmp_path, model, Brings(away), ACCESS__MODE="open") as gateway:
        for messages in ([MESSAGE, other], [MESSAGE]):
            await away.host.accept(messages)
        await gateway.taken_in()
        await gateway.parts.dispatcher.idle()
        before = counts(await scrape(gateway.url))
    async with gateway_of(tmp_path, model, Brings(back), ACCESS__MODE="open") as gateway:
        await gateway.idle()
        after = counts(await scrape(gateway.url))
    assert before == {"new": 2, "repeated": 1, "done": 2, "sent": 0, "answers": 0, "outbox": 2}
    assert after == {"new": 0, "repeated": 0, "done": 0, "sent": 2, "answers": 2, "outbox": 0}


def counts(samples: Samples) -> dict[str, float]:
    def of(name: str, **labels: str) -> float:
        return samples[key(f"tapeway_{name}", channel="plain", **labels)]

    return {
        "new": of("messages_total", outcome="new"),
        "repeated": of("messages_total", outcome="repeated"),
        "done": of("turns_total", outcome="done"),
        "sent": of("sends_total", outcome="sent"),
        "answers": of("answer_seconds_count"),
        "outbox": of("outbox_messages"),
    }


async def test_a_model_without_a_known_price_has_no_count_of_costs(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    prices: dict[str, str]
    for prices, counted in (({}, False), ({"AGENT__PRICE_INPUT": "1"}, True)):
        async with gateway_of(tmp_path / str(counted), model, **prices) as gateway:
            async with visit(gateway.url, "Alice") as (alice,):
                await alice.answer(await alice.say("hello"))
            await settled(gateway)
            names = {one.metric.name: one.labels for one in gateway.services.meters.readings()}
        assert names["tapeway_prompt_tokens_total"] == ("model",)
        assert ("tapeway_cost_total" in names) is counted
