"""The benchmark of explaining makes a home in which everything is found."""

from __future__ import annotations

from pathlib import Path

from bench.explain import figures_of, fill


async def test_every_message_of_a_small_home_is_explained(tmp_path: Path) -> None:
    messages = await fill(tmp_path, 2_000)
    figures = figures_of(tmp_path, messages, 2_000, runs=1)
    assert len(figures) == 12
    assert all(figure.value > 0 and figure.bar is None for figure in figures)
