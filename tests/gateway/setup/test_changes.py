"""What `tapeway init` writes, and what it leaves as it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.settings import load_settings, load_with_sources
from gateway.settings.files import settings_files
from gateway.setup.changes import Changes
from tests.kit.needs import as_root

SECRET = "sk-canary with ' and \\ and #"


def changes(folder: Path, **variables: str) -> Changes:
    environ = {"TAPEWAY_SECRETS": "none", **variables}
    return Changes(settings_files(environ, folder), load_with_sources(environ, folder))


def test_a_secret_of_any_letters_is_read_as_it_was_given(tmp_path: Path) -> None:
    made = changes(tmp_path)
    made.set_secret("http.token", SECRET)
    made.write()
    settings = load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path)
    assert settings.http.token.get_secret_value() == SECRET
    assert not (tmp_path / "tapeway.toml").exists()


def test_a_secret_moves_from_the_toml_into_the_file_for_secrets(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").write_text('[agent]\nmodel = "m" # mine\napi_key = "sk-old-key"\n')
    made = changes(tmp_path, TAPEWAY_AGENT__API_KEY="sk-another")
    made.set_secret("agent.api_key", "sk-new-key")
    shown = str(made.difference())
    made.write()
    assert "sk-old-key" not in shown
    assert "sk-new-key" not in shown
    assert (tmp_path / "tapeway.toml").read_text() == '[agent]\nmodel = "m" # mine\n'


def test_a_setting_that_stands_in_the_env_file_is_changed_there(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# mine\nexport TAPEWAY_AGENT__MODEL=old\nOTHER=1\n")
    made = changes(tmp_path)
    made.set("agent.model", "new")
    made.write()
    assert (tmp_path / ".env").read_text() == "# mine\nTAPEWAY_AGENT__MODEL=new\nOTHER=1\n"


def test_what_a_named_file_sets_is_changed_there_and_all_else_in_the_home(tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    named = tmp_path / "clone" / ".env"
    named.write_text("TAPEWAY_AGENT__MODEL=old\nTAPEWAY_AGENT__API_KEY=sk-old-key\n")
    (tmp_path / "clone" / "tapeway.toml").write_text('[agent]\nbase_url = "http://old/v1"\n')
    made = changes(tmp_path, TAPEWAY_ENV_FILE=str(named))
    made.set("agent.model", "new")
    made.set("agent.base_url", None)
    made.set_secret("agent.api_key", "sk-new-key")
    made.set_secret("telegram.token", "123456:new")
    made.set("log.level", "error")
    assert list(made.overruled()) == []
    assert "sk-" not in str(made.difference())
    made.write()
    assert named.read_text() == "TAPEWAY_AGENT__MODEL=new\nTAPEWAY_AGENT__API_KEY=sk-new-key\n"
    assert (tmp_path / "clone" / "tapeway.toml").read_text() == "[agent]\n"
    assert (tmp_path / ".env").read_text().endswith("\nTAPEWAY_TELEGRAM__TOKEN=123456:new\n")
    assert "model" not in (tmp_path / "tapeway.toml").read_text()


@pytest.mark.parametrize("before", ["", "# mine\n", "[agent]\nmodel = 'm'\n", "# a\n\n[agent]\n"])
def test_the_home_stands_above_all_sections(tmp_path: Path, before: str) -> None:
    (tmp_path / "tapeway.toml").write_text(before)
    made = changes(tmp_path)
    made.set("home", "/srv/tapeway")
    made.set("agent.name", "Robin")
    made.write()
    settings = load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path)
    assert (str(settings.home), settings.agent.name) == ("/srv/tapeway", "Robin")


def test_what_the_environment_overrules_is_named(tmp_path: Path) -> None:
    made = changes(tmp_path, TAPEWAY_AGENT__MODEL="fixed", TAPEWAY_SLACK__BASE_URL="http://x/")
    made.set("agent.model", "new")
    made.set("agent.base_url", "http://y")
    [said] = made.overruled()
    assert said.startswith("TAPEWAY_AGENT__MODEL is set otherwise in the environment")


def test_a_write_that_fails_leaves_the_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").mkdir(parents=True)
    with pytest.raises(SettingsError, match="Is a directory"):
        changes(tmp_path).set("agent.model", "m")
    (tmp_path / "tapeway.toml").rmdir()
    made = changes(tmp_path)
    made.set("agent.model", "m")
    (tmp_path / "tapeway.toml").mkdir()
    with pytest.raises(SettingsError, match="Is a directory"):
        made.write()
    assert [path.name for path in tmp_path.iterdir()] == ["tapeway.toml"]


@pytest.mark.parametrize(
    "before",
    [
        'agent.model = "old"\nagent.base_url = "http://old/v1"\n[http]\nport = 1\n',
        'agent = {model = "old", base_url = "http://old/v1"}\n',
        '[agent]\nbase_url = "http://old/v1"\n[http]\nport = 1\n[agent.headers]\nx = "y"\n',
        '\ufeff[agent]\r\nbase_url = "http://old/v1"\r\n',
    ],
    ids=["dotted", "inline", "apart", "windows"],
)
def test_a_new_key_never_goes_to_the_former_server(tmp_path: Path, before: str) -> None:
    (tmp_path / "tapeway.toml").write_bytes(before.encode())
    made = changes(tmp_path)
    made.set("agent.model", "new")
    made.set("agent.base_url", None)
    made.set_secret("agent.api_key", "sk-new-key")
    assert list(made.overruled()) == []
    made.write()
    agent = load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path).agent
    assert (agent.model, agent.base_url, agent.key()) == ("new", "", "sk-new-key")


@pytest.mark.parametrize("before", ["{name = 'Robin'}", "{}"])
def test_a_setting_is_added_to_a_section_on_one_line(tmp_path: Path, before: str) -> None:
    (tmp_path / "tapeway.toml").write_text(f"agent = {before}\n")
    made = changes(tmp_path)
    made.set("agent.model", "new")
    made.write()
    assert load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path).agent.model == "new"


def test_a_variable_in_small_letters_or_over_two_lines_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("tapeway_agent__model=old\nTAPEWAY_AGENT__NAME='Ro\nbin'\n")
    made = changes(tmp_path)
    made.set("agent.model", "new")
    made.set("agent.name", "Robin")
    made.write()
    assert (
        tmp_path / ".env"
    ).read_text() == "TAPEWAY_AGENT__MODEL=new\nTAPEWAY_AGENT__NAME=Robin\n"


def test_what_another_place_keeps_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('TAPEWAY_AGENT={"model": "old", "base_url": "http://old/v1"}\n')
    made = changes(tmp_path, TAPEWAY_AGENT__API_KEY="sk-of-the-environment")
    made.set("agent.model", "new")
    made.set("agent.base_url", None)
    made.set_secret("agent.api_key", "")
    places = [sentence.partition(" is set otherwise in ")[::2] for sentence in made.overruled()]
    there = f"{tmp_path / '.env'}: change it there"
    assert places == [
        ("TAPEWAY_AGENT__MODEL", there),
        ("TAPEWAY_AGENT__BASE_URL", there),
        ("TAPEWAY_AGENT__API_KEY", "the environment: change it there"),
    ]


def test_of_two_that_write_at_once_the_second_loses_nothing_of_the_first(tmp_path: Path) -> None:
    first, second = changes(tmp_path), changes(tmp_path)
    first.set_secret("telegram.token", "123456:of-the-first")
    second.set_secret("discord.token", "of-the-second")
    first.write()
    with pytest.raises(SettingsError, match="has changed meanwhile"):
        second.write()
    assert (tmp_path / ".env").read_text().endswith("TAPEWAY_TELEGRAM__TOKEN=123456:of-the-first\n")


@as_root
def test_what_root_writes_belongs_to_the_user_of_the_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)
    for value in ("old", "new"):
        made = changes(tmp_path)
        made.set("agent.model", value)
        made.set_secret("agent.api_key", f"sk-{value}-key")
        made.write()
        found = [path.stat() for path in tmp_path.iterdir()]
        assert [(one.st_uid, one.st_mode & 0o777) for one in found] == [(65534, 0o600)] * 2


@as_root
def test_root_follows_no_link_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    (tmp_path / ".env").symlink_to(tmp_path / "target")
    os.chown(tmp_path / ".env", 65534, 65534, follow_symlinks=False)
    made = changes(tmp_path)
    made.set_secret("agent.api_key", "sk-new-key")
    with pytest.raises(SettingsError, match="another user's link"):
        made.write()
    assert (tmp_path / "target").read_text() == ""


def test_one_file_is_changed_where_only_one_may_be(tmp_path: Path) -> None:
    toml = '[agent]\nmodel = "old"\nbase_url = "http://old/v1"\n'
    (tmp_path / "tapeway.toml").write_text(toml)
    environ = {"TAPEWAY_SECRETS": "none"}
    files, loaded = settings_files(environ, tmp_path), load_with_sources(environ, tmp_path)
    made = Changes(files, loaded, one_file=True)
    made.set("agent.model", "new")
    made.set_secret("agent.api_key", "sk-new-key")
    assert made.settings().agent.model == "new"
    assert made.names() == ["TAPEWAY_AGENT__MODEL", "TAPEWAY_AGENT__API_KEY"]
    made.set("agent.base_url", None)
    assert list(made.overruled()) == [
        f"TAPEWAY_AGENT__BASE_URL is set otherwise in {tmp_path / 'tapeway.toml'}: change it there"
    ]
    made.write()
    assert (tmp_path / "tapeway.toml").read_text() == toml
    settings = load_settings(environ, tmp_path)
    assert (settings.agent.model, settings.agent.key()) == ("new", "sk-new-key")


def test_a_wrong_value_is_named_before_anything_is_written(tmp_path: Path) -> None:
    made = changes(tmp_path)
    made.set_secret("telegram.token", "no token at all")
    with pytest.raises(SettingsError, match="TAPEWAY_TELEGRAM__TOKEN"):
        made.settings()
    assert list(tmp_path.iterdir()) == []
