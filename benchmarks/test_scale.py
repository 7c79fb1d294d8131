"""The tables of `docs/scale.md` are what `benchmarks.scale` prints."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scale import table


def test_the_page_has_the_table_that_is_computed() -> None:
    page = Path(__file__).parent.parent.joinpath("docs", "scale.md").read_text(encoding="utf-8")
    assert f"<!-- python -m benchmarks.scale -->\n{table(73_000_000)}<!-- end -->" in page
