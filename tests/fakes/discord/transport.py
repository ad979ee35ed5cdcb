"""How the gateway packs what it sends: one context for all of a socket's payloads.

Discord's documentation names two (https://discord.com/developers/docs/events/gateway, "Transport
Compression"): `zlib-stream`, where each payload ends in a sync flush, and `zstd-stream`, where each
is flushed and the frame never ends.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Pack: TypeAlias = Callable[[bytes], bytes]
"""Packs one payload of a stream."""


def _zlib_stream() -> Pack:
    packer = zlib.compressobj()
    return lambda payload: packer.compress(payload) + packer.flush(zlib.Z_SYNC_FLUSH)


def _zstd_stream() -> Pack:
    # In the standard library since Python 3.14, from which on discord.py asks for this stream.
    packer: Any = importlib.import_module("compression.zstd").ZstdCompressor()
    return lambda payload: bytes(packer.compress(payload, packer.FLUSH_BLOCK))


STREAMS: Final[Mapping[str, Callable[[], Pack]]] = MappingProxyType(
    {"zlib-stream": _zlib_stream, "zstd-stream": _zstd_stream}
)


def pack_of(compress: str | None) -> Pack | None:
    """Return what packs the payloads of a new socket, or None where the client did not ask."""
    begin = STREAMS.get(compress or "")
    return begin() if begin is not None else None
