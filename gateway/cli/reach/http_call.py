"""Call the running gateway over HTTP, using only the standard library.

Importing an HTTP library would take longer than most commands themselves.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.errors import GatewayError
from gateway.home import Running

TIMEOUT_SECONDS: Final = 60.0


def http_get(found: Running, path: str, timeout: float) -> tuple[int, Any]:
    """Return the response's status and JSON body; raises GatewayError if there is no response."""
    return http_call(found, "GET", path, timeout=timeout)


def http_call(
    found: Running, method: str, path: str, sent: object = None, timeout: float = TIMEOUT_SECONDS
) -> tuple[int, Any]:
    """Send JSON if any, and return the status and JSON body; raises GatewayError."""
    body = None if sent is None else json.dumps(sent).encode()
    with http_response(found, method, path, body, timeout) as response:
        text = response.read()
        ok = response.status == 200
        return response.status, json.loads(text) if ok or text[:1] == b"{" else None


@contextmanager
def http_response(
    found: Running,
    method: str,
    path: str,
    body: Any = None,
    timeout: float | None = TIMEOUT_SECONDS,
) -> Iterator[http.client.HTTPResponse]:
    """Send a request, and give its open response; raises GatewayError."""
    address = urlsplit(found.url)
    host = address.hostname or "127.0.0.1"
    headers = {"Authorization": f"Bearer {found.token}"}
    if isinstance(body, bytes):
        headers["Content-Type"] = "application/json"
    try:
        with closing(http.client.HTTPConnection(host, address.port, timeout=timeout)) as line:
            # A gateway that refuses a file answers before it has read all of it.
            with suppress(BrokenPipeError, ConnectionResetError):
                line.request(method, path, body, headers)
            yield line.getresponse()
    except (OSError, http.client.HTTPException, ValueError) as cause:
        why = f"the gateway at {found.url} does not answer ({str(cause) or type(cause).__name__})"
        raise GatewayError(f"{why}: check its log") from cause
