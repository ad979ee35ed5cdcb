"""The methods that say where updates go: to a webhook, or to whoever polls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.people import People
from tests.fakes.telegram.rules import Limits, Refusal, bad_request
from tests.fakes.telegram.updates import TERMINATED

_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")


@dataclass(slots=True)
class Webhook:
    """Hold what setWebhook said, and how the deliveries go."""

    url: str = ""
    secret_token: str = ""
    max_connections: int = 40
    last_error: str = ""
    last_error_date: int = 0


@dataclass(slots=True)
class WebhookMethods:
    """Answer the methods about the webhook."""

    people: People
    limits: Limits | None
    webhook: Webhook = field(default_factory=Webhook)

    def on_set_webhook(self, params: JsonObject, call: Call) -> bool:
        url = str(params.get("url") or "")
        secret = str(params.get("secret_token") or "")
        if not url:
            return self.on_delete_webhook(params, call)
        if not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
            raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
        if secret and not _SECRET.fullmatch(secret):
            raise bad_request("secret token contains unallowed characters")
        self._drop_if_asked(params)
        self.note_allowed(params)
        self.webhook = Webhook(url, secret, int(params.get("max_connections") or 40))
        self.people.updates.end_poll(Refusal(409, TERMINATED))
        self.people.updates.added()
        return True

    def on_delete_webhook(self, params: JsonObject, _call: Call) -> bool:
        self.webhook = Webhook()
        self._drop_if_asked(params)
        return True

    def on_get_webhook_info(self, _params: JsonObject, _call: Call) -> JsonObject:
        updates, webhook = self.people.updates, self.webhook
        found: JsonObject = {
            "url": webhook.url,
            "has_custom_certificate": False,
            "pending_update_count": len(updates.pending),
        }
        if webhook.url:
            found |= {"max_connections": webhook.max_connections, "ip_address": "127.0.0.1"}
        if webhook.last_error:
            found["last_error_date"] = webhook.last_error_date
            found["last_error_message"] = webhook.last_error
        return found | ({"allowed_updates": updates.allowed} if updates.allowed else {})

    def note_allowed(self, params: JsonObject) -> None:
        """Keep the kinds of updates that a call asks for; an empty list is the default."""
        allowed = params.get("allowed_updates")
        if isinstance(allowed, list):
            self.people.updates.allowed = allowed

    def _drop_if_asked(self, params: JsonObject) -> None:
        if params.get("drop_pending_updates"):
            self.people.updates.drop()
