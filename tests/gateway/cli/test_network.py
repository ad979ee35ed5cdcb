"""Variables of the network: what commands say of them, in one sentence each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.gateways import make_environ, run_process
from tests.kit.ports import free_port

PASSWORD = "canary-of-the-proxy"
SERVER: dict[str, Any] = {"AGENT__MODEL": "model", "AGENT__BASE_URL": "https://models.example/v1"}


def environ_of(tmp_path: Path, **variables: str) -> dict[str, str]:
    environ = make_environ(tmp_path / "home", AGENT__API_KEY="sk-canary", **SERVER)
    none = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"), "")
    none |= dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR"), "")
    small = {name.lower(): "" for name in none}
    return {**environ, **none, **small, **variables}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", f"socks5://joe:{PASSWORD}@127.0.0.1:1080"),
        ("all_proxy", f"what://joe:{PASSWORD}@127.0.0.1"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
    ],
)
async def test_a_variable_that_cannot_be_used_is_one_sentence_at_the_start_and_in_doctor(
    name: str, value: str, tmp_path: Path
) -> None:
    environ = environ_of(tmp_path, **{name: value})
    code, out, err = await run_process(environ, "gateway")
    assert code == 2
    assert err.startswith(f"tapeway: {name} names ")
    assert err.count("\n") == 1
    code, out, err = await run_process(environ, "doctor", "--json")
    named = [one for one in json.loads(out)["results"] if name in one["says"]]
    assert [one["trouble"]["id"] for one in named] == ["network.variable"]
    assert (code, PASSWORD in out + err, "Traceback" in out + err) == (1, False, False)


async def test_a_dead_proxy_is_named_by_doctor(tmp_path: Path) -> None:
    dead = f"127.0.0.1:{free_port()}"
    environ = environ_of(tmp_path, https_proxy=dead)
    code, out, _err = await run_process(environ, "doctor", "--json")
    (model,) = [one for one in json.loads(out)["results"] if one["check"] == "model"]
    assert (code, model["trouble"]["id"]) == (1, "network.proxy_down")
    assert model["says"].startswith(f"the proxy {dead} is not there: correct https_proxy")


async def test_config_show_has_what_the_environment_says_of_the_network(tmp_path: Path) -> None:
    environ = environ_of(
        tmp_path, HTTPS_PROXY=f"http://joe:{PASSWORD}@proxy:3128", NO_PROXY="localhost"
    )
    _code, out, _err = await run_process(environ, "config", "show")
    assert "* HTTPS_PROXY=proxy:3128\n* NO_PROXY=localhost\n" in out
    _code, as_json, _err = await run_process(environ, "config", "show", "--json")
    rows = [one for one in json.loads(as_json) if one["section"] == "network"]
    assert [(one["name"], one["value"]) for one in rows] == [
        ("HTTPS_PROXY", "proxy:3128"),
        ("NO_PROXY", "localhost"),
    ]
    assert PASSWORD not in out + as_json
