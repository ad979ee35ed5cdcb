"""Each profile of docker-compose.yml: alike by flag and by variable, and no other's business."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from gateway.settings import load_settings
from gateway.supervision.local_model import is_wanted
from tape.stores.postgres.database import connection_target
from tests.compose import ROOT, render

PROFILES = {
    "local-model": {"ollama", "ollama-pull"},
    "metrics": {"prometheus", "grafana"},
    "scale": {"postgres", "postgres-secrets", "worker"},
}
COMBINATIONS = [
    *[(), ("local-model",), ("metrics",), ("scale",)],
    *[("local-model", "metrics"), ("local-model", "metrics", "scale")],
]
OLLAMA = r"""#!/bin/sh
# Draws as the client does without a terminal.
[ "$1" = show ] && exec test -e "$HAVE"
[ "$MODEL" = missing ] && echo "Error: pull model manifest: file does not exist" >&2 && exit 1
for percent in 1 4 7 12 99 100; do
  printf '\033[A\033[1Gpulling 3e4cb1417446: %3d%% \033[K' $percent >&2
done
touch "$HAVE"
"""


@pytest.mark.parametrize("profiles", COMBINATIONS, ids="+".join)
@pytest.mark.parametrize("variables", [{}, {"TAPEWAY_HTTP__PORT": "9000"}], ids=["plain", "port"])
def test_a_profile_by_flag_is_the_same_as_by_variable(
    profiles: tuple[str, ...], variables: dict[str, str]
) -> None:
    by_variable = render(COMPOSE_PROFILES=",".join(profiles), **variables)
    assert render(*profiles, **variables) == by_variable
    own: set[str] = set().union(*(PROFILES[name] for name in profiles))
    assert by_variable["services"].keys() == {"tapeway"} | own


@pytest.mark.parametrize("profiles", COMBINATIONS[1:], ids="+".join)
def test_a_profile_adds_services_and_changes_none(profiles: tuple[str, ...]) -> None:
    alone, every = render()["services"], render(*PROFILES)["services"]
    for name, service in render(*profiles)["services"].items():
        same = {**service, "depends_on": None}
        assert same == {**every[name], "depends_on": None}
        if name in alone:
            # It only waits for a model that is being fetched.
            assert same == {**alone[name], "depends_on": None}


def test_the_gateway_waits_for_the_model_only_if_there_is_one_to_wait_for() -> None:
    assert render("metrics")["services"]["tapeway"]["depends_on"] == {}
    waits = render("local-model")["services"]["tapeway"]["depends_on"]
    assert waits["ollama-pull"]["condition"] == "service_completed_successfully"


def test_the_project_and_its_volumes_have_names_that_do_not_follow_the_folder() -> None:
    found = render(*PROFILES)
    assert found["name"] == "tapeway"
    mounted = {
        volume.partition(":")[0]
        for service in found["services"].values()
        for volume in service.get("volumes", [])
    }
    assert {name for name in mounted if not name.startswith("./")} == found["volumes"].keys()
    for path in (name for name in mounted if name.startswith("./")):
        assert (ROOT / path).exists(), f"Docker would make a folder of {path}"


def test_every_port_is_on_loopback_and_every_foreign_image_has_a_version() -> None:
    for service in render(*PROFILES)["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        assert "build" in service or re.search(r":v?\d+(\.\d+)+$", service["image"])
        assert "no-new-privileges:true" in service["security_opt"]


def settings_in(tmp_path: Path, *profiles: str, **given: str) -> Any:
    """Return the settings of the gateway's container; what `.env` says is given."""
    own = render(*profiles, **given)["services"]["tapeway"]["environment"]
    secrets = {"TAPEWAY_SECRETS": str(tmp_path)}
    # Compose gives the container what .env says, and `environment` wins over it.
    passed = {name: value for name, value in given.items() if name.startswith("TAPEWAY_")}
    return load_settings({**passed, **own, **secrets}, tmp_path)


def test_the_gateway_looks_where_the_local_model_is_and_for_the_one_that_is_fetched(
    tmp_path: Path,
) -> None:
    for model in ({}, {"TAPEWAY_LOCAL__MODEL": "other:3b"}):
        services = render("local-model", **model)["services"]
        local = settings_in(tmp_path, "local-model", **model).local
        [alias] = services["ollama"]["networks"]["default"]["aliases"]
        assert local.server == f"http://{alias}.:11434/v1"
        assert local.model == services["ollama-pull"]["environment"]["MODEL"]
        length = services["ollama"]["environment"]["OLLAMA_CONTEXT_LENGTH"]
        assert str(local.context_window) == length


@pytest.mark.parametrize("profiles", COMBINATIONS, ids="+".join)
def test_no_profile_takes_the_operator_s_own_model_away(
    profiles: tuple[str, ...], tmp_path: Path
) -> None:
    own = {"TAPEWAY_AGENT__MODEL": "gpt-5-mini", "TAPEWAY_AGENT__API_KEY": "k"}
    settings = settings_in(tmp_path, *profiles, **own)
    assert settings.agent.model == "gpt-5-mini"
    assert not is_wanted(settings)
    assert is_wanted(settings_in(tmp_path, *profiles))


