"""Any process serves the health and the metrics of all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2

from gateway.metrics.catalog import MESSAGES
from gateway.supervision.published import Published
from tape.entry import dump
from tests.kit.gateways import gateway_of


async def asked(url: str, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        return await client.get(path)


def row(state: dict[str, Any], *, alive: bool = True, here: bool = False) -> dict[str, Any]:
    return {"state": dump(state), "alive": alive, "is_own_home": here}


async def test_a_channel_is_ready_if_it_is_at_any_process_that_lives(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, only=["web"]) as gateway:
        published = Published(gateway.services, gateway.status)
        there = published.own()
        gateway.status.down("web", "the connection is gone")
        assert (await asked(gateway.url, "/health/ready")).status_code == 503
        published.take([row(there)])
        assert (await asked(gateway.url, "/health/ready")).status_code == 200
        published.take([row(published.own())])
        assert (await asked(gateway.url, "/health/ready")).status_code == 503
        published.take([row(there, alive=False)])
        assert (await asked(gateway.url, "/health/ready")).status_code == 503


async def test_who_waits_for_another_process_to_listen_is_as_ready_as_that(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, only=["web"]) as gateway:
        published = Published(gateway.services, gateway.status)
        gateway.status.down("web", "the connection is gone")
        there = published.own()
        gateway.status.listens_elsewhere("web", "another")
        assert published.own()["channels"] == {}
        assert (await asked(gateway.url, "/health/ready")).status_code == 200
        published.take([row(there)])
        answer = await asked(gateway.url, "/health/ready")
    assert answer.status_code == 503
    assert answer.json()["channels"]["web"]["why"] == "the connection is gone"


async def test_the_metrics_are_those_of_all_processes_dead_ones_too(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, only=["web"]) as gateway:
        published = Published(gateway.services, gateway.status)
        gateway.services.meters.add(MESSAGES, "web", "new", by=3)
        there = published.own()
        published.take([row(there), row(there, alive=False), row(there, here=True)])
        text = (await asked(gateway.url, "/metrics")).text
        published.take([row(published.own())])
        later = (await asked(gateway.url, "/metrics")).text
    assert 'tapeway_messages_total{channel="web",outcome="new"} 12.0' in text
    assert [name for name, *_ in published.own()["counts"]].count(MESSAGES.name) == 1
    assert later
