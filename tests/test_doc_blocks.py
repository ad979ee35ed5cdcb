"""Every code block of the documentation, run as far as a test can.

Python is executed. In shell blocks, assignments are loaded as settings, `make` makes a dry run,
`tapeway` parses its arguments with the real command line, our modules must know their options, and
Compose's services must exist. What needs Docker, root or a network is only parsed.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML

from agent.tools import BUILTIN_TOOLS
from gateway.cli.main import app
from gateway.intake.commands.command_line import parse_command
from gateway.scheduling.commands import OWN
from gateway.settings import load_settings
from tests.compose import render

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```([\w-]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(language, block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (language, block) in enumerate(BLOCK.findall(page.read_text()), start=1)
]
ASSIGNMENT = re.compile(r"(?:export )?([A-Z][A-Z_]*)=(\S*)")
FOREIGN = {
    *(
        "cd",
        "curl",
        "git",
        "install",
        "kubectl",
        "mkdir",
        "npm",
        "pg_restore",
        "python3",
        "sha256sum",
        "sudo",
        "systemctl",
        "useradd",
        "uv",
    )
}
"""Programs that a shell block may call and a test must not."""

COMPOSE = {"build", "config", "down", "exec", "logs", "ps", "restart", "run", "start", "stop", "up"}


def python(block: str, _folder: Path) -> None:
    exec(compile(block, "a block of the documentation", "exec"), {})


def shell(block: str, folder: Path) -> None:
    checked = subprocess.run(["sh", "-n", "-c", block], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    environ = {}
    for words in commands(block):
        assigned = ASSIGNMENT.fullmatch(" ".join(words)) if len(words) <= 2 else None
        if assigned:
            environ[assigned[1]] = assigned[2]
        else:
            run(words)
    load_settings(environ, folder)


def commands(block: str) -> Iterator[list[str]]:
    """Yield the simple commands of a block, without comments, redirections and placeholders."""
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        found: list[str] = []
        for word in words:
            if word in ("&&", "|", ";"):
                yield found
                found = []
            else:
                found.append(word)
        if found:
            yield found[: next((at for at, word in enumerate(found) if word in "<>"), None)]


def run(words: list[str]) -> None:
    """Check one command as far as it can be without Docker, root or a network."""
    program, *arguments = words
    if program in ("tapeway", ".venv/bin/tapeway", "tw"):
        parse_arguments(arguments)
    elif program == "make":
        made = subprocess.run(
            ["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr
    elif program.endswith("/python") and arguments[0] == "-m":
        spec = find_spec(arguments[1])
        assert spec is not None
        if spec.submodule_search_locations:
            spec = find_spec(f"{arguments[1]}.__main__")
            assert spec is not None
        if arguments[1].startswith(("bench.", "tests.")):
            known = Path(str(spec.origin)).read_text()
            options = [word for word in arguments if word.startswith("--")]
            assert [option for option in options if option not in known] == []
    elif words[:2] == ["docker", "compose"]:
        compose(words[2:])
    elif program == "alias":
        assert "tapeway" in arguments[0]
    else:
        assert program in FOREIGN or words[:2] == ["docker", "volume"], words


def parse_arguments(arguments: list[str]) -> None:
    """Parse the arguments of `tapeway` as the command line does, without running anything."""
    command: Any = typer.main.get_command(app)
    name = "tapeway"
    while hasattr(command, "commands"):
        context = command.make_context(name, list(arguments[:1]))
        found, inner, arguments = command.resolve_command(context, arguments)
        assert inner is not None, found
        name, command = str(found), inner
    command.make_context(name, list(arguments))


def compose(words: list[str]) -> None:
    assert words[0] in COMPOSE
    services = YAML(typ="safe").load(ROOT / "docker-compose.yml")["services"]
    plain = [word for word in words[1:] if not word.startswith("-")]
    if words[0] == "exec":
        assert plain[0] in services
        if plain[1:2] == ["tapeway"]:
            parse_arguments(plain[2:])
    elif words[0] in ("logs", "restart", "start", "stop"):
        assert [name for name in plain if name not in services and not name.isdigit()] == []


def chat(block: str, _folder: Path) -> None:
    tools = {tool.name: tool for tool in BUILTIN_TOOLS}
    for line in block.splitlines():
        command = parse_command(line)
        if command.name not in OWN:
            tools[command.name].check(dict(command.pairs))


def a_json_document(block: str, _folder: Path) -> None:
    json.loads(block)


def toml(block: str, folder: Path) -> None:
    if "project" not in tomllib.loads(block):
        (folder / "tapeway.toml").write_text(block)
        load_settings({"TAPEWAY_SECRETS": str(folder)}, folder)
        return
    # tests/scenarios/test_plugin_packages.py installs it and runs what it declares.
    assert "tapeway" in tomllib.loads(block)["project"]["entry-points"]


def a_proxy(block: str, _folder: Path) -> None:
    assert f"127.0.0.1:{load_settings({}).http.port}" in block


def a_drawing(block: str, _folder: Path) -> None:
    assert max(len(line) for line in block.splitlines()) <= 400


def a_compose_override(block: str, _folder: Path) -> None:
    own = YAML(typ="safe").load(block)["services"]
    assert own.keys() <= render("local-model", "metrics")["services"].keys()


HANDLERS: dict[str, Callable[[str, Path], None]] = {
    "caddy": a_proxy,
    "chat": chat,
    "json": a_json_document,
    "nginx": a_proxy,
    "python": python,
    "sh": shell,
    "text": a_drawing,
    "toml": toml,
    "yaml": a_compose_override,
}


@pytest.mark.parametrize(("language", "block"), BLOCKS)
def test_a_block_runs(language: str, block: str, tmp_path: Path) -> None:
    assert language in HANDLERS, f"name the block's language: {sorted(HANDLERS)}"
    HANDLERS[language](block, tmp_path)


def test_the_volumes_that_a_page_removes_exist_and_are_free_by_then() -> None:
    project = render("local-model", "metrics", "scale")
    volumes = {f"{project['name']}_{volume}" for volume in project["volumes"]}
    removed = set()
    for page in PAGES:
        for _language, block in BLOCK.findall(page.read_text()):
            before, _, name = block.partition("docker volume rm ")
            if name:
                assert "docker compose down\n" in before, block
                removed.add(name.split()[0])
    assert {"tapeway_home", "tapeway_secrets"} <= removed <= volumes


@pytest.mark.parametrize("page", ["libraries.md", "plugins.md"])
def test_a_first_example_has_fewer_than_15_lines_and_its_imports(page: str) -> None:
    blocks = BLOCK.findall((ROOT / "docs" / "how-to" / page).read_text())
    first = [block for language, block in blocks if language == "python"]
    for block in first if page == "libraries.md" else first[:1]:
        lines = [line for line in block.splitlines() if line.strip()]
        assert len([line for line in lines if not line.startswith(("import ", "from "))]) < 15


def test_the_readme_s_first_line_works_in_a_fresh_clone(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    line = re.findall(r"^(git clone .* && make run)\s+#", readme, re.MULTILINE)[0]
    script = f"{line.replace('REPOSITORY', shlex.quote(str(ROOT)))} --dry-run"
    done = subprocess.run(
        ["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "tapeway gateway" in done.stdout


def test_the_tests_of_the_page_on_tests_pass(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/write-a-test.md").read_text()
    blocks = [block for language, block in BLOCK.findall(page) if language == "python"]
    for number, block in enumerate(blocks):
        (tmp_path / f"test_block_{number}.py").write_text(block)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.kit.fixtures"]\n')
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml"]
    done = subprocess.run(
        [*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert len(blocks) == 3
