"""Where the settings' files are, and who may name them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.settings import load_settings
from gateway.settings.files import (
    combined,
    ignored,
    open_files,
    remember,
    settings_files,
    with_remembered,
)

OURS = "TAPEWAY_AGENT__BASE_URL=http://127.0.0.1:9/elsewhere\n"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user, who stands in another folder with settings of somebody else."""
    (tmp_path / "cloned").mkdir()
    (tmp_path / "cloned" / ".env").write_text(OURS)
    (tmp_path / "cloned" / "tapeway.toml").write_text('[agent]\nmodel = "elsewhere"\n')
    monkeypatch.chdir(tmp_path / "cloned")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_file_of_the_current_folder_sends_the_key_nowhere(user: Path) -> None:
    (user / ".tapeway").mkdir()
    (user / ".tapeway" / ".env").write_text("TAPEWAY_AGENT__API_KEY=key\n")
    agent = load_settings({"TAPEWAY_SECRETS": "none"}).agent
    assert agent.key() == "key"
    assert (agent.base_url, agent.model) == ("", "offline")


def test_the_ignored_files_are_named_with_how_to_use_them(user: Path) -> None:
    said = list(ignored(settings_files({}), user / ".tapeway"))
    assert len(said) == 2
    assert all(str(user / ".tapeway") in sentence for sentence in said)
    assert "--env-file .env" in said[0]
    assert "TAPEWAY_CONFIG=tapeway.toml" in said[1]


def test_a_named_file_lies_over_those_that_init_wrote_setting_by_setting(user: Path) -> None:
    home = user / ".tapeway"
    home.mkdir()
    (home / "tapeway.toml").write_text('[agent]\nmodel = "gpt-5-mini"\nname = "Robin"\n')
    (home / ".env").write_text("TAPEWAY_AGENT__BASE_URL=http://x/v1\nTAPEWAY_LOG__LEVEL=error\n")
    environ = {"TAPEWAY_ENV_FILE": ".env", "TAPEWAY_SECRETS": "none"}
    settings = load_settings(environ)
    assert (settings.agent.model, settings.agent.name) == ("elsewhere", "Robin")
    assert settings.agent.base_url == "http://127.0.0.1:9/elsewhere"
    assert settings.log.level == "error"
    files = settings_files(environ)
    assert not list(ignored(files, home))
    named = f"{user}/cloned/.env and {user}/cloned/tapeway.toml"
    under = f"{home}/.env and {home}/tapeway.toml"
    sentence = f"settings come from {named}, and those that are not set there from {under}"
    assert combined(files) == sentence
    assert combined(settings_files({})) == ""
    (home / "tapeway.toml").unlink()
    (home / ".env").write_text("OF_ANOTHER_PROGRAM=1\n")
    assert combined(settings_files(environ)) == ""


@pytest.mark.parametrize("file", [".env", "tapeway.toml"])
def test_below_a_named_file_lie_those_of_the_home_that_it_names(user: Path, file: str) -> None:
    for folder in (".tapeway", "instance"):
        (user / folder).mkdir()
        (user / folder / ".env").write_text(f"TAPEWAY_AGENT__NAME={folder}\n")
    home = f"{user / 'instance'}"
    text = f'home = "{home}"' if file == "tapeway.toml" else f"tapeway_home={home}"
    Path(file).write_text(f"{text}\n")
    settings = load_settings({"TAPEWAY_ENV_FILE": ".env", "TAPEWAY_SECRETS": "none"})
    assert (settings.agent.name, str(settings.home_path)) == ("instance", home)


