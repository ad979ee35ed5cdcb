"""Lock the database, which two gateways with different home folders may share by mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gateway.errors import GatewayError, HomeInUse
from gateway.home import locked
from gateway.settings import Settings


@contextmanager
def database_locked(settings: Settings) -> Iterator[None]:
    """Lock a database outside the home folder, which two instances must not share."""
    path = Path(settings.tape.url.removeprefix("sqlite://").partition("?")[0])
    if not settings.tape.url.startswith("sqlite:") or path.parent == settings.home_path:
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(path.parent, f"{path.name}.lock"))
        except HomeInUse as cause:
            raise GatewayError(
                f"another gateway uses the database {path}: stop it first, or choose another file"
                " with TAPEWAY_TAPE__URL"
            ) from cause
        except GatewayError as cause:
            raise GatewayError(
                f"the database {path} cannot be used: make its folder writable, or choose another"
                " file with TAPEWAY_TAPE__URL"
            ) from cause
        yield
