"""After which workspace the tapes of a database are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tape.entry import message
from tests.kit.gateways import gateway_of, tape_of
from tests.postgres import owned_database


@pytest.mark.postgresql
async def test_processes_with_different_paths_use_the_same_tapes(tmp_path: Path) -> None:
    with owned_database() as url:
        async with gateway_of(tmp_path / "a", TAPE__URL=url) as first:
            await tape_of(first).append(message("user", "said on the first machine"))
        moved = str(tmp_path / "elsewhere")
        async with gateway_of(tmp_path / "b", TAPE__URL=url, WORKSPACE=moved) as second:
            entries = await tape_of(second).read()
    assert entries[-1].text == "said on the first machine"


async def test_another_workspace_in_a_database_of_its_own_has_tapes_of_its_own(
    tmp_path: Path,
) -> None:
    async with gateway_of(tmp_path) as first:
        await tape_of(first).append(message("user", "said here"))
    async with gateway_of(tmp_path, WORKSPACE=str(tmp_path / "elsewhere")) as second:
        assert await tape_of(second).size() == 0
