"""The port for metrics: what it serves, to whom, and nothing else."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import pytest

from gateway.app import Gateway
from gateway.errors import PortInUse, SettingsError
from gateway.http.server import listen, make_server, open_sockets
from tests.kit.gateways import gateway_of, make_settings
from tests.kit.ports import free_port

TOKEN = "a-token-of-twenty-letters"


@asynccontextmanager
async def served(home: Path, **more: str) -> AsyncIterator[tuple[Gateway, httpx2.AsyncClient]]:
    """Run a gateway with a token and a port for metrics; yield a client of that port."""
    port = free_port()
    more = {"HTTP__TOKEN": TOKEN, "HTTP__METRICS_PORT": str(port), **more}
    async with gateway_of(home, None, **more) as gateway:
        base = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(base_url=base, trust_env=False) as web:
            yield gateway, web


async def test_it_serves_the_metrics_without_a_login_and_nothing_beside_them(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as (gateway, web):
        shown = await web.get("/metrics")
        assert shown.status_code == 200
        assert "tapeway_build_info" in shown.text
        assert "set-cookie" not in shown.headers
        head = await web.head("/metrics")
        assert (head.status_code, head.content) == (200, b"")
        assert (await web.post("/metrics", content=b"{}")).status_code == 405
        owner = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("/", "/login", "/health/live", "/metrics/", "/static/room.js", "/api/tapes"):
            assert (await web.get(path, headers=owner)).status_code == 404, path
        assert (await web.post("/webhooks/telegram")).status_code == 404
        async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as main:
            for host in ("tapeway", f"127.0.0.1:{web.base_url.port}"):
                refused = await main.get("/metrics", headers={"Host": host})
                assert refused.status_code == 401


@pytest.mark.parametrize(("address", "status"), [("127.0.0.1", 421), ("0.0.0.0", 200)])
async def test_a_foreign_name_reads_them_only_where_others_are_meant_to(
    tmp_path: Path, address: str, status: int
) -> None:
    async with served(tmp_path, HTTP__METRICS_HOST=address) as (_gateway, web):
        assert (await web.get("/metrics", headers={"Host": "tapeway:9787"})).status_code == status
        assert (await web.get("/metrics", headers={"Host": "localhost"})).status_code == 200


async def test_both_ports_share_the_limits_and_the_end(tmp_path: Path) -> None:
    both = open_sockets(make_settings(tmp_path, HTTP__METRICS_PORT=str(free_port())).http, "")
    addresses = [one.getsockname() for one in both]

    async def app(_scope: object, _receive: object, _send: object) -> None:
        """Nobody asks for anything."""

    server = make_server(app, "")
    async with anyio.create_task_group() as group:
        group.start_soon(server.run_on, *both)
        while not server.started:
            await anyio.lowlevel.checkpoint()
        held = [socket.create_connection(address) for address in addresses]
        while len(server.crowd.connections()) < len(held):
            await anyio.lowlevel.checkpoint()
        for one in held:
            one.close()
        await server.end()
    for host, port in addresses:
        listen(host, port, "").close()


def test_a_taken_port_ends_the_start_and_leaves_no_socket_open(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port, main = taken.getsockname()[1], free_port()
        http = make_settings(tmp_path, HTTP__PORT=str(main), HTTP__METRICS_PORT=str(port)).http
        with pytest.raises(PortInUse, match=rf":{port} .*TAPEWAY_HTTP__METRICS_PORT={port + 1}"):
            open_sockets(http, "")
    listen("127.0.0.1", main, "").close()


def test_the_main_port_cannot_be_that_of_the_metrics(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"METRICS_PORT: .*another port than TAPEWAY_HTTP__PORT"
    ):
        make_settings(tmp_path, HTTP__PORT="9000", HTTP__METRICS_PORT="9000")
