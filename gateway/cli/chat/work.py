"""What the agent does before it writes: it thinks, and it runs tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import orjson

from channels.room.hub import Json
from gateway.cli.screen import clipped, one_line

MAX_TOOL_COLUMNS: Final = 60  # maximum width of a tool's name and arguments


@dataclass(slots=True)
class Work:
    """The thinking and the tools for one question, since the last text of its answer."""

    began: float
    thought: str = ""
    thought_until: float = 0.0
    running: dict[str, tuple[str, float]] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def take(self, event: Json, now: float) -> None:
        """Note a piece of thinking, or the beginning or end of a tool."""
        if event["type"] == "reasoning":
            self.thought = "" if event.get("reset") else self.thought + event["delta"]
            self.thought_until = now
        elif "elapsed_ms" not in event:
            what = f"{event['name']} {_shown(event['arguments'])}"
            self.running[event["id"]] = (clipped(one_line(what), MAX_TOOL_COLUMNS), now)
        else:
            what, _began = self.running.pop(event["id"], (one_line(event["name"]), now))
            self.done.append(f"{what} ({_seconds(event['elapsed_ms'] / 1000)})")

    def status(self, now: float, columns: int) -> str:
        """Return a line that says what is being done."""
        line = f"waiting for the model ({_seconds(now - self.began)})"
        if self.running:
            what, began = list(self.running.values())[-1]
            line = f"{what} ({_seconds(now - began)})"
        elif self.thought and not self.done:
            line = f"thinking ({_seconds(now - self.began)}): …"
            tail = one_line(self.thought[-columns:])
            room = (columns - len(line)) // (1 if tail.isascii() else 2) - 4
            line += tail[-max(room, 10) :].partition(" ")[2]
        return clipped(f"⋯ {line}", columns - 1)

    def folded(self) -> str:
        """Return all that was done on one line, or ""."""
        thought = f"thought for {_seconds(self.thought_until - self.began)}"
        parts = [thought] * bool(self.thought) + self.done
        return f"· {', '.join(parts)}" if parts else ""


def _shown(arguments: str) -> str:
    try:
        given = orjson.loads(arguments)
    except ValueError:
        return arguments
    pairs = given.items() if isinstance(given, dict) else ()
    return " ".join(f"{name}={value}" for name, value in pairs) or arguments


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
