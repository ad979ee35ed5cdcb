"""The HTTP server: who gets in, and what health says."""

from __future__ import annotations

import asyncio
import re
import socket
from pathlib import Path

import anyio
import httpx2
import pytest

from channels.base import Channel
from channels.errors import ChannelUnfit
from channels.message import OutboundMessage, Receipt
from channels.web.outbound import KEPT
from gateway.app import Gateway
from gateway.errors import PortInUse, SettingsError
from gateway.hooks.specs import hookimpl
from gateway.http.auth import same
from gateway.http.peers import is_loopback
from gateway.http.server import listen
from tests.kit.gateways import gateway_of

POST = {"id": "7d793037-a076-4f1e-b4bf-6b1a6b8a1f10", "person": {"name": "Alice"}, "text": "hi"}
ROOM = "/api/rooms/lobby/messages"


def client(url: str, **options: object) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, trust_env=False, **options, timeout=60)  # type: ignore[arg-type]


async def test_on_loopback_the_page_opens_without_a_token(gateway: Gateway) -> None:
    async with client(gateway.url) as web:
        page = await web.get("/")
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert page.headers["x-content-type-options"] == "nosniff"
        assert (await web.get("/static/room.js")).headers["content-type"].startswith("text/java")
        assert (await web.get("/static/..%2F__init__.py")).status_code == 404
        assert (await web.get("/static/adapter.py")).status_code == 404
        assert (await web.get(f"/static/{'a' * 5000}.js")).status_code == 404


async def test_the_page_s_files_are_asked_for_once(gateway: Gateway) -> None:
    async with client(gateway.url) as web:
        for address in ("/", "/login"):
            page = await web.get(address)
            again = await web.get(address, headers={"If-None-Match": page.headers["etag"]})
            assert (again.status_code, page.headers["cache-control"]) == (304, "no-cache")
            named = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
            assert len(named) > 3
            for path in named:
                assert (await web.get(path)).headers["cache-control"] == KEPT
                plain = await web.get(re.sub(r"/v\w{12}/", "/", path))
                assert plain.headers["cache-control"] == "no-cache"
                tag = {"If-None-Match": plain.headers["etag"]}
                assert (await web.get(str(plain.url), headers=tag)).status_code == 304


async def test_another_host_name_is_refused_against_dns_rebinding(gateway: Gateway) -> None:
    async with client(gateway.url) as web:
        answer = await web.get("/", headers={"Host": "evil.example"})
        assert answer.headers["location"] == "/login?room="
        posted = await web.post(ROOM, json=POST, headers={"Host": "evil.example"})
        assert posted.status_code == 401


@pytest.mark.parametrize("given", [{"Host": "[x"}, {"Host": "[::1"}, {"Origin": "http://["}])
async def test_what_is_no_address_lets_nobody_in_and_is_no_traceback(
    gateway: Gateway, given: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    async with client(gateway.url, headers=given) as web:
        for path in ("/", "/login/", "/api/tapes", "/health/ready", "/nothing/"):
            assert (await web.get(path)).status_code < 500
        assert (await web.post(ROOM, json=POST)).status_code in (401, 403)
        assert (await web.post("/login", data={"token": "x"})).status_code in (303, 403)
    assert "Traceback" not in capfd.readouterr().err


async def test_a_post_from_another_site_s_page_is_refused(gateway: Gateway) -> None:
    async with client(gateway.url) as web:
        crossed = await web.post(ROOM, json=POST, headers={"Origin": "http://evil.example"})
        assert crossed.status_code == 403
        form = await web.post(ROOM, content=b"{}", headers={"Content-Type": "text/plain"})
        assert form.status_code == 415
        own = await web.post(ROOM, json=POST, headers={"Origin": gateway.url.rstrip("/")})
        assert own.status_code == 202


@pytest.mark.settings(HTTP__TOKEN="canary-token")
async def test_with_a_token_a_login_form_sets_a_cookie_that_lets_in(gateway: Gateway) -> None:
    async with client(gateway.url) as web:
        assert (await web.get("/")).headers["location"] == "/login?room="
        assert (await web.get("/api/rooms/lobby/events")).status_code == 401
        assert (await web.post(ROOM, json=POST)).status_code == 401
        assert (await web.get("/login")).status_code == 200
        assert (await web.get("/health/live")).status_code == 200
        wrong = await web.post("/login", data={"token": "guess"})
        assert wrong.headers["location"] == "/login?wrong=1"
        assert "set-cookie" not in wrong.headers
        right = await web.post("/login", data={"token": "canary-token"})
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert "canary-token" not in cookie
        assert (await web.get("/")).status_code == 200
        assert (await web.post(ROOM, json=POST)).status_code == 202


async def test_a_token_in_an_address_lets_nobody_in(tmp_path: Path) -> None:
    token = "canary-token-in-an-address"
    async with gateway_of(tmp_path, HTTP__TOKEN=token) as gateway, client(gateway.url) as web:
        for name in ("token", "access_token", "key", "session", "code", "bearer"):
            page = await web.get(f"/?{name}={token}")
            assert page.headers["location"] == "/login?room="
            assert (await web.get(f"/api/rooms/lobby/events?{name}={token}")).status_code == 401
            form = await web.post(f"/login?{name}={token}", data={"token": ""})
            assert "set-cookie" not in form.headers


@pytest.mark.settings(HTTP__TOKEN="secret")
async def test_with_a_token_the_header_lets_in_and_a_wrong_one_does_not(gateway: Gateway) -> None:
    for token, status in (("secret", 202), ("wrong", 401), ("s", 429)):
        headers = {"Authorization": f"Bearer {token}"}
        async with client(gateway.url, headers=headers) as web:
            assert (await web.post(ROOM, json=POST)).status_code == status


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"text": ""}, "empty"),
        ({"text": "  "}, "empty"),
        ({"id": "no-uuid"}, "id"),
        ({"person": {"name": ""}}, "person.name"),
        ({"text": "x" * 300_000}, "text"),
    ],
)
async def test_a_post_that_cannot_be_taken_is_told_why(
    gateway: Gateway, change: dict[str, object], told: str
) -> None:
    async with client(gateway.url) as web:
        answer = await web.post(ROOM, json={**POST, **change})
        assert answer.status_code == 422
        assert told in answer.json()["error"]


