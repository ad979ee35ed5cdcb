"""Every command, whether it succeeds or fails, prints none of the instance's secrets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer

from gateway.cli.help import OWN
from gateway.cli.main import app
from gateway.redaction.redactor import HIDDEN
from tests.kit.canaries import KEY, SET, TOKENS, Canaries
from tests.kit.gateways import make_environ, run_process
from tests.kit.plugins import distribution

CLOSED = "http://127.0.0.1:9"
PAGE = "canary-of-the-page-55d1"
OF_A_PROXY = "canary%2Dof-the-proxy-1e4b"
OF_A_PLUGIN = "sk-canary0of0a0plugin77aa"
DATABASE = "canary-of-the-database-6b2e"
SECRETS = (KEY, PAGE, *SET.values(), *TOKENS.values(), OF_A_PROXY, OF_A_PLUGIN, DATABASE)

GOOD: dict[str, tuple[str, ...]] = {
    "access list": ("access", "list", "--json"),
    "access grant": ("access", "grant", "telegram:5"),
    "access revoke": ("access", "revoke", "telegram:5"),
    "backup": ("backup", "{home}/../saved.zip"),
    "chat": ("chat",),
    "completion": ("completion", "bash"),
    "config show": ("config", "show"),
    "doctor": ("doctor",),
    "explain": ("explain", "in-1"),
    "gateway": ("gateway", "--role", "nobody"),
    "health": ("health", "--json"),
    "hooks": ("hooks", "--check"),
    "init": ("init", "--yes", "--model", "offline"),
    "ledger drop": ("ledger", "drop", "in-1"),
    "ledger list": ("ledger", "list", "--json"),
    "ledger resume": ("ledger", "resume"),
    "ledger retry": ("ledger", "retry", "in-1"),
    "ledger show": ("ledger", "show", "in-1"),
    "migrate": ("migrate",),
    "open": ("open", "--json"),
    "pair": ("pair",),
    "restore": ("restore", "{home}/nothing.zip"),
    "run": ("run", "What is new?"),
    "tape erase": ("tape", "erase", "web:lobby", "--yes"),
    "tape export": ("tape", "export", "web:lobby", "-"),
    "tape follow": ("tape", "follow", "web:lobby"),
    "tape import": ("tape", "import", "{home}/nothing.jsonl", "web:lobby"),
    "tape list": ("tape", "list"),
    "tape reindex": ("tape", "reindex"),
    "tape rewind": ("tape", "rewind", "web:lobby", "--to", "plan"),
    "tape search": ("tape", "search", "web:lobby", "canary"),
    "tape show": ("tape", "show", "web:lobby"),
    "token": ("token", "--no-such-option"),
    "usage": ("usage",),
    "workers": ("workers",),
}
"""A command line of each command; `token` prints one by design, unless it is called wrongly."""


def commands(group: Any, prefix: str = "") -> Iterator[str]:
    for name, one in group.commands.items():
        if isinstance(one, click.Group) or hasattr(one, "commands"):
            yield from commands(one, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}"


def test_every_command_is_tried() -> None:
    group = typer.main.get_command(app)
    known = {one for one in commands(group) if one.partition(" ")[0] in OWN}
    assert known == GOOD.keys()


PLUGIN = f"""
KEY = "{OF_A_PLUGIN}"

class Broken:
    def __init__(self, key=KEY):
        raise RuntimeError("cannot reach https://joe:{DATABASE}@db.example with " + key)
"""
COMMAND = """
import os, sys
import typer
app = typer.Typer(pretty_exceptions_show_locals=True)

@app.command()
def shout(how: str):
    everything = {name: value for name, value in os.environ.items() if name.startswith("TAPEWAY")}
    key = everything["TAPEWAY_AGENT__API_KEY"]
    if how == "raise":
        raise RuntimeError(f"it failed with {key}")
    for number, value in enumerate(everything.values()):
        print(value, file=(sys.stdout, sys.stderr)[number % 2])
        typer.echo(value)
        sys.stdout.write(value[:9])
        sys.stdout.write(value[9:] + chr(10))
        sys.stdout.buffer.write(value.encode())