def test_prometheus_asks_on_the_port_for_metrics_which_only_the_project_reaches(
    tmp_path: Path,
) -> None:
    for port in ({}, {"TAPEWAY_HTTP__PORT": "9000", "TAPEWAY_HTTP__METRICS_PORT": "9001"}):
        http, rendered = settings_in(tmp_path, "metrics", **port).http, render("metrics", **port)
        asked = rendered["configs"]["prometheus"]["content"]
        assert http.metrics_host == "0.0.0.0"
        assert f'targets: ["tapeway:{http.metrics_port}"]' in asked
        published = [one.get("ports", []) for one in rendered["services"].values()]
        assert str(http.metrics_port) not in str(published)


def test_grafana_has_no_account_whose_password_is_known() -> None:
    grafana = render("metrics")["services"]["grafana"]["environment"]
    assert grafana["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    assert grafana["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert not any("PASSWORD" in name for name in grafana)


def test_three_workers_have_what_the_gateway_has_but_its_home_and_its_port() -> None:
    services = render("scale")["services"]
    gateway, worker = services["tapeway"], services["worker"]
    assert worker["deploy"]["replicas"] == "3"  # which Compose reads as a number
    assert render("scale", WORKERS="6")["services"]["worker"]["deploy"]["replicas"] == "6"
    assert worker["command"] == ["gateway", "--role", "worker"]
    assert "ports" not in worker
    for key in ("build", "env_file", "read_only", "cap_drop", "security_opt", "stop_grace_period"):
        assert worker[key] == gateway[key], key
    home = gateway["environment"]["TAPEWAY_HOME"]
    assert any(one.startswith(f"{home}:") for one in worker["tmpfs"])
    place = worker["volumes"][0].removeprefix("home:")
    own = {
        "TAPEWAY_WORKSPACE": f"{place}/workspace",
        "TAPEWAY_HTTP__TOKEN_FILE": f"{place}/{gateway['environment']['TAPEWAY_HTTP__TOKEN_FILE']}",
    }
    assert worker["environment"] == gateway["environment"] | own
    assert worker["depends_on"]["postgres"]["condition"] == "service_healthy"
    assert worker["depends_on"]["tapeway"]["condition"] == "service_started"
    assert "postgres" not in render("metrics")["services"]["tapeway"]["depends_on"]


def test_the_first_start_finds_a_database_whose_password_is_in_files_and_stays(
    tmp_path: Path,
) -> None:
    maker = render("scale")["services"]["postgres-secrets"]
    secrets, passwords = tmp_path / "secrets", tmp_path / "postgres"
    for folder in (secrets, passwords, tmp_path / "bin"):
        folder.mkdir()
    fake(tmp_path / "bin" / "chown", 'echo "$@"')
    addresses = set()
    for lost in ((), (passwords / "password",), secrets.iterdir(), ()):
        for path in lost:
            path.unlink()
        done = run_here([*maker["entrypoint"], *maker["command"]], tmp_path)
        assert done.returncode == 0, done.stderr
        settings = load_settings({"TAPEWAY_SECRETS": str(secrets)}, tmp_path)
        addresses.add(settings.tape_url)
        assert settings.sharing.role == "ingress"  # the flag of the workers overrules it
    [address] = addresses
    target = conninfo_to_dict(connection_target(address))
    assert target["password"] == (passwords / "password").read_text()
    assert len(str(target["password"])) == 40
    [alias] = render("scale")["services"]["postgres"]["networks"]["default"]["aliases"]
    assert target["host"] == f"{alias}."
    files = [*secrets.iterdir(), *passwords.iterdir()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert {word for line in done.stdout.splitlines() for word in line.split()[:1]} == {
        "10001",
        "postgres",
    }


def fake(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def run_here(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a container's command with the folders of another place, and with our programs."""
    moved = [word.replace("/run/", f"{folder}/") for word in command]
    environ = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(moved, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("model", "code", "lines"),
    [
        (
            "qwen3",
            0,
            ["Downloading qwen3", "3e4cb1417446: 5 %", "10 %", "95 %", "100 %", "qwen3 is here."],
        ),
        ("missing", 1, ["Downloading missing", "file does not exist", "could not be downloaded"]),
    ],
)
def test_a_download_is_shown_by_a_few_lines_and_ends_with_one_that_says_how(
    tmp_path: Path, model: str, code: int, lines: list[str]
) -> None:
    fake = tmp_path / "ollama"
    fake.write_text(OLLAMA)
    fake.chmod(0o755)
    pull = render("local-model")["services"]["ollama-pull"]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environ = {"PATH": path, "MODEL": model, "HAVE": str(tmp_path / "have")}
    command = [*pull["entrypoint"], *pull["command"]]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert done.returncode == code, done.stderr
    assert len(said) == len(lines)
    assert all(part in line for part, line in zip(lines, said, strict=True)), said
