"""What was made of the blocks that were drawn last, so that one that has ended is drawn once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Keeps what was used last, up to a total size, for any thread; nobody may change a value."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Value | None:
        """Return what is kept for a key, or None."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value of a size; what was used longest ago gives way."""
        with self._lock:
            before = self._values.pop(key, None)
            self._size += size - (before[1] if before else 0)
            self._values[key] = (value, size)
            while self._size > self._most:
                _key, (_value, freed) = self._values.popitem(last=False)
                self._size -= freed

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._size = 0
