"""Prometheus' files and Grafana's dashboard name metrics and labels that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gateway.metrics.catalog import OWN, PROCESS

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "reference" / "metrics.md").read_text()
SCRAPED = {"job", "instance"}
"""Labels that Prometheus adds to every sample."""

NAME = re.compile(r"\b(?:tapeway_|process_|up\b)\w*")
LABELS = re.compile(r"\bby \(([^)]*)\)|\{([^}]*)\}")


def samples() -> dict[str, set[str]]:
    """Return the labels of every sample that a scrape has."""
    found = {"up": set[str]()}
    for metric in (*OWN, *PROCESS):
        labels = set(metric.labels)
        if metric.kind == "histogram":
            found |= {f"{metric.name}{suffix}": labels for suffix in ("_sum", "_count")}
            found[f"{metric.name}_bucket"] = labels | {"le"}
        else:
            found[metric.name] = labels
    return found


def read(path: str) -> Any:
    return YAML(typ="safe").load(DEPLOY / path)


def alerts() -> list[dict[str, Any]]:
    return [rule for group in read("prometheus-rules.yml")["groups"] for rule in group["rules"]]


def queries() -> Iterator[tuple[str, str]]:
    """Yield every query, with the text in which its labels are shown."""
    dashboard = json.loads((DEPLOY / "grafana" / "tapeway.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"], target["legendFormat"]
    for alert in alerts():
        yield (
            alert["expr"],
            alert["annotations"]["summary"].replace("$labels.", "").replace(" ", ""),
        )


def used_labels(query: str, legend: str) -> set[str]:
    named = {
        re.split("!?=", label)[0].strip()
        for groups in LABELS.findall(query)
        for label in ",".join(filter(None, groups)).split(",")
    }
    return named | set(re.findall(r"\{\{(\w+)\}\}", legend))


@pytest.mark.parametrize(("query", "legend"), list(queries()))
def test_a_query_names_metrics_and_labels_that_exist(query: str, legend: str) -> None:
    known = samples()
    names = NAME.findall(query)
    assert names
    assert [name for name in names if name not in known] == []
    labels = SCRAPED.union(*(known[name] for name in names))
    assert used_labels(query, legend) - labels == set()


def test_the_dashboard_shows_every_metric_of_the_gateway() -> None:
    shown = " ".join(query for query, _legend in queries())
    assert [metric.name for metric in OWN if metric.name not in shown] == []


def test_prometheus_scrapes_metrics_with_the_token_and_reads_the_rules() -> None:
    config = read("prometheus.yml")
    (job,) = config["scrape_configs"]
    assert job["metrics_path"] == "/metrics"
    assert job["authorization"]["credentials_file"].endswith("/http-token")
    assert all((DEPLOY / name).is_file() for name in config["rule_files"])
    assert all(f'job="{job["job_name"]}"' in query for query, _ in queries() if "process_" in query)


def test_the_page_lists_the_alerts_and_each_says_what_to_do() -> None:
    assert re.findall(r"^\| `(Tapeway\w+)`", PAGE, re.MULTILINE) == [
        one["alert"] for one in alerts()
    ]
    assert all(one["annotations"]["remedy"] for one in alerts())


def test_compose_mounts_the_dashboard_its_data_source_and_the_rules() -> None:
    compose = YAML(typ="safe").load(ROOT / "docker-compose.yml")
    services = compose["services"]
    mounts = [*services["grafana"]["volumes"], *services["prometheus"]["volumes"]]
    mounted = {mount.split(":")[0].removeprefix("./") for mount in mounts if mount[0] == "."}
    monitoring = [*(DEPLOY / "grafana").rglob("*.*"), DEPLOY / "prometheus-rules.yml"]
    assert mounted == {str(path.relative_to(ROOT)) for path in monitoring if path.is_file()}
    inline = YAML(typ="safe").load(compose["configs"]["prometheus"]["content"])
    assert inline["rule_files"] == ["prometheus-rules.yml"]
    (source,) = read("grafana/provisioning/datasources/prometheus.yml")["datasources"]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)


def test_nobody_is_alerted_of_a_channel_that_was_turned_off() -> None:
    asked = [query for query, _legend in queries() if "tapeway_inbox_oldest_seconds" in query]
    assert len(asked) == 2
    assert all('tapeway_inbox_oldest_seconds{channel!="other"}' in query for query in asked)


def test_the_version_is_shown_and_not_the_one_that_every_build_info_is() -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "tapeway.json").read_text())
    [panel] = [one for one in dashboard["panels"] if one["title"] == "Version"]
    assert panel["options"]["textMode"] == "name"
