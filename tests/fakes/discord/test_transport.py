"""What the gateway packs, as any client's decompressor reads it."""

from __future__ import annotations

import importlib
import sys
import zlib
from typing import Any

import pytest

from tests.fakes.discord.transport import pack_of
from tests.kit.needs import needs

PAYLOADS = [b"{}", bytes(range(256)), bytes(range(256))]


def read_zlib() -> Any:
    return zlib.decompressobj()


def read_zstd() -> Any:
    return importlib.import_module("compression.zstd").ZstdDecompressor()


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("zlib-stream", read_zlib),
        pytest.param(
            "zstd-stream",
            read_zstd,
            marks=pytest.mark.skipif(
                sys.version_info < (3, 14),
                reason=needs("Python 3.14", "make clean test PYTHON=python3.14"),
            ),
        ),
    ],
)
def test_each_packet_of_a_stream_is_a_whole_payload_in_one_context(name: str, reader: Any) -> None:
    pack, stream = pack_of(name), reader()
    assert pack is not None
    packets = [pack(payload) for payload in PAYLOADS]
    assert [stream.decompress(packet) for packet in packets] == PAYLOADS
    assert len(packets[2]) < len(packets[1]) / 2
    assert not stream.eof


def test_nothing_is_packed_for_who_did_not_ask() -> None:
    assert pack_of(None) is None
