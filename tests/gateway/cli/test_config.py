"""`tapeway config show`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.kit.gateways import make_environ, run_tapeway


async def test_each_setting_has_its_effective_value_and_its_origin(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TAPEWAY_LOG__LEVEL=error\nTAPEWAY_HTTP__PORT=1\n")
    (tmp_path / "tapeway.toml").write_text('[agent]\nname = "Robin"\n')
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "tapeway_telegram__token").write_text("123456:ABC-of-the-tests")
    environ = make_environ(tmp_path, HTTP__PORT="2", SECRETS=str(secrets))
    code, out, _err = await run_tapeway(environ, "config", "show", "--json")
    shown = {row["name"]: (row["value"], row["origin"], row["path"]) for row in json.loads(out)}
    assert code == 0
    assert shown["TAPEWAY_HTTP__PORT"] == (2, "environment", None)
    assert shown["TAPEWAY_LOG__LEVEL"] == ("error", "env-file", str(tmp_path / ".env"))
    assert shown["TAPEWAY_AGENT__NAME"] == ("Robin", "toml", str(tmp_path / "tapeway.toml"))
    assert shown["TAPEWAY_TELEGRAM__TOKEN"] == ("(set, hidden)", "secrets", str(secrets))
    assert shown["TAPEWAY_TURN__DEADLINE"] == (900, "default", None)
    _code, text, _err = await run_tapeway(environ, "config", "show", "--changed")
    assert f"* TAPEWAY_LOG__LEVEL=error\n      from {tmp_path}/.env\n" in text
    assert "TAPEWAY_TURN__DEADLINE" not in text
    assert "ABC-of-the-tests" not in out + text


async def test_wrong_settings_are_a_sentence_and_exit_code_2(tmp_path: Path) -> None:
    environ = make_environ(tmp_path, HTTP__PORT="many")
    code, out, err = await run_tapeway(environ, "config", "show")
    assert (code, out) == (2, "")
    assert err.startswith("tapeway: TAPEWAY_HTTP__PORT: ")
