"""In whose line messages wait, where that is not the line of their session's own id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

_Chat = tuple[str, str]  # the account and the id of a chat


@dataclass(slots=True, eq=False)
class LineKeys:
    """What names a line, beside its session; it is forgotten with the line.

    Chats of which an earlier process left something over wait in the line in which that was found;
    the new id of a group waits behind the change that says so.
    """

    _found: dict[_Chat, str] = field(default_factory=dict)
    _moved: dict[str, str] = field(default_factory=dict)  # new sessions: lines of their changes
    _names: dict[str, list[str | _Chat]] = field(default_factory=dict)  # of each line
    _coming: dict[str, int] = field(default_factory=dict)  # changes that are not in their line yet

    def __len__(self) -> int:
        """Return how many names are kept."""
        return len(self._found) + len(self._moved) + len(self._names) + len(self._coming)

    def of(self, session_id: str) -> str:
        """Return the line of a session."""
        return self._moved.get(session_id, session_id)

    def of_chat(self, account_id: str, chat_id: str) -> str:
        """Return the line in which a chat was found, or ""."""
        return self._found.get((account_id, chat_id), "")

    def find(self, account_id: str, chat_id: str, key: str) -> None:
        """Have a chat wait in a line from now on."""
        self._found[account_id, chat_id] = key
        self._names.setdefault(key, []).append((account_id, chat_id))

    def move(self, session_id: str, key: str) -> None:
        """Have a new session wait in a line, with what waits in its own."""
        self._moved[session_id] = key
        names = self._names.pop(session_id, [])
        for name in names:
            self._set(name, key)
        self._names.setdefault(key, []).extend([session_id, *names])

    def expect(self, session_id: str, change: int) -> None:
        """Keep the line of a new session until the row of its change came into it."""
        self._coming[session_id] = change

    def came(self, session_id: str, change: int) -> None:
        """Note that the row of a change is in its line, or will never be."""
        if self._coming.get(session_id) == change:
            del self._coming[session_id]

    def forget(self, keys: Iterable[str]) -> None:
        """Forget what names lines that are gone."""
        for key in keys:
            kept = [one for one in self._names.pop(key, ()) if not self._drop(one, key)]
            if kept:
                self._names[key] = kept

    def _set(self, name: str | _Chat, key: str) -> None:
        if isinstance(name, str):
            self._moved[name] = key
        else:
            self._found[name] = key

    def _drop(self, name: str | _Chat, key: str) -> bool:
        if isinstance(name, str):
            if name in self._coming:
                return False
            if self._moved.get(name) == key:
                del self._moved[name]
        elif self._found.get(name) == key:
            del self._found[name]
        return True
