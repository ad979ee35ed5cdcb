"""How long the databases of earlier versions take to upgrade: `python -m bench.upgrade COMMIT ...`.

Each database is made by the code of its own commit, taken out of git's history, and filled with as
many entries as wanted and a received message for every second one.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import apsw

from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import Database
from tape.stores.sqlite import tape_schema

ROOT: Final = Path(__file__).resolve().parent.parent
COMMITS: Final = ("12be65b", "32e982c")
ENTRIES: Final = """
WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < :count)
INSERT INTO entry (pos, tape, id, kind, author, lane, turn, payload, meta, date)
SELECT 100 * 4294967296 + id, 100, id, 'message', '7', 'l:' || (id / 40),
       iif(id % 5, NULL, 't-' || id),
       '{"role":"user","content":"[12:00 #1 Alice] a message of a usual length, ' || id || '"}',
       '{"inbox":' || id || ',"author":"7","name":"Alice","text":"a message of a usual length"'
       || ',"channel":"telegram","chat":"-1001","message_id":"' || id || '"}',
       strftime('%Y-%m-%dT%H:%M:%f+00:00', 1700000000 + id, 'unixepoch')
FROM n
"""
MESSAGES: Final = """
WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < :count)
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
                   payload, status, received_at)
SELECT 'telegram', '-1001/' || id, '-1001', id, 'telegram:-1001', id, 'l:1',
       iif(id % 10, NULL, 't-' || id),
       iif(id % 10, :payload, json_set(:payload, '$.thread_id', '5')),
       iif(id % 10, 'taped', 'done'), strftime('%Y-%m-%dT%H:%M:%f', 1700000000 + id, 'unixepoch')
FROM n
"""


def make(commit: str, folder: Path, entries: int) -> Path:
    """Make a database by the code of a commit."""
    code, path = folder / "code", folder / "tapeway.db"
    code.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit, "tape", "gateway", "channels", "agent"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(code, filter="data")
    subprocess.run(
        [sys.executable, "-m", "gateway.cli.main", "run", "hello"],
        cwd=code,
        env={"PYTHONPATH": str(code), "TAPEWAY_HOME": str(folder), "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("synchronous", "off")
        payload = connection.execute("SELECT payload FROM inbox LIMIT 1").get
        with connection:
            connection.execute("INSERT INTO tape (tape, name) VALUES (100, 'bench')")
            connection.execute(ENTRIES, {"count": entries})
            connection.execute(MESSAGES, {"count": entries // 2, "payload": payload})
    return path


def upgrade(path: Path) -> float:
    """Upgrade a database as a start does; return the seconds."""
    begun = time.perf_counter()
    Database.open(path, (tape_schema(), ledger_schema()))
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="*", default=COMMITS)
    parser.add_argument("--entries", type=int, default=1_000_000)
    wanted = parser.parse_args()
    for commit in wanted.commits:
        with TemporaryDirectory() as folder:
            path = make(commit, Path(folder), wanted.entries)
            size = path.stat().st_size / 1e6
            seconds = upgrade(path)
            print(f"{commit}: {wanted.entries} entries, {size:.0f} MB: {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
