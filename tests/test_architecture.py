"""docs/explanation/architecture.md names only what exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.kit.sources import tree_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
FUNCTIONS = re.findall(r"`([\w/]+\.py):([\w.]+)`", PAGE)
Function = ast.FunctionDef | ast.AsyncFunctionDef
PATHS = re.findall(r"`((?:gateway|channels|agent|tape|tests|docs)/[\w/.-]*)`", PAGE)


def names_of(path: Path) -> set[str]:
    """Return the functions of a file, methods with their class."""
    found: set[str] = set()
    for node in tree_of(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            methods = [inner for inner in node.body if isinstance(inner, Function)]
            found |= {f"{node.name}.{method.name}" for method in methods}
        elif isinstance(node, Function):
            found.add(node.name)
    return found


@pytest.mark.parametrize(("file", "function"), FUNCTIONS)
def test_a_function_on_a_message_s_way_exists(file: str, function: str) -> None:
    assert function in names_of(ROOT / file)


@pytest.mark.parametrize("path", sorted(set(PATHS)))
def test_a_file_or_folder_that_the_page_sends_to_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_both_lists_are_read_and_every_folder_of_the_gateway_is_named() -> None:
    assert len(FUNCTIONS) >= 24
    folders = [
        path.name for path in (ROOT / "gateway").iterdir() if (path / "__init__.py").exists()
    ]
    assert [name for name in folders if f"`{name}`" not in PAGE] == []
