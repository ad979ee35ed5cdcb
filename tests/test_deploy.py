"""The image, Compose's file, the service and their page say the same, and what the settings say."""

from __future__ import annotations

import configparser
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gateway.cli.help import OWN
from gateway.settings import fields, load_settings

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {name: field for name, _section, field in fields()}
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
PAGE = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
HOME = "/var/lib/tapeway"


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")
    return loaded


def service(name: str) -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"][name]
    return found


def interpolate(text: str, variables: dict[str, str]) -> str:
    """Replace `${A:-default}` and `${A:+other}`, the innermost first, as Compose does."""
    form = re.compile(r"\$\{(\w+)(?::([-+])([^{}]*))?\}")

    def value(match: re.Match[str]) -> str:
        given = variables.get(match[1], "")
        if match[2] == "+":
            return match[3] if given else ""
        return given or match[3] or ""

    while form.search(text):
        text = form.sub(value, text)
    return text


def environment(**variables: str) -> dict[str, str]:
    """Return what the gateway's container gets, `.env` first."""
    given = service("tapeway")["environment"]
    return {**variables, **{name: interpolate(text, variables) for name, text in given.items()}}


def image_environment() -> dict[str, str]:
    [line] = re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)
    return dict(item.split("=", 1) for item in line.split())


def unit() -> dict[str, str]:
    """Return the service's options; of those that are repeated, the last."""
    parser = configparser.RawConfigParser(strict=False, delimiters="=")
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(ROOT / "deploy" / "tapeway.service")
    return dict(parser["Service"])


def test_every_setting_that_is_named_exists() -> None:
    for name in ("Dockerfile", "docker-compose.yml", "deploy/tapeway.service"):
        for setting in re.findall(r"TAPEWAY_[A-Z_]+[A-Z]", (ROOT / name).read_text()):
            assert setting in SETTINGS, f"{name} names {setting}"


def test_the_image_s_own_settings_are_compose_s_too_so_that_no_env_file_undoes_them() -> None:
    own = {name: value for name, value in image_environment().items() if name in SETTINGS}
    assert own == {
        "TAPEWAY_HOME": HOME,
        "TAPEWAY_HTTP__HOST": "0.0.0.0",
        "TAPEWAY_HTTP__TOKEN_FILE": "http-token",
    }
    assert own.items() <= environment(TAPEWAY_HOME="~/.tapeway").items()


def test_the_home_is_the_volume_and_belongs_to_the_user() -> None:
    assert f"VOLUME {HOME}\n" in DOCKERFILE
    [user] = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
    assert int(user) >= 1000
    assert f"install --directory --owner={user} --group={user} --mode=0700 {HOME}" in DOCKERFILE
    assert service("tapeway")["volumes"] == [f"home:{HOME}"]
    assert "home" in compose()["volumes"]


def test_the_port_is_the_settings_and_is_published_on_loopback_alone() -> None:
    default = SETTINGS["TAPEWAY_HTTP__PORT"].default
    assert f"EXPOSE {default}\n" in DOCKERFILE
    [published] = service("tapeway")["ports"]
    assert interpolate(published, {}) == f"127.0.0.1:{default}:{default}"
    assert interpolate(published, {"TAPEWAY_HTTP__PORT": "9000"}) == "127.0.0.1:9000:9000"


