"""No file name contains a secret: an id with a secret is refused, and one in a title is redacted before a name is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, note, write
from tests.running import Cru

GITHUB = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
AWS = "AKIA" + "Q3EGR5X7YPLM2KTN"


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if not {"cache", "index"} & {*path.parts})


@pytest.mark.parametrize(
    "new", [GITHUB, AWS, f"2026-11-21-{GITHUB}", f"2026-11-21-{AWS}", f"x.{GITHUB}", f"deploy-{AWS}"]
)
def test_an_id_that_holds_a_secret_is_refused(vault: Vault, cru: Cru, new: str) -> None:
    write(vault, "old", note("old", "[[old]]\n"))
    before = names(vault.root)
    result = cru("session", "rename", "old", new)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: the name contains a secret (")
    assert not any(secret in result.output for secret in (GITHUB, AWS))
    assert names(vault.root) == before


def test_an_id_that_the_settings_allow_is_accepted(vault: Vault, cru: Cru) -> None:
    write(vault, "old", note("old"))
    (vault.root / ".crucible/config.toml").write_text(f'[secrets]\nallow = ["{AWS}"]\n')
    assert cru("trust", "--yes").exit_code == 0
    assert cru("session", "rename", "old", AWS).exit_code == 0


def test_a_workflow_s_file_name_with_a_secret_is_refused(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    for out in (tmp_path / f"{GITHUB}.md", vault.root / f"{AWS}.md"):
        result = cru("session", "codify", "2026-11-21-limiter", "-o", out)
        assert (result.exit_code, out.exists()) == (2, False)


@pytest.mark.parametrize("secret", [GITHUB, AWS])
def test_a_secret_in_a_title_is_redacted_before_a_name_is_made(vault: Vault, cru: Cru, secret: str) -> None:
    assert cru("record", "start", secret).exit_code == 0
    assert cru("record", "start", f"Use {secret} now").exit_code == 0
    assert cru("knowledge", "add", "decision", f"Use {secret}", "It works.").exit_code == 0
    assert cru("task", "add", secret).exit_code == 0
    lower = secret.lower()[4:]
    assert not [name for name in names(vault.root) if lower in name.lower()]
    texts = [path.read_bytes().decode("utf-8", "replace") for path in vault.root.rglob("*") if path.is_file()]
    assert not [text for text in texts if secret in text]
