"""Over a growing vault a briefing keeps its budget and always tells where the work stands; `python -m tests.unit.commands.briefing.growing` looks at 500."""

from __future__ import annotations

from pathlib import Path

from tests.unit.commands.briefing.growing import faults


def test_every_briefing_keeps_its_budget_and_its_position(tmp_path: Path) -> None:
    assert [*faults(tmp_path, 14)] == []
