"""The image, Compose's file, the service and their page say the same, and what the settings say."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from ruamel.yaml import YAML

from gateway.app import FINISH_SECONDS
from gateway.cli.help import OWN
from gateway.http.server import END_SECONDS
from gateway.settings import fields
from tests.compose import render
from tests.kit.needs import SYSTEMD

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = {name: field for name, _section, field in fields()}
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
PAGE = (ROOT / "docs" / "how-to" / "deploy.md").read_text()
HOME = "/var/lib/tapeway"
CLUSTER = Path("deploy") / "kubernetes.yaml"


def compose() -> dict[str, Any]:
    return render("local-model", "metrics", "scale")


def service(name: str) -> dict[str, Any]:
    found: dict[str, Any] = compose()["services"][name]
    return found


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
    for name in ("Dockerfile", "docker-compose.yml", "deploy/tapeway.service", str(CLUSTER)):
        for setting in re.findall(r"TAPEWAY_[A-Z_]+[A-Z]", (ROOT / name).read_text()):
            assert setting in SETTINGS, f"{name} names {setting}"


def test_the_image_s_own_settings_are_compose_s_too_so_that_no_env_file_undoes_them() -> None:
    own = {name: value for name, value in image_environment().items() if name in SETTINGS}
    assert own == {
        "TAPEWAY_HOME": HOME,
        "TAPEWAY_HTTP__HOST": "0.0.0.0",
        "TAPEWAY_HTTP__TOKEN_FILE": "http-token",
    }
    assert own.items() <= service("tapeway")["environment"].items()


def test_the_home_is_the_volume_and_belongs_to_the_user() -> None:
    assert f"VOLUME {HOME}\n" in DOCKERFILE
    [user] = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
    assert int(user) >= 1000
    assert f"install --directory --owner={user} --group={user} --mode=0700 {HOME}" in DOCKERFILE
    assert service("tapeway")["volumes"][0] == f"home:{HOME}"
    assert "home" in compose()["volumes"]


def test_the_port_is_the_settings_and_is_published_on_loopback_alone() -> None:
    default = SETTINGS["TAPEWAY_HTTP__PORT"].default
    assert f"EXPOSE {default}\n" in DOCKERFILE
    [published] = service("tapeway")["ports"]
    assert published == f"127.0.0.1:{default}:{default}"
    [published] = render(TAPEWAY_HTTP__PORT="9000")["services"]["tapeway"]["ports"]
    assert published == "127.0.0.1:9000:9000"
    assert service("tapeway")["env_file"] == [{"path": ".env", "required": False}]


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


def test_the_image_keeps_everything_that_the_gateway_needs() -> None:
    needed: set[str] = set()
    new = {"tapeway"}
    while new:
        needed |= new
        new = {need for name in new for need in needs(name)} - needed
    [removed] = re.findall(r"pip uninstall --quiet --yes (.*)$", DOCKERFILE, re.MULTILINE)
    assert "tomlkit" in needed
    assert not needed & set(removed.split())


def needs(package: str) -> set[str]:
    """Return the names of what a package always needs here."""
    try:
        lines = requires(package) or []
    except PackageNotFoundError:
        return set()
    found = map(Requirement, lines)
    return {one.name for one in found if not one.marker or one.marker.evaluate({"extra": ""})}


def pods() -> dict[str, dict[str, Any]]:
    """Return the pods of the example for Kubernetes, by the names of their deployments."""
    found = YAML(typ="safe").load_all(ROOT / CLUSTER)
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in found
        if one["kind"] == "Deployment"
    }


@pytest.mark.parametrize("role", ["ingress", "worker"])
def test_a_pod_runs_a_role_with_no_more_rights_and_files_than_the_image_needs(role: str) -> None:
    pod = pods()[role]
    [container] = pod["containers"]
    assert container["args"] == ["gateway", "--role", role]
    assert f"USER {pod['securityContext']['runAsUser']}:" in DOCKERFILE
    rights = container["securityContext"]
    assert rights["readOnlyRootFilesystem"] is True
    assert rights["capabilities"] == {"drop": ["ALL"]}
    volumes = {one["name"]: one for one in pod["volumes"]}
    mounted = {one["mountPath"]: one["name"] for one in container["volumeMounts"]}
    assert "emptyDir" in volumes[mounted[HOME]]
    assert "secret" in volumes[mounted["/run/secrets"]]
    assert mounted.keys() >= {"/tmp", "/srv/workspace"}
    assert pod["automountServiceAccountToken"] is False  # it would be among the secrets


@pytest.mark.parametrize("role", ["ingress", "worker"])
def test_a_pod_has_time_to_finish_and_is_asked_how_it_is_at_its_own_port(role: str) -> None:
    pod = pods()[role]
    [container] = pod["containers"]
    before = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", [0])
    assert pod["terminationGracePeriodSeconds"] > FINISH_SECONDS + END_SECONDS + float(before[-1])
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert ports == {"http": SETTINGS["TAPEWAY_HTTP__PORT"].default}
    paths = {"startupProbe": "live", "livenessProbe": "live", "readinessProbe": "serving"}
    for probe, name in paths.items():
        assert container[probe]["httpGet"] == {"path": f"/health/{name}", "port": "http"}


def test_the_service_keeps_its_home_and_asks_for_a_token() -> None:
    own = unit()
    assert own["StateDirectory"] == own["User"] == Path(HOME).name
    text = (ROOT / "deploy" / "tapeway.service").read_text()
    assert f"Environment=TAPEWAY_HOME={HOME}\n" in text
    assert "Environment=TAPEWAY_HTTP__TOKEN_FILE=http-token\n" in text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason=SYSTEMD)
def test_systemd_finds_no_mistake_in_the_service_and_little_that_it_exposes(tmp_path: Path) -> None:
    copy = tmp_path / "tapeway.service"
    text = (ROOT / "deploy" / "tapeway.service").read_text()
    copy.write_text(text.replace("/opt/tapeway/bin/tapeway", "/bin/true"))
    for words in (["verify"], ["security", "--offline=true", "--threshold=15"]):
        command = ["systemd-analyze", *words, str(copy)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


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
        words = given.replace("--tail", "").replace("--follow", "").split()
        assert set(words) <= names, given
    assert "docker volume rm tapeway_home" in PAGE
    assert int(re.findall(r"(?:user|chown -R) (\d+)", PAGE)[0]) == 10001
