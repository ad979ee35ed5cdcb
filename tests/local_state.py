"""Find the state that a gateway keeps in its process, by reading the code of gateway and channels.

An object outlives one call if the gateway is put together with it (`HOMES`), or if something that
outlives one call holds it (in the type of a constructor's parameter, of a field or of an
attribute) or makes it in a method. What is in neither case lives for one call of a function, as a
parser does, and is left out. So are settings, which never change, and the code in `APART`.

State is an attribute of such an object that holds a container or something to wait on, or that
code changes after the constructor. Containers typed as read-only are no state; those of a frozen
dataclass are state only if code fills them. The cache of a function with parameters and a
context variable are state as well. What a closure or a library keeps is not seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.kit.sources import tree_of

ROOT: Final = Path(__file__).resolve().parent.parent
HOMES: Final = (
    "gateway/app.py",
    "gateway/assembly.py",
    "gateway/parts.py",
    "gateway/embeddings/local.py",
    "channels/registry.py",
)
"""The modules that put a gateway together."""

APART: Final = ("gateway/cli/", "gateway/backup/moving/", "channels/testing/")
"""What no gateway runs: the commands, each in a process of its own, and the kits for tests."""

BUILT: Final = re.compile(
    r"\b(dict|list|set|deque|defaultdict|Counter|OrderedDict|bytearray|count|cycle|local|Random"
    r"|Weak\w+|LRUCache|TTLCache|\w*Queue|Lock|Event|Condition|Semaphore|CapacityLimiter)$"
)
"""The names of what makes a container, or something to wait on."""

CONTAINER_TYPE: Final = re.compile(
    r"^(dict|list|set|deque|defaultdict|Counter|OrderedDict|MutableMapping|MutableSet)\b"
)
READ_ONLY_TYPE: Final = re.compile(r"^(Final|ClassVar|Mapping|Sequence|frozenset|tuple)\b")
FILLING: Final = re.compile(
    r"(append|appendleft|extend|insert|add|update|setdefault|move_to_end"
    r"|pop|popleft|popitem|remove|discard|clear)$"
)
"""The methods that change what a container holds."""

CONSTRUCTORS: Final = ("__init__", "__post_init__")
CACHES: Final = re.compile(r"\b(cache|lru_cache)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class ClassCode:
    """What one class holds, and which of its attributes code changes."""

    module: str
    is_frozen: bool = False
    bases: set[str] = field(default_factory=set)
    types: dict[str, str] = field(default_factory=dict)  # of parameters, fields and attributes
    makes: set[str] = field(default_factory=set)  # what it calls for the value of an attribute
    containers: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)

    def state(self) -> set[str]:
        """Return the attributes that are state if an object of the class outlives one call."""
        filled = {one for one in self.filled if CONTAINER_TYPE.match(self.types.get(one, ""))}
        if self.is_frozen:
            return filled
        held = {one for one in self.containers if not READ_ONLY_TYPE.match(self.types.get(one, ""))}
        return held | self.changed | filled


def words(node: ast.AST | None) -> set[str]:
    """Return the names in a piece of code, those in quoted types included."""
    return set(re.findall(r"\w+", ast.unparse(node))) if node is not None else set()


def is_built(value: ast.AST | None) -> bool:
    """Return whether a value is a new container, or something to wait on."""
    match value:
        case ast.Dict() | ast.List() | ast.Set() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return True
        case ast.IfExp(body=one, orelse=other):
            return is_built(one) or is_built(other)
        case ast.Call(func=ast.Name(id="field"), keywords=given):
            made = [one.value for one in given if one.arg == "default_factory"]
            return any(
                is_built(one.body) if isinstance(one, ast.Lambda) else is_built_by(one)
                for one in made
            )
        case ast.Call(func=function):
            return is_built_by(function)
    return False


def is_built_by(function: ast.expr) -> bool:
    name = function.value if isinstance(function, ast.Subscript) else function
    return BUILT.search(ast.unparse(name)) is not None


def targets_of(node: ast.AST) -> list[ast.expr]:
    """Return what a statement assigns, changes or deletes."""
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            found = targets
        case ast.AnnAssign(target=one) | ast.AugAssign(target=one):
            found = [one]
        case ast.For(target=one) | ast.AsyncFor(target=one):
            found = [one]
        case ast.withitem(optional_vars=one) if one is not None:
            found = [one]
        case _:
            return []
    return [
        part
        for target in found
        for part in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]


def changes_in(node: ast.AST) -> Iterator[tuple[ast.Attribute, bool]]:
    """Yield the attributes that a piece of code changes, and whether it fills a container."""
    for inner in ast.walk(node):
        for target in targets_of(inner):
            if isinstance(target, ast.Attribute):
                yield target, False
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute):
                yield target.value, True
        match inner:
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as one, attr=name)):
                if FILLING.match(name):
                    yield one, True


def is_own(target: ast.Attribute) -> bool:
    return isinstance(target.value, ast.Name) and target.value.id == "self"


def read_class(node: ast.ClassDef, module: str) -> ClassCode:
    """Read what a class holds, and what its own methods change."""
    decorators = " ".join(ast.unparse(one) for one in node.decorator_list)
    code = ClassCode(module, "frozen=True" in decorators or node.name.endswith("Settings"))
    code.bases = {word for base in node.bases for word in words(base)}
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            name = ast.unparse(part.target)
            code.types[name] = ast.unparse(part.annotation)
            code.makes |= words(part.value)
            code.containers |= {name} if is_built(part.value) else set()
        elif isinstance(part, Function) and part.name in CONSTRUCTORS:
            read_constructor(code, part)
        elif isinstance(part, Function):
            read_method(code, part)
    return code


def read_constructor(code: ClassCode, function: Function) -> None:
    given = {
        one.arg: ast.unparse(one.annotation)
        for one in (*function.args.args, *function.args.kwonlyargs)
        if one.annotation is not None
    }
    code.types |= given
    for node in ast.walk(function):
        for target in targets_of(node):
            if not (isinstance(target, ast.Attribute) and is_own(target)):
                continue
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            code.makes |= words(value)
            code.containers |= {target.attr} if is_built(value) else set()
            if isinstance(node, ast.AnnAssign):
                code.types[target.attr] = ast.unparse(node.annotation)
            elif isinstance(value, ast.Name) and value.id in given:
                code.types[target.attr] = given[value.id]


def read_method(code: ClassCode, function: Function) -> None:
    code.makes |= {word for one in calls_in(function) for word in words(one.func)}
    for target, fills in changes_in(function):
        if is_own(target):
            (code.filled if fills else code.changed).add(target.attr)


def modules() -> Mapping[str, ast.Module]:
    """Return the code of gateway and channels by path."""
    paths = [path for name in ("gateway", "channels") for path in (ROOT / name).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}
    return {name: tree_of(text) for name, text in found.items() if not name.startswith(APART)}


def read_classes(trees: Mapping[str, ast.Module]) -> dict[str, ClassCode]:
    """Return the classes by name, with the changes that others make to their attributes."""
    classes: dict[str, ClassCode] = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] = read_class(node, module)
    for tree in trees.values():
        known = [classes[name] for name in known_in(tree) & classes.keys()]
        for target, fills in changes_in(tree):
            for code in known:
                if is_own(target) or target.attr not in code.types:
                    continue
                if fills or not code.is_frozen:
                    (code.filled if fills else code.changed).add(target.attr)
    return classes


def known_in(tree: ast.Module) -> set[str]:
    """Return the names that a module imports, and those of its classes."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            found |= {one.asname or one.name for one in node.names}
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
    return found


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))


