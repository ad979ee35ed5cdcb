"""The count of one question's hops: in the files of the day that it began."""

from __future__ import annotations

from pathlib import Path

from bench.hops import Trace, add_names, read_names


def test_merging_files_changes_no_hop(tmp_path: Path) -> None:
    before = [("tape/entry.py", "Entry.of"), ("tape/payloads.py", "check"), ("new.py", "Late.of")]
    merged = [("tape/one.py", function) for _file, function in before[:2]] + before[2:]
    names = tmp_path / "names.txt"
    add_names(before[:2], names)
    add_names([*merged, ("tape/one.py", "Own.make"), ("tape/one.py", "<lambda>")], names)
    assert read_names(names) == {
        "Entry": ["tape/entry.py"],
        "check": ["tape/payloads.py"],
        "Late": ["new.py"],
        "Own": ["tape/one.py"],
    }
    counts = [Trace(calls).counts(read_names(names)) for calls in (before, merged)]
    assert counts[0] == counts[1]
    assert counts[0].file_changes == 2


def test_functions_of_one_name_in_several_files_count_where_they_are(tmp_path: Path) -> None:
    calls = [("tape/a.py", "_said"), ("tape/b.py", "_said"), ("tape/b.py", "_said")]
    add_names(calls, tmp_path / "names.txt")
    counts = Trace(calls).counts(read_names(tmp_path / "names.txt"))
    assert (counts.files, counts.file_changes) == (2, 1)
