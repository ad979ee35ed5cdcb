"""What other people wrote or are called is data: no command lets it drive the terminal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from tests.gateway.cli.test_tape import ROOM, a_tape
from tests.gateways import gateway_process, make_environ, run_tapeway
from tests.visitor import visit

pytestmark = pytest.mark.anyio

EVIL = "a\x1b]0;owned\x07\x9b2J\u202eb"
COMMANDS = (
    *("tape list", f"tape show {ROOM} --all", f"tape search {ROOM} a", "tape search copy text"),
    *("tape show copy", f"tape rewind {ROOM} --to session/start", "tape show nothing\x1b[2J"),
    *("tape show copy --json", "ledger list --json", "ledger show in-1 --json"),
    *("tape erase --list", "ledger list", "ledger list --status taped", "ledger show in-1"),
    *("ledger retry nothing\x1b[2J", "access list", "usage --by person", "usage --by chat"),
    *("access revoke nothing\x1b[2J", "explain in-1", "explain nothing\x1b[2J", "health", "hooks"),
)


async def test_no_command_prints_what_drives_a_terminal(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home")
    path = anyio.Path(tmp_path / "in.jsonl")
    file = a_tape(Path(path), EVIL, "text")
    lines = (await path.read_text("utf-8")).replace('"Al"', json.dumps(EVIL))
    await path.write_text(lines.replace('"x"', json.dumps(EVIL)), "utf-8")
    async with gateway_process(environ, tmp_path / "home") as gateway:
        async with visit(await gateway.url(), "Alice") as (alice,):
            await alice.answer(await alice.say(EVIL))
        code, _out, err = await run_tapeway(environ, "tape", "import", file, "--tape", "copy")
        assert (code, err) == (0, "")
        rename(tmp_path / "home" / "tapeway.db")
        told = {command: await run_tapeway(environ, *command.split(" ")) for command in COMMANDS}
    shown = {command: out + err for command, (_code, out, err) in told.items()}
    driven = {one: text for one, text in shown.items() if not is_harmless(text)}
    assert driven == {}
    assert "\\u001b]0;owned" in shown["tape show copy"]
    assert "\\u001b]0;owned" in shown["ledger list"]
    row = json.loads(shown["ledger show in-1 --json"])
    assert row["payload"]["sender"]["name"] == EVIL
    assert "\\u001b]0;owned" in shown["usage --by person"]


def rename(database: Path) -> None:
    """Give people, chats and reasons a name that nobody would let through."""
    with closing(sqlite3.connect(database)) as ledger, ledger:
        ledger.execute(
            "UPDATE inbox SET why = ?, payload = json_set(payload, '$.sender.name', ?,"
            " '$.chat_title', ?, '$.text', ?)",
            (EVIL,) * 4,
        )
        ledger.execute("UPDATE outbox SET why = ?", (EVIL,))
        ledger.execute("UPDATE usage SET name = ?", (EVIL,))


def is_harmless(text: str) -> bool:
    return all(one.isprintable() or one == "\n" for one in text)
