"""Learn the linker's numbers: `python -m bench.train_linker --data DIR --out FILE`.

DIR holds annotated logs (`NAME.ascii.txt` with `NAME.annotation.txt`). Needs the extra `train`;
what is learned runs without. The numbers of the release: `--out tape/linking/numbers.json`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Final

from bench.irc import logs, read
from bench.linker.training import train

FEW: Final = 6
"""Logs of a fast run: enough to try the script, not to learn."""


def main() -> None:
    """Learn, and write the file."""
    options = _options()
    begun = time.monotonic()
    paths = logs(options.data)
    if options.fast:
        paths = paths[:: max(1, len(paths) // FEW)]
    if len(paths) < 2:
        raise SystemExit(f"{options.data} holds fewer than two annotated logs")

    def tell(text: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {text}", flush=True)

    found = [read(path) for path in paths]
    tell(f"{len(found)} logs")
    numbers = train(found, tell, workers=options.workers, seed=options.seed)
    options.out.write_bytes(numbers)
    tell(f"{options.out}: {len(numbers)} bytes")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.train_linker", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--fast", action="store_true", help="a few logs, to try the script")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