@dataclass(slots=True)
class Reach:
    """Finds the classes whose objects outlive one call."""

    trees: Mapping[str, ast.Module]
    classes: Mapping[str, ClassCode]
    found: set[str] = field(default_factory=set)
    _known: dict[str, set[str]] = field(default_factory=dict)
    _aliases: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    def read(self) -> None:
        for module, tree in self.trees.items():
            self._known[module] = known_in(tree)
            self._aliases[module] = {
                node.targets[0].id: words(node.value)
                for node in tree.body
                if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
            }
        for module, tree in self.trees.items():
            self._begin(module, tree)

    def _begin(self, module: str, tree: ast.Module) -> None:
        """Add what the modules at home name, what functions that they call make, and globals."""
        at_home = {word for home in HOMES for word in self._known.get(home, ())}
        if module in HOMES:
            self._add(module, words(tree))
        for node in tree.body:
            is_called = isinstance(node, Function) and node.name in at_home
            if is_called or isinstance(node, ast.Assign | ast.AnnAssign):
                self._add(module, {word for one in calls_in(node) for word in words(one.func)})

    def _add(self, module: str, names: set[str]) -> None:
        """Add the classes that these names stand for in a module, and what they hold."""
        for name in sorted(names):
            if name in self.classes and name in self._known[module]:
                self._add_class(name)
            elif name in self._known[module] or name in self._aliases[module]:
                for home, aliases in self._aliases.items():
                    if home == module or name in self._known[module]:
                        self._add(home, aliases.pop(name, set()))

    def _add_class(self, name: str) -> None:
        if name in self.found or name not in self.classes:
            return
        self.found.add(name)
        code = self.classes[name]
        types = {word for one in code.types.values() for word in re.findall(r"\w+", one)}
        self._add(code.module, types | code.makes | code.bases)
        for heir, other in self.classes.items():
            if name in other.bases:
                self._add_class(heir)


def caches_in(trees: Mapping[str, ast.Module]) -> Iterator[str]:
    """Yield the functions whose results are kept by argument, and the context variables."""
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, Function) and node.args.args:
                if any(CACHES.search(ast.unparse(one)) for one in node.decorator_list):
                    yield f"{module}:{node.name}"
            elif isinstance(node, ast.AnnAssign) and "ContextVar" in words(node.value):
                yield f"{module}:{ast.unparse(node.target)}"


def local_state(trees: Mapping[str, ast.Module]) -> dict[str, str]:
    """Return the module of every piece of state, by `Class.attribute` or `module:function`."""
    classes = read_classes(trees)
    reach = Reach(trees, classes)
    reach.read()
    found = {
        f"{name}.{attribute}": classes[name].module
        for name in reach.found
        for attribute in classes[name].state()
    }
    return found | {cache: cache.partition(":")[0] for cache in caches_in(trees)}
