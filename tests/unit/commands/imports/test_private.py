"""No file of the vault contains what a user marked as private, whichever client logged it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.commands.imports.halves import main_note, second_half
from tests.unit.commands.imports.places import bytes_of, make_vault

SECRET = "Maria earns ninety thousand and knows it"
CLIENTS = ("claude-code", "codex", "gemini", "opencode")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "prompt",
    [
        f"Add a limiter. <private>{SECRET}</private> Be quick",
        f"<private>{SECRET}</private> Add a limiter",
        f"Add a limiter. <PRIVATE reason='x'>\n{SECRET}",
        f"<private>{SECRET}</private>",
        f"{SECRET}</private> Add a limiter",
    ],
)
def test_no_file_of_the_vault_holds_it(tmp_path: Path, client: str, prompt: str) -> None:
    vault = make_vault(tmp_path / "vault")
    second_half(client, tmp_path / "log", prompt).read(vault)
    texts = {name: data.decode("utf-8", "replace") for name, data in bytes_of(vault).items()}
    assert not [name for name, text in texts.items() if "Maria" in text or "ninety" in name]
    note = main_note(vault)
    assert "private" in note.source.text
    assert any(line.startswith("private:") for line in note.session.redacted)


@pytest.mark.parametrize("client", CLIENTS)
def test_importing_again_changes_nothing(tmp_path: Path, client: str) -> None:
    vault = make_vault(tmp_path / "vault")
    half = second_half(client, tmp_path / "log", f"Add a limiter. <private>{SECRET}</private>")
    half.read(vault)
    before = bytes_of(vault)
    half.read(vault)
    assert bytes_of(vault) == before
