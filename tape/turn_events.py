"""The events of a turn: their names, and reading and writing those that change views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from tape.entry import EVENT, Entry, NewEntry, event, parse_date

TURN_START: Final = "turn.start"
TURN_RETAKE: Final = "turn.retake"
TURN_RESUME: Final = "turn.resume"
TURN_END: Final = "turn.end"
LOOP_STEP: Final = "loop.step"
TOOL_DONE: Final = "tool.done"
OUTBOUND: Final = "outbound"
PROMPT_SYSTEM: Final = "prompt.system"
RECEIPT: Final = "send.receipt"
LINKS_CUT: Final = "answer.links"

TAKES: Final = (TURN_START, TURN_RETAKE)  # the events that put messages into a view
_WHOLE_ROOM: Final = "room"
_RECENT: Final = "recent"
ENTRY_LISTS: Final = ("takes", "include", "doubted")  # what takes have ids of entries in
_WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The first entry of a turn.

    takes       ids of the messages that the turn shows: what was said before, then the question,
                with its parts and what its author added, in the order said
    include     ids of related messages, shown before `takes`
    whole_room  whether the view shows every lane, because one conversation fills the room
    dates       the lines that the view shows above the first message of each further day
    recent      whether `include` has the room's last messages, because conversations are not
                recognized well enough there
    doubted     those of `include` that are shown in case the conversation was not recognized
    """

    turn: str
    takes: tuple[int, ...] = ()
    include: tuple[int, ...] = ()
    whole_room: bool = False
    dates: tuple[str, ...] = ()
    recent: bool = False
    doubted: tuple[int, ...] = ()
    steered: ClassVar[bool] = False

    @property
    def shown(self) -> tuple[int, ...]:
        return (*self.include, *self.takes)

    def to_entry(self) -> NewEntry:
        # A file tape seals the bytes of each entry, so the keys must keep this order.
        data: dict[str, Any] = {"turn": self.turn}
        if self.include:
            data["include"] = list(self.include)
        if self.whole_room or self.recent:
            data["view"] = _WHOLE_ROOM if self.whole_room else _RECENT
        data["takes"] = list(self.takes)
        if self.dates:
            data["dates"] = list(self.dates)
        if self.doubted:
            data["doubted"] = list(self.doubted)
        return event(TURN_START, data)


@dataclass(frozen=True, slots=True)
class TurnRetake:
    """Shows a running turn its messages again after an overflow, or adds a `steered` question."""

    turn: str
    takes: tuple[int, ...] = ()
    steered: bool = False
    include: tuple[int, ...] = ()
    dates: tuple[str, ...] = ()
    whole_room: ClassVar[bool] = False
    recent: ClassVar[bool] = False
    doubted: ClassVar[tuple[int, ...]] = ()

    @property
    def shown(self) -> tuple[int, ...]:
        return (*self.include, *self.takes)

    def to_entry(self) -> NewEntry:
        data: dict[str, Any] = {"turn": self.turn, "takes": list(self.takes)}
        if self.include:
            data["include"] = list(self.include)
        if self.dates:
            data["dates"] = list(self.dates)
        return event(TURN_RETAKE, {**data, "steered": True} if self.steered else data)


def is_take(entry: Entry) -> bool:
    """Return whether an entry is an event that puts messages into a view."""
    return entry.kind == EVENT and entry.name in TAKES


def read_take(entry: Entry) -> TurnStart | TurnRetake:
    """Read an entry for which `is_take` holds; missing and unreadable fields become empty."""
    given = entry.payload.get("data")
    data: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    turn = str(data.get("turn", ""))
    takes, include = _ids(data.get("takes")), _ids(data.get("include"))
    dates = tuple(str(line) for line in data.get("dates") or ())
    if entry.name == TURN_START:
        view, doubted = data.get("view"), _ids(data.get("doubted"))
        whole, recent = view == _WHOLE_ROOM, view == _RECENT
        return TurnStart(turn, takes, include, whole, dates, recent, doubted)
    return TurnRetake(turn, takes, bool(data.get("steered")), include, dates)


def day_line(moment: str) -> str:
    """Return the line that a view shows above the messages of a day, or "" for no date."""
    try:
        day = parse_date(moment).date()
    except ValueError:
        return ""
    return f"{_WEEKDAYS[day.weekday()]} {day.isoformat()}"


def further_days(entries: Iterable[Entry], last: str = "") -> tuple[str, ...]:
    """Return the lines of the days that begin within the messages, after a day that was shown."""
    found: list[str] = []
    for entry in entries:
        day = _day_of(entry)
        if day and day != (found[-1] if found else last):
            found.append(day)
    return tuple(found)


class DayLines:
    """Places a take's lines above its messages, which must come in the order of the view."""

    def __init__(self, dates: tuple[str, ...]) -> None:
        self._left = list(dates)
        self._shown = ""

    def above(self, entry: Entry) -> str:
        """Return the line above a message, or ""."""
        day = _day_of(entry)
        begins = bool(self._left) and day == self._left[0] and day != self._shown
        self._shown = day or self._shown
        return self._left.pop(0) if begins else ""


def _day_of(entry: Entry) -> str:
    return day_line(str(entry.meta.get("said_at", ""))) if "said_at" in entry.meta else ""


def _ids(value: object) -> tuple[int, ...]:
    return tuple(one for one in value if type(one) is int) if isinstance(value, list) else ()
