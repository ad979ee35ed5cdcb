"""`tapeway backup`, `restore` and `migrate`, as their user runs them."""

from __future__ import annotations

import shutil
import signal
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from gateway.backup.archive import new_archive
from gateway.cli.backup.actions import ProgressLine
from tests.gateway.cli.said import OLD
from tests.kit.gateways import make_environ, run_tapeway


async def test_an_old_home_is_saved_verified_restored_and_goes_on(tmp_path: Path) -> None:
    old, new = make_environ(tmp_path / "old"), make_environ(tmp_path / "new")
    shutil.copytree(OLD, tmp_path / "old")
    _code, versions, _err = await run_tapeway(old, "migrate")
    assert "ledger: version 4 of" in versions
    assert "Save a backup first" in versions
    (tmp_path / "old" / "workspace").mkdir()
    (tmp_path / "old" / "workspace" / "AGENTS.md").write_text("You are dry.")
    code, out, err = await run_tapeway(old, "backup", f"{tmp_path}/backups")  # a new folder
    assert (code, err) == (0, "")
    (made,) = (tmp_path / "backups").glob("tapeway-*.zip")
    assert f"{made} (" in out
    assert "Not in it: the rest of the agent's folder" in out
    assert "77 entries, 4 tapes, 12 messages, 7 sends, 2 open" in out
    file = next(word for word in out.split() if word.endswith(".zip"))
    _code, out, _err = await run_tapeway(new, "backup", "--verify", file)
    assert "is intact" in out
    code, out, err = await run_tapeway(new, "restore", file)
    assert (code, err) == (0, "")
    assert "Held: 2 open messages and sends" in out
    elsewhere = {"TAPEWAY_TAPE__URL": f"sqlite://{tmp_path}/elsewhere.db"}
    third = str(tmp_path / "third")
    _code, out, _err = await run_tapeway(new | elsewhere, "restore", file, "--to", third)
    assert "Unset TAPEWAY_TAPE__URL, or the gateway" in out
    _code, out, _err = await run_tapeway(new, "ledger", "list", "--status", "held")
    assert {"in-12", "out-7"} <= set(out.split())
    _code, out, _err = await run_tapeway(new, "ledger", "resume")
    assert out == "1 message and 1 send go on at the next start\n"
    _code, versions, _err = await run_tapeway(new, "migrate")
    assert "Nothing is to be done" in versions
    _code, out, _err = await run_tapeway(old, "migrate", "--apply")
    assert "Migrated in" in out


def test_a_polite_end_lets_a_backup_remove_what_it_wrote(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        progress = ProgressLine()
        with pytest.raises(SystemExit), new_archive(tmp_path / "own.zip", progress):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert list(tmp_path.iterdir()) == []


async def test_a_listing_does_not_migrate_a_database_and_a_torn_one_is_named(
    tmp_path: Path,
) -> None:
    environ = make_environ(tmp_path / "home")
    shutil.copytree(OLD, tmp_path / "home")
    for words in (("tape", "list"), ("ledger", "list"), ("usage",), ("access", "list")):
        code, _out, err = await run_tapeway(environ, *words)
        assert code == 1
        assert "written by an older version. Make a backup" in err
    _code, versions, _err = await run_tapeway(environ, "migrate")
    assert "ledger: version 4 of" in versions
    (tmp_path / "home" / "tapeway.db").write_bytes(bytes(4096))
    code, _out, err = await run_tapeway(environ, "migrate")
    assert code == 1
    assert "tapeway.db is not an intact database of Tapeway (file is not a database)" in err
    assert "Traceback" not in err


async def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home")
    for words, says in (
        (("backup",), "there is nothing to back up"),
        (("backup", "-"), "a backup is a file"),
        (("backup", "--verify"), "name the file to verify"),
        (("backup", "--verify", "/no/such/file"), "/no/such/file"),
        (("restore", str(OLD / "tapeway.db")), "is not an intact backup"),
    ):
        code, _out, err = await run_tapeway(environ, *words)
        assert code == 1
        assert says in err
        assert "Traceback" not in err
    _code, out, _err = await run_tapeway(environ, "migrate")
    assert "There is no database yet" in out


async def test_a_database_that_this_version_cannot_read_is_named_in_a_sentence(
    tmp_path: Path,
) -> None:
    environ, path = make_environ(tmp_path), tmp_path / "tapeway.db"
    path.write_bytes(b"garbage " * 2_000)
    code, _out, err = await run_tapeway(environ, "migrate")
    assert (code, "is not an intact database of Tapeway" in err) == (1, True)
    path.unlink()
    shutil.copyfile(OLD / "tapeway.db", path)
    await run_tapeway(environ, "migrate", "--apply")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("INSERT INTO migration VALUES ('ledger', 99, '9.8.7')")
    for words in (("migrate",), ("migrate", "--apply"), ("backup", str(tmp_path))):
        code, _out, err = await run_tapeway(environ, *words)
        assert (code, "install Tapeway 9.8.7 or a newer one" in err) == (1, True)
