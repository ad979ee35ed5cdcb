"""Answer what is refused in the language of the page, wherever in the gateway it is refused."""

from __future__ import annotations

from typing import Final

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.language.language import ENGLISH, language_of, speaking, translated

JSON: Final = "application/json"
PLAIN: Final = "text/plain"


class TranslatedRefusals:
    """Middleware that translates the sentence of an answer with a status of 400 or more.

    It is the `error` of a JSON object, or a plain text. Nothing else of an answer changes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        language = ENGLISH
        if scope["type"] == "http":
            language = language_of(Headers(scope=scope).get("Accept-Language", ""))
        answer = send if language == ENGLISH else _HeldRefusal(send, language)
        await self._app(scope, receive, answer)


class _HeldRefusal:
    """Sends an answer on; a refusal is sent when it is whole."""

    def __init__(self, send: Send, language: str) -> None:
        self._send = send
        self._language = language
        self._begun: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_refusal(message):
            self._begun = message
        elif self._begun is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._end(self._begun)

    async def _end(self, begun: Message) -> None:
        headers = MutableHeaders(raw=begun["headers"])
        with speaking(self._language):
            body = _translated(bytes(self._body), headers.get("Content-Type", ""))
        headers["Content-Length"] = str(len(body))
        await self._send({**begun, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})


def _is_refusal(message: Message) -> bool:
    kind = Headers(raw=message["headers"]).get("Content-Type", "")
    return message["status"] >= 400 and kind.startswith((JSON, PLAIN))


def _translated(body: bytes, kind: str) -> bytes:
    """Return a refusal's body with its sentence translated, or as it is."""
    if kind.startswith(PLAIN):
        text = body.decode("utf-8", "replace")
        found = translated(text.rstrip("\n"))
        return body if found == text.rstrip("\n") else f"{found}\n".encode()
    try:
        said = orjson.loads(body)
    except ValueError:
        return body
    if not isinstance(said, dict) or not isinstance(said.get("error"), str):
        return body
    return orjson.dumps({**said, "error": translated(said["error"])})
