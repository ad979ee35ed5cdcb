"""Trees from rows, by gradient boosting; needs the extra `train`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from bench.linker.play import Rows


@dataclass(frozen=True, slots=True)
class Size:
    """How much a stage may learn; what is small stays fast in plain Python."""

    trees: int
    leaves: int
    rate: float = 0.12
    least: int = 100
    """Rows that a leaf stands for, at least."""


def boost(rows: Rows, size: Size, *, seed: int = 1) -> list[Any]:
    """Learn trees that tell the truth of a row; the same for the same rows and seed."""
    values = np.frombuffer(rows.values, dtype=np.float32).reshape(-1, rows.width)
    data = lightgbm.Dataset(
        values,
        label=np.frombuffer(rows.truth, dtype=np.float32),
        weight=np.frombuffer(rows.weight, dtype=np.float32),
        params={"max_bin": 127, "verbose": -1},
    )
    learned = lightgbm.train(_settings(size, seed), data, num_boost_round=size.trees)
    return [_tree(tree["tree_structure"]) for tree in learned.dump_model()["tree_info"]]


def _settings(size: Size, seed: int) -> dict[str, Any]:
    """Return the settings of the boosting."""
    return {
        "objective": "cross_entropy",
        "num_leaves": size.leaves,
        "learning_rate": size.rate,
        "min_data_in_leaf": size.least,
        "lambda_l2": 5.0,
        "feature_fraction": 0.7,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "seed": seed,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbose": -1,
    }


def _tree(node: dict[str, Any]) -> Any:
    """Return a tree in the form of `tape.linking.boosted_trees`, with four digits a leaf."""
    if "leaf_value" in node:
        return float(f"{node['leaf_value']:.4g}")
    limit = float(f"{node['threshold']:.6g}")
    low, high = _tree(node["left_child"]), _tree(node["right_child"])
    return [node["split_feature"], limit, low, high]
