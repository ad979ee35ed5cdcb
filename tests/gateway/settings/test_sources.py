"""Where settings come from: former names, misspelt names, and each setting's origin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.settings import EffectiveSetting, LoadedSettings, effective_settings, load_with_sources
from gateway.settings.load import paths
from gateway.settings.renames import RENAMED


def load(folder: Path, **variables: str) -> LoadedSettings:
    environ = {f"TAPEWAY_{name}": value for name, value in variables.items()}
    return load_with_sources({"TAPEWAY_SECRETS": str(folder / "secrets"), **environ}, folder)


def in_secrets(folder: Path, name: str, value: str) -> None:
    (folder / "secrets").mkdir()
    (folder / "secrets" / name).write_text(value)


def in_env(folder: Path, name: str, value: str) -> None:
    (folder / ".env").write_text(f"{name}={value}\n")


def in_toml(folder: Path, name: str, value: str) -> None:
    section, _, key = name.removeprefix("TAPEWAY_").lower().partition("__")
    (folder / "tapeway.toml").write_text(f'[{section}]\n{key} = "{value}"\n')


def one(loaded: LoadedSettings, name: str) -> EffectiveSetting:
    [found] = [found for found in effective_settings(loaded) if found.name == name]
    return found


@pytest.mark.parametrize(
    ("write", "place", "wrong", "right"),
    [
        (in_env, ".env", "TAPEWAY_ACESS__MODE", "TAPEWAY_ACCESS__MODE"),
        (in_env, ".env", "TAPEWAY_HTTP_PORT", "TAPEWAY_HTTP__PORT"),
        (in_secrets, "secrets", "TAPEWAY_AGENT__API_KY", "TAPEWAY_AGENT__API_KEY"),
        (in_secrets, "secrets", "TAPEWAY_AGNT__API_KEY", "TAPEWAY_AGENT__API_KEY"),
        (in_toml, "tapeway.toml", "acess.mode", "access.mode"),
        (in_toml, "tapeway.toml", "access.mod", "access.mode"),
    ],
)
def test_a_misspelt_name_stops_the_start_with_the_nearest_one_and_the_place(
    tmp_path: Path, write: Callable[[Path, str, str], None], place: str, wrong: str, right: str
) -> None:
    write(tmp_path, wrong.replace(".", "__"), "x")
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    said = f"{wrong} is not a setting; did you mean {right}? (in {tmp_path / place})"
    assert str(caught.value) == said


def test_a_misspelt_variable_of_the_environment_is_named_beside_a_wrong_value(
    tmp_path: Path,
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, ACESS__MODE="open", HTTP__PORT="x")
    first, second = str(caught.value).splitlines()
    assert first == (
        "TAPEWAY_ACESS__MODE is not a setting; did you mean TAPEWAY_ACCESS__MODE?"
        " (in the environment)"
    )
    assert second.startswith("TAPEWAY_HTTP__PORT: ")


def test_variables_of_other_programs_stop_nothing(tmp_path: Path) -> None:
    in_env(tmp_path, "DATABASE_URL", "postgres://")
    kubernetes = {"PORT_8787_TCP_ADDR": "10.0.0.1", "SERVICE_HOST": "10.0.0.1", "PORT": "tcp://x"}
    assert load(tmp_path, **kubernetes).settings.http.port == 8787


def test_a_wrong_value_is_named_with_its_file(tmp_path: Path) -> None:
    in_toml(tmp_path, "TAPEWAY_HTTP__PORT", "many")
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert str(caught.value).endswith(f"(in {tmp_path / 'tapeway.toml'})")


@pytest.mark.parametrize("write", [in_env, in_secrets, in_toml])
def test_a_former_name_is_read_with_a_notice(
    tmp_path: Path, write: Callable[[Path, str, str], None]
) -> None:
    write(tmp_path, "TAPEWAY_TAPE__BALLAST", "4096")
    loaded = load(tmp_path)
    assert loaded.settings.tape.disk_reserve == 4096
    [notice] = loaded.notices()
    former = one(loaded, "TAPEWAY_TAPE__DISK_RESERVE").former
    assert notice.startswith(f"{former} in {tmp_path}")
    assert former in ("TAPEWAY_TAPE__BALLAST", "tape.ballast")


def test_a_present_name_wins_over_a_former_one(tmp_path: Path) -> None:
    loaded = load(tmp_path, TURN__LANES="2", TURN__PARALLEL_PER_CHAT="3")
    assert loaded.settings.turn.parallel_per_chat == 3


def test_a_model_s_section_may_have_former_names_too(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").write_text("[models.small]\nwindow = 8192\n")
    loaded = load(tmp_path)
    assert loaded.settings.models["small"].context_window == 8192
    assert "models.small.window" in loaded.notices()[0]


def test_every_renamed_setting_exists_and_no_former_name_does() -> None:
    known = {path for path, _section, _field in paths()}
    for section, names in RENAMED.items():
        assert {f"{section}.{now}" for now in names.values()} <= known
        assert not {f"{section}.{former}" for former in names} & known


def test_every_setting_has_a_value_and_an_origin(tmp_path: Path) -> None:
    in_secrets(tmp_path, "TAPEWAY_AGENT__API_KEY", "canary")
    in_toml(tmp_path, "TAPEWAY_AGENT__MODEL", "m")
    loaded = load(tmp_path, HTTP__PORT="9000")
    assert len(list(effective_settings(loaded))) == len(list(paths()))
    key, model, port, host = (
        one(loaded, f"TAPEWAY_{name}")
        for name in ("AGENT__API_KEY", "AGENT__MODEL", "HTTP__PORT", "HTTP__HOST")
    )
    assert (key.origin, key.path) == ("secrets", tmp_path / "secrets")
    assert "canary" not in repr(key)
    assert (model.value, model.origin, model.path) == ("m", "toml", tmp_path / "tapeway.toml")
    assert (port.value, port.origin, port.path) == (9000, "environment", None)
    assert (host.value, host.origin, host.path) == ("127.0.0.1", "default", None)


@pytest.mark.parametrize(
    "line",
    ['TAPEWAY_AGENT__API_KEY="sk-canary', "TAPEWAY_AGENT__MODEL", "export TAPEWAY_HTTP__PORT"],
)
def test_a_line_of_the_env_file_that_sets_nothing_stops_the_start(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / ".env").write_text(f"# TAPEWAY_LOG__LEVEL=debug\n\n{line}\nTAPEWAY_HTTP__PORT=1\n")
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert str(caught.value) == (
        f"cannot read the settings: line 3 is not NAME=value: check {tmp_path / '.env'}"
    )


def test_files_of_windows_are_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfTAPEWAY_HTTP__PORT=1\r\n")
    (tmp_path / "tapeway.toml").write_bytes(b'\xef\xbb\xbf[agent]\r\nmodel = "m"\r\n')
    settings = load(tmp_path).settings
    assert (settings.http.port, settings.agent.model) == (1, "m")


def test_of_two_files_the_one_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    in_env(tmp_path, "TAPEWAY_HTTP__PORT", "1")
    (tmp_path / "tapeway.toml").write_text("[agent\n")
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert str(caught.value).endswith(f": check {tmp_path / 'tapeway.toml'}")
    with pytest.raises(SettingsError, match="check the environment"):
        load(tmp_path / "none", MODELS="{")
