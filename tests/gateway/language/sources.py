"""The sentences in the code: what `say` is given, what is raised, and every text there is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import gateway

ROOT: Final = Path(gateway.__file__).parent.parent
PACKAGES: Final = ("gateway", "channels", "agent", "tape")
VALUE: Final = re.compile(r"\{[^{}]*\}")
ANY: Final = "{}"
"""Stands for a value in a sentence whose values have no names."""

REFUSING: Final = ("AdminError", "HTTPException", "refusal", "InboundRefused", "SettingsStale")
"""What is called with the sentence of a refusal as its last argument."""


def unnamed(sentence: str) -> str:
    """Return a sentence without the names of its values."""
    return VALUE.sub(ANY, sentence)


@cache
def modules() -> dict[str, ast.Module]:
    """Return the modules of the packages by their paths, without what is Chinese."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("gateway/language/chinese"):
                found[name] = ast.parse(path.read_text("utf-8"))
    return found


def text_of(node: ast.AST | None, constants: dict[str, str]) -> str | None:
    """Return the text that an expression is, with ANY for its values; None if it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.Constant) else ANY for one in node.values)
        return "".join(map(str, parts))
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "format":
        found = text_of(getattr(node.func, "value", None), constants)
        return None if found is None else unnamed(found)
    return None


def constants_of(module: ast.Module) -> dict[str, str]:
    """Return the texts that a module has names for."""
    found: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = text_of(node.value, {})
            found |= {} if text is None else {node.target.id: text}
    return found


def calls(names: Iterable[str], under: tuple[str, ...] = PACKAGES) -> Iterator[tuple[str, str]]:
    """Yield the module and the text of each call of something that is given a text."""
    for path, module in modules().items():
        if path.startswith(under):
            constants = _known(path)
            for node in ast.walk(module):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
                    texts = [text_of(one, constants) for one in node.args]
                    yield from ((path, text) for text in texts[-1:] if text)


def speakers() -> tuple[str, ...]:
    """Return the modules that write sentences with `say`."""
    return tuple(path for path, module in modules().items() if _speaks(module))


def _speaks(module: ast.Module) -> bool:
    sources = (node.module for node in module.body if isinstance(node, ast.ImportFrom))
    return "gateway.language.language" in sources


def _known(path: str) -> dict[str, str]:
    """Return the texts that a module has names for, or imports from the packages."""
    module = modules()[path]
    found: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            source = modules().get(f"{node.module.replace('.', '/')}.py")
            if source is not None:
                own = constants_of(source)
                found |= {one.name: own[one.name] for one in node.names if one.name in own}
    return {**found, **constants_of(module)}


def imported(ending: str, under: str) -> Iterator[tuple[str, str, str]]:
    """Yield each name that is imported from modules of an ending: by whom, from where, which."""
    for path, module in modules().items():
        if path.startswith(under):
            for node in module.body:
                if isinstance(node, ast.ImportFrom) and (node.module or "").endswith(ending):
                    yield from ((path, str(node.module), one.name) for one in node.names)


@cache
def texts() -> frozenset[str]:
    """Return every text in the code, with ANY for its values."""
    nodes = (node for module in modules().values() for node in ast.walk(module))
    found = (text_of(node, {}) for node in nodes)
    return frozenset(unnamed(text) for text in found if text)


@cache
def constants() -> frozenset[str]:
    """Return every text in the code that has no value in it."""
    nodes = (node for module in modules().values() for node in ast.walk(module))
    return frozenset(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
