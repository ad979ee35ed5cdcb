"""The one import of a plugin author."""

from __future__ import annotations

import asyncio
import sys

from gateway import plugin

HEAVY = {"openai", "starlette", "structlog", "typer", "gateway.app", "gateway.settings"}


def test_its_names_are_sorted_and_importable() -> None:
    assert plugin.__all__ == sorted(plugin.__all__, key=lambda name: (not name.isupper(), name))
    assert [name for name in plugin.__all__ if not hasattr(plugin, name)] == []


async def test_it_imports_neither_an_sdk_nor_the_gateway() -> None:
    code = f"import sys, gateway.plugin; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    out, _err = await done.communicate()
    assert out.strip() == b"[]"
