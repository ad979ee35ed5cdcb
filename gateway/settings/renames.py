"""Settings that have a new name: the former one is read for one release, with a notice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_OF_A_MODEL: Final = {
    "call_ids": "tool_call_ids",
    "filler": "answer_after_tool",
    "window": "context_window",
}
RENAMED: Final[dict[str, dict[str, str]]] = {
    "tape": {"ballast": "disk_reserve"},
    "buffer": {"longest": "max_wait"},
    "turn": {
        "lanes": "parallel_per_chat",
        "running": "parallel_total",
        "waiting": "queue_per_chat",
    },
    "budget": {"running": "parallel_per_person", "calls": "model_calls"},
    "context": {"budget": "prompt_tokens", "takes": "new_tokens", "evidence": "older_messages"},
    "media": {"bytes": "max_bytes", "pixels": "max_pixels", "seconds": "download_seconds"},
    "agent": {"names": "more_names", "counter": "count_tokens", **_OF_A_MODEL},
    "slack": {"hold": "reorder_seconds"},
}
"""By section: the former name, and the present one."""


def rename(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give a source's settings their present names; yield each former path with the present one.

    If a source has both, the present name wins.
    """
    tables = [(name, values.get(name), names) for name, names in RENAMED.items()]
    models = values.get("models")
    if isinstance(models, dict):
        tables += [(f"models.{name}", found, _OF_A_MODEL) for name, found in models.items()]
    for path, table, names in tables:
        if not isinstance(table, dict):
            continue  # a wrong value, which the validation names
        for former in names.keys() & table.keys():
            value = table.pop(former)
            table.setdefault(names[former], value)
            yield f"{path}.{former}", f"{path}.{names[former]}"
