"""Learn the linker's numbers: `python -m bench.train_linker --data PLACE ... --out FILE`.

A PLACE is a folder of annotated logs (`NAME.ascii.txt` with `NAME.annotation.txt`), or the names of
some (`DIR/*.[0-8]`), so that the logs of one folder can be split:

    --data IRC/train 'ZULIP/*.[0-6]'  --choose 'ZULIP/*.[78]'  --measure IRC/dev 'ZULIP/*.9'

learns from the first, chooses the linker's bounds (from which chance on a message begins a
conversation, and how little one that does is shown) on the second, whose places count alike, and
scores the third, place by place. No log may be in two of them. Needs the extra `train`; what is
learned runs without. The numbers of the release: `--out tape/linking/numbers.json`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from bench.irc import logs, read
from bench.linker.limit import choose_bounds, rated
from bench.linker.score import table, total
from bench.linker.training import LEAST_NEW, train
from bench.log_options import PLACE, find_logs, refuse_overlap
from tape.linking.model import LEAST_CHOSEN

FEW: Final = 6
"""Logs of a fast run: enough to try the script, not to learn."""


def main() -> None:
    """Learn, and write the file."""
    options = _options()
    begun = time.monotonic()
    parts = {name: find_logs(vars(options)[name]) for name in ("data", "choose", "measure")}
    refuse_overlap(parts)
    paths = parts["data"]
    if options.fast:
        paths = paths[:: max(1, len(paths) // FEW)]
    if len(paths) < 2:
        raise SystemExit(f"{', '.join(options.data)}: fewer than two annotated logs")

    def tell(text: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True)

    found = [read(path) for path in paths]
    tell(f"{len(found)} logs")
    numbers = train(found, tell, workers=options.workers, seed=options.seed)
    if options.choose:
        places = [logs(place) for place in options.choose]
        numbers = choose_bounds(numbers, places, tell, workers=options.workers)
    options.out.write_bytes(numbers)
    tell(f"{options.out}: {len(numbers)} bytes")
    _measure(options, numbers, tell)


def _measure(options: argparse.Namespace, numbers: bytes, tell: Callable[[str], object]) -> None:
    """Score each place that is for measuring."""
    for place in options.measure:
        with ProcessPoolExecutor(options.workers) as pool:
            scores = [one for one in rated(numbers, logs(place), pool) if one.queries]
        if scores:
            tell(f"measured on {len(scores)} logs\n{table({place: total(scores)})}")


def _options() -> argparse.Namespace:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.train_linker",
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", nargs="+", required=True, metavar="PLACE", help=PLACE)
    parser.add_argument(
        "--choose",
        nargs="+",
        default=[],
        metavar="PLACE",
        help=f"default: {LEAST_NEW} and {LEAST_CHOSEN}",
    )
    parser.add_argument("--measure", nargs="+", default=[], metavar="PLACE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--fast", action="store_true", help="a few logs, to try the script")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
