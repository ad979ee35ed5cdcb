"""Processes that only compute, for a machine that is busy with something else."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

_BURN: Final = """
import os
begun_by = os.getppid()
while os.getppid() == begun_by:
    sum(range(100_000))
"""


@asynccontextmanager
async def burning(cores: int) -> AsyncIterator[None]:
    """Compute in so many processes for as long as the block runs, and no longer than this one."""
    run = asyncio.create_subprocess_exec
    burners = [await run(sys.executable, "-c", _BURN) for _core in range(cores)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            await burner.wait()
