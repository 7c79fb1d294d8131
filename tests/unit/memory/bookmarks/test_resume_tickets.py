from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import find_resume_mark, resume_mark
from crucible.commands.check.check_secrets import check_secrets
from crucible.core.errors import BadSessionId
from crucible.core.secrets import Scanner
from crucible.memory.bookmarks.resume_tickets import find_ticket, has_tickets, issue_ticket
from crucible.vault.notes.vault import Vault
from tests.git_repositories import commit, git

NOW = datetime(2026, 11, 21, 20, 26, 47, 123456, tzinfo=UTC)
NATIVE = "e70837d4-3e31-41c1-b03b-523de090f5e0"


def _file(root: Path) -> Path:
    return root / ".crucible" / "memory" / "resumes.jsonl"


def test_a_ticket_that_was_issued_is_found_again(vault: Vault) -> None:
    assert not has_tickets(vault.root)
    one = issue_ticket(vault.root, "2026-11-21-x", "codex", NOW, native=NATIVE, phase="Tests")
    two = issue_ticket(vault.root, "2026-11-21-x", "claude", NOW)
    assert has_tickets(vault.root)
    assert find_ticket(vault.root, one.token) == one
    assert find_ticket(vault.root, two.token) == two
    assert (one.native, one.phase, two.native, two.phase) == (NATIVE, "Tests", "", "")


@pytest.mark.parametrize("token", ["", "x", "a\nb", '"', "*" * 12, "a" * 12, "b" * 500, "../../etc", "é" * 12])
def test_a_token_that_was_never_issued_is_none(vault: Vault, token: str) -> None:
    issue_ticket(vault.root, "2026-11-21-x", "codex", NOW)
    assert find_ticket(vault.root, token) is None


def test_a_part_of_a_token_is_none(vault: Vault) -> None:
    one = issue_ticket(vault.root, "2026-11-21-x", "codex", NOW)
    assert find_ticket(vault.root, one.token[:-1]) is None
    assert find_ticket(vault.root, one.token[7:]) is None


def test_a_token_is_not_redacted_as_a_secret(vault: Vault) -> None:
    scanner = Scanner(vault.settings.secrets)
    for _ in range(200):
        token = issue_ticket(vault.root, "2026-11-21-x", "codex", NOW, native=NATIVE, fsync=False).token
        prompt = f"{resume_mark('2026-11-21-x', token)}\nGo on."
        assert scanner.redact(prompt)[0] == prompt
        assert find_resume_mark(prompt) == ("2026-11-21-x", token)
    assert check_secrets(vault) == []


def test_a_second_line_with_the_same_token_changes_nothing(vault: Vault) -> None:
    one = issue_ticket(vault.root, "2026-11-21-x", "codex", NOW)
    forged = _file(vault.root).read_bytes().replace(b"2026-11-21-x", b"2026-11-21-y").replace(b"T20:26", b"T20:27")
    with _file(vault.root).open("ab") as file:
        file.write(forged)
    assert find_ticket(vault.root, one.token) == one


def test_tickets_of_two_branches_are_merged_by_git(vault: Vault) -> None:
    root = vault.root
    git(root, "init", "-q", "-b", "main")
    commit(root)
    git(root, "checkout", "-qb", "other")
    one = issue_ticket(root, "2026-11-21-x", "codex", NOW)
    commit(root)
    git(root, "checkout", "-q", "main")
    two = issue_ticket(root, "2026-11-21-y", "codex", NOW + timedelta(hours=1))
    commit(root)
    git(root, "merge", "-q", "--no-edit", "other")
    assert (find_ticket(root, one.token), find_ticket(root, two.token)) == (one, two)


def test_a_bad_id_gets_no_ticket(vault: Vault) -> None:
    with pytest.raises(BadSessionId):
        issue_ticket(vault.root, "../x", "codex", NOW)
    assert not has_tickets(vault.root)


def test_a_hostile_clients_name_stays_on_its_line(vault: Vault) -> None:
    one = issue_ticket(vault.root, "2026-11-21-x", "my\ncommand \x1b[31m'x'", NOW, phase="a\n## b")
    assert find_ticket(vault.root, one.token) == one
    assert (one.client, one.phase) == ("my command 'x'", "a ## b")
