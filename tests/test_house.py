"""The rules of the house: what keeps the tree small, standard and readable."""

from __future__ import annotations

import ast
import functools
import io
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from tests.kit.sources import tree_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gateway", "channels", "tape", "agent")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MAX_FILE_LINES = 400
MAX_MEDIAN_LINES = 110
MAX_FUNCTION_LINES = 60
MAX_P95_FUNCTION_LINES = 25
MAX_FOLDER_FILES = 12
MAX_PARAMETERS = 7
MAX_CALLABLES = 2
TWICE = {"Raw", "Row"}
"""Names of classes that may stand in several modules: each platform's JSON, each table's row."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
INDENTED_IMPORT = re.compile(r"^ +.*\b(import|from) ", re.MULTILINE)
BANNED = {
    pattern: re.compile(pattern)
    for pattern in (
        r"\b[Tt]ell (whether|of|how|what)\b",
        r"^[Ss]o (many|much|long|often|few|far)\b",
        r"^Let ",
        r"\b[Tt]old\b",
        r"\b[Tt]ells?\b",
        r"\banew\b",
        r"\bnobody knows\b",
        r"\breads (as|otherwise)\b",
        r"\bgone on from\b",
    )
}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@dataclass(frozen=True, slots=True)
class Code:
    """What the rules ask of a file, read in one go."""

    functions: list[tuple[str, int, int]]
    """The name, the first line and the length of each."""
    constructors: dict[int, list[str]]
    """By line, the types of the parameters."""
    classes: list[str]
    aliases: set[str]
    """The names of types that stand for a callable."""
    strings: list[tuple[int, str]]
    """The strings that stand by themselves, docstrings among them."""
    imports_inside: list[int]
    """The lines of imports within functions."""


@functools.cache
def code_of(path: Path) -> Code:
    text = path.read_text()
    tree = tree_of(text)
    code = Code([], {}, [], set(), [], [])
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            code.classes.append(statement.name)
        elif isinstance(statement, ast.Assign) and stands_for_a_callable(statement, text):
            names = (target.id for target in statement.targets if isinstance(target, ast.Name))
            code.aliases.update(names)
    for node in ast.walk(tree):
        if isinstance(node, Function):
            assert node.end_lineno is not None
            length = node.end_lineno - node.lineno + 1
            code.functions.append((node.name, node.lineno, length))
            if node.name == "__init__":
                code.constructors[node.lineno] = types_of(node)
            inner = ast.walk(node) if INDENTED_IMPORT.search(text) else ()
            imports = (one for one in inner if isinstance(one, (ast.Import, ast.ImportFrom)))
            code.imports_inside.extend(one.lineno for one in imports)
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            code.strings.append((node.lineno, node.value.value))
    return code


def stands_for_a_callable(node: ast.Assign, text: str) -> bool:
    return "Callable[" in text and "Callable[" in ast.unparse(node.value)


def types_of(constructor: Function) -> list[str]:
    given = [*constructor.args.args[1:], *constructor.args.kwonlyargs]
    return [ast.unparse(one.annotation) if one.annotation else "" for one in given]


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_files_are_short() -> None:
    lines = {name_of(path): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES} == {}
    filled = [count for count in lines.values() if count]
    assert statistics.median(filled) <= MAX_MEDIAN_LINES


def test_no_test_bench_or_asset_is_longer_than_600_lines() -> None:
    code = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("*.py")]
    assets = (ROOT / "channels").rglob("assets/*.*")
    lines = {name_of(path): len(path.read_text().splitlines()) for path in (*code, *assets)}
    assert {name: count for name, count in lines.items() if count > 600} == {}


def test_a_test_needs_no_bench_but_the_tests_of_bench() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    needs = re.compile(r"^\s*(from|import) bench\b", re.MULTILINE)
    found = {name_of(path) for path in files if needs.search(path.read_text())}
    assert {name for name in found if not name.startswith("tests/bench/")} == set()


def test_functions_are_short() -> None:
    lengths = {
        f"{name_of(path)}:{name}": length
        for path in SOURCES
        for name, _line, length in code_of(path).functions
    }
    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}
    assert statistics.quantiles(lengths.values(), n=20)[-1] <= MAX_P95_FUNCTION_LINES


def test_a_class_has_its_name_to_itself() -> None:
    found = defaultdict(list)
    for path in SOURCES:
        for name in code_of(path).classes:
            found[name].append(name_of(path))
    twice = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert {name: paths for name, paths in twice.items() if name not in TWICE} == {}


def test_no_module_is_named_like_one_of_the_standard_library() -> None:
    modules = [path for path in SOURCES if path.name != "__init__.py"]
    assert [name_of(path) for path in modules if path.stem in sys.stdlib_module_names] == []


def test_folders_of_the_gateway_are_small() -> None:
    folders = Counter(
        name_of(path.parent)
        for path in SOURCES
        if name_of(path).startswith("gateway/") and path.name != "__init__.py"
    )
    assert {name: n for name, n in folders.items() if n > MAX_FOLDER_FILES} == {}


def test_constructors_take_few_parameters_and_fewer_callables() -> None:
    aliases = {"Callable"}.union(*(code_of(path).aliases for path in SOURCES))
    wide = {}
    for path in SOURCES:
        for line, types in code_of(path).constructors.items():
            callables = [name for name in types if set(re.findall(r"\w+", name)) & aliases]
            if len(types) > MAX_PARAMETERS or len(callables) > MAX_CALLABLES:
                wide[f"{name_of(path)}:{line}"] = (len(types), callables)
    assert wide == {}


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings, the strings that stand by themselves, and the comments of a file."""
    yield from code_of(path).strings
    text = path.read_text()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


