from __future__ import annotations

import pytest

from crucible.cli.command_table import SECTIONS
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.workflow_notes import put
from tests.running import Cru, CruProcess


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(bare_cru: Cru, shell: str) -> None:
    result = bare_cru("completion", shell)
    assert result.exit_code == 0
    assert f"_CRU_COMPLETE={shell}_complete" in result.stdout


def test_an_unknown_shell_is_refused(bare_cru: Cru) -> None:
    assert bare_cru("completion", "tcsh").exit_code == 2


def _complete(run: CruProcess, words: str, vault: Vault | None = None) -> list[str]:
    """What bash would offer after these words; the last one is being typed."""
    env = {
        "_CRU_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    if vault:
        env["CRUCIBLE_VAULT"] = str(vault.root)
    done = run(env=env)
    assert done.stderr == b""
    return [line.partition(",")[2] for line in done.stdout.decode().splitlines() if line]


def test_commands_are_completed(cru_process: CruProcess) -> None:
    shown = [name for section in SECTIONS if not section.hidden for name in section.commands]
    assert _complete(cru_process, "cru ") == shown
    assert _complete(cru_process, "cru re") == ["recall", "report", "record"]
    assert _complete(cru_process, "cru session s") == ["show", "stats"]
    assert _complete(cru_process, "cru session list --format t") == ["text", "toon"]
    assert _complete(cru_process, "cru import c") == ["claude-code", "cline", "codex", "copilot", "cursor"]


def test_a_questions_options_are_completed(cru_process: CruProcess) -> None:
    assert _complete(cru_process, "cru recall --all") == ["--all-projects"]
    assert _complete(cru_process, "cru recall retries --type de") == ["decision"]


def test_cases_are_completed_from_the_files_names(vault: Vault, cru_process: CruProcess) -> None:
    (vault.root / "cases").mkdir()
    for name in ("a-puzzle-00000001", "a-puzzle-00000002", "b-decision-00000003"):
        (vault.root / "cases" / f"{name}.md").write_bytes(b"\xff not even a note")
    assert _complete(cru_process, "cru case accept a-", vault) == ["a-puzzle-00000001", "a-puzzle-00000002"]
    assert _complete(cru_process, "cru case check a-puzzle-00000001 b", vault) == ["b-decision-00000003"]


def test_session_ids_are_completed_from_the_files_names(vault: Vault, cru_process: CruProcess) -> None:
    write(vault, "2026-01-01-a", b"\xff\x00 not even a note")
    write(vault, "deep/2026-01-02-b", note("other-id"))
    assert _complete(cru_process, "cru session show 2026-01", vault) == ["2026-01-01-a", "2026-01-02-b"]
    assert _complete(cru_process, "cru session check 2026-01-01-a 2026-01-02", vault) == ["2026-01-02-b"]
    assert _complete(cru_process, f"cru --vault {vault.root} session rename 2026-01-01") == ["2026-01-01-a"]


def test_without_a_vault_nothing_is_offered_and_nothing_is_said(cru_process: CruProcess) -> None:
    assert _complete(cru_process, "cru session show 2") == []


def test_completing_an_id_imports_nothing_heavy(vault: Vault, cru_process: CruProcess) -> None:
    write(vault, "2026-01-01-a", note("a"))
    for words in ("cru session show 2", "cru session check 2", "cru session rename 2"):
        env = {"_CRU_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "3"}
        env |= {"CRUCIBLE_VAULT": str(vault.root), "PYTHONPROFILEIMPORTTIME": "1"}
        done = cru_process(env=env)
        assert b"2026-01-01-a" in done.stdout
        imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
        assert "click" in imported
        assert not imported & {"markdown_it", "yaml", "rich", "jinja2", "crucible.vault.notes.vault"}


def test_after_an_id_options_and_their_values_are_still_completed(vault: Vault, cru_process: CruProcess) -> None:
    write(vault, "2026-01-01-a", note("a"))
    assert "--phase" in _complete(cru_process, "cru session show 2026-01-01-a --", vault)
    assert _complete(cru_process, "cru session show --format m", vault) == ["markdown", "mermaid"]
    assert _complete(cru_process, "cru session show --phase 1 2", vault) == ["2026-01-01-a"]
    assert _complete(cru_process, "cru session rename 2026-01-01-a 2", vault) == []


def test_workflows_are_completed_from_the_files_in_their_folder(vault: Vault, cru_process: CruProcess) -> None:
    put(vault, "workflows/release.md", b"\xff\x00 not even a note")
    put(vault, "workflows/shop/return.md")
    put(vault, "workflows/release-crucible.md", "---\ntype: workflow\ndialect: crucible\n---\n")
    put(vault, "sessions/re.md")
    for words in (
        "cru workflow show re",
        "cru workflow check release re",
        "cru workflow sessions --workflow re",
    ):
        assert _complete(cru_process, words, vault) == ["release", "return"]
    # What no workflow begins with, the shell completes from its own files.
    assert _complete(cru_process, "cru workflow graph docs/x", vault) == ["docs/x"]
    assert _complete(cru_process, "cru workflow history r") == ["r"]


def test_completing_a_workflow_imports_nothing_heavy(vault: Vault, cru_process: CruProcess) -> None:
    put(vault, "workflows/release.md")
    for words in (
        "cru workflow show r",
        "cru workflow check r",
        "cru workflow graph r",
        "cru workflow history r",
    ):
        env = {"_CRU_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "3"}
        env |= {"CRUCIBLE_VAULT": str(vault.root), "PYTHONPROFILEIMPORTTIME": "1"}
        done = cru_process(env=env)
        assert b"release" in done.stdout
        imported = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
        assert not imported & {"markdown_it", "yaml", "rich", "jinja2", "crucible.vault.notes.vault"}