async def test_f4_a_channel_that_is_unfit_is_named_with_its_remedy_and_the_others_run(
    tmp_path: Path,
) -> None:
    class Unfit(Channel):
        name = "unfit"

        async def run(self) -> None:
            raise ChannelUnfit("the token was refused: make a new one")

        async def stop(self) -> None:
            """Nothing runs."""

        async def deliver(self, message: OutboundMessage) -> list[Receipt]:
            return []

    class Plugin:
        @hookimpl
        def provide_channels(self) -> list[Channel]:
            return [Unfit()]

    async with gateway_of(tmp_path, None, Plugin()) as gateway, client(gateway.url) as web:
        ready = await web.get("/health/ready")
        assert ready.status_code == 503
        channels = ready.json()["channels"]
        assert channels["unfit"].pop("since")
        assert channels["unfit"] == {
            "state": "unfit",
            "why": "the token was refused: make a new one",
        }
        assert channels["web"]["state"] == "ready"
        assert (await web.post(ROOM, json=POST)).status_code == 202
        serving = await web.get("/health/serving")
        assert (serving.status_code, serving.json()) == (200, {"status": "serving"})


@pytest.mark.parametrize(
    ("trusted", "secure"), [("127.0.0.1", True), ("*", True), ("10.0.0.0/8,192.0.2.1", False)]
)
async def test_behind_a_trusted_proxy_with_tls_the_cookie_is_for_https_alone(
    tmp_path: Path, trusted: str, secure: bool
) -> None:
    forwarded = {
        "Host": "bot.example",
        "Origin": "https://bot.example",
        "X-Forwarded-Proto": "https",
    }
    more = {"HTTP__TOKEN": "t", "HTTP__TRUSTED_PROXIES": trusted}
    async with gateway_of(tmp_path, None, **more) as gateway, client(gateway.url) as web:
        right = await web.post("/login", data={"token": "t"}, headers=forwarded)
    assert right.headers["location"] == "/"
    assert ("Secure" in right.headers["set-cookie"]) is secure


def test_an_address_that_others_reach_needs_a_token() -> None:
    with pytest.raises(SettingsError, match=r"TAPEWAY_HTTP__TOKEN .*TAPEWAY_HTTP__TOKEN_FILE"):
        listen("0.0.0.0", 0, "")
    listen("0.0.0.0", 0, "0123456789abcdef").close()
    with pytest.raises(SettingsError, match="16 characters"):
        listen("0.0.0.0", 0, "0123456789abcde")


def test_a_port_in_use_is_named_with_how_to_change_it() -> None:
    first = listen("127.0.0.1", 0, "")
    port = first.getsockname()[1]
    with pytest.raises(PortInUse, match=rf"127\.0\.0\.1:{port}.*TAPEWAY_HTTP__PORT"):
        listen("127.0.0.1", port, "")
    first.close()


def test_secrets_are_compared_whole_and_empty_ones_never_match() -> None:
    assert same("a", "a")
    assert not same("a", "b")
    assert not same("", "")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_loopback_is_known(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


async def test_an_answer_in_two_parts_is_sent_at_once() -> None:
    told: list[int] = []

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        told.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    opened = listen("127.0.0.1", 0, "")
    async with await asyncio.start_server(serve, sock=opened):
        async with await anyio.connect_tcp("127.0.0.1", opened.getsockname()[1]) as stream:
            with pytest.raises(anyio.EndOfStream):
                await stream.receive()
    assert told == [1]


async def test_platforms_reach_their_webhooks_under_any_name_and_nothing_else(
    tmp_path: Path,
) -> None:
    foreign = {"Host": "bot.example", "Origin": "https://evil.example"}
    for token in ("", "canary-token"):
        async with (
            gateway_of(tmp_path, HTTP__TOKEN=token) as gateway,
            client(gateway.url, headers=foreign) as web,
        ):
            assert (await web.post("/webhooks/unknown")).status_code == 404
            for path in ("/webhooks", "/webhooksx/a", "/api/rooms/lobby/messages"):
                assert (await web.post(path)).status_code in (401, 403, 421)
            for path in ("/webhooks/../api/rooms/lobby/events", "/webhooks/%2e%2e/api/rooms"):
                assert (await web.get(path)).status_code in (303, 401, 404, 421)
