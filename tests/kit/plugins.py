"""Plugins as somebody installs them."""

from __future__ import annotations

from pathlib import Path


def distribution(folder: Path, plugin: str) -> Path:
    """Create the folder of an installed distribution that brings a plugin."""
    info = folder / "tapeway_tried-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tapeway-tried\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[tapeway]\ntried = {plugin}\n")
    return folder
