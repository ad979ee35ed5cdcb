"""What ways of filling a prompt show and cost, on rooms of several kinds, as a table.

    python -m bench.policies --data PLACE ... [the options of bench.context]

Each PLACE is a kind of room. Beside the product's view stand windows of the last messages, one that
moves in steps, and everything since a summary (`bench/replay/policies.py`), at the same calls, of
the same tape, counted the same way.
"""

from __future__ import annotations

import argparse
import json
from copy import copy

from bench.context import add_options, measure
from bench.irc import Log
from bench.replay.figures import Row, call_figures, policy_table
from bench.replay.play import Seen

OURS = "the view"
COLUMNS = {
    "view_recall": "recall",
    "view_precision": "precision",
    "F1": "F1",
    "shown": "messages",
    "cached_60min": "cached %",
    "cost": "cost",
}


def by_policy(played: list[tuple[Log, list[Seen]]]) -> dict[str, Row]:
    """Return the means of each policy over the calls of some rooms."""
    rows: dict[str, list[Row]] = {}
    for log, seen in played:
        for one in seen:
            gold = log.gold(one.line)
            calls = {OURS: one.call, **one.rivals} if one.call is not None else {}
            for name, call in calls.items():
                if call is not None:
                    rows.setdefault(name, []).append(call_figures(gold, call))
    return {name: policy_table(found) for name, found in rows.items()}


def as_table(places: dict[str, dict[str, Row]]) -> str:
    """Return the table in Markdown."""
    lines = [
        f"| room | policy | {' | '.join(COLUMNS.values())} |",
        "|---" * (2 + len(COLUMNS)) + "|",
    ]
    for place, policies in places.items():
        for name, row in policies.items():
            cells = " | ".join(f"{row[column]:.0f}" for column in COLUMNS)
            lines.append(f"| {place} ({row['calls']:.0f} calls) | {name} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Measure each place, and print the table."""
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.policies",
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    options = parser.parse_args()
    options.rivals = True
    places: dict[str, dict[str, Row]] = {}
    for place in options.data:
        own = copy(options)
        own.data = [place]
        places[place] = by_policy(measure(own))
    print(as_table(places))
    if options.json:
        options.json.write_text(json.dumps(places, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
