"""What other people wrote or are called is data: no command lets it drive the terminal."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import anyio

from tests.gateway.cli.said import OLD, ROOM, a_tape
from tests.kit.gateways import gateway_process, make_environ, run_process, run_tapeway
from tests.kit.visitor import visit

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


async def test_neither_settings_nor_the_doctor_s_report_drive_a_terminal(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home", AGENT__NAME=EVIL, AGENT__MODEL=EVIL)
    for command in ("config show", "config show --json", "doctor", "doctor --json"):
        # A process of its own: doctor ends without waiting for its threads.
        _code, out, err = await run_process(environ, *command.split())
        assert is_harmless(out + err), command
        assert "\\u001b]0;owned" in out
        if command == "config show --json":
            assert EVIL in [row["value"] for row in json.loads(out)]


async def test_an_archive_of_somebody_else_does_not_drive_a_terminal(tmp_path: Path) -> None:
    old, new = tmp_path / "old", make_environ(tmp_path / "new")
    shutil.copytree(OLD, old)
    await run_tapeway(make_environ(old), "backup", str(tmp_path / "made.zip"))
    with zipfile.ZipFile(tmp_path / "made.zip") as made:
        with zipfile.ZipFile(tmp_path / "evil.zip", "w") as evil:
            manifest = json.loads(made.read("manifest.json"))
            manifest |= {"tapeway": EVIL, "secrets": [EVIL], "counts": {EVIL: 1}}
            for name in manifest["members"]:
                evil.writestr(name, made.read(name))
            evil.writestr("manifest.json", json.dumps(manifest))
    for command in (("backup", "--verify"), ("restore",)):
        code, out, err = await run_tapeway(new, *command, str(tmp_path / "evil.zip"))
        assert (code, err) == (0, "")
        assert is_harmless(out)
        assert "\\u001b]0;owned" in out
