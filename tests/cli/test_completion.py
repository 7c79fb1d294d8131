from __future__ import annotations

import pytest

from crucible.vault.store import Vault
from tests.cli.notes import note, write
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
    assert _complete(cru_process, "cru ") == ["init", "import", "session", "completion"]
    assert _complete(cru_process, "cru session s") == ["show"]
    assert _complete(cru_process, "cru session list --format t") == ["table", "toon"]


def test_session_ids_are_completed_from_the_files_names(vault: Vault, cru_process: CruProcess) -> None:
    write(vault, "2026-01-01-a", b"\xff\x00 not even a note")
    write(vault, "deep/2026-01-02-b", note("other-id"))
    assert _complete(cru_process, "cru session show 2026-01", vault) == ["2026-01-01-a", "2026-01-02-b"]
    assert _complete(cru_process, "cru session check 2026-01-01-a 2026-01-02", vault) == ["2026-01-02-b"]
    assert _complete(cru_process, f"cru --vault {vault.root} session rename 2026-01-01") == ["2026-01-01-a"]


def test_without_a_vault_nothing_is_offered_and_nothing_is_said(cru_process: CruProcess) -> None:
    assert _complete(cru_process, "cru session show 2") == []
