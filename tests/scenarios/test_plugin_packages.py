"""The packages of docs/how-to/plugins.md, written to disk as they are, installed and run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.app import running_gateway
from tape.stores.memory import MemoryStore
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import make_environ, make_settings, settled
from tests.kit.visitor import visit

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "plugins.md").read_text()
FILE = re.compile(r"`(tapeway-\w+/[\w.]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMES = ["audit", "dice", "folder", "polite", "project"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the packages of the page, installed without a network."""
    folder = tmp_path_factory.mktemp("packages")
    for name, text in FILE.findall(PAGE):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    packages = sorted(str(path) for path in folder.iterdir())
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target"]
    command = [sys.executable, "-m", "pip", "install", *options, str(target), *packages]
    subprocess.run(command, check=True, capture_output=True)
    return target


@pytest.fixture
def installed(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("QUESTIONS_FOLDER", str(tmp_path / "questions"))
    monkeypatch.setenv("AUDIT_FOLDER", str(tmp_path / "audit"))
    yield tmp_path
    for name in NAMES:
        sys.modules.pop(f"tapeway_{name}", None)


def imported(name: str) -> Any:
    return __import__(f"tapeway_{name}")


def block(function: str) -> Any:
    """Return a function of a code block of the page."""
    [source] = [
        text
        for text in re.findall(r"```python\n(.*?)^```", PAGE, re.M | re.S)
        if f"def {function}(" in text
    ]
    scope: dict[str, Any] = {}
    exec(source, scope)
    return scope[function]


async def test_every_package_of_the_page_takes_part_in_an_answer(
    model: FakeOpenAI, installed: Path
) -> None:
    rolled = Call("c", "dice_roll", '{"count":2,"sides":1}')
    model.enqueue(ToolCalls((rolled,)), Text(("1, 1",)))
    async with running_gateway(make_settings(installed / "home", model)) as gateway:
        (installed / "questions" / "luck.question").write_text("Roll two dice.")
        await model.wait_for_requests(2)
        await settled(gateway, "folder:luck")
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("hello"))
        assert gateway.failures == []
        assert gateway.services.hooks.findings == []
    first, second, room = (request.body["messages"] for request in model.requests)
    assert "Always thank people" in first[0]["content"]
    assert second[-1]["content"] == "1, 1"
    assert "Stay with the project." in str(room)
    answer = installed / "questions" / "luck.answer"
    assert answer.read_text() == "1, 1"
    assert "[3]\n" in (installed / "audit" / "audit.log").read_text()
    assert list((installed / "audit" / "tapes").glob("*.jsonl"))


def run_command(site: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folders = {"QUESTIONS_FOLDER": str(home / "q"), "AUDIT_FOLDER": str(home / "a")}
    environ = {**make_environ(home), **folders, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "gateway.cli.main", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def test_the_check_finds_no_problem_in_the_packages(site: Path, tmp_path: Path) -> None:
    done = run_command(site, tmp_path, "hooks", "--check")
    assert "no problems" in done.stdout
    assert all(name in done.stdout for name in NAMES)
    assert done.returncode == 0


def test_a_package_s_command_is_in_the_help_and_runs(site: Path, tmp_path: Path) -> None:
    assert re.search(r"roll +Roll dice\.", run_command(site, tmp_path, "--help").stdout)
    done = run_command(site, tmp_path, "roll", "--sides", "1")
    assert (done.stdout, done.returncode) == ("1\n", 0)
    assert "--sides" in run_command(site, tmp_path, "roll", "--help").stdout


async def test_the_store_of_the_page_passes_the_page_s_own_check(installed: Path) -> None:
    store = imported("audit").AuditedStore
    await block("check_store")(lambda: store(MemoryStore(), installed / "audit.log"))


async def test_the_channel_of_the_page_passes_the_page_s_own_check(installed: Path) -> None:
    def ask(text: str) -> None:
        (installed / "q" / "one.question").write_text(text)

    await block("check_channel")(imported("folder").FolderChannel(installed / "q"), ask)
