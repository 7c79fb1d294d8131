"""Adding to a long session costs what adding to a short one costs; `benchmarks/recording.py` holds the bar itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.recording import PHASES, api_times, build, ratio


@pytest.mark.timed
def test_adding_to_two_thousand_phases_costs_hardly_more_than_adding_to_one(tmp_path: Path) -> None:
    vault = build(tmp_path / "vault", PHASES)
    # The bar is 1.3 on an idle machine; reading the whole note would make it 20.
    assert min(ratio(api_times(vault, 12)) for _ in range(3)) < 3
