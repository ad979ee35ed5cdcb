"""Gates of a process that hears from others which tokens a platform refuses."""

from __future__ import annotations

from dataclasses import dataclass, field

from channels.pacing import OwnGates


@dataclass(frozen=True)
class SharedKnowledge(OwnGates):
    """What all processes have found out about tokens."""

    refused: set[str] = field(default_factory=set)

    def refuse(self, token: str, *, refused: bool = True) -> None:
        (self.refused.add if refused else self.refused.discard)(token)

    def is_refused(self, token: str) -> bool:
        return token in self.refused
