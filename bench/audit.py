"""Ask an advisory service whether the pinned requirements have known vulnerabilities.

Without a way to the service, it says so in one line and ends well: nothing was checked. A mirror of
packages that has no advisories is no such service, although pip-audit calls its silence a success.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FILES: Final = ("requirements.txt", "requirements-dev.txt")
SECONDS: Final = 300
UNREACHED: Final = "no advisory source can be reached from here: nothing was checked"
_OPTIONS: Final = ("--disable-pip", "--require-hashes", "--progress-spinner=off", "--format=json")
_UNREACHED_MARKS: Final = (
    *("ConnectionError", "ConnectionFailed", "ServiceError", "Max retries", "timed out"),
    *("Connection refused", "Connection aborted", "Name or service not known", "HTTPError"),
)


def audit(command: Sequence[str] = (sys.executable, "-m", "pip_audit")) -> int:
    """Check each file; return 0 if nothing is known, or if nobody could be asked."""
    found = 0
    for name in FILES:
        asked = [*command, *_OPTIONS, "--requirement", str(ROOT / name)]
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
        if not done.stdout.strip():
            print(done.stderr.strip())
            return done.returncode or 1
        packages = json.loads(done.stdout)["dependencies"]
        checked = [one for one in packages if "skip_reason" not in one]
        if packages and not checked:
            print(UNREACHED)
            return 0
        bad = [one for one in checked if one["vulns"]]
        print(f"{name}: {len(checked)} of {len(packages)} packages checked, {len(bad)} vulnerable")
        for one in bad:
            ids = ", ".join(vulnerability["id"] for vulnerability in one["vulns"])
            print(f"  {one['name']} {one['version']}: {ids}")
        found = found or bool(bad)
    return int(found)


if __name__ == "__main__":
    sys.exit(audit())
