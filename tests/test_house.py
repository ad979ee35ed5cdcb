"""The house's own rules, and documentation that is held to the code."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
from pathlib import Path

import pytest

from gateway.cli.plugin_commands import OWN
from gateway.hooks.specs import TapewaySpec
from gateway.scheduling.commands import OWN as COMMANDS
from gateway.settings import fields

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gateway", "channels", "tape", "agent")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_no_file_is_longer_than_600_lines() -> None:
    code = [*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
    assets = (ROOT / "channels").rglob("assets/*.*")
    long = {
        str(path): len(path.read_text().splitlines())
        for path in (*code, *assets)
        if len(path.read_text().splitlines()) > 600
    }
    assert long == {}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_our_own_modules_are_imported_at_the_top_of_a_file_only(path: Path) -> None:
    tree = ast.parse(path.read_text())
    inside = [
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert inside == []


def test_nothing_committed_holds_a_path_of_a_machine_or_a_registry_s_address() -> None:
    # Put together here, so that this file is held to it like every other.
    folders = [f"/{name}/" for name in ("work", "root")]
    hosts = (("files", "pythonhosted"), ("pypi", "org"), ("registry", "npmjs"))
    unfit = [*folders, *(".".join(host) for host in hosts)]
    found = {
        str(path.relative_to(ROOT)): text
        for path in tracked()
        for text in unfit
        if path.is_file() and text.encode() in path.read_bytes()
    }
    assert found == {}


def test_requirements_are_pinned_with_hashes_and_without_addresses() -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-train.txt"):
        text = (ROOT / name).read_text()
        packages = re.findall(r"^[a-z0-9][\w.-]*(\S*)", text, re.MULTILINE)
        assert packages
        assert all(version.startswith("==") for version in packages)
        assert "--hash=sha256:" in text
        assert "://" not in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_python_can_be_run(page: Path) -> None:
    for language, block in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(compile(block, page.name, "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_command_and_target_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    settings = {name for name, _section, _field in fields()}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"TAPEWAY_[A-Z_]+[A-Z]", text):
        assert name in settings, f"{page.name} names {name}"
    for name in re.findall(r"(?:bin/|`)tapeway ([a-z]+)", text):
        assert name in OWN, f"{page.name} names tapeway {name}"
    for block in [match[1] for match in BLOCK.findall(text)] + re.findall(
        r"`(make [a-z-]+)`", text
    ):
        for target in re.findall(r"^make ([a-z-]+)", block, re.MULTILINE):
            assert target in targets, f"{page.name} names make {target}"


def test_the_page_of_the_hooks_has_every_hook() -> None:
    text = (ROOT / "docs" / "hooks.md").read_text()
    hooks = [name for name, _ in inspect.getmembers(TapewaySpec, inspect.isfunction)]
    assert [name for name in hooks if f"`{name}" not in text] == []


def test_the_readme_is_short_and_names_the_commands_of_the_chats() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 110
    told = [name for name in COMMANDS if name != "start"]  # the platforms' own way to say hello
    assert [name for name in told if f",{name}" not in text] == []
