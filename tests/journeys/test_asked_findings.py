"""`--with`: an agent is first asked what mattered in the command's sessions."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.analysis.review.reviewed_session import ID, found_in, keep, text_of
from tests.unit.analysis.review.test_session_review import played

AGENT = """
import json, re, sys
lines = [line for line in sys.stdin.read().split("\\n") if line.startswith("[")]
def ref(part):
    return next(int(line[1:line.index("]")]) for line in lines if part in line)
print(json.dumps({"findings": [
    {"kind": "environment", "text": "invoice.go is generated", "refs": [ref("template.go")]},
    {"kind": "outcome", "text": "Totals are rounded after the tax, so refunds are exact", "refs": [ref("A: Refunds")]},
    {"kind": "open", "text": "Whether credit notes change too was not answered", "refs": [ref("credit notes")]},
    {"kind": "decision", "text": "A claim without a line", "refs": []},
]}))
"""
DEAD = "import sys; sys.exit('no credit')"


def command(code: str) -> str:
    return shlex.join([sys.executable, "-S", "-c", code])


@pytest.fixture
def session(vault: Vault) -> str:
    keep(vault, played())
    return ID


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("history", "show", ID), "Totals are rounded after the tax, so refunds are exact"),
        (("knowledge", "capture", ID, "--dry-run"), "invoice.go is generated"),
        (("session", "brief", ID), ""),
        (("session", "codify", ID, "-o", "-"), ""),
        (("session", "learn", ID), ""),
        (("session", "end", ID), ""),
        (("briefing", "--project", ""), ""),
        (("report", "--since", "2026-11-01"), "Totals are rounded after the tax, so refunds are exact"),
    ],
)
def test_what_it_says_is_in_the_note_and_in_what_is_made_of_it(
    cru: Cru, vault: Vault, session: str, words: tuple[str, ...], shown: str
) -> None:
    result = cru(*words, "--with", command(AGENT))
    assert result.exit_code in (0, 1), result.stderr
    assert "asking what mattered" in result.stderr
    assert "python found 3 things, 1 more was dropped" in result.stderr.replace(Path(sys.executable).name, "python")
    assert "once: " in result.stderr
    assert shown in result.stdout
    assert sum(one.source.startswith("model ") for one in found_in(vault)) == 3
    (line,) = (vault.root / ".crucible/log/asked.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert (row["for"], row["session"]) == ("findings", session)


def test_a_dead_agent_costs_a_line(cru: Cru, vault: Vault, session: str) -> None:
    before = text_of(vault)
    result = cru("history", "show", session, "--with", command(DEAD))
    assert result.exit_code == 0
    assert "no credit" in result.stderr
    assert "Refunds are exact now" in result.stdout
    assert text_of(vault) == before


def test_of_several_sessions_those_without_news_are_left_out(cru: Cru, vault: Vault, session: str) -> None:
    again = text_of(vault).replace(ID, "2026-11-20-other")
    (vault.sessions / "2026-11-20-other.md").write_text(again)
    log = vault.root / ".crucible/log/asked.jsonl"
    silent = command("import sys; sys.stdin.read(); print('{\"findings\": []}')")
    for _ in range(2):
        report = cru("report", "--since", "2026-11-01", "--with", silent)
        assert report.exit_code == 0
        asked = [json.loads(line)["session"] for line in log.read_text().splitlines()]
        assert sorted(asked) == ["2026-11-20-other", session]
    assert "agent not asked about 2: nothing new since the last answer" in report.stderr


def test_a_history_that_was_written_is_brought_up_to_date(cru: Cru, vault: Vault, session: str) -> None:
    cru("session", "end", session)
    path = vault.root / "history" / f"{session}-history.md"
    assert "so refunds are exact" not in path.read_text()
    assert "so refunds are exact" in cru("history", "show", session, "--with", command(AGENT)).stdout
    assert "so refunds are exact" in path.read_text()


def test_default_is_the_agent_of_the_settings(
    cru: Cru, vault: Vault, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = cru("history", "show", session, "--with", "default")
    assert none.exit_code == 2
    assert "no agent is configured" in none.stderr
    config = tmp_path / "user.toml"
    config.write_text(f"[agents]\ncommand = {json.dumps(command(AGENT))}\n")
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(config))
    assert "found 3 things" in cru("history", "show", session, "--with", "default").stderr


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ('command = "claude \'x"', "No closing quotation"),
        ('command = "true"\ntokenizer = "/nowhere/t.json"', "/nowhere/t.json"),
    ],
)
def test_a_session_ends_with_its_history_whatever_is_wrong_with_the_agent_s_settings(
    cru: Cru,
    vault: Vault,
    session: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    problem: str,
) -> None:
    config = tmp_path / "user.toml"
    config.write_text(f"[agents]\nat_end = true\n{settings}\n")
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(config))
    result = cru("session", "end", session)
    assert result.exit_code == 0
    assert problem in result.stderr
    assert (vault.root / "history" / f"{session}-history.md").is_file()


def test_a_command_line_that_cannot_be_read_is_a_fault_of_usage(cru: Cru, session: str) -> None:
    result = cru("history", "show", session, "--with", "claude 'x")
    assert result.exit_code == 2
    assert "No closing quotation" in result.stderr


def subagent_of(vault: Vault) -> str:
    """The note of a subagent of the session."""
    path = vault.sessions / f"{ID}-helper.md"
    head = f'session_id: {path.stem}\nparent: "[[{ID}]]"'
    path.write_text(text_of(vault).replace(f"session_id: {ID}", head))
    return path.stem


@pytest.mark.usefixtures("session")
def test_of_a_subagent_s_session_it_is_said_that_nobody_was_asked(cru: Cru, vault: Vault) -> None:
    result = cru("history", "show", subagent_of(vault), "--with", command(AGENT))
    assert result.exit_code == 0
    assert "not asked: " in result.stderr
    assert not (vault.root / ".crucible/log/asked.jsonl").exists()


def test_a_session_with_subagents_is_one_session(cru: Cru, vault: Vault, session: str) -> None:
    subagent_of(vault)
    for _ in range(2):
        result = cru("session", "learn", session, "--with", command(AGENT))
        assert f"asking what mattered in {session} …" in result.stderr
        assert "found 3 things" in result.stderr


def test_where_there_is_no_session_nobody_is_asked_and_nothing_is_said_of_it(cru: Cru) -> None:
    result = cru("report", "--since", "2026-11-01", "--with", command(AGENT))
    assert result.exit_code == 0
    assert "asked" not in result.stderr
    assert "asking" not in result.stderr
