"""Ask an advisory service whether the pinned requirements have known vulnerabilities.

Without a way to the service, it says so in one line and ends well: nothing was checked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FILES: Final = ("requirements.txt", "requirements-dev.txt")
SECONDS: Final = 120
UNREACHED: Final = "no advisory source can be reached from here: nothing was checked"
_UNREACHED_MARKS: Final = (
    *("ConnectionError", "ConnectionFailed", "ServiceError", "Max retries", "timed out"),
    *("Connection refused", "Connection aborted", "Name or service not known", "HTTPError"),
)


def audit(command: Sequence[str] = (sys.executable, "-m", "pip_audit")) -> int:
    """Check each file; return 0 if nothing is known, or if nobody could be asked."""
    found = 0
    for name in FILES:
        options = ("--disable-pip", "--require-hashes", "--progress-spinner", "off")
        asked = [*command, *options, "--requirement", str(ROOT / name)]
        try:
            done = subprocess.run(
                asked, capture_output=True, text=True, check=False, timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            print(UNREACHED)
            return 0
        if done.returncode and any(mark in done.stderr for mark in _UNREACHED_MARKS):
            print(UNREACHED)
            return 0
        print(f"{name}:\n{done.stdout}{done.stderr}".rstrip())
        found = found or done.returncode
    return found


if __name__ == "__main__":
    sys.exit(audit())
