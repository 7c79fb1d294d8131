"""`cru report`: what sessions came to since a day, by project."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from crucible.vault.notes.vault import Vault
from tests.running import Cru

NOW = datetime.now(UTC).replace(microsecond=0)


def write(vault: Vault, name: str, days: float, *, project: str = "shop", more: str = "", **findings: str) -> None:
    """A session of `days` ago with one item in its findings block for each of `findings`."""
    started = NOW - timedelta(days=days)
    rows = [f"> - {kind}: {text} (closing text, 0.9, row 1a2b{at})" for at, (kind, text) in enumerate(findings.items())]
    block = "\n".join(["> [!findings]- findings", *rows])
    vault.create(
        name,
        f"---\ntype: session\nsession_id: {name}\nstarted: {started.isoformat()}\nended: {started.isoformat()}\n"
        f"status: completed\nproject: {project}\n---\n\n# {name.title()}\n\n{block}\n\n{more}",
    )


@pytest.fixture
def sessions(vault: Vault) -> None:
    write(vault, "coupons", 0.01, outcome="Coupons expire", open_end="Shall they be renewed?")
    write(vault, "limits", 0.02, project="api", outcome="Requests are limited")
    write(vault, "old", 40, outcome="Long ago")


def test_it_lists_outcomes_decisions_and_open_ends_by_project(vault: Vault, cru: Cru, sessions: None) -> None:
    shown = cru("report", "--since", "yesterday")
    assert shown.exit_code == 0, shown.output
    day = f"{(NOW - timedelta(days=0.01)).astimezone():%a %Y-%m-%d}"
    rows = shown.stdout.split("\n")
    assert rows[:5] == ["api", "", f"  Limits ({day}, completed)", "    Done: Requests are limited", ""]
    assert rows[5:11] == [
        "shop",
        "",
        f"  Coupons ({day}, completed)",
        "    Done: Coupons expire",
        "    Open: Shall they be renewed?",
        "",
    ]


def test_it_is_markdown_and_json_too(vault: Vault, cru: Cru, sessions: None) -> None:
    markdown = cru("report", "--project", "shop", "--format", "markdown").stdout
    assert markdown.startswith("## shop\n\n### Coupons (")
    assert "\n- Done: Coupons expire\n- Open: Shall they be renewed?\n" in markdown
    [one] = json.loads(cru("report", "--project", "shop", "--format", "json").stdout)["sessions"]
    assert (one["session"], one["project"], one["outcomes"]) == (
        "coupons",
        "shop",
        [{"text": "Coupons expire", "finding": "outcome-1a2b0"}],
    )


def test_a_session_lists_a_few_lines_and_counts_the_rest(vault: Vault, cru: Cru) -> None:
    decisions = "".join(f"## P{at}\n\n> [!decision]\n> Chose number {at} of them\n\n" for at in range(5))
    write(vault, "many", 0.01, more=decisions)
    rows = cru("report").stdout.split("\n")
    assert [row.strip() for row in rows if "Decided" in row] == [
        "Decided: Chose number 3 of them",
        "Decided: Chose number 4 of them (and 3 more)",
    ]


def test_outcomes_with_a_commit_come_before_later_ones_without(vault: Vault, cru: Cru) -> None:
    write(vault, "many", 0.01)
    path = vault.root / "sessions" / "many.md"
    rows = [f"> - outcome: Commit {at} (commit, 0.97, row {at}a2b)" for at in range(3)]
    rows += [f"> - outcome: Talk {at} (closing text, 0.9, row {at}c2d)" for at in range(5)]
    path.write_text(
        path.read_text().replace("> [!findings]- findings\n", "\n".join(["> [!findings]- findings", *rows, ""]))
    )
    shown = [row.strip() for row in cru("report").stdout.split("\n") if "Done" in row]
    assert shown == ["Done: Commit 0", "Done: Commit 1", "Done: Commit 2", "Done: Talk 4 (and 4 more)"]


def test_what_a_session_left_open_is_open_then_if_others_followed(vault: Vault, cru: Cru) -> None:
    write(vault, "first", 0.9, open_end="Planned, not carried out: Refunds in several parts")
    assert "Open: Planned" in cru("report").stdout
    write(vault, "second", 0.5, outcome="Coupons expire")
    assert "Open then: Planned" in cru("report").stdout
    write(vault, "third", 0.1, outcome="Support refunds in parts")
    assert "Planned" not in cru("report").stdout


def test_what_was_done_before_the_report_begins_is_left_out(vault: Vault, cru: Cru) -> None:
    old, new = NOW - timedelta(days=30), NOW - timedelta(hours=1)
    vault.create(
        "long",
        f"---\ntype: session\nsession_id: long\nstarted: {old.isoformat()}\nstatus: active\n---\n\n# Long\n\n"
        f"## One\n\nstarted:: {old.isoformat()}\nended:: {old.isoformat()}\n\n> [!decision]\n> Use Redis\n\n"
        f"## Two\n\nstarted:: {new.isoformat()}\n\n> [!decision]\n> Use Postgres\n",
    )
    shown = cru("report").stdout
    assert ("Use Postgres" in shown, "Use Redis" in shown) == (True, False)
    assert "Use Redis" in cru("report", "--since", "40d").stdout


def test_nothing_to_report_is_said(cru: Cru) -> None:
    shown = cru("report")
    assert (shown.exit_code, shown.stdout, "Nothing to report" in shown.stderr) == (0, "", True)


def test_a_note_that_cannot_be_placed_in_time_is_counted(vault: Vault, cru: Cru, sessions: None) -> None:
    (vault.sessions / "broken.md").write_text("---\ntype: session\nfoo: [\n---\n", encoding="utf-8")
    shown = cru("report")
    assert (shown.exit_code, 'skipped without a start time: 1; see "cru session check"' in shown.stderr) == (3, True)
    assert "Coupons expire" in shown.stdout
