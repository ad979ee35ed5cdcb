"""Shortcuts for what a gateway does once in its life and the tests would do two thousand times.

Importing this module changes four modules for the process; nothing that a test asserts differs.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from typing import Any, Final

import httpcore2
import uvicorn.server

import tape.linking.linker

POLL_SECONDS: Final = 0.01


class _Impatient:
    """The module asyncio as uvicorn sees it: it checks every 0.1 s whether a server may end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, POLL_SECONDS))


vars(uvicorn.server)["asyncio"] = _Impatient()

# Compiling the linker's trees takes 0.1 s, and reading the machine's root certificates, of which
# no test needs one, 0.03 s. Neither of the two changes afterwards.
for module, name in (
    (tape.linking.linker, "load"),
    (ssl, "create_default_context"),
    (httpcore2, "default_ssl_context"),
):
    vars(module)[name] = functools.cache(vars(module)[name])
