"""What tests share stands where it can be found: no test imports from another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.kit.sources import tree_of

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ("tests.kit", "tests.fakes", "tests.postgres", "bench.chaos_template")
SOURCES = sorted(path for folder in ("tests", "bench") for path in (ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Return the modules that a file imports, with what it takes from them."""
    for node in ast.walk(tree_of(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_test_imports_from_another_test() -> None:
    found = {
        str(path.relative_to(ROOT)): name
        for path in SOURCES
        for name in imported(path)
        if name.startswith("tests.") and any(p.startswith("test_") for p in name.split("."))
    }
    assert found == {}, "move what is shared to tests/kit, or to a module of the folder"


def test_the_kit_is_no_test_and_needs_none() -> None:
    """The kit is below the tests: it imports the fakes and itself, nothing else of theirs."""
    kit = ROOT / "tests" / "kit"
    found = {
        f"{path.name}: {name}"
        for path in kit.rglob("*.py")
        for name in imported(path)
        if name.startswith(("tests.", "bench.")) and not name.startswith(ALLOWED)
    }
    assert found == set()
