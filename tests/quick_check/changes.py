"""What changed, by Git."""

from __future__ import annotations

import subprocess
from pathlib import Path


def changed_files(root: Path, since: str = "") -> list[str]:
    """Return the files that differ from a revision, and the new ones that Git does not ignore.

    Without a revision, everything since the branch left main counts. On main itself, and on a
    branch without a commit of its own, what is not committed counts, or else the last commit.
    """
    base = since or _branched_at(root)
    if not base:
        return _compared(root, "HEAD") or _compared(root, "HEAD~1")
    return _compared(root, base)


def _branched_at(root: Path) -> str:
    """Return the last commit of main that HEAD has; nothing if that is HEAD."""
    head = _git(root, "rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        if _git(root, "rev-parse", "--verify", "--quiet", main, check=False):
            base = _git(root, "merge-base", main, "HEAD", check=False)
            return "" if base == head else base
    return ""


def _compared(root: Path, base: str) -> list[str]:
    found = _git(root, "diff", "--name-only", "--no-renames", base, check=base != "HEAD~1")
    fresh = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*found.splitlines(), *fresh.splitlines()})


def _git(root: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    if check and done.returncode != 0:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip() if done.returncode == 0 else ""
