"""`cru statusline`: one line for Claude Code, whatever it sends."""

from __future__ import annotations

import io
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.integrations.hooks import status_line
from crucible.integrations.hooks.hook_log import LOG
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.running import Cru, CruProcess

STATE = {
    "hook_event_name": "Status",
    "session_id": "dc14014e-7082-433e-bd3b-39532f5458da",
    "model": {"id": "claude-opus-4-8", "display_name": "Opus"},
    "workspace": {"current_dir": "/tmp", "project_dir": "/tmp"},
    "cost": {"total_cost_usd": 0.01234, "total_duration_ms": 45000},
    "context_window": {"used_percentage": 8},
}


@pytest.fixture
def spent(vault: Vault, cru: Cru) -> Vault:
    today = datetime.now(UTC).date().isoformat()
    lines = f'  - "{today} claude-opus-4-8: input 1000000"\n  - "{today} mystery-1: input 3"\n'
    write(vault, "limiter", note("limiter", f"\n<!-- crucible\nusage:\n{lines}-->\n", started=f"{today}T00:00:00Z"))
    assert cru("session", "list").exit_code == 0
    return vault


def line_for(state: bytes, vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("CRUCIBLE_VAULT", str(vault.root))
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(tmp_path / "config.toml"))
    if not (tmp_path / "config.toml").exists():
        (tmp_path / "config.toml").write_text('timezone = "UTC"\n')
    given, printed = tmp_path / "in", tmp_path / "out"
    given.write_bytes(state)
    kept = os.dup(0), os.dup(1)
    ends = os.open(given, os.O_RDONLY), os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        for number, end in enumerate(ends):
            os.dup2(end, number)
        status_line.print_line()
    finally:
        for number, end in enumerate(kept):
            os.dup2(end, number)
            os.close(end)
            os.close(ends[number])
    return io.BytesIO(printed.read_bytes()).read().decode()


def test_it_shows_the_session_the_day_the_week_and_what_is_unpriced(
    spent: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    line = line_for(json.dumps(STATE).encode(), spent, monkeypatch, tmp_path)
    assert line == "$0.01 session | $5.00 today | $5.00 this week | unpriced: mystery-1\n"


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"cost": 5, "workspace": []}',
        b'{"cost": {"total_cost_usd": "1"}}',
        b'{"cost": {"total_cost_usd": 1e308}}',
        b'{"cost": {"total_cost_usd": NaN}}',
        b'{"cost": {"total_cost_usd": 1%s}}' % (b"0" * 400),
        b"{}",
    ],
)
def test_bad_input_still_gives_the_day_and_the_week(
    spent: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: bytes
) -> None:
    line = line_for(state, spent, monkeypatch, tmp_path)
    assert line == "$5.00 today | $5.00 this week | unpriced: mystery-1\n"


def test_a_kept_line_is_used_until_the_index_or_the_prices_change_and_holds_no_control_characters(
    spent: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = line_for(b"{}", spent, monkeypatch, tmp_path)
    kept = spent.root / status_line.CACHE
    kept.write_text(kept.read_text().replace("$5.00", "\x1b[31m$6.00\x07"))
    assert line_for(b"{}", spent, monkeypatch, tmp_path) == first.replace("$5.00", "[31m$6.00")
    (tmp_path / "prices.toml").write_text('[[price]]\nmodel = "mystery-*"\ninput = 1000000\n')
    assert line_for(b"{}", spent, monkeypatch, tmp_path) == "$8.00 today | $8.00 this week\n"
    until, _, rest = kept.read_text().partition("\n")
    assert int(until) > 0
    kept.write_text("0\n" + rest.replace("$8", "$9"))
    assert line_for(b"{}", spent, monkeypatch, tmp_path) == "$8.00 today | $8.00 this week\n"


def test_broken_prices_are_named_instead_of_the_costs_until_they_are_repaired(
    spent: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "prices.toml").write_text("[[price]\n")
    line = line_for(json.dumps(STATE).encode(), spent, monkeypatch, tmp_path)
    assert line == "$0.01 session | prices.toml has an error: cru doctor\n"
    (tmp_path / "prices.toml").write_text("")
    assert "$5.00 today" in line_for(b"{}", spent, monkeypatch, tmp_path)


def test_a_broken_index_blanks_only_its_part_and_is_logged(
    spent: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for file in (spent.root / ".crucible" / "index").rglob("usage.*"):
        file.write_bytes(b"broken")
    assert line_for(json.dumps(STATE).encode(), spent, monkeypatch, tmp_path) == "$0.01 session\n"
    assert "statusline: IndexBroken" in (spent.root / LOG).read_text()


def test_a_process_answers_and_exits_with_0_without_a_vault(cru_process: CruProcess) -> None:
    done = cru_process("statusline", input=json.dumps(STATE).encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"$0.01 session\n", b"")


def test_install_adds_the_line_and_removes_it_to_the_byte(
    bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "claude").mkdir()
    settings = tmp_path / "claude" / "settings.json"
    settings.write_text('{\n  "model": "opus"\n}\n')
    assert bare_cru("install", "claude-code", "--statusline").exit_code == 0
    assert json.loads(settings.read_text())["statusLine"]["command"].endswith("statusline")
    assert "still installed" in bare_cru("install", "claude-code", "--remove").stderr
    assert bare_cru("install", "claude-code", "--statusline", "--remove").exit_code == 0
    assert settings.read_text() == '{\n  "model": "opus"\n}\n'
    assert bare_cru("install", "codex", "--statusline").exit_code == 2
