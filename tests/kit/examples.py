"""How many examples a property is tested with: a third on each run, all of them in a search."""

from __future__ import annotations

import os
from typing import Any, Final

import hypothesis

SEARCHES: Final = bool(os.environ.get("TEST_SEARCH"))
"""Whether new examples are searched for, instead of the same ones on each run."""


def number(most: int = 100) -> int:
    """Return how many examples there are where a search has `most` of them."""
    return most if SEARCHES else most // 3


def examples(most: int, **more: Any) -> hypothesis.settings:
    """Return the settings of a property that a search tests with `most` examples."""
    return hypothesis.settings(max_examples=number(most), **more)
