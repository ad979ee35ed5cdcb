"""How often one question changes files on its way through the code.

    python -m bench.hops [--channel telegram] [--top N] [--json FILE]

One short question in a group is answered by the real gateway, on a store in memory, between a fake
platform and a fake model. Every call of a function of the product is counted on the event loop's
thread; a change of file is a call in another file than the call before it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tests.kit.play import playing

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("gateway", "channels", "tape", "agent")

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
        if file is not None:
            self.calls.append((file, frame.f_code.co_qualname))

    def busiest(self, most: int) -> list[tuple[tuple[Call, Call], int]]:
        """Return the changes of file that happen most, with how often they do."""
        pairs = pairwise(self.calls)
        return Counter(pair for pair in pairs if pair[0][0] != pair[1][0]).most_common(most)

    def counts(self) -> Counts:
        """Count what was recorded."""
        files = [file for file, _function in self.calls]
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


async def traced(channel: str) -> Trace:
    """Trace one question from the platform to its receipt."""
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder:
        async with playing(channel, Path(folder)) as play:
            alice = play.person()
            chat = play.chat(alice)
            sys.setprofile(trace.profile)
            try:
                await play.ask(chat, alice, "what is a kettle?")
            finally:
                sys.setprofile(None)
            assert len(play.texts(chat)) == 1, play.texts(chat)
    return trace


def main() -> None:
    """Print the counts, and the files that most changes lead to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--channel", default="telegram")
    parser.add_argument("--top", type=int, default=0, help="print the N busiest changes of file")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    trace = asyncio.run(traced(options.channel))
    counts = trace.counts()
    for name, value in asdict(counts).items():
        print(f"{name:16}{value:6}")
    for (here, there), count in trace.busiest(options.top):
        print(f"{count:6}  {here[0]}:{here[1]} -> {there[0]}:{there[1]}")
    if options.json:
        options.json.write_text(json.dumps(asdict(counts)))


if __name__ == "__main__":
    main()