"""


def environ_of(tmp_path: Path, **more: str) -> dict[str, str]:
    folder = tmp_path / "plugins"
    if not folder.exists():
        distribution(folder, "tried_plugin:Broken")
        (folder / "tried_plugin.py").write_text(PLUGIN)
        (folder / "tried_command.py").write_text(COMMAND)
        points = folder / "tapeway_tried-1.dist-info" / "entry_points.txt"
        points.write_text(points.read_text() + "[tapeway.commands]\nshout = tried_command:app\n")
    settings: dict[str, Any] = {
        **TOKENS,
        "AGENT__API_KEY": KEY,
        "AGENT__MODEL": "model",
        "AGENT__BASE_URL": f"{CLOSED}/v1?key={KEY}",
        "AGENT__RETRIES": "0",
        "HTTP__TOKEN": PAGE,
        "TELEGRAM__BASE_URL": f"{CLOSED}/bot",
        "TELEGRAM__PROXY": f"http://joe:{OF_A_PROXY}@127.0.0.1:9",
        "DISCORD__BASE_URL": f"{CLOSED}/api",
        "SLACK__BASE_URL": f"{CLOSED}/api/",
        "SLACK__CLIENT_ID": "1.2",
        **more,
    }
    environ = make_environ(tmp_path / "home", **settings)
    proxy = f"http://joe:{OF_A_PROXY}@127.0.0.1:9"
    return {**environ, "PYTHONPATH": str(folder), "HTTP_PROXY": proxy, "HTTPS_PROXY": proxy}


async def printed(environ: dict[str, str], *arguments: str) -> str:
    """Return all that a command printed, in which no canary may stand."""
    home = environ["TAPEWAY_HOME"]
    line = [one.replace("{home}", home) for one in arguments]
    _code, out, err = await run_process(environ, *line)
    canaries = Canaries((*SECRETS, OF_A_PROXY.replace("%2D", "-")))
    canaries.search(" ".join(arguments), f"{out}{err}".encode())
    canaries.check()
    return out + err


@pytest.mark.parametrize("name", GOOD)
async def test_a_command_prints_no_secret(name: str, tmp_path: Path) -> None:
    await printed(environ_of(tmp_path), *GOOD[name])


WRONG = {
    "TAPE__URL": f"postgresql://joe:{DATABASE}@127.0.0.1:9/tapeway?connect_timeout=1",
    "HTTP__PORT": PAGE,
    "TELEGRAM__BASE_URL": f"no-address-{OF_A_PLUGIN}",
    "TELEGRAM__TOKN": TOKENS["TELEGRAM__TOKEN"],
    "MODELS": f'{{"m": {{"headers": {{"x": "{DATABASE}"}}, "nothing": 1}}}}',
    "SLACK__APP_TOKEN": f"{KEY}\u2028",
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("command", ["gateway", "doctor", "config show", "hooks", "nonsense"])
async def test_wrong_settings_are_said_without_secrets(
    name: str, command: str, tmp_path: Path
) -> None:
    environ = environ_of(tmp_path, **{name: WRONG[name]})
    await printed(environ, *GOOD.get(command, (command,))[:2])


async def test_a_mistyped_command_shows_a_broken_plugin_without_its_variables(
    tmp_path: Path,
) -> None:
    said = await printed(environ_of(tmp_path), "doctro")
    assert "plugin.load_failed" in said
    assert HIDDEN in said
    assert "locals" not in said


@pytest.mark.parametrize("how", ["print", "raise"])
async def test_a_plugin_s_command_prints_no_secret(how: str, tmp_path: Path) -> None:
    said = await printed(environ_of(tmp_path), "shout", how)
    assert HIDDEN in said
    assert ("it failed with" in said) == (how == "raise")
