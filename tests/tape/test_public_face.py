"""What `import tape` gives to those who use the library without the gateway."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tape
import tape.testing

DOCS = Path(__file__).parents[2] / "docs" / "explanation" / "tape.md"


def first_example() -> str:
    _, _, behind = DOCS.read_text("utf-8").partition("```python\n")
    return behind.partition("```")[0]


def test_the_names_are_sorted_as_ruff_sorts_them_and_importable() -> None:
    for package in (tape, tape.testing):
        names = list(package.__all__)
        assert names == sorted(
            names, key=lambda name: (not name.isupper(), not name[0].isupper(), name)
        )
        assert len(names) == len(set(names))
        assert all(hasattr(package, name) for name in names)


def test_no_function_has_the_name_of_another() -> None:
    functions = [getattr(tape, name) for name in tape.__all__ if name.islower()]
    assert all(inspect.isfunction(function) for function in functions)
    assert len({function.__name__ for function in functions}) == len(functions)


def test_the_example_of_the_documentation_has_under_fifteen_lines_and_runs(tmp_path: Path) -> None:
    example = first_example()
    assert len(example.strip().splitlines()) < 15
    ast.parse(example)
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "2 entries with 'tea'",
        "{'role': 'user', 'content': 'Green tea, please.'}",
    ]


def test_an_import_loads_no_sdk() -> None:
    heavy = (
        "openai",
        "telegram",
        "discord",
        "slack_sdk",
        "starlette",
        "pydantic",
        "aiohttp",
        "PIL",
    )
    code = f"import sys, tape; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("url", ["memory:", "sqlite://{0}/tapes.db", "file://{0}/tapes"])
async def test_a_service_opens_any_store_and_closes_it(url: str, tmp_path: Path) -> None:
    async with tape.TapeService.open(url.format(tmp_path), tmp_path) as service:
        chat = service.session_tape("web:room")
        await chat.append(tape.message("user", "hello"))
        assert [entry.text for entry in await chat.recent(1)] == ["hello"]
    with pytest.raises(tape.StoreUnavailable, match="closed"):
        await chat.recent(1)


async def test_an_unknown_scheme_names_the_known_ones() -> None:
    with pytest.raises(tape.StoreUnusable, match="known: file, memory, postgresql, sqlite"):
        async with tape.TapeService.open("redis://localhost"):
            raise AssertionError("a store was opened")
