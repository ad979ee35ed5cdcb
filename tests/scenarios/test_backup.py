"""A backup of a busy gateway, restored elsewhere (`make backup-soak` is the long form)."""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.backup_soak import soak


async def test_of_a_busy_gateway_nothing_is_missing_and_nothing_is_sent_again(
    tmp_path: Path,
) -> None:
    found = await soak(tmp_path, 150, 0)
    assert found.accepted[1] > 0
    assert (found.missing, found.again, found.twice, found.answered) == (0, 0, 0, True)
