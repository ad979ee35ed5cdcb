"""Deliver the bot's updates to its webhook, each until it is taken."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from tests.fakes.telegram.updates import Update, Updates
from tests.fakes.telegram.webhook_methods import Webhook

RETRY_SECONDS: Final = 0.03
ANSWER_SECONDS: Final = 60.0


class Deliveries:
    """Post updates in the background, in order within a chat, chats side by side."""

    def __init__(
        self, updates: Updates, webhook: Callable[[], Webhook], clock: Callable[[], int]
    ) -> None:
        self.retry_seconds = RETRY_SECONDS
        self._updates = updates
        self._webhook = webhook
        self._clock = clock
        self._busy = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Begin to deliver, unless it is under way or there is no webhook."""
        if self._webhook().url and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Stop delivering."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def once(self) -> int:
        """Try every waiting update once; after a failure the rest of that chat waits."""
        async with self._busy:
            webhook = self._webhook()
            if not webhook.url:
                return 0
            chains: dict[int | None, list[Update]] = {}
            for update in self._updates.pending:
                chains.setdefault(update.chat_id, []).append(update)
            places = asyncio.Semaphore(webhook.max_connections)
            made = [self._chain(webhook, chain, places) for chain in chains.values()]
            return sum(await asyncio.gather(*made))

    async def _run(self) -> None:
        while self._updates.pending and self._webhook().url:
            waiting = len(self._updates.pending)
            if await self.once() < waiting:
                await asyncio.sleep(self.retry_seconds)

    async def _chain(self, webhook: Webhook, chain: list[Update], places: asyncio.Semaphore) -> int:
        for number, update in enumerate(chain):
            async with places:
                problem = await _post(webhook, update.raw)
            if problem:
                webhook.last_error, webhook.last_error_date = problem, self._clock()
                return number
            self._updates.done(update)
        return len(chain)


async def _post(webhook: Webhook, body: bytes) -> str:
    """Return what went wrong, "" for an answer of 2xx."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            status = await _status(webhook, body)
    except TimeoutError:
        return "Read timeout expired"
    except OSError as error:
        return f"Connection failed: {error.strerror or error}"
    except (EOFError, ValueError):
        return "Connection closed by the webhook"
    return "" if 200 <= status < 300 else f"Wrong response from the webhook: {status}"


async def _status(webhook: Webhook, body: bytes) -> int:
    place = urlsplit(webhook.url)
    port = place.port or (443 if place.scheme == "https" else 80)
    encrypted = True if place.scheme == "https" else None
    reader, writer = await asyncio.open_connection(place.hostname, port, ssl=encrypted)
    secret = f"X-Telegram-Bot-Api-Secret-Token: {webhook.secret_token}\r\n"
    target = (place.path or "/") + (f"?{place.query}" if place.query else "")
    head = (
        f"POST {target} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
        f"{secret if webhook.secret_token else ''}Content-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    try:
        writer.write(head.encode() + body)
        first = await reader.readuntil(b"\r\n")
        # Read to the end, or a server may take us for a client that left before its answer.
        await reader.read()
        return int(first.split(b" ")[1])
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
