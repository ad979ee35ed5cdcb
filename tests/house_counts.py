"""What is counted of the product so that it can only fall.

    python -m tests.house_counts [--lower]

Prints each count beside its bound; `--lower` writes a count that has fallen as the new bound. The
bounds stand in `house_bounds.txt`. To raise one, change it there by hand, and say why in the body
of the commit.

lines       of Python in a package, or in a folder of `gateway`
branches    on whether one process runs or several share a database
row keys    as `row["text"]`, in `gateway` outside its storage: rows that travel as dicts
statements  of SQL that are named outside the room that they stand in
hops        of one question, as `bench.hops` counts them; they vary by half a percent
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tape.database.schema import parse_statements
from tests.kit.sources import tree_of

ROOT: Final = Path(__file__).resolve().parent.parent
BOUNDS: Final = Path(__file__).with_name("house_bounds.txt")
PACKAGES: Final = ("agent", "channels", "gateway", "tape")
STORAGE: Final = "gateway/storage"
LINES, HOPS = "lines ", "hops "
HEADING: Final = "# These may only fall; tests/house_counts.py says what they count.\n"

ROOM: Final = 0.01
"""The part of a bound by which hops may exceed it, since they vary."""

SLACK: Final = 0.02
"""The part of a bound by which lines and hops may fall before the bound must follow."""

ONE_OR_MANY: Final = {"shared", "claimer"}
"""What is None in a process that runs alone."""


Schemas = Mapping[str, tuple[str, frozenset[str]]]
"""Maps the prefix of statements to the room that their SQL is in, and to their names."""


def counted() -> dict[str, int]:
    """Count everything but the hops, which take seconds."""
    files = dict(sorted(_sources()))
    schemas = dict(_schemas(files))
    counts = Counter[str]()
    for name, text in files.items():
        counts += count_file(name, text, schemas)
    return dict(counts)


def count_file(name: str, text: str, schemas: Schemas) -> Counter[str]:
    """Count what is in a file of the product."""
    nodes = list(ast.walk(tree_of(text)))
    in_gateway = name.startswith("gateway/") and not name.startswith(f"{STORAGE}/")
    return Counter(
        {
            f"{LINES}{_room_of(name)}": len(text.splitlines()),
            "branches": sum(map(_is_branch, nodes)),
            "row keys": sum(map(_is_row_key, nodes)) if in_gateway else 0,
            "statements": sum(_is_statement(node, name, schemas) for node in nodes),
        }
    )


def hops() -> dict[str, int]:
    """Count the hops of one question, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "hops.json"
        command = [sys.executable, "-m", "bench.hops", "--questions", "3", "--json", str(report)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        found = json.loads(report.read_text())
    return {f"{HOPS}{name}": found[name] for name in ("calls", "functions", "file_changes")}


def read_bounds(path: Path = BOUNDS) -> dict[str, int]:
    """Return the bound of each count."""
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: int(bound) for name, bound in (line.rsplit(maxsplit=1) for line in lines)}


def write_bounds(bounds: Mapping[str, int], path: Path = BOUNDS) -> None:
    """Write the bound of each count."""
    lines = (f"{name} {bound}\n" for name, bound in sorted(bounds.items()))
    path.write_text("".join([HEADING, *lines]))


def complaints(counts: Mapping[str, int], bounds: Mapping[str, int]) -> list[str]:
    """Return a sentence for each count that is over its bound, or well below it."""
    found = []
    for name in sorted(counts.keys() | bounds.keys()):
        count, bound = counts.get(name, 0), bounds.get(name, 0)
        over = bound * (1 + ROOM) if name.startswith(HOPS) else bound
        under = bound * (1 - SLACK) if name.startswith((LINES, HOPS)) else bound
        if count > over:
            found.append(
                f"{name}: {count}, but at most {bound}. This may only fall: take out as much as you"
                f" add, or raise the bound in tests/{BOUNDS.name} and say why in the commit's body."
            )
        elif count < under or not count:
            found.append(
                f"{name}: {count}, which is less than {bound}. Run `python -m tests.house_counts"
                " --lower` and commit the new bound, so that it stays so low."
            )
    return found


def lowered(counts: Mapping[str, int], bounds: Mapping[str, int]) -> dict[str, int]:
    """Return bounds that follow what has fallen: hops only where that is more than they vary."""
    found = {}
    for name, bound in bounds.items():
        count = counts.get(name, 0)
        varies = name.startswith(HOPS) and count >= bound * (1 - SLACK)
        found[name] = bound if varies else min(count, bound)
    return {name: bound for name, bound in found.items() if bound}


def _sources() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            yield path.relative_to(ROOT).as_posix(), path.read_text()


def _room_of(name: str) -> str:
    package, room, *rest = name.split("/")
    return f"{package}/{room}" if package == "gateway" and rest else package


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_branch(node: ast.AST) -> bool:
    """Return whether an expression asks if one process runs or several share a database."""
    if isinstance(node, ast.Compare):
        is_none = isinstance(node.ops[0], (ast.Is, ast.IsNot)) and "None" in ast.unparse(node)
        return is_none and _name_of(node.left).lstrip("_") in ONE_OR_MANY
    if isinstance(node, ast.Call) and _name_of(node.func) == "isinstance":
        return "SharedStore" in ast.unparse(node.args[1])
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return _is_services_shared(node.test)
    if isinstance(node, ast.BoolOp):
        return any(map(_is_services_shared, node.values))
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    return node.attr == "one_transaction"


def _is_services_shared(node: ast.expr) -> bool:
    """Return whether the truth of `services.shared` is asked for, or of its contrary."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    text = _name_of(node.value) if isinstance(node, ast.Attribute) else ""
    return text.lstrip("_") == "services" and _name_of(node) in ONE_OR_MANY


def _is_row_key(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or _name_of(node.value) != "row":
        return False
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


def _schemas(files: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, frozenset[str]]]]:
    """Yield the prefix of each schema's statements, with their room and their names."""
    for text in files.values():
        for node in ast.walk(tree_of(text)) if "read_schema(" in text else ():
            if isinstance(node, ast.Call) and _name_of(node.func) == "read_schema":
                prefix, package = (ast.literal_eval(one) for one in node.args[:2])
                folder = package.replace(".", "/")
                yield prefix, (_room_of(f"{folder}/sql"), _statements_in(folder))


@functools.cache
def _statements_in(folder: str) -> frozenset[str]:
    texts = (path.read_text() for path in (ROOT / folder).glob("sql/*/statements*.sql"))
    return frozenset(name for text in texts for name in parse_statements(text))


def _is_statement(node: ast.AST, file: str, schemas: Schemas) -> bool:
    """Return whether a string names a statement of another room's schema."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    found = re.fullmatch(r"(\w+)\.(\w*)", node.value)  # no second part: that of an f-string
    if found is None or found[1] not in schemas:
        return False
    room, names = schemas[found[1]]
    return not file.startswith(f"{room}/") and (not found[2] or found[2] in names)


def main() -> None:
    """Print the counts beside their bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lower", action="store_true", help="write what has fallen as the bound")
    options = parser.parse_args()
    counts, bounds = counted() | hops(), read_bounds()
    for name in sorted(counts.keys() | bounds.keys()):
        print(f"{name:24}{counts.get(name, 0):7}{bounds.get(name, 0):7}")
    if options.lower:
        write_bounds(lowered(counts, bounds))
    sys.exit("\n".join(complaints(counts, read_bounds())) or None)


if __name__ == "__main__":
    main()
