"""A preference that is changed where one is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.commands.capture.question import set_preference
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import default_config, load_vault_settings
from crucible.vault.notes.vault import Vault


def config(vault: Vault) -> Path:
    return vault.root / ".crucible" / "config.toml"


def test_a_new_vaults_settings_get_a_line_and_lose_none(vault: Vault) -> None:
    assert set_preference(vault.root, "prompt_on_end", False)
    assert set_preference(vault.root, "min_confidence", 0.75)
    capture = load_vault_settings(vault.root).capture
    assert (capture.prompt_on_end, capture.min_confidence) == (False, 0.75)
    lines = config(vault).read_text().split("\n")
    for line in ("prompt_on_end = false", "min_confidence = 0.75"):
        lines.remove(line)
    assert "\n".join(lines) == default_config()


def test_a_table_that_is_opened_later_does_not_take_it(vault: Vault) -> None:
    set_preference(vault.root, "prompt_on_end", False)
    text = config(vault).read_text().replace("# [capture.capacity]", "[capture.capacity]")
    config(vault).write_text(text)
    assert load_vault_settings(vault.root).capture.prompt_on_end is False


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[capture]\nprompt_on_end = false\n"),
        ("[capture]\nprompt_on_end = true  # ask\n", "[capture]\nprompt_on_end = false  # ask\n"),
        ("a = 1\n[capture]", "a = 1\n[capture]\nprompt_on_end = false\n"),
        ("[ capture ] # mine\nx = 1\n", "[ capture ] # mine\nprompt_on_end = false\nx = 1\n"),
        ("capture.silent = true\n", "capture.silent = true\ncapture.prompt_on_end = false\n"),
        (
            'note = """\n[capture]\n"""\n[capture]\n',
            'note = """\n[capture]\n"""\n[capture]\nprompt_on_end = false\n',
        ),
    ],
)
def test_whatever_the_form_of_the_file_comments_and_order_stay(vault: Vault, before: str, after: str) -> None:
    config(vault).write_text(before)
    set_preference(vault.root, "prompt_on_end", False)
    text = config(vault).read_text()
    assert text == after
    assert not set_preference(vault.root, "prompt_on_end", False)


@pytest.mark.parametrize("text", ["[capture\n", "capture = 3\n", "\xff"])
def test_a_file_that_cannot_be_changed_stays_as_it_is(vault: Vault, text: str) -> None:
    config(vault).write_bytes(text.encode("latin-1"))
    with pytest.raises(CrucibleError):
        set_preference(vault.root, "prompt_on_end", False)
    assert config(vault).read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize(
    "text", ["# mine\r\n[capture] # here\r\nsilent = true\r\n", "# mine\r\n[flight]\r\n", "# mine\r\n"]
)
def test_a_file_whose_lines_end_as_on_windows_goes_on_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".crucible" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    assert set_preference(tmp_path, "prompt_on_end", value=False)
    found = path.read_bytes()
    assert found.count(b"\n") == found.count(b"\r\n")
    assert found.startswith(b"# mine\r\n")
