"""A copy of Tapeway in which a migration is misnumbered refuses to start, and says what to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.doctor.break_gateway import database
from tests.doctor.scene import Scene
from tests.kit.gateways import ROOT, clean_environ

PACKAGES: Final = ("gateway", "channels", "tape", "agent")
SERVER: Final = "postgresql://nobody@localhost:1/none"
"""A server that is not there: whoever asks it has looked at the migrations before."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / "copy" / package)
    return tmp_path / "copy"


async def run(copy: Path, environ: Mapping[str, str], command: str) -> tuple[int, str]:
    """Run a command of the copy; return its exit code, and what it writes as one line."""
    done = await anyio.run_process(
        [sys.executable, "-m", "gateway.cli.main", command],
        env=clean_environ(dict(environ)),
        cwd=copy,
        check=False,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).decode().split())


@pytest.mark.parametrize(
    ("file", "says", "url"),
    [
        ("gateway/storage/ledger/sql/sqlite/0006_place.sql", "the number 00", ""),
        ("tape/search/sql/sqlite/place.sql", "_place.sql if it is a migration", ""),
        ("gateway/sharing/sql/postgres/0099_place.sql", "_place.sql, or put the missing", SERVER),
    ],
)
async def test_a_misnumbered_migration_is_refused_before_a_database_is_touched(
    copy: Path, tmp_path: Path, file: str, says: str, url: str
) -> None:
    scene = Scene(tmp_path)
    tapes = await database(scene)
    before = tapes.read_bytes()
    environ = scene.environ(**({"TAPE__URL": url} if url else {}))
    (copy / file).write_text("CREATE TABLE place (a);")
    code, out = await run(copy, environ, "gateway")
    assert code == 1
    assert out.startswith(f"tapeway: {file.rpartition('/')[0]}/")
    assert file.rpartition("/")[2] in out
    assert says in out
    assert out.endswith("nothing was changed")
    assert tapes.read_bytes() == before


async def test_doctor_names_the_file_and_what_to_do(copy: Path, tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    await database(scene)
    (copy / "tape/sql/sqlite/0099_place.sql").write_text("CREATE TABLE place (a);")
    code, out = await run(copy, scene.environ(), "doctor")
    assert code == 1
    assert "failure database: tape/sql/sqlite/0099_place.sql is number " in out
    assert "reinstall Tapeway" in out
    assert "permissions of the" not in out
