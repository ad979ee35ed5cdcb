"""The package as `uv tool install` and `pipx` get it: built, installed, used without the tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from email import message_from_string
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tarfile import open as open_tar
from typing import Any, Final
from zipfile import ZipFile

import anyio
import pytest

from gateway.home import find_running
from tests.kit.visitor import visit
from tests.kit.waiting import Patience

ROOT = Path(__file__).resolve().parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
MAX_SITE_PACKAGES_BYTES: Final = 125_000_000
OPTIONS: Final = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile")
"""Install without an index: nothing of the network can mend a package, and nothing is fetched."""


def run(*command: str | Path, cwd: Path = ROOT, **more: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TAPEWAY_")}
    environ = {**kept, **more}
    environ.pop("PYTHONPATH", None)
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(target: str, folder: Path) -> Path:
    """Build with the pinned tools of this environment."""
    run(sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", folder)
    [found] = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return found


def pip(*arguments: str | Path) -> None:
    run(sys.executable, "-m", "pip", "--isolated", *arguments)


def tracked() -> set[str]:
    return set(run("git", "ls-files", *PACKAGES).splitlines())


def files_of(folder: Path) -> set[str]:
    """Return the files of our packages in a folder, other than bytecode."""
    found = (path for name in PACKAGES for path in (folder / name).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)) for path in found if path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def bare(wheel: Path, tmp_path: Path) -> Path:
    """Return an environment that holds our wheel, and borrows its dependencies.

    What it borrows by is a plain line of a path: the lines of the development environment's own
    `.pth` files, which lead to our sources, are not read.
    """
    folder = tmp_path / "bare"
    venv.create(folder, symlinks=True)
    pip("--python", folder / "bin" / "python", "install", *OPTIONS, wheel)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def test_wheel_and_sdist_hold_every_file_of_our_packages_and_no_other(
    wheel: Path, tmp_path: Path
) -> None:
    with ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name for name in names if ".data/" not in name} == tracked()
    with open_tar(build("sdist", tmp_path)) as sdist:
        own = {name.partition("/")[2] for name in sdist.getnames()}
    assert own == tracked() | {
        *(".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"),
        "deploy/tapeway.service",
    }


def test_the_sdist_installs_what_the_wheel_does(tmp_path: Path) -> None:
    pip("install", *OPTIONS, "--target", tmp_path / "own", build("sdist", tmp_path))
    assert files_of(tmp_path / "own") == tracked()


async def test_the_wheel_alone_runs_the_gateway_which_answers_on_its_page(
    bare: Path, tmp_path: Path
) -> None:
    tapeway, elsewhere = bare / "bin" / "tapeway", tmp_path / "elsewhere"
    elsewhere.mkdir()
    home = {"HOME": str(tmp_path), "TAPEWAY_HOME": str(tmp_path / "home")}
    where = "import gateway, channels, agent, tape; print(gateway, channels, agent, tape)"
    places = run(bare / "bin" / "python", "-c", where, cwd=elsewhere)
    assert places.count(str(bare)) == 4
    assert str(ROOT) not in places
    version = PROJECT["project"]["version"]
    assert run(tapeway, "--version", cwd=elsewhere) == f"tapeway {version}\n"
    assert "gateway" in run(tapeway, "--help", cwd=elsewhere, COLUMNS="80")
    settings = {**home, "TAPEWAY_HTTP__PORT": "0", "TAPEWAY_TAPE__DISK_RESERVE": "0"}
    run(tapeway, "init", "--model", "offline", "--yes", cwd=elsewhere, **settings)
    assert (tmp_path / "home" / "tapeway.toml").exists()
    environ = {"PATH": os.environ["PATH"], **settings}
    log = (tmp_path / "log").open("wb")
    process = await anyio.open_process(
        [str(tapeway), "gateway"], cwd=elsewhere, env=environ, stdout=log, stderr=log
    )
    try:
        patience = Patience("the gateway runs")
        while (found := find_running(tmp_path / "home")) is None:
            assert process.returncode is None
            await patience.pause()
        run(tapeway, "doctor", cwd=elsewhere, **settings)
        async with visit(found.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("Are you there?"))
    finally:
        process.terminate()
        with anyio.CancelScope(shield=True):
            code = await process.wait()
        log.close()
    assert "offline model" in answer["text"]
    assert code == 0


def test_the_metadata_is_complete_and_names_no_address(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        [name] = (name for name in names if name.endswith("/METADATA"))
        found = message_from_string(archive.read(name).decode())
    assert found["Description-Content-Type"] == "text/markdown"
    assert found.get_payload() == (ROOT / "README.md").read_text()
    assert (found["License-Expression"], found["License-File"]) == ("Apache-2.0", "LICENSE")
    assert found["Requires-Python"] == ">=3.11"
    assert found["Summary"]
    # There is no public address yet; an invented one would lead people to a stranger's page.
    assert found.get_all("Project-URL") is None
    assert len([name for name in names if name.endswith("/share/tapeway/tapeway.service")]) == 1


def test_what_it_needs_at_run_time_is_small() -> None:
    sizes: dict[str, int] = {}
    for name in re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue  # of another platform, or of another version of Python
        sizes[name] = sum(file.size or 0 for file in files)
    assert len(sizes) > 50
    largest = sorted(sizes, key=lambda name: sizes[name], reverse=True)[:5]
    assert sum(sizes.values()) <= MAX_SITE_PACKAGES_BYTES, [(one, sizes[one]) for one in largest]
