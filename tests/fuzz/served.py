"""A gateway with its page in this process, to which requests are sent byte by byte."""

from __future__ import annotations

import atexit
import functools
import json
import socket
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote, urlsplit

from anyio.from_thread import start_blocking_portal
from hypothesis import strategies as st

from tests.fuzz.inputs import broken, texts
from tests.kit.gateways import gateway_of

PATHS: Final = (
    *(
        "/login",
        "/login/code",
        "/login/guest",
        "/api/session/end",
        "/api/invitations",
        "/api/sessions",
    ),
    *("/api/rooms/lobby/messages", "/api/rooms/lobby/stop", "/api/rooms/lobby/press"),
    *("/api/rooms/{}/messages", "/api/tapes/import?tape={}", "/api/sessions/end", "/api/codes"),
    *("/api/tapes/find", "/api/tapes/entries", "/api/tapes/search", "/api/tapes/rewind"),
    *("/api/tapes/prompts", "/api/erasures", "/api/erasures/{}", "/api/invitations/withdraw"),
    *("/static/{}", "/{}", "/health/ready?{}", "/api/access", "/api/terminal/{}/messages"),
)
HEADERS: Final = (
    *("Cookie", "Content-Type", "Authorization", "Origin", "Host", "X-Forwarded-For", "Accept"),
    *("X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Content-Length", "Last-Event-ID"),
)
VALUES: Final = (
    *("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
    *("tapeway=x", "tapeway_session=%ff; a", "Bearer x", "::1, 10.0.0.1", "fe80::1%lo", "[::1"),
    *("http://[::1", "null", "-1", "1e9", "text/event-stream;q=x", "=;=;", "localhost:99999"),
)
_BODIES: Final = (
    {"id": "00000000-0000-4000-8000-000000000001", "person": {"name": "Ann"}, "text": "hi"},
    {"code": "4F7K-2Q"},
    {"room": "lobby", "uses": 1, "minutes": 5},
    {"tape": "web:lobby", "name": "x", "query": "x", "limit": 3, "after": 0, "what": "chat"},
    {"person": {"name": "Ann"}, "press": "c:yes", "message": "x"},
)
_FIELDS: Final = st.sampled_from(VALUES) | texts
_FORMS: Final = st.dictionaries(st.sampled_from(("token", "code", "")) | texts, texts, max_size=3)
requests = st.tuples(
    st.sampled_from(("POST", "POST", "GET", "DELETE", "PUT")),
    st.sampled_from(PATHS),
    texts,
    st.dictionaries(st.sampled_from(HEADERS), _FIELDS, max_size=4),
    broken(_BODIES).map(lambda body: json.dumps(body).encode())
    | st.binary(max_size=60)
    | _FORMS.map(lambda form: "&".join(f"{_q(k)}={_q(v)}" for k, v in form.items()).encode()),
)

Given = tuple[str, str, str, dict[str, str], bytes]


def ask(given: Given) -> None:
    """Send a request; whatever it is, the gateway answers, and not that it failed."""
    method, path, part, headers, body = given
    sent = {"Host": "localhost", "Content-Length": str(len(body)), "Connection": "close", **headers}
    lines = [f"{method} {path.format(_q(part))} HTTP/1.1", *(f"{k}: {v}" for k, v in sent.items())]
    raw = b"\r\n".join(_line(line) for line in lines) + b"\r\n\r\n" + body
    with socket.create_connection(("127.0.0.1", _port()), timeout=60) as line:
        line.sendall(raw)
        line.shutdown(socket.SHUT_WR)
        status = line.recv(12)
    assert not status.startswith((b"HTTP/1.1 500", b"HTTP/1.1 502")), (status, raw)


def _line(text: str) -> bytes:
    return text.replace("\r", " ").replace("\n", " ").encode("utf-8", "surrogatepass")


def _q(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@functools.cache
def _port() -> int:
    """Start the gateway, which runs until this process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="tapeway-fuzz-")))
    portal = stack.enter_context(start_blocking_portal())
    running = gateway_of(folder / "home", only=["web"], TAPE__URL="memory:")
    gateway = stack.enter_context(portal.wrap_async_context_manager(running))
    return urlsplit(gateway.url).port or 0
