"""Write the generated parts of docs/reference: `python -m tests.reference`."""

from __future__ import annotations

from gateway.logs import set_up_logs
from gateway.settings import LogSettings
from tests.reference.pages import FOLDER, PAGES, regenerated

set_up_logs(LogSettings(level="warning"))
for name in PAGES:
    (FOLDER / name).write_text(regenerated(name))
