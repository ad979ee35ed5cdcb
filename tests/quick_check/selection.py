"""Which files of tests a change can have broken, nearest first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

PACKAGES: Final = ("gateway", "channels", "agent", "tape", "bench")
HOUSE: Final = ("tests/test_house.py", "tests/test_house_imports.py")
ROOMS: Final = {"gateway/doctor": "tests/doctor"}
"""Folders whose tests are elsewhere than in the folder of the same name below `tests`."""

GUARDS: Final = {
    ".pre-commit-config.yaml": ("tests/test_first_hour.py",),
    "AGENTS.md": ("tests/test_first_hour.py",),
    "Dockerfile": ("tests/test_deploy.py", "tests/test_compose.py"),
    "Makefile": ("tests/test_makefile.py",),
    "deploy": ("tests/test_deploy.py", "tests/test_monitoring.py"),
    "docker-compose.yml": ("tests/test_deploy.py", "tests/test_compose.py"),
    "docs": ("tests/test_architecture.py", "tests/test_docs.py", "tests/test_reference.py"),
    "pyproject.toml": ("tests/test_package.py",),
}
"""The tests of what is in no package: a file's, or those of everything in a folder."""

Importers = Mapping[str, Collection[str]]
"""The modules that import a module."""


def nearest_first(
    changed: Iterable[str], importers: Importers, tests: Collection[str]
) -> list[str]:
    """Return the files of tests that a change concerns.

    First the tests that changed, then the rooms of what changed, then the house's rules, then the
    tests of modules that import what changed, by the number of imports between them.
    """
    changed = sorted(changed)
    found = dict.fromkeys(path for path in changed if path in tests)
    rooms = [room_of(path, tests) for path in changed]
    for path in _in_turn(rooms):
        found.setdefault(path)
    if any(path.endswith(".py") for path in changed):
        found.update(dict.fromkeys(path for path in HOUSE if path in tests))
    for module in by_distance(map(module_of, changed), importers):
        for path in _tests_of(module, tests):
            found.setdefault(path)
    return list(found)


def room_of(path: str, tests: Collection[str]) -> list[str]:
    """Return the tests of the folder that a file is in, those of the same name first."""
    file = PurePosixPath(path)
    if file.parts[0] not in (*PACKAGES, "tests"):
        guards = GUARDS.get(path) or GUARDS.get(file.parts[0]) or ()
        return [test for test in guards if test in tests]
    for folder in file.parents:
        mirrored = folder if folder.parts[:1] == ("tests",) else _mirror(folder)
        room = sorted(test for test in tests if PurePosixPath(test).parent == mirrored)
        if room and mirrored != PurePosixPath("tests"):
            same = f"test_{file.stem}.py"
            return sorted(room, key=lambda test: PurePosixPath(test).name != same)
    return []


def _mirror(folder: PurePosixPath) -> PurePosixPath:
    for here in (folder, *folder.parents):
        if (elsewhere := ROOMS.get(str(here))) is not None:
            return PurePosixPath(elsewhere)
    return PurePosixPath("tests") / folder


def _in_turn(rooms: list[list[str]]) -> Iterator[str]:
    """Yield a file of each room in turn, so that the time is shared between the rooms."""
    for at in range(max(map(len, rooms), default=0)):
        yield from (room[at] for room in rooms if at < len(room))


def by_distance(changed: Iterable[str], importers: Importers) -> list[str]:
    """Return the modules that import one of these, directly first."""
    met = dict.fromkeys(changed)
    ring = list(met)
    while ring:
        following = {name for module in ring for name in importers.get(module, ())} - met.keys()
        ring = sorted(following)
        met.update(dict.fromkeys(ring))
    return list(met)


def module_of(path: str) -> str:
    """Return the dotted name of a file's module; a file of SQL counts as its folder's."""
    file = PurePosixPath(path)
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def _tests_of(module: str, tests: Collection[str]) -> list[str]:
    """Return the file that a module is, if it is one of tests, or else the one named after it."""
    *folders, name = module.split(".")
    if folders[:1] == ["tests"]:
        paths = ["/".join((*folders, f"{name}.py"))]
    else:
        paths = ["/".join(("tests", *folders, f"test_{name}.py"))]
    return [path for path in paths if path in tests]


def as_few_paths(left: Collection[str], tests: Collection[str]) -> list[str]:
    """Return paths for `make test` that mean these files: a folder if all of its tests are left."""
    remaining, paths = set(left), list[str]()
    for path in left:
        if path not in remaining:
            continue
        whole = path
        for folder in map(str, PurePosixPath(path).parents[:-2]):
            below = {test for test in tests if test.startswith(f"{folder}/")}
            if not below <= remaining:
                break
            whole = folder
        paths.append(whole)
        remaining -= {test for test in remaining if test == whole or test.startswith(f"{whole}/")}
    return paths
