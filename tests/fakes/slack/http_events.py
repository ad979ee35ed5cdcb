"""The HTTP Events API: what Slack tells the app goes to an address of the app's, signed."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import orjson

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.deliveries import Deliveries, Delivery

_REAL_SECONDS: Final = 60.0
_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Reply:
    """Hold what the app answered; header names are lower-case."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body, as JSON where it is."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return self.body.decode("utf-8", "replace")


class HttpEvents:
    """Post each delivery to the app's address.

    Requests are signed with the machine's own time, which the SDK compares with; `age` makes them
    older.
    """

    def __init__(self, deliveries: Deliveries, signing_secret: str) -> None:
        self.url = ""
        self.age = 0.0
        self.signing_secret = signing_secret
        self.replies: list[Reply] = []
        self._deliveries = deliveries
        self._tasks: dict[Delivery, asyncio.Task[None]] = {}

    def send(self, delivery: Delivery) -> str:
        """Begin to post a delivery; without an address there is nobody."""
        if not self.url:
            return "connection_failed"
        task = asyncio.get_running_loop().create_task(self._watched(delivery))
        self._tasks[delivery] = task
        return ""

    def unsent(self, delivery: Delivery) -> None:
        """Give up a try that is under way."""
        task = self._tasks.pop(delivery, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def close(self) -> None:
        """Give up every try."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def verify(self) -> bool:
        """Ask the address to prove that it is the app's, as Slack does when it is entered."""
        challenge = secrets.token_hex(20)
        body = {"token": "not-used-any-more", "challenge": challenge, "type": "url_verification"}
        reply = await self.request(self.url, orjson.dumps(body), _JSON)
        found = reply.json()
        told = found.get("challenge") if isinstance(found, dict) else found
        return reply.status == 200 and told == challenge

    async def request(
        self, url: str, body: bytes, kind: str, headers: dict[str, str] | None = None
    ) -> Reply:
        """Make one signed request; raises OSError, EOFError or ValueError."""
        reply = await post(url, body, self._signed(body, kind) | (headers or {}))
        self.replies.append(reply)
        return reply

    def signed(self, delivery: Delivery) -> tuple[bytes, dict[str, str]]:
        """Return the body and the headers that a delivery goes out with."""
        _url, body, kind = self._addressed(delivery)
        return body, self._signed(body, kind)

    def _signed(self, body: bytes, kind: str) -> dict[str, str]:
        stamp = str(int(time.time() - self.age))
        signed = hmac.new(
            self.signing_secret.encode(), b"v0:%b:%b" % (stamp.encode(), body), hashlib.sha256
        )
        return {
            "content-type": kind,
            "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            "x-slack-request-timestamp": stamp,
            "x-slack-signature": f"v0={signed.hexdigest()}",
        }

    async def _watched(self, delivery: Delivery) -> None:
        try:
            await self._post(delivery)
        except Exception as error:
            self._deliveries.crashed(error)

    async def _post(self, delivery: Delivery) -> None:
        url, body, kind = self._addressed(delivery)
        headers = {}
        if delivery.attempt:
            headers["x-slack-retry-num"] = str(delivery.attempt)
            headers["x-slack-retry-reason"] = delivery.reason
        try:
            async with asyncio.timeout(_REAL_SECONDS):
                reply = await self.request(url, body, kind, headers)
        except TimeoutError:
            return self._failed(delivery, "http_timeout")
        except (OSError, EOFError, ValueError):
            return self._failed(delivery, "connection_failed")
        delivery.arrived = True
        if not 200 <= reply.status < 300:
            final = reply.headers.get("x-slack-no-retry") == "1"
            return self._failed(delivery, "http_error", for_good=final)
        self._tasks.pop(delivery, None)
        self._deliveries.done(delivery, reply.json())
        return None

    def _failed(self, delivery: Delivery, reason: str, *, for_good: bool = False) -> None:
        self._deliveries.failed(delivery, reason, for_good=for_good)
        self._deliveries.advance()

    def _addressed(self, delivery: Delivery) -> tuple[str, bytes, str]:
        match delivery.kind:
            case "events_api":
                return self.url, orjson.dumps(delivery.payload), _JSON
            case "slash_commands":
                return self.url, _form(delivery.payload), _FORM
            case "interactive":
                payload = {"payload": orjson.dumps(delivery.payload).decode()}
                return self.url, _form(payload), _FORM


def _form(payload: JsonObject) -> bytes:
    return urlencode({name: str(value) for name, value in payload.items()}).encode()


async def post(url: str, body: bytes, headers: dict[str, str]) -> Reply:
    """Post once over a connection of its own; raises OSError, EOFError or ValueError."""
    place = urlsplit(url)
    secure = place.scheme == "https"
    reader, writer = await asyncio.open_connection(
        place.hostname, place.port or (443 if secure else 80), ssl=secure or None
    )
    lines = {"host": place.netloc, "content-length": str(len(body)), "connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in (lines | headers).items())
    target = (place.path or "/") + (f"?{place.query}" if place.query else "")
    try:
        writer.write(f"POST {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
        raw = await reader.readuntil(b"\r\n\r\n")
        rest = await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    first, *given = raw.decode("latin-1").strip().split("\r\n")
    found = {name.lower(): value.strip() for name, _, value in (it.partition(":") for it in given)}
    if found.get("transfer-encoding") == "chunked":
        rest = _joined(rest)
    return Reply(int(first.split(" ")[1]), found, rest)


def _joined(chunked: bytes) -> bytes:
    parts = []
    while chunked:
        size, _, chunked = chunked.partition(b"\r\n")
        length = int(size.partition(b";")[0] or b"0", 16)
        parts.append(chunked[:length])
        chunked = chunked[length + 2 :] if length else b""
    return b"".join(parts)
