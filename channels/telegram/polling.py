"""Long polling: each update is stored on disk before the next request confirms it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from channels.backoff import Backoff
from channels.connection_state import ConnectionState
from channels.errors import ChannelDown, SendAmbiguous, SendDelayed
from channels.host import ChannelHost
from channels.telegram.api import ANSWER_SECONDS, BotApi, NotAsSent, OtherReader
from channels.telegram.inbound import ALLOWED_UPDATES
from channels.telegram.troubles import CONNECTION, WEBHOOK_ELSEWHERE

MAX_UPDATES: Final = 100  # maximum updates per request, as set by Telegram
MAX_REQUEST_SECONDS: Final = 55.0
"""Maximum duration of a request, which lets us notice a dead connection within a minute."""

MIN_POLL_SECONDS: Final = 0.5
"""Minimum duration of a poll that returns no updates, for servers that answer at once."""

OFFSET_SECONDS: Final = 24 * 3600.0
"""Seconds without updates until the offset is dropped, since Telegram may renumber updates."""

NO_ANSWER: Final = CONNECTION.unreachable.sentence("no answer")


class Poller:
    """Polls for updates; `take` stores them, with a flag if Telegram kept them during an outage."""

    def __init__(
        self,
        api: BotApi,
        host: ChannelHost,
        poll_seconds: int,
        take: Callable[[Sequence[Any], bool], Awaitable[None]],
    ) -> None:
        self._api = api
        self._host = host
        self._poll_seconds = poll_seconds
        self._take = take
        self._connection = ConnectionState(host)
        self._backoff = Backoff(1.0, 60.0, jitter=0.5)
        self._last_update = host.clock.monotonic()
        self._offset: int | None = None

    async def run(self) -> None:
        """Poll until cancelled; after a failure, repeat the request with the same offset."""
        with suppress(NotAsSent):  # a server without webhooks has no webhook to delete
            if host := webhook_host(await self._api.call("getWebhookInfo")):
                self._host.warn(WEBHOOK_ELSEWHERE.sentence(host))
            await self._api.call("deleteWebhook", drop_pending_updates=False)
        while True:
            try:
                await self._poll()
            except (ChannelDown, SendAmbiguous, SendDelayed) as cause:
                self._connection.lost(str(cause) if isinstance(cause, ChannelDown) else NO_ANSWER)
                requested = cause.retry_after if isinstance(cause, SendDelayed) else 0.0
                await self._host.clock.sleep(max(requested, self._backoff.next()))
                if isinstance(cause, OtherReader):
                    await self._host.confirm_listening()

    async def _poll(self) -> None:
        connection, begun = self._connection, self._host.clock.monotonic()
        if begun - self._last_update > OFFSET_SECONDS:
            self._offset = None
        # The first request returns at once: it shows that the token works and has no other reader.
        waits = connection.is_connected
        updates = await self._updates(self._poll_seconds if waits else 0)
        connection.heard()
        idle = not updates
        if updates:
            self._last_update = self._host.clock.monotonic()
            await self._take(updates, connection.is_behind)
            offset = _next_offset(updates, self._offset)
            idle = offset == self._offset  # unconfirmed updates come again at once
            self._offset = offset
        if len(updates) < MAX_UPDATES:
            connection.catch_up_finished(connection.gap)
        self._backoff.reset()
        if not waits:
            connection.connected()
        too_fast = self._host.clock.monotonic() - begun < MIN_POLL_SECONDS
        if idle and (waits or updates) and too_fast:
            await self._host.clock.sleep(MIN_POLL_SECONDS)

    async def _updates(self, seconds: int) -> Sequence[Any]:
        found = await self._api.call(
            "getUpdates",
            seconds=min(seconds + ANSWER_SECONDS, MAX_REQUEST_SECONDS),
            offset=self._offset,
            timeout=seconds,
            limit=MAX_UPDATES,
            allowed_updates=list(ALLOWED_UPDATES),
        )
        return found if isinstance(found, list) else ()


def webhook_host(info: Any) -> str:
    """Return the host of a webhook, since the rest of its address is often the token, or ""."""
    url = info.get("url") if isinstance(info, Mapping) else None
    try:
        return urlsplit(str(url)).hostname or "an unreadable address" if url else ""
    except ValueError:
        return "an unreadable address"


def _next_offset(updates: Sequence[Any], offset: int | None) -> int | None:
    # An update without a number is never confirmed.
    numbers = [
        update["update_id"]
        for update in updates
        if isinstance(update, Mapping) and isinstance(update.get("update_id"), int)
    ]
    return max(numbers) + 1 if numbers else offset
