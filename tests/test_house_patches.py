"""Nothing of the product is replaced behind its back: a test gives it, as the product does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.kit.sources import tree_of

ROOT: Final = Path(__file__).resolve().parent.parent
OURS: Final = ("agent", "bench", "channels", "gateway", "tape")
PATCHED: Final = {
    "bench/hops.py: ReaderPair.in_thread": "what is counted must not depend on the threads",
    "bench/hops.py: WriterThread.submit": "what is counted must not depend on the threads",
    "tests/channels/discord/test_gaps.py: DiscordApi.ws_connect": (
        "the fake refuses no socket for a while that it accepts afterwards"
    ),
    "tests/gateway/cli/reach/test_known_home.py: gateway.cli.reach.known_home.CLONE": (
        "a command finds the clone by its own file: nobody can give another one"
    ),
    "tests/gateway/context/test_lane_assignment.py: Linker.beside": "no message makes it fail",
    "tests/gateway/context/test_lane_assignment.py: Linker.judge_reply": "no message makes it fail",
    "tests/gateway/context/test_lane_assignment.py: Linker.link": "no message makes it fail",
    "tests/gateway/http/test_peers.py: gateway.http.peers.SOCK_DIAG": (
        "a number of the kernel's: with another one, it refuses, as kernels without it do"
    ),
    "tests/gateway/settings/test_files.py: gateway.settings.files.CLONE": (
        "a command finds the clone by its own file: nobody can give another one"
    ),
    "tests/kit/shortcuts.py: vars(module)[...]": (
        "SQLite's tables are copied, not made two thousand times; the others are no product of ours"
    ),
}
"""What is replaced all the same, and why it cannot be given."""

MOCKS: Final = ("mock", "unittest")


def sources() -> list[Path]:
    """Return the files of the tests and the benchmarks."""
    return sorted(path for folder in ("tests", "bench") for path in (ROOT / folder).rglob("*.py"))


def imported(tree: ast.Module) -> dict[str, str]:
    """Map the names that a file imports to what they stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                found[one.asname or one.name.partition(".")[0]] = one.name
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                found[one.asname or one.name] = f"{node.module}.{one.name}"
    return found


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in OURS


def patches(text: str) -> Iterator[str]:
    """Yield what a file replaces in the product, by its name there."""
    tree = tree_of(text)
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _sets(node.func) and node.args:
            target, rest = (
                node.args[0],
                [ast.literal_eval(a) for a in node.args[1:2] if _is_text(a)],
            )
            if _is_text(target):
                if is_ours(text := ast.literal_eval(target)):
                    yield text
            elif is_ours(names.get(_root(target), "")):
                yield ".".join([ast.unparse(target), *rest])
        elif isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Attribute) and is_ours(names.get(_root(target), "")):
                    yield ast.unparse(target)
                if isinstance(target, ast.Subscript) and _is_of_module(target.value, names):
                    yield f"{ast.unparse(target.value)}[...]"


def _sets(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("setattr", "delattr", "setitem", "delitem", "patch")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_of_module(node: ast.expr, names: dict[str, str]) -> bool:
    """Return whether a node is the `vars` of a module: of one of ours, or of one in a loop."""
    if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "vars" and node.args):
        return False
    name = ast.unparse(node.args[0])
    return name == "module" or is_ours(names.get(name.partition(".")[0], ""))


def test_nothing_of_the_product_is_replaced_by_its_name() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {what}"
        for path in sources()
        for what in patches(path.read_text())
    }
    assert found - set(PATCHED) == set(), "give it: by Internals, a parameter, or a fake's fault"
    assert set(PATCHED) - found == set(), "these are replaced no more: take them off the list"


def test_no_test_mocks() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in imported(tree_of(path.read_text())).values()
        if name.partition(".")[0] in MOCKS
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        'patch.setattr("gateway.console.live.EVERY", 1)',
        "monkeypatch.setattr(live, 'EVERY', 1)",
        "live.EVERY = 1",
        "vars(live)['EVERY'] = 1",
        "setattr(live.Streams, 'every', 1)",
    ],
)
def test_each_way_of_replacing_is_seen(line: str) -> None:
    assert list(patches(f"from gateway.console import live\n{line}\n"))


def test_what_is_not_ours_may_be_replaced() -> None:
    assert (
        list(patches("import os\nmonkeypatch.setattr(os, 'link', None)\nos.environ = {}\n")) == []
    )


def test_the_product_imports_no_framework_for_tests() -> None:
    """What a plugin's author needs works with any: STYLE 26."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for package in OURS
        if package != "bench"
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in imported(tree_of(path.read_text())).values()
        if name.partition(".")[0] in ("_pytest", "hypothesis", "pytest", "tests", "unittest")
    ]
    assert found == []
