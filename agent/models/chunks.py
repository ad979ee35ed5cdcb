"""Turn the bytes of an answer into chunks, whatever a server calls a stream.

Most send server-sent events; some answer with JSON as a whole, or with a chunk per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from agent.errors import AnswerBroken

Chunk = Mapping[str, Any]

_BOM: Final = b"\xef\xbb\xbf"
_HALF: Final = re.compile(
    r"\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]..", re.IGNORECASE | re.DOTALL
)
MAX_SHOWN_CHARACTERS: Final = 2000


@dataclass(slots=True)
class ChunkReader:
    """Reads one answer; `done` is set once nothing is missing at its end."""

    done: bool = False
    _whole: bool | None = None
    _rest: bytes = b""
    _body: list[bytes] = field(default_factory=list)
    _event: list[bytes] = field(default_factory=list)

    def read(self, part: bytes) -> list[Chunk]:
        """Read bytes, and return the chunks of all complete events."""
        if self._whole is None:
            head = (self._rest + part).removeprefix(_BOM).lstrip()
            if not head or _BOM.startswith(head):
                self._rest += part
                return []
            self._whole, self._rest, part = head[:1] in (b"{", b"["), b"", head
        if self._whole:
            self._body.append(part)
            return []
        return self._events(self._lines(part))

    def end(self) -> list[Chunk]:
        """Return the chunks that the end of the bytes completes."""
        if self._whole:
            return self._json(b"".join(self._body))
        return self._events([*self._lines(b"\n\n"), b""])

    def _lines(self, part: bytes) -> list[bytes]:
        # Don't use splitlines(): text may contain U+2028 or U+0085.
        held = b"\r" if part.endswith(b"\r") else b""  # a line feed may follow
        text = self._rest + part.removesuffix(b"\r")
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        self._rest = rest + held
        return lines

    def _events(self, lines: list[bytes]) -> list[Chunk]:
        chunks: list[Chunk] = []
        for line in lines:
            if line.startswith(b"data:"):
                data = line[5:].strip()
                if data == b"[DONE]":
                    self.done = True
                elif data and not self.done:
                    found = None if self._event else parse(data)
                    if found is None:
                        self._event.append(data)  # an event of several lines
                    else:
                        chunks += found
            elif line.startswith(b"error:"):  # llama.cpp
                chunks.append({"error": line[6:].decode("utf-8", "replace").strip()})
            elif not line and self._event:
                chunks += _objects(b"\n".join(self._event))
                self._event = []
        return chunks

    def _json(self, body: bytes) -> list[Chunk]:
        self.done = True
        chunks = parse(body)
        if chunks is not None:
            return chunks
        return [chunk for line in body.splitlines() if line.strip() for chunk in _objects(line)]


def parse(data: bytes) -> list[Chunk] | None:
    """Return the JSON objects in some bytes, None if it isn't JSON; raises AnswerBroken."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            # Halves of a surrogate pair, NaN and bytes that aren't UTF-8 don't spoil an answer.
            text = _HALF.sub(r"\\ufffd", data.decode("utf-8", "replace"))
            found = json.loads(text, parse_int=lambda digits: int(digits[:18]))
        except (ValueError, RecursionError):
            return None
    if isinstance(found, dict):
        return [found]
    if not (isinstance(found, list) and all(isinstance(chunk, dict) for chunk in found)):
        raise _no_chunk(data)
    return found


def _objects(data: bytes) -> list[Chunk]:
    chunks = parse(data)
    if chunks is None:
        raise _no_chunk(data)
    return chunks


def shown(value: object) -> str:
    """Return the beginning of a JSON value for a message."""
    if isinstance(value, str):
        return value[:MAX_SHOWN_CHARACTERS]
    try:
        return orjson.dumps(value)[:MAX_SHOWN_CHARACTERS].decode("utf-8", "replace")
    except TypeError:
        return "nested too deeply"


def _no_chunk(data: bytes) -> AnswerBroken:
    text = shown(data.decode("utf-8", "replace"))
    return AnswerBroken(f"the answer contains something that isn't a chunk: {text!r}")
