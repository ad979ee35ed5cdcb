"""The product's code, read as trees."""

from __future__ import annotations

import ast
import gc


def tree_of(text: str) -> ast.Module:
    """Parse a file without searches for garbage: its thousands of new nodes have no circles."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text)
    finally:
        if collects:
            gc.enable()
