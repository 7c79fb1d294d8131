"""What the benchmark of recall promises, at a size that takes seconds."""

from __future__ import annotations

from pathlib import Path

from benchmarks.recall import against_fts5


def test_the_index_is_smaller_than_its_text_and_one_session_more_writes_nothing_again(tmp_path: Path) -> None:
    found = against_fts5(tmp_path, 4_200, 3)
    assert found.rewritten == 0
    # Lists of a word's documents are long for what they hold where there are few documents: at 300,000 events it is under a half.
    assert found.size < found.text
    assert len(found.ours) == len(found.theirs) == 3
