"""Doctor, run as a command, names each of the forty things that are broken on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.doctor import break_gateway, break_platforms  # noqa: F401 - register what breaks things
from tests.doctor.forty import FORTY, Broken
from tests.doctor.scene import MAKERS, Scene, examined, results

BY_ID = {broken.id: broken for broken in FORTY}


def test_each_row_of_the_table_is_broken_by_one_maker() -> None:
    made = [one for ids in MAKERS for one in ids]
    assert sorted(made) == sorted(BY_ID)
    assert len(BY_ID) == len(FORTY)


@pytest.mark.parametrize("ids", MAKERS, ids=",".join)
async def test_doctor_names_what_is_broken(ids: tuple[str, ...], tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    async with MAKERS[ids](scene) as environ:
        code, report = await examined(environ, scene=scene)
    rows = [BY_ID[one] for one in ids]
    named = [one for one in results(report) if one["trouble"]]
    missing = [row for row in rows if not any(fits(one, row) for one in named)]
    assert not missing, "\n".join(f"{one['check']} {one['state']}: {one['says']}" for one in named)
    assert code == (1 if any(row.state == "failure" for row in rows) else 0)


def fits(result: dict[str, Any], row: Broken) -> bool:
    found = (result["check"], result["trouble"]["id"], result["state"])
    return found == (row.check, row.trouble, row.state) and row.says in result["says"]
