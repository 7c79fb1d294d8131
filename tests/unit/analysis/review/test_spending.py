"""Costs are read back, whatever the file's content."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.client import Answer
from crucible.vault.logs.spending import Spending, keep_answer, spent_since
from crucible.vault.notes.init_vault import init_vault

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
ANSWER = Answer("text", "haiku", 0.25, 1000, 50, 10)


def test_only_answers_since_then_count(tmp_path: Path) -> None:
    for days in (40, 2, 1):
        keep_answer(tmp_path, ANSWER, now=NOW - timedelta(days=days), purpose="findings")
    assert spent_since(tmp_path, NOW - timedelta(days=30)) == Spending(2, 2000, 100, 0.5, 0)


def test_a_vault_without_answers_has_no_spending(tmp_path: Path) -> None:
    assert spent_since(tmp_path, NOW) == Spending()


def test_an_answer_without_a_price_counts_as_unpriced(tmp_path: Path) -> None:
    keep_answer(tmp_path, Answer("text"), now=NOW, purpose="tasks")
    keep_answer(tmp_path, ANSWER, now=NOW, purpose="tasks")
    assert spent_since(tmp_path, NOW) == Spending(2, 1000, 50, 0.25, 1)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[1]",
        "null",
        '{"time": "2026-11-23T13:00:00Z"}{',
        '{"time": "yesterday", "for": "tasks"}',
        '{"for": "tasks"}',
        '{"time": "2026-11-23T13:00:00Z", "for": "tasks", "tokens_in": -1}',
        '{"time": "2026-11-23T13:00:00Z", "for": "tasks", "tokens_in": true}',
        '{"time": "2026-11-23T13:00:00Z", "for": "tasks", "tokens_out": "many"}',
        '{"time": "2026-11-23T13:00:00Z", "for": "tasks", "cost_usd": "1"}',
        '{"time": "2026-11-23T13:00:00Z", "for": "tasks", "cost_usd": 1e300}',
        '{"time": "2026-11-23T13:00:00Z", "for": 7, "cost_usd": 1}',
        '{"time": "2026-11-23T13:00:00Z", "for": "tasks", "cost_usd": NaN}',
    ],
)
def test_a_torn_or_foreign_line_is_skipped(tmp_path: Path, line: str) -> None:
    keep_answer(tmp_path, ANSWER, now=NOW, purpose="tasks")
    path = tmp_path / ".crucible/log/asked.jsonl"
    path.write_text(path.read_text() + line)
    keep_answer(tmp_path, ANSWER, now=NOW + timedelta(seconds=1), purpose="tasks")
    assert spent_since(tmp_path, NOW).count == 2


@given(st.binary(max_size=300))
def test_no_file_content_raises(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    root = tmp_path_factory.mktemp("vault")
    path = root / ".crucible/log/asked.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert spent_since(root, NOW).count >= 0


def test_names_are_kept_whatever_they_hold(tmp_path: Path) -> None:
    keep_answer(tmp_path, Answer("t", "\ud800" + "m" * 9000), now=NOW, purpose="tasks", session="\udfff")
    assert spent_since(tmp_path, NOW).count == 1
    assert (tmp_path / ".crucible/log/asked.jsonl").stat().st_size < 1000


def test_git_ignores_the_spending_log(tmp_path: Path) -> None:
    init_vault(tmp_path)
    keep_answer(tmp_path, ANSWER, now=NOW, purpose="tasks")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "check-ignore", "-q", ".crucible/log/asked.jsonl"], cwd=tmp_path, check=True)