def test_a_clone_s_files_are_shown_before_and_after_its_first_start(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.settings.files.CLONE", user / "cloned")
    before = with_remembered({})
    assert before == {"TAPEWAY_ENV_FILE": f"{user}/cloned/.env"}
    Path(".env").unlink()
    assert with_remembered({}) == before  # its tapeway.toml is there
    remember(before)
    assert with_remembered({}) == before
    assert load_settings({**before, "TAPEWAY_SECRETS": "none"}).agent.model == "elsewhere"
    [said] = ignored(settings_files({}), user / ".tapeway")
    assert said.endswith("Start with `make run`, which uses it")
    monkeypatch.chdir(user)
    remember({})
    assert with_remembered({}) == {}


def test_the_env_file_of_another_project_is_not_worth_a_word(user: Path) -> None:
    Path("tapeway.toml").unlink()
    Path(".env").write_text("DATABASE_URL=postgres://\n")
    assert not list(ignored(settings_files({}), user / ".tapeway"))


def test_a_named_file_is_used_with_the_toml_beside_it_and_not_called_ignored(user: Path) -> None:
    environ = {"TAPEWAY_ENV_FILE": ".env", "TAPEWAY_SECRETS": "none"}
    agent = load_settings(environ).agent
    assert (agent.base_url, agent.model) == ("http://127.0.0.1:9/elsewhere", "elsewhere")
    assert not list(ignored(settings_files(environ), user / ".tapeway"))


def test_a_named_file_that_is_missing_is_a_sentence(user: Path) -> None:
    with pytest.raises(SettingsError, match="there is no file"):
        load_settings({"TAPEWAY_ENV_FILE": str(user / "none")})


def test_a_command_finds_the_home_that_the_gateway_was_started_with(user: Path) -> None:
    env_file = user / "checkout.env"
    env_file.write_text(f"TAPEWAY_HOME={user / 'instance'}\n")
    remember({"TAPEWAY_ENV_FILE": str(env_file)})
    assert load_settings(with_remembered({})).home_path == user / "instance"
    named = with_remembered({"TAPEWAY_HOME": str(user / "mine")})
    assert load_settings(named).home_path == user / "mine"
    remember({})  # a gateway that was started without
    assert load_settings(with_remembered({})).home_path == user / ".tapeway"


def test_a_remembered_file_that_others_could_have_written_is_not_trusted(user: Path) -> None:
    remember({"TAPEWAY_ENV_FILE": ".env"})
    (user / ".tapeway" / "env-file").chmod(0o622)
    assert "TAPEWAY_ENV_FILE" not in with_remembered({})


def test_an_open_home_and_an_open_env_file_are_named(user: Path) -> None:
    home = user / ".tapeway"
    home.mkdir(mode=0o755)
    (home / ".env").write_text("")
    (home / ".env").chmod(0o644)
    said = list(open_files(home, settings_files({})))
    assert [f"chmod 700 {home}" in said[0], f"chmod 600 {home / '.env'}" in said[1]] == [True] * 2
    home.chmod(0o700)
    (home / ".env").chmod(0o600)
    assert not list(open_files(home, settings_files({})))


def test_the_command_line_says_in_one_line_what_it_ignores(user: Path) -> None:
    Path("tapeway.toml").unlink()
    environ = {name: it for name, it in os.environ.items() if not name.startswith("TAPEWAY_")}
    environ |= {"TAPEWAY_HOME": str(user / "home"), "TAPEWAY_SECRETS": "none"}
    environ["TAPEWAY_HTTP__TOKEN"] = "a-token-of-some-length"
    code = "from gateway.cli.main import main; main()"
    run = [sys.executable, "-c", code, "token"]
    done = subprocess.run(run, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "a-token-of-some-length\n"
    said = " ".join(done.stderr.split())  # the line breaks where the folder's name ends
    assert said.count("is ignored") == 1
    assert f"{Path('.env').absolute()} is ignored" in said


def test_a_home_that_cannot_be_known_or_written_is_a_sentence_or_nothing(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="write it out"):
        settings_files({"TAPEWAY_HOME": "~nobody-of-this-name/x"})
    (user / "file").touch()
    monkeypatch.setenv("HOME", str(user / "file"))  # where no folder can be made
    named = {"TAPEWAY_ENV_FILE": str(user / "cloned" / ".env")}
    remember(named)
    assert with_remembered({}) == {}
    with pytest.raises(SettingsError, match="that this user may open"):
        settings_files({"TAPEWAY_ENV_FILE": str(user / "file" / ".env")})
