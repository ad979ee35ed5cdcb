"""Get a JSON document from the running gateway, using only the standard library.

Importing an HTTP library would take longer than `tapeway health` or `tapeway explain` itself.
"""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from gateway.errors import GatewayError
from gateway.home import Running


def http_get(found: Running, path: str, timeout: float) -> tuple[int, Any]:
    """Return the response's status and JSON body; raises GatewayError if there is no response."""
    address = urlsplit(found.url)
    host = address.hostname or "127.0.0.1"
    connection = http.client.HTTPConnection(host, address.port, timeout=timeout)
    try:
        connection.request("GET", path, headers={"Authorization": f"Bearer {found.token}"})
        response = connection.getresponse()
        body = response.read()
        ok = response.status == 200
        return response.status, json.loads(body) if ok or body[:1] == b"{" else None
    except (OSError, http.client.HTTPException, ValueError) as cause:
        why = f"the gateway at {found.url} does not answer ({str(cause) or type(cause).__name__})"
        raise GatewayError(f"{why}: check its log") from cause
    finally:
        connection.close()
