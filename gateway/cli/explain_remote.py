"""`tapeway explain` beside a running gateway: that one is asked."""

from __future__ import annotations

import http.client
import json
from typing import Final
from urllib.parse import quote, urlsplit

from gateway.errors import GatewayError
from gateway.explain.report import Report
from gateway.home import Running

SECONDS: Final = 30.0


def story_of(found: Running, asked: str) -> Report:
    """Return what became of a message, as the gateway tells it."""
    address = urlsplit(found.url)
    connection = http.client.HTTPConnection(
        address.hostname or "127.0.0.1", address.port, timeout=SECONDS
    )
    try:
        path = f"/api/explain?message={quote(asked, safe='')}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {found.token}"})
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as cause:
        raise GatewayError(
            f"the gateway of this home does not answer ({type(cause).__name__}): look at its log"
        ) from cause
    finally:
        connection.close()
    if answer.status != 200:
        raise GatewayError(f"the gateway answered with {answer.status}: is it another version?")
    return Report.from_json(json.loads(body))
