"""No prompt shows more foreign text than the user allows."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.review.agent_questions import Budget, budget_of
from crucible.core.settings.settings import AgentSettings, load_vault_settings, read_user_settings
from crucible.core.tokens import Estimate


def test_a_text_within_the_budget_is_shown_whole() -> None:
    assert Budget(100).fit("word " * 50) == "word " * 50


def test_a_longer_text_keeps_its_head_and_tail() -> None:
    found = Budget(100).fit("first " + "word " * 5000 + "last")
    assert found.startswith("first ")
    assert found.endswith(" last")
    assert "characters left out" in found


@given(st.text(max_size=3000), st.integers(1, 200), st.integers(1, 5))
def test_a_shown_text_never_exceeds_its_share(text: str, tokens: int, parts: int) -> None:
    assert Estimate().count(Budget(tokens).fit(text, parts)) <= max(1, tokens // parts)


def test_a_huge_text_is_cut_before_it_is_counted() -> None:
    seen: list[int] = []

    class Counts:
        def count(self, text: str) -> int:
            seen.append(len(text))
            return len(text) // 4

    assert Budget(10, Counts()).fit("x" * 10_000_000)
    assert max(seen) < 1000


def test_the_default_budget_is_6000_tokens() -> None:
    assert budget_of(AgentSettings()).tokens == Budget().tokens == 6000
    text = "[agents]\nbudget_tokens = 900\nat_end = true\n"
    agents = read_user_settings(text, "config.toml", "/home/me").agents
    assert (budget_of(agents).tokens, agents.at_end) == (900, True)


def test_no_agent_is_asked_at_a_sessions_end_by_default() -> None:
    assert not AgentSettings().at_end
    assert not read_user_settings("", "config.toml", "/home/me").agents.at_end


def test_a_vaults_settings_cannot_choose_agent_time_or_budget(tmp_path: Path) -> None:
    path = tmp_path / ".crucible/config.toml"
    path.parent.mkdir()
    path.write_text('[agents]\nat_end = true\nbudget_tokens = 9\ncommand = "x"\n')
    settings = load_vault_settings(tmp_path, accepts=lambda *_: True)
    assert not hasattr(settings, "agents")
    assert any("agents" in line for line in settings.warnings)
