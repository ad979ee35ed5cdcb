"""A plugin as an outsider would write one: a class, and an object of one."""

from __future__ import annotations

from typing import Any

from gateway.hooks.specs import hookimpl


class Sample:
    """Names a session."""

    @hookimpl
    def resolve_session(self, message: Any) -> str:
        return "sample"


OBJECT = Sample()
