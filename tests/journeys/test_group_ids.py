"""A group shows what an id names where a command is expected: `cru task ID`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT
from tests.running import Cru

AVATARS, CASE = "2026-11-20-move-avatars-to-object-storage", "2026-11-16-import-books-from-csv-correction-ba9d9a9f"


@pytest.fixture
def example(tmp_path: Path) -> Cru:
    return Cru(Vault(shutil.copytree(ROOT / "vault-example", tmp_path / "example")))


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("session", AVATARS),
        ("task", f"{AVATARS}.2"),
        ("case", CASE),
        ("knowledge", "the-small-servers-python-has-no-fts5"),
        ("history", "2026-11-18"),
        ("workflow", "add-a-rate-limiter-to-this-project"),
    ],
)
def test_an_id_in_place_of_a_command_is_shown(example: Cru, group: str, name: str) -> None:
    result = example(group, name)
    assert (result.exit_code, result.stdout) == (0, example(group, "show", name).stdout)
    assert result.stdout


def test_options_follow_the_id(example: Cru) -> None:
    result = example("session", AVATARS, "--phase", "1", "--format", "markdown")
    assert result.stdout == example("session", "show", AVATARS, "--phase", "1", "--format", "markdown").stdout


@pytest.mark.parametrize("name", ["ae9a6f", f"{AVATARS}.ae9a6f"])
def test_the_inbox_shows_the_item_of_an_id(example: Cru, name: str) -> None:
    assert example("inbox", name).stdout == (
        f"{AVATARS}.ae9a6f  error  shop  2026-11-20 10:10\n    The bucket's credentials are not there yet.\n"
    )


def test_an_answered_item_is_shown_by_its_id(example: Cru) -> None:
    assert example("inbox", "answer", "ae9a6f", "In the safe.").exit_code == 0
    assert ": In the safe." in example("inbox", "ae9a6f").stdout


@pytest.mark.parametrize("group", ["session", "task", "case", "knowledge", "history", "workflow", "inbox"])
def test_an_unknown_id_is_one_where_a_command_is_expected(example: Cru, group: str) -> None:
    result = example(group, "no-such-7")
    assert (result.exit_code, result.stdout) == (1, "")
    assert '"no-such-7"' in result.stderr
    assert 'Run "cru ' in result.stderr


@pytest.mark.parametrize(
    ("group", "word", "meant"), [("task", "lst", "list"), ("session", "lit", "list"), ("case", "acept", "accept")]
)
def test_a_misspelt_command_is_still_suggested(example: Cru, bare_cru: Cru, group: str, word: str, meant: str) -> None:
    for cru in (example, bare_cru):
        result = cru(group, word)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"error: no command '{word}'; did you mean {meant}")


def test_an_answer_to_an_unknown_item_says_so(example: Cru) -> None:
    result = example("inbox", "answer", "0abcde", "Yes.")
    assert (result.exit_code, result.stderr) == (
        1,
        'error: nothing in the inbox matches "0abcde"\n       Run "cru inbox --all" to see ids.\n',
    )


def test_an_empty_list_says_what_to_do(cru: Cru) -> None:
    assert 'Run "cru import"' in cru("session", "list").stderr
    assert 'Run "cru task --all"' in cru("task").stderr
    for command in ("session", "task"):
        assert cru(command, "list", "--json").stderr == ""


def test_a_workflow_that_is_called_like_a_command_is_shown_if_it_is_there(example: Cru) -> None:
    assert example.vault is not None
    note = next((example.vault.root / "workflows").glob("*.md"))
    shutil.copy(note, note.with_name("checks.md"))
    assert example("workflow", "checks").exit_code == 0
