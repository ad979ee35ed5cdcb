"""Amounts of things, and how they are said."""

from __future__ import annotations

AMOUNTS = [
    (0, "0.00"),
    (0.0004, "0.0004"),
    (0.00044, "0.00044"),
    (0.012345, "0.012"),
    (0.5, "0.50"),
    (0.996, "1.00"),
    (1.234, "1.23"),
    (12, "12.00"),
    (1e-13, "0.00"),
]