@pytest.mark.parametrize("package", PACKAGES)
def test_prose_is_plain_english(package: str) -> None:
    found = [
        f"{name_of(path)}:{line}: {pattern}"
        for path in SOURCES
        if name_of(path).startswith(f"{package}/")
        for line, text in prose_of(path)
        for pattern, expression in BANNED.items()
        if expression.search(text)
    ]
    assert found == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_plain_english(package: str) -> None:
    banned = re.compile(r"(^|_)(told|tells?|anew)(_|$)")
    found = [
        f"{name_of(path)}:{line}: {name}"
        for path in SOURCES
        if name_of(path).startswith(f"{package}/")
        for name, line, _length in code_of(path).functions
        if banned.search(name)
    ]
    assert found == []


@functools.cache
def exporting() -> list[str]:
    return [
        name_of(path)[: -len(".py")].replace("/", ".").removesuffix(".__init__")
        for path in SOURCES
        if "__all__" in (text := path.read_text())
        and any(
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
            for node in tree_of(text).body
        )
    ]


def by_kind(name: str) -> tuple[int, str]:
    """Order constants before classes before functions, as ruff sorts `__all__`."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


@pytest.mark.parametrize("module", exporting())
def test_what_a_module_exports_is_sorted_and_there(module: str) -> None:
    found = import_module(module)
    assert found.__all__ == sorted(set(found.__all__), key=by_kind)
    assert [name for name in found.__all__ if not hasattr(found, name)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_an_exported_function_has_its_name_to_itself(package: str) -> None:
    found = defaultdict(set)
    for name in exporting():
        if name.partition(".")[0] == package:
            module = import_module(name)
            for one in module.__all__:
                value = getattr(module, one)
                if callable(value):
                    place = getattr(value, "__qualname__", one)  # a marker of pluggy has none
                    found[one].add(f"{value.__module__}.{place}")
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_our_own_modules_are_imported_at_the_top_of_a_file_only(package: str) -> None:
    inside = {
        name_of(path): lines
        for path in SOURCES
        if name_of(path).startswith(f"{package}/") and (lines := code_of(path).imports_inside)
    }
    assert inside == {}


def test_nothing_committed_holds_a_path_of_a_machine_or_a_registry_s_address() -> None:
    # Put together here, so that this file is held to it like every other.
    folders = [f"/{name}/" for name in ("work", "root")]
    hosts = (("files", "pythonhosted"), ("pypi", "org"), ("registry", "npmjs"))
    unfit = [*folders, *(".".join(host) for host in hosts)]
    found = {
        name_of(path): text
        for path in tracked()
        for text in unfit
        if path.is_file() and text.encode() in path.read_bytes()
    }
    assert found == {}


def test_requirements_are_pinned_with_hashes_and_without_addresses() -> None:
    for path in sorted(ROOT.glob("requirements*.txt")):
        text = path.read_text()
        packages = re.findall(r"^[a-z0-9][\w.-]*(\S*)", text, re.MULTILINE)
        assert packages
        assert all(version.startswith("==") for version in packages)
        assert "--hash=sha256:" in text
        assert "://" not in text


def test_no_test_reaches_into_privates() -> None:
    private = re.compile(r"(?<=[\w)\]])(?<!\bself)(?<!\bcls)(?<!\bsuper\(\))\._[a-z]\w*")
    # asyncio's queue of callbacks, for the tests' clock; and what the SDKs keep to themselves.
    known = {"_ready", "_from_value", "_pytest", "_connect_gen", "_prepared", "_closed"}
    known |= {"_backends", "_asyncio"}  # by name, where a fork has it loaded already
    found = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for match in private.findall(line)
        if match[1:] not in known
    ]
    assert found == []
