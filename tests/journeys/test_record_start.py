"""`cru record start`, `pause` and `end`."""

from __future__ import annotations

import json
import re

import pytest

from crucible.documents.session.session import Prose, Status
from crucible.vault.notes.vault import Vault
from tests.running import Cru, CruProcess


def started(cru: Cru, *args: str) -> str:
    done = cru("record", "start", *args)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout.removesuffix("\n")


def test_the_id_alone_is_printed_and_the_note_is_there(cru: Cru, vault: Vault) -> None:
    name = started(cru, "Fix the retry bug", "--agent", "a@1", "--model", "m", "--channel", "dev", "--project", "shop")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-fix-retry-bug", name)
    session = vault.load(name).session
    assert (session.status, session.title, session.model) == (Status.ACTIVE, "Fix the retry bug", "m")
    assert (session.channel, session.project, str(session.participants[0])) == ("dev", "shop", "a@1")
    text = vault.load(name).source.text
    for key in ("type: session", f"session_id: {name}", "started: ", "status: active", "channel: dev"):
        assert f"\n{key}" in text
    assert "## Summary" not in text


def test_a_shell_exports_what_is_printed(vault: Vault, cru_process: CruProcess) -> None:
    env = {"CRUCIBLE_VAULT": str(vault.root)}
    name = cru_process("record", "start", "Fix it", env=env).stdout.decode().strip()
    assert cru_process("record", "milestone", "done", env={**env, "CRU_SESSION": name}).returncode == 0
    assert cru_process("session", "end", env={**env, "CRU_SESSION": name}).returncode == 0
    assert vault.load(name).session.status is Status.COMPLETED


def test_json_has_the_id_and_the_path(cru: Cru, vault: Vault) -> None:
    told = json.loads(started(cru, "A", "--format", "json"))
    assert told == {"schema": 1, "id": told["id"], "path": str(vault.sessions / f"{told['id']}.md")}


def test_the_goal_is_under_the_title(cru: Cru, vault: Vault) -> None:
    session = vault.load(started(cru, "A", "--goal", "## Why\n\nnot")).session
    assert session.preamble == (Prose("## Why\n\nnot"),)
    assert not session.phases


def test_the_time_can_be_given(cru: Cru) -> None:
    assert started(cru, "A b", "--at", "2026-01-02T12:00:00Z") == "2026-01-02-b"


def test_a_session_goes_on_from_another(cru: Cru, vault: Vault) -> None:
    first = started(cru, "First")
    second = started(cru, "Second", "--continues", first)
    assert vault.load(second).session.continues == first
    assert vault.load(first).session.continued_by == second
    assert cru("session", "check").exit_code == 0


def test_a_session_has_a_parent_that_names_it(cru: Cru, vault: Vault) -> None:
    parent = started(cru, "First")
    child = started(cru, "Second", "--parent", parent, "--agent", "scout@1")
    assert vault.load(child).session.parent == parent
    assert [ref.session for ref in vault.load(parent).session.subagents] == [child]
    assert cru("session", "check").exit_code == 0


@pytest.mark.parametrize("option", ["--parent", "--continues"])
def test_another_session_that_is_not_there_is_an_error_and_no_note(cru: Cru, vault: Vault, option: str) -> None:
    done = cru("record", "start", "A", option, "2026-01-01-none")
    assert (done.exit_code, done.stdout) == (1, "")
    assert not vault.session_paths()


def test_a_pause_says_where_and_why_and_the_next_word_ends_it(cru: Cru, vault: Vault) -> None:
    name = started(cru, "A")
    env = {"CRU_SESSION": name}
    cru("record", "phase", "One", env=env)
    cru("record", "phase", "Two", env=env)
    done = cru("session", "pause", "--reason", "waiting\nfor keys", env=env)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f'paused {name} at phase-2; resume it with "cru session resume {name}"\n'
    session = vault.load(name).session
    assert (session.status, session.resume_point, session.pause_reason) == (
        Status.PAUSED,
        "phase-2",
        "waiting⏎for keys",
    )
    cru("record", "milestone", "back", env=env)
    session = vault.load(name).session
    assert (session.status, session.resume_point, session.pause_reason) == (Status.ACTIVE, None, None)


def test_a_pause_before_the_first_phase_has_no_place_to_resume(cru: Cru, vault: Vault) -> None:
    name = started(cru, "A")
    assert cru("session", "pause", name).exit_code == 0
    assert (vault.load(name).session.status, vault.load(name).session.resume_point) == (Status.PAUSED, None)


def test_an_end_has_a_time_a_status_and_a_summary(cru: Cru, vault: Vault) -> None:
    name = started(cru, "A", "--at", "2026-01-02T12:00:00Z")
    cru("record", "phase", "One", "--session", name, "--at", "2026-01-02T12:01:00Z")
    done = cru("session", "end", name, "--summary", "All\n\n## good", "--at", "2026-01-02T13:00:00Z")
    assert (done.exit_code, done.output) == (0, f"history/{name}-history.md\n")
    session = vault.load(name).session
    assert (session.status, session.summary, len(session.phases)) == (Status.COMPLETED, "All\n\n## good", 1)
    assert session.ended is not None
    assert session.ended.isoformat() == "2026-01-02T13:00:00+00:00"
    assert session.phases[0].ended == session.ended
    again = cru("session", "end", name, "--failed")
    assert (again.exit_code, "it is completed" in again.stderr) == (1, True)


def test_an_end_may_be_a_failure(cru: Cru, vault: Vault) -> None:
    name = started(cru, "A")
    cru("session", "end", name, "--failed")
    assert vault.load(name).session.status is Status.FAILED


def test_a_list_knows_it_at_once(cru: Cru) -> None:
    name = started(cru, "A")
    assert name in cru("session", "list", "--status", "active").stdout
    cru("session", "end", name)
    assert name in cru("session", "list", "--status", "completed").stdout


def test_a_title_that_is_a_secret_is_in_no_file_s_name(cru: Cru, vault: Vault) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    name = started(cru, f"Use {token}")
    assert "a1b2c3" not in name
    assert token not in vault.load(name).source.text
    assert vault.load(name).session.redactions == 1


def test_another_session_is_named_by_the_beginning_of_its_id(cru: Cru, vault: Vault) -> None:
    first = started(cru, "A long title of the first one")
    second = started(cru, "Quite another", "--continues", first[:-9])
    assert vault.load(second).session.continues == first
    assert vault.load(first).session.continued_by == second
    child = started(cru, "C", "--parent", second[:-4])
    assert vault.load(child).session.parent == second
