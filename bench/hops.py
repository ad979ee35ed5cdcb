"""How often one question changes files on its way through the code.

    python -m bench.hops [--channel telegram] [--questions N] [--top N] [--json FILE] [--names]

One short question in a group is answered by the real gateway, on SQLite, between a fake platform
and a fake model. Every call of a function of the product is counted on the event loop's thread; a
change of file is a call in another file than the call before it. The first question also imports
and compiles, so it is asked but not counted; of N others the median is printed.

`hops_files.txt` has the file of each class and function from the day that the count began. They
count as in that file wherever they are now, so that moving or merging files changes no number. What
is newer counts as where it is; `--names` adds it to the list, and changes nothing that is there.
Comprehensions are not counted: since Python 3.12 they are no calls.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, Final, ParamSpec, TypeVar

import pytest

from tape.database.group_commit import WriterThread
from tape.database.readers import ReaderPair
from tests.kit.clock import errand
from tests.kit.loops import TidyLoop
from tests.kit.play import playing

P = ParamSpec("P")
T = TypeVar("T")

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("gateway", "channels", "tape", "agent")
NAMES: Final = Path(__file__).with_name("hops_files.txt")
COMPREHENSIONS: Final = ("<listcomp>", "<setcomp>", "<dictcomp>")

Call = tuple[str, str]
"""A file of the product and the qualified name of a function in it."""


@dataclass(slots=True)
class Trace:
    """The product's calls, in order: each as its file and the name of the function."""

    calls: list[Call] = field(default_factory=list)
    _files: dict[str, str | None] = field(default_factory=dict)

    def profile(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Record a call; for `sys.setprofile`."""
        if event != "call":
            return
        name = frame.f_code.co_filename
        if name not in self._files:
            self._files[name] = product_file(name)
        file = self._files[name]
        if file is not None and frame.f_code.co_name not in COMPREHENSIONS:
            self.calls.append((file, frame.f_code.co_qualname))

    def busiest(self, most: int) -> list[tuple[tuple[Call, Call], int]]:
        """Return the changes of file that happen most, with how often they do."""
        pairs = pairwise(self.calls)
        return Counter(pair for pair in pairs if pair[0][0] != pair[1][0]).most_common(most)

    def counts(self, known: Mapping[str, Sequence[str]]) -> Counts:
        """Count what was recorded; `known` has the files of names, as `read_names` returns them."""
        files = [first_file(call, known) for call in self.calls]
        packages = [file.partition("/")[0] for file in files]
        return Counts(
            calls=len(self.calls),
            functions=len(set(self.calls)),
            files=len(set(files)),
            file_changes=changes(files),
            package_changes=changes(packages),
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """What one question takes."""

    calls: int
    functions: int
    files: int
    file_changes: int
    package_changes: int


def product_file(name: str) -> str | None:
    """Return a file's path within the repository, or None for code that is not the product's."""
    path = Path(name)
    if not path.is_relative_to(ROOT):
        return None
    inside = path.relative_to(ROOT)
    return str(inside) if inside.parts[0] in PACKAGES else None


def changes(names: list[str]) -> int:
    """Return how often a name differs from the one before it."""
    return sum(one != other for one, other in pairwise(names))


def first_file(call: Call, known: Mapping[str, Sequence[str]]) -> str:
    """Return the file in which a function was when the count began, or else the one it is in."""
    file, function = call
    former = known.get(top_name(function), ())
    return former[0] if len(former) == 1 else file  # which of several files it was in is unknown


def top_name(function: str) -> str:
    """Return the name of the class or function, at the top of a module, that a call is in."""
    return function.partition(".")[0]


def read_names(path: Path = NAMES) -> dict[str, list[str]]:
    """Return the files that each name was in: private functions of several may share one."""
    known = defaultdict(list)
    for line in path.read_text().splitlines():
        file, _, names = line.partition(": ")
        for name in names.split():
            known[name].append(file)
    return known


def add_names(calls: Iterable[Call], path: Path = NAMES) -> None:
    """Add the names of calls to the list, each with the file that it is in."""
    known = read_names(path) if path.exists() else {}
    listed = defaultdict(set)
    for name, files in known.items():
        for file in files:
            listed[file].add(name)
    for file, function in calls:
        name = top_name(function)
        if name.isidentifier() and name not in known:
            listed[file].add(name)
    lines = (f"{file}: {' '.join(sorted(names))}\n" for file, names in sorted(listed.items()))
    path.write_text("".join(lines))


def unhurried(work: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Have no time pass while a thread works, which the clock does not see."""

    @functools.wraps(work)
    async def wait(*args: P.args, **kwargs: P.kwargs) -> T:
        with errand():
            return await work(*args, **kwargs)

    return wait


async def traced(channel: str) -> Trace:
    """Trace one question from the platform to its receipt."""
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(WriterThread, "submit", unhurried(WriterThread.submit))
        patch.setattr(ReaderPair, "in_thread", unhurried(ReaderPair.in_thread))
        url = f"sqlite://{Path(folder) / 'tapeway.db'}"
        async with playing(channel, Path(folder), TAPE__URL=url) as play:
            alice = play.person()
            chat = play.chat(alice)
            sys.setprofile(trace.profile)
            try:
                await play.ask(chat, alice, "what is a kettle?")
            finally:
                sys.setprofile(None)
            assert len(play.texts(chat)) == 1, play.texts(chat)
    return trace


def median(found: Sequence[Counts]) -> Counts:
    """Return the median of each number."""
    numbers = {
        one.name: statistics.median_low(getattr(each, one.name) for each in found)
        for one in fields(Counts)
    }
    return Counts(**numbers)


def main() -> None:
    """Print the counts, and the files that most changes lead to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--channel", default="telegram")
    parser.add_argument("--questions", type=int, default=1)
    parser.add_argument("--top", type=int, default=0, help="print the N busiest changes of file")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--names", action="store_true", help=f"add to {NAMES.name} what is new")
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=TidyLoop) as runner:
        runner.run(traced(options.channel))  # imports and compiles
        traces = [runner.run(traced(options.channel)) for _ in range(options.questions)]
    if options.names:
        add_names(call for trace in traces for call in trace.calls)
    counts = median([trace.counts(read_names()) for trace in traces])
    for name, value in asdict(counts).items():
        print(f"{name:16}{value:6}")
    for (here, there), count in traces[-1].busiest(options.top):
        print(f"{count:6}  {here[0]}:{here[1]} -> {there[0]}:{there[1]}")
    if options.json:
        options.json.write_text(json.dumps(asdict(counts)))


if __name__ == "__main__":
    main()