def test_the_container_has_no_rights_that_it_does_not_need() -> None:
    own = service("tapeway")
    assert own["read_only"] is True
    assert own["cap_drop"] == ["ALL"]
    assert own["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in own
    assert own["tmpfs"][0].startswith("/tmp:")


def test_the_image_runs_commands_that_exist_and_asks_for_health_in_one_way() -> None:
    assert 'ENTRYPOINT ["tapeway"]\nCMD ["gateway"]\n' in DOCKERFILE
    [asked] = re.findall(r"^HEALTHCHECK (.*) CMD \[(.*)\]$", DOCKERFILE, re.MULTILINE)
    check = dict(service("tapeway")["healthcheck"])
    assert asked[1] == ", ".join(f'"{word}"' for word in check.pop("test")[1:])
    options = {f"--{name.replace('_', '-')}={value}" for name, value in check.items()}
    assert set(asked[0].split()) == options
    assert {"gateway", "health", "token", "chat"} <= OWN


def test_there_is_time_to_finish_before_a_stop_becomes_a_kill() -> None:
    assert service("tapeway")["stop_grace_period"] == "20s"
    assert unit()["TimeoutStopSec"] == "20"


def test_the_image_gets_our_packages_and_nothing_else() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())
    ours = set(packages["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    assert "*" in lines
    whole = {"requirements.txt", "pyproject.toml", "README.md", "LICENSE"}
    assert allowed == ours | whole | {"deploy/tapeway.service"}
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    assert {name for line in copied for name in line.split()} == allowed


def test_without_the_local_model_compose_changes_nothing_of_the_agent(tmp_path: Path) -> None:
    given = environment(TAPEWAY_SECRETS=str(tmp_path))
    settings = load_settings(given, tmp_path)
    plain = load_settings({"TAPEWAY_SECRETS": str(tmp_path)}, tmp_path)
    assert (settings.agent, settings.context) == (plain.agent, plain.context)


def test_one_line_brings_the_local_model_whose_prompt_fits_its_context(tmp_path: Path) -> None:
    line = {"COMPOSE_PROFILES": "local-model"}
    assert "\nCOMPOSE_PROFILES=local-model\n" in PAGE
    settings = load_settings({**environment(**line), "TAPEWAY_SECRETS": str(tmp_path)}, tmp_path)
    ollama, pull = service("ollama"), service("ollama-pull")
    assert ollama["profiles"] == pull["profiles"] == ["local-model"]
    assert settings.agent.base_url == "http://ollama:11434/v1"
    assert settings.agent.model == interpolate(pull["environment"]["MODEL"], line)
    assert (
        settings.context.prompt_tokens < int(ollama["environment"]["OLLAMA_CONTEXT_LENGTH"]) * 0.8
    )


def test_another_model_is_the_one_that_is_fetched() -> None:
    lines = {"COMPOSE_PROFILES": "local-model", "TAPEWAY_AGENT__MODEL": "other:3b"}
    pull = service("ollama-pull")["environment"]["MODEL"]
    assert environment(**lines)["TAPEWAY_AGENT__MODEL"] == interpolate(pull, lines) == "other:3b"


def test_the_gateway_starts_without_the_local_model_s_services() -> None:
    assert service("tapeway")["depends_on"]["ollama-pull"]["required"] is False
    assert service("tapeway")["env_file"] == [{"path": ".env", "required": False}]


def test_the_service_keeps_its_home_and_asks_for_a_token() -> None:
    own = unit()
    assert own["StateDirectory"] == own["User"] == Path(HOME).name
    text = (ROOT / "deploy" / "tapeway.service").read_text()
    assert f"Environment=TAPEWAY_HOME={HOME}\n" in text
    assert "Environment=TAPEWAY_HTTP__TOKEN_FILE=http-token\n" in text


@pytest.mark.parametrize("key", ["ExecStart", "User", "EnvironmentFile"])
def test_the_page_installs_what_the_service_expects(key: str) -> None:
    first = unit()[key].removeprefix("-").split()[0]
    assert first in PAGE


def test_the_page_names_services_commands_and_volumes_that_exist() -> None:
    names = set(compose()["services"])
    for where, command in re.findall(r"exec (?:-T )?([a-z-]+) tapeway ([a-z]+)", PAGE):
        assert where in names
        assert command in OWN
    for given in re.findall(r"docker compose (?:logs|stop|start|restart) ([a-z -]+)", PAGE):
        words = given.replace("--tail", "").split()
        assert set(words) <= names, given
    assert "docker volume rm tapeway_home" in PAGE
    assert int(re.findall(r"(?:user|chown -R) (\d+)", PAGE)[0]) == 10001
