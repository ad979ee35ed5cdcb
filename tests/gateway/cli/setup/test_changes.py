"""What `tapeway init` writes, and what it leaves as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.setup.changes import Changes
from gateway.settings import load_settings, load_with_sources
from gateway.settings.files import settings_files

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
    assert said.startswith("TAPEWAY_AGENT__MODEL is set in the environment")


def test_a_write_that_fails_leaves_the_file_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        changes(tmp_path).set("agent.model", "m")
    (tmp_path / "tapeway.toml").rmdir()
    made = changes(tmp_path)
    made.set("agent.model", "m")
    (tmp_path / "tapeway.toml").mkdir()
    with pytest.raises(IsADirectoryError):
        made.write()
    assert [path.name for path in tmp_path.iterdir()] == ["tapeway.toml"]
