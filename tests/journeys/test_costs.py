"""`cru session list --cost`, `cru session stats --cost` and `--check`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import toons

from crucible.core.prices.price_list import load_prices
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.running import Cru

PRICES = load_prices()
OPUS = PRICES.cost("claude-opus-4-8", "2026-11-21", {"input": 1_000_000, "output": 10_000}) or 0
HAIKU = PRICES.cost("claude-haiku-4-5", "2026-11-23", {"cache_write": 1_000_000, "cache_write_1h": 1_000_000}) or 0
SCOUT = PRICES.cost("claude-haiku-4-5", "2026-11-21", {"cache_read": 500_000}) or 0


def used(*lines: str) -> str:
    return "\n<!-- crucible\nusage:\n" + "".join(f'  - "{line}"\n' for line in lines) + "-->\n"


@pytest.fixture
def spent(vault: Vault) -> Vault:
    limiter = used(
        "2026-11-21 claude-opus-4-8: input 1000000, output 10000",
        "2026-11-23 claude-haiku-4-5: cache_write 1000000, cache_write_1h 1000000",
    )
    scout = used("2026-11-21 claude-haiku-4-5: cache_read 500000", "2026-11-21 mystery-1: input 7")
    times = {"started": "2026-11-21T10:00:00Z", "project": "shop"}
    write(vault, "limiter", note("limiter", limiter, **times, participants="[claude-code]"))
    write(vault, "limiter-scout", note("scout", scout, **times, parent='"[[limiter]]"', participants="[explore]"))
    write(vault, "old", note("old", used("2026-10-01 gpt-5: input 1000000"), started="2026-10-01T10:00:00Z"))
    return vault


def data(cru: Cru, *args: str) -> dict[str, object]:
    result = cru(*args, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_a_list_shows_and_sorts_costs_in_dollars_and_names_what_is_unpriced(spent: Vault, cru: Cru) -> None:
    shown = cru("session", "list", "--sort", "-cost").stdout.splitlines()
    assert shown[0].split()[-2:] == ["cost", "unpriced_models"]
    total = OPUS + HAIKU + SCOUT
    assert shown[1].split()[-2:] == [f"${total / 1_000_000:,.2f}", "mystery-1"]
    rows = data(cru, "session", "list", "--where", "cost > 5")["sessions"]
    assert [(row["id"], row["cost_usd_micros"], row["unpriced_models"]) for row in rows] == [  # type: ignore[attr-defined]
        ("limiter", total, ["mystery-1"])
    ]
    own = data(cru, "session", "list", "--children", "--cost", "--where", "parent != null")["sessions"]
    assert [row["cost_usd_micros"] for row in own] == [SCOUT]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("day", {"2026-11-23": HAIKU, "2026-11-21": OPUS + SCOUT, "2026-10-01": 1_250_000}),
        ("week", {"2026-W48": HAIKU, "2026-W47": OPUS + SCOUT, "2026-W40": 1_250_000}),
        ("month", {"2026-11": OPUS + SCOUT + HAIKU, "2026-10": 1_250_000}),
        ("project", {"shop": OPUS + SCOUT + HAIKU, None: 1_250_000}),
        ("model", {"claude-opus-4-8": OPUS, "claude-haiku-4-5": HAIKU + SCOUT, "gpt-5": 1_250_000, "mystery-1": None}),
        ("agent", {"claude-code": OPUS + HAIKU, None: 1_250_000, "explore": SCOUT}),
    ],
)
def test_costs_are_grouped_message_by_message(spent: Vault, cru: Cru, by: str, groups: dict[str, int]) -> None:
    found = data(cru, "session", "stats", "--cost", "--by", by)
    assert {one["name"]: one["cost_usd_micros"] for one in found["groups"]} == groups  # type: ignore[attr-defined]
    assert found["total"]["cost_usd_micros"] == OPUS + HAIKU + SCOUT + 1_250_000  # type: ignore[index]
    assert found["total"]["unpriced_models"] == [{"model": "mystery-1", "tokens": 7}]  # type: ignore[index]
    assert toons.loads(cru("session", "stats", "--cost", "--by", by, "--format", "toon").stdout)["groups"]


def test_a_table_says_what_its_figures_are(spent: Vault, cru: Cru) -> None:
    result = cru("session", "stats", "--cost", "--by", "model", "--since", "2026-11-21", "--until", "2026-11-21")
    assert result.exit_code == 0
    head, *_, total = result.stdout.splitlines()
    assert head.split() == ["model", "sessions", "input", "output", "cache", "read", "cost"]
    assert total.split()[-1] == f"${(OPUS + SCOUT) / 1_000_000:,.2f}"
    assert "List prices of" in result.stderr
    assert "Subscriptions are not considered" in result.stderr
    assert "unpriced: mystery-1, 7 tokens" in result.stderr


@pytest.mark.parametrize(("limit", "code"), [("100", 0), ("9.9", 0), ("0.01", 1)])
def test_a_budget_decides_the_exit_code(spent: Vault, cru: Cru, limit: str, code: int) -> None:
    result = cru("session", "stats", "--check", f"total <= {limit} USD")
    assert (result.exit_code, result.stdout.split()[0]) == (code, ("within", "over")[code])
    assert "unpriced: mystery-1" in result.stderr
    checked = json.loads(cru("session", "stats", "--check", f"total<=${limit}", "--json").stdout)["checks"]
    assert [one["is_within"] for one in checked] == [code == 0]


@pytest.mark.parametrize("budget", ["week", "year <= 5", "week < 5", "week <= five", "week <= 5 EUR"])
def test_what_is_no_budget_is_refused(spent: Vault, cru: Cru, budget: str) -> None:
    assert cru("session", "stats", "--check", budget).exit_code == 2


def test_a_budget_that_cannot_be_checked_is_not_one_that_is_exceeded(
    spent: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("")
    (tmp_path / "prices.toml").write_text('[[price]]\nmodel = "mystery-*"\ninput = 1\n')
    total = data(cru, "session", "stats", "--cost")["total"]
    assert (total["cost_usd_micros"], total["unpriced_models"]) == (OPUS + HAIKU + SCOUT + 1_250_007, [])  # type: ignore[index]
    (tmp_path / "prices.toml").write_text("[[price]]\nmodel = 5\n")
    result = cru("session", "stats", "--check", "total <= 5")
    assert (result.exit_code, "needs a `model`" in result.stderr) == (2, True)
    assert "costs cannot be shown until then" in cru("doctor").stdout


def test_costs_are_not_grouped_by_what_they_do_not_have(spent: Vault, cru: Cru) -> None:
    assert cru("session", "stats", "--cost", "--by", "phase").exit_code == 2
