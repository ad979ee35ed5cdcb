"""The fast way to the running gateway never leads to another home than the settings name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.cli.reach.known_home import running_of
from gateway.home import Running, announce, locked

OTHER = "TAPEWAY_HOME=/srv/other\n"


@pytest.fixture
def default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The default home of a user, with a gateway that runs on it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".tapeway"
    with locked(home):
        pid = int((home / "gateway.lock").read_text())
        announce(home, Running(pid, "http://127.0.0.1:9/", "token"))
        yield home


def test_the_gateway_of_the_default_home_is_found(default: Path, tmp_path: Path) -> None:
    found = running_of({"TAPEWAY_SECRETS": str(tmp_path / "none")})
    assert found is not None
    assert found[0].home_path == default


@pytest.mark.parametrize(
    ("file", "text", "variables"),
    [
        (".tapeway/.env", OTHER, {}),
        (".tapeway/.env", f"export {OTHER}", {}),
        (".tapeway/tapeway.toml", 'home = "/srv/other"\n', {}),
        ("bot.env", OTHER, {"TAPEWAY_ENV_FILE": "bot.env"}),
        ("secrets/tapeway_home", "/srv/other", {}),
        (".tapeway/env-file", "bot.env", {}),
        ("clone/.env", OTHER, {}),
        ("none", "", {"TAPEWAY_HOME": "/srv/other"}),
        ("none", "", {"tapeway_home": "/srv/other"}),
        ("none", "", {"TAPEWAY_HOME": "~nobody-of-this-name/other"}),
    ],
)
def test_a_home_that_any_other_source_names_is_left_to_the_settings(
    file: str,
    text: str,
    variables: dict[str, str],
    default: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "clone").mkdir()
    monkeypatch.setattr("gateway.cli.reach.known_home.CLONE", tmp_path / "clone")
    monkeypatch.chdir(tmp_path / "clone" if file == "clone/.env" else tmp_path)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert running_of({"TAPEWAY_SECRETS": str(tmp_path / "secrets"), **variables}) is None
