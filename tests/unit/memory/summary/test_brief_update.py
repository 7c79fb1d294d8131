"""Updating a note's brief: when it is due, and after a failure."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from crucible.core.errors import SessionNotFound
from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from crucible.memory.summary.brief import BriefUpdate, find_brief
from crucible.memory.summary.brief_updates import renew_brief, update_brief, update_briefs
from crucible.vault.notes.vault import Vault

ID = "2026-11-21-add"
TOKEN = "ghp_" + "a1B2" * 9
REDACT = Scanner(SecretSettings()).redact


def note(*phases: str, status: str = "active", head: str = "# Add a limiter\n\nWhat for.\n") -> str:
    body = "\n---\n\n".join(f'## {p} @claude-code\n\n> [!user]\n> "do {p}"\n\nDid {p}.\n' for p in phases)
    return (
        f"---\ntype: session\nsession_id: {ID}\nstarted: 2026-11-21T20:00:00Z\nstatus: {status}\n---\n\n{head}\n{body}"
    )


def update(vault: Vault) -> BriefUpdate:
    return update_brief(vault, ID, redact=REDACT)


def text_of(vault: Vault) -> str:
    return (vault.sessions / f"{ID}.md").read_bytes().decode()


def put(vault: Vault, text: str) -> None:
    (vault.sessions / f"{ID}.md").write_bytes(text.encode())


def test_the_running_phase_is_not_covered_and_the_ones_before_are(vault: Vault) -> None:
    put(vault, note("One"))
    assert update(vault) == BriefUpdate(None)
    assert text_of(vault) == note("One")
    put(vault, note("One", "Two", "Three"))
    done = update(vault)
    assert done.changed
    assert done.brief
    assert done.brief.covers == 'phase-2 "Two"'
    assert done.brief.text == "**Results**\n- One: Did One.\n- Two: Did Two."


def test_a_second_update_changes_nothing(vault: Vault) -> None:
    put(vault, note("One", "Two"))
    update(vault)
    before, when = text_of(vault), (vault.sessions / f"{ID}.md").stat().st_mtime_ns
    done = update(vault)
    assert not done.changed
    assert done.brief == find_brief(vault.load(ID).session)
    assert (text_of(vault), (vault.sessions / f"{ID}.md").stat().st_mtime_ns) == (before, when)


def test_an_ended_sessions_last_phase_is_covered(vault: Vault) -> None:
    put(vault, note("One", status="completed"))
    done = update(vault)
    assert done.brief
    assert done.brief.covers == 'phase-1 "One"'


def test_a_users_edit_stays_and_is_extended(vault: Vault) -> None:
    put(vault, note("One", "Two"))
    update(vault)
    put(
        vault,
        text_of(vault).replace("> - One: Did One.", "> - One: it failed, in truth.\n") + "\n---\n\n## Three\n\nx\n",
    )
    done = update(vault)
    assert done.brief
    assert "- One: it failed, in truth.\n- Two: Did Two." in done.brief.text


def test_a_renamed_added_and_removed_phase_loses_nothing(vault: Vault) -> None:
    put(vault, note("One", "Two", "Three"))
    update(vault)
    brief = text_of(vault)[: text_of(vault).index("## One")]
    put(vault, brief + note("New", "One", "Two", "Three", "Four").partition("What for.\n\n")[2])
    done = update(vault)
    assert done.brief
    assert done.brief.covers == 'phase-4 "Three"'
    assert done.brief.text.count("Two: Did Two.") == 1


def test_a_note_that_is_not_there_is_an_error(vault: Vault) -> None:
    with pytest.raises(SessionNotFound):
        update(vault)


def test_a_brief_that_would_not_read_back_is_reported_and_not_written(vault: Vault) -> None:
    put(vault, note("One", "Two", head="# T\n\n> [!abstract] Brief\n> Mine.\nhanging\n"))
    before = text_of(vault)
    done = update(vault)
    assert text_of(vault) == before
    assert not done.changed
    assert f"{ID}: its brief was not changed: {ID}:12: this line continues" in done.problem


def test_no_secret_reaches_a_brief(vault: Vault) -> None:
    put(vault, note("One", "Two").replace("Did One.", f"The token is {TOKEN} now."))
    done = update(vault)
    assert done.brief
    assert TOKEN not in done.brief.text
    put(vault, note(f"Use {TOKEN}", "Two"))
    done = update(vault)
    assert done.brief
    assert TOKEN not in str(done.brief)
    assert not update(vault).changed


def test_where_secrets_cannot_be_looked_for_nothing_is_written(vault: Vault) -> None:
    def broken(text: str) -> tuple[str, Mapping[str, int]]:
        raise RuntimeError(f"rule of {len(text)}")

    put(vault, note("One", "Two"))
    done = update_brief(vault, ID, redact=broken)
    assert "the scan for secrets cannot run" in done.problem
    assert text_of(vault) == note("One", "Two")


def test_after_an_import_each_note_that_was_written_is_looked_at_but_subagents(vault: Vault) -> None:
    put(vault, note("One", "Two"))
    child = vault.sessions / "2026-11-21-add-child.md"
    child.write_text(note("A", "B").replace(f"session_id: {ID}", f'session_id: {child.stem}\nparent: "[[{ID}]]"'))
    gone = vault.sessions / "gone.md"
    paths = [child, gone, vault.sessions / f"{ID}.md"]
    assert list(update_briefs(vault, paths, redact=REDACT)) == []
    assert "> - One: Did One." in text_of(vault)
    assert "abstract" not in child.read_text()


FINDING = "> [!findings]- 1 finding\n> - decision: Use a token bucket (model small-1 on 2026-11-23, 0.83, phase-1)\n\n"


def renewed(vault: Vault) -> BriefUpdate:
    """An agent said something about a phase that the brief covers already."""
    before = vault.load(ID)
    put(vault, text_of(vault).replace("## One", FINDING + "## One", 1))
    return renew_brief(vault, before.path, before.session, redact=REDACT)


def test_new_findings_renew_what_a_brief_covers_unless_a_human_edited_it(vault: Vault) -> None:
    put(vault, note("One", "Two", "Three"))
    update(vault)
    done = renewed(vault)
    assert done.changed
    assert done.brief
    assert done.brief.covers == 'phase-2 "Two"'
    assert "Use a token bucket" in done.brief.text
    put(vault, note("One", "Two", "Three"))
    update(vault)
    put(vault, text_of(vault).replace("> - One: Did One.", "> - One: it failed, in truth."))
    mine = find_brief(vault.load(ID).session)
    assert renewed(vault) == BriefUpdate(mine)


def test_a_brief_that_is_not_there_is_written(vault: Vault) -> None:
    put(vault, note("One", "Two"))
    assert renewed(vault).changed
