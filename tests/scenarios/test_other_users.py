"""Another user of the machine reads no file of the gateway's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

import pytest

from gateway.storage.instance import narrow_files
from tape.entry import message
from tape.stores.jsonl.store import FileStore
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ, make_settings, run_process
from tests.kit.needs import as_root

NOBODY = 65534
READER = """
import json, os, sys
os.setgid({nobody}); os.setuid({nobody})
found = {{}}
for folder, _folders, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(folder, name)
        try:
            found[path] = len(open(path, "rb").read())
        except OSError:
            found[path] = -1
print(json.dumps(found))
"""

pytestmark = as_root


def read_as_nobody(folder: Path) -> dict[str, int]:
    """Return the size of each file that another user could read, and -1 for the others."""
    code = READER.format(nobody=NOBODY)
    done = run([sys.executable, "-c", code, str(folder)], capture_output=True, check=True)
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A home that everybody may enter and list: its files are all that is left to protect them."""
    with TemporaryDirectory() as folder:  # pytest closes its own folders to others
        home = Path(folder) / "home"
        home.mkdir()
        for path in (home, home.parent):
            path.chmod(0o755)
        yield home


async def test_no_file_of_a_running_home_can_be_read_by_another_user(
    model: FakeOpenAI, open_home: Path
) -> None:
    (open_home / "ballast").write_bytes(b"of an earlier version")
    (open_home / "ballast").chmod(0o644)
    environ = make_environ(open_home, model, TAPE__DISK_RESERVE="4096")
    async with gateway_process(environ, open_home) as running:
        await running.url()
        await run_process(environ, "run", "the code is 4711")
        found = read_as_nobody(open_home)
    names = {Path(path).name for path in found}
    assert {"tapeway.db", "tapeway.db-wal", "tapeway.db-search", "gateway.json"} <= names
    assert {"gateway.lock", "ballast"} <= names
    assert set(found.values()) == {-1}


async def test_tapes_in_files_are_private_and_older_ones_are_made_so(open_home: Path) -> None:
    store = FileStore.open(open_home / "tapes")
    await store.append("one", [message("user", "the code is 4711")])
    await store.close()
    (open_home / "tapes").chmod(0o755)
    assert set(read_as_nobody(open_home).values()) == {-1}
    file = open_home / "tapes" / "one.jsonl"
    file.chmod(0o644)
    assert read_as_nobody(open_home)[str(file)] > 0
    narrow_files(make_settings(open_home, TAPE__URL=f"file://{open_home}/tapes"))
    assert set(read_as_nobody(open_home).values()) == {-1}
