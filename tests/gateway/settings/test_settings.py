"""Settings: where they come from, and what a wrong one is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.settings import fields, load_settings
from gateway.settings.env_example import env_example
from tests.kit.gateways import make_settings

ROOT = Path(__file__).resolve().parents[3]


def load(folder: Path, **variables: str) -> object:
    environ = {f"TAPEWAY_{name}": value for name, value in variables.items()}
    return load_settings({"TAPEWAY_SECRETS": str(folder / "secrets"), **environ}, folder)


def test_the_defaults_need_no_key_no_token_and_no_file(tmp_path: Path) -> None:
    settings = load_settings({"TAPEWAY_SECRETS": str(tmp_path / "none")}, tmp_path)
    assert settings.agent.model == "offline"
    assert settings.access.mode == "paired"
    assert (settings.http.host, settings.http.port) == ("127.0.0.1", 8787)
    assert settings.workspace_path == settings.home_path / "workspace"


def test_the_environment_goes_before_env_before_secrets_before_toml(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").write_text(
        '[agent]\nmodel = "toml"\nbase_url = "http://toml"\napi_key = "toml"\nname = "Toml"\n'
    )
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "TAPEWAY_AGENT__API_KEY").write_text("secret")
    (tmp_path / "secrets" / "TAPEWAY_AGENT__BASE_URL").write_text("http://secret")
    (tmp_path / ".env").write_text(
        "TAPEWAY_AGENT__BASE_URL=http://dotenv\nTAPEWAY_AGENT__MODEL=dotenv\n"
    )
    environ = {"TAPEWAY_SECRETS": str(tmp_path / "secrets"), "TAPEWAY_AGENT__MODEL": "environ"}
    agent = load_settings(environ, tmp_path).agent
    assert (agent.model, agent.base_url, agent.key(), agent.name) == (
        "environ",
        "http://dotenv",
        "secret",
        "Toml",
    )


def test_the_process_s_own_environment_is_not_read_when_another_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPEWAY_AGENT__MODEL", "from the process")
    assert load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path).agent.model == "offline"


def test_an_empty_variable_is_one_that_is_not_set(tmp_path: Path) -> None:
    settings = load_settings({"TAPEWAY_HTTP__PORT": "", "TAPEWAY_SECRETS": "none"}, tmp_path)
    assert settings.http.port == 8787


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("HTTP__PORT", "many", ["TAPEWAY_HTTP__PORT", "many", "valid integer", "=8787"]),
        ("HTTP__PORT", "70000", ["TAPEWAY_HTTP__PORT", "65535"]),
        ("HTTP__TRUSTED_PROXIES", "my-proxy", ["TAPEWAY_HTTP__TRUSTED_PROXIES", "my-proxy", "10."]),
        ("ACCESS__MODE", "closed", ["TAPEWAY_ACCESS__MODE", "'paired' or 'open'"]),
        ("ACCESS__ALLOW", "@alice", ["TAPEWAY_ACCESS__ALLOW", "@alice", "telegram:123"]),
        ("TURN__OVERLAP", "later", ["TAPEWAY_TURN__OVERLAP", "'follow_up'"]),
        ("AGENT__STEPS", "0", ["TAPEWAY_AGENT__STEPS", "greater than or equal to 1"]),
        (
            "AGENT__BASE_URL",
            "127.0.0.1:11434/v1",
            ["TAPEWAY_AGENT__BASE_URL", "write http://127.0.0.1:11434/v1"],
        ),
        ("AGENT__HEADERS", '["x"]', ["TAPEWAY_AGENT__HEADERS", "valid dictionary"]),
        ("AGENT__MODLE", "x", ["TAPEWAY_AGENT__MODLE", "did you mean TAPEWAY_AGENT__MODEL"]),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_wrong_and_an_example(
    tmp_path: Path, name: str, value: str, told: list[str]
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, **{name: value})
    for piece in told:
        assert piece in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_section_of_a_model_holds_what_the_environment_leaves_open(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").write_text(
        '[models.small]\ntemperature = 0.5\nmax_output = 100\nheaders = {X-Title = "T"}\n'
        '[models."qwen3:8b"]\nbase_url = "http://127.0.0.1:11434/v1/"\n'
    )
    environ = {"TAPEWAY_AGENT__MODEL": "small", "TAPEWAY_AGENT__MAX_OUTPUT": "50"}
    settings = load_settings({"TAPEWAY_SECRETS": "none", **environ}, tmp_path)
    small, other = settings.model(), settings.model("qwen3:8b")
    assert (small.temperature, small.max_output) == (0.5, 50)
    assert small.headers["X-Title"].get_secret_value() == "T"
    assert (other.base_url, other.temperature) == ("http://127.0.0.1:11434/v1", None)


def test_headers_and_body_are_json_in_the_environment(tmp_path: Path) -> None:
    environ = {"TAPEWAY_AGENT__HEADERS": '{"a": "b"}', "TAPEWAY_AGENT__BODY": '{"top_p": 0.9}'}
    model = load_settings({"TAPEWAY_SECRETS": "none", **environ}, tmp_path).model()
    assert (model.headers["a"].get_secret_value(), model.body) == ("b", {"top_p": 0.9})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("temperture = 1", "temperture in [models.small] is not a setting; did you mean temp"),
        ("temperature = 3", "temperature in [models.small]: input should be less than or equal"),
        ('base_url = "x"', "base_url in [models.small]: an address begins with http://"),
    ],
)
def test_a_wrong_setting_of_a_model_is_named_with_its_section(
    tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "tapeway.toml").write_text(f"[models.small]\n{line}\n")
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert said in str(caught.value)


def test_every_wrong_setting_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, HTTP__PORT="x", TURN__PARALLEL_PER_CHAT="0")
    assert len(str(caught.value).splitlines()) == 2


def test_h2_a_wrong_secret_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").write_text('[agent]\napi_key = ["canary"]\n')
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert "TAPEWAY_AGENT__API_KEY" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_broken_toml_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "tapeway.toml").write_text("[agent\n")
    with pytest.raises(SettingsError, match=r"tapeway\.toml"):
        load(tmp_path)


def test_every_setting_has_a_description_and_an_example() -> None:
    for name, _section, field in fields():
        assert field.description, name
        assert field.examples, name


def test_the_env_example_is_that_of_the_settings() -> None:
    assert (ROOT / ".env.example").read_text() == env_example(), "run `make env-example`"


def test_the_env_example_can_be_used_as_it_is(tmp_path: Path) -> None:
    lines = env_example().splitlines()
    active = [line[1:] for line in lines if line.startswith("#TAPEWAY_")]
    (tmp_path / ".env").write_text("\n".join(active))
    given = load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path)
    (tmp_path / ".env").unlink()
    assert given == load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path)


def test_the_env_example_begins_with_six_settings_and_names_what_is_allowed() -> None:
    start, rest = env_example().split("# === The model ===")
    assert start.count("#TAPEWAY_") == 6
    names = re.findall(r"^#(TAPEWAY_\w+)=", start + rest, re.MULTILINE)
    assert sorted(names) == sorted(name for name, _section, _field in fields())
    assert "# Allowed: paired, open\n#TAPEWAY_ACCESS__MODE=" in rest
    assert "# Allowed: 0 to 65535\n#TAPEWAY_HTTP__PORT=" in rest
    assert rest.index("Rarely used") < rest.index("#TAPEWAY_AGENT__STREAM_OPTIONS")


@pytest.mark.parametrize("path", ["tapeway", "a/b/", "tapeway/"])
def test_a_public_address_with_a_path_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"PUBLIC_URL: it must be an address without a path"
    ) as caught:
        make_settings(tmp_path, HTTP__PUBLIC_URL=f"https://bots.example.org/{path}")
    assert "https://tapeway.example.org/" in str(caught.value)
    for address in ("https://bots.example.org", "https://bots.example.org/"):
        settings = make_settings(tmp_path, HTTP__PUBLIC_URL=address)
        assert settings.http.public_url == "https://bots.example.org/"


def test_another_name_of_postgresql_is_known(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, TAPE__URL="postgres://joe@127.0.0.1/db")
    assert settings.tape_url == "postgresql://joe@127.0.0.1/db"
