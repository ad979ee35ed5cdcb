"""A start imports what it needs: no SDK of a channel that is not enabled, and no drawing."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests.kit.gateways import clean_environ, make_environ

SDKS = {"discord": {"discord"}, "slack": {"slack_bolt", "slack_sdk"}, "telegram": {"telegram"}}
TOKENS = {
    "discord": {"DISCORD__TOKEN": "1.2.3", "DISCORD__BASE_URL": "http://127.0.0.1:9/api/v10"},
    "slack": {
        "SLACK__BOT_TOKEN": "xoxb-1",
        "SLACK__APP_TOKEN": "xapp-1",
        "SLACK__BASE_URL": "http://127.0.0.1:9/api/",
    },
    "telegram": {"TELEGRAM__TOKEN": "1:x", "TELEGRAM__BASE_URL": "http://127.0.0.1:9/bot"},
}
UNUSED = {"pygments", "rich", "tomlkit"}
"""What nothing needs until somebody saves settings; structlog would load the first two.

Telegram's SDK brings them: its HTTP client loads them for a command of its own.
"""

STARTS = """
import sys, anyio
from gateway.app import running_gateway
from gateway.settings import load_settings

async def main():
    async with running_gateway(load_settings()):
        names = {name.partition(".")[0] for name in sys.modules}
        print("LOADED", *sorted(names & set(sys.argv[1:])))

anyio.run(main)
"""


@pytest.mark.parametrize("enabled", ["", *sorted(SDKS)])
async def test_a_gateway_loads_the_sdk_of_what_is_enabled_and_nothing_unused(
    tmp_path: Path, enabled: str
) -> None:
    environ = clean_environ(make_environ(tmp_path, None, **TOKENS.get(enabled, {})))
    unused = set() if enabled == "telegram" else UNUSED
    asked = {*unused, *(sdk for sdks in SDKS.values() for sdk in sdks)}
    command = [sys.executable, "-c", STARTS, *sorted(asked)]
    done = await anyio.run_process(command, env=environ, cwd=tmp_path)
    (line,) = [one for one in done.stdout.decode().splitlines() if one.startswith("LOADED")]
    assert set(line.split()[1:]) == SDKS.get(enabled, set())
