"""A generated vault exported: no secrets, no personal data, no family in two splits, reproducible bytes."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from string import ascii_letters

import pytest

from crucible.commands.learn.case import Case
from crucible.commands.learn.case_folder import write_case_notes
from crucible.commands.learn.case_gathering import CaseFilter, Gatherer
from crucible.commands.learn.export import Export, export_files
from crucible.commands.learn.puzzle_files import write_puzzles
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.training_rows import Shape
from crucible.core.secrets.redaction import redact_of
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from samples.vaults import session_texts

SECRETS = (
    "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
    "AKIA" + "QYLPMN5HHHFPZAM2",
    "sk-ant-api03-" + "Zx9" * 31 + "AA",
    "xoxb-" + "263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1",
    "postgres://shop:" + "9fX2qLm0Tz@db.corp.io/shop",
)
PERSONAL = ("/home/rosalind/work", "C:\\Users\\rosalind\\work", "rosalind.e@corp.io")
SESSIONS = 30
FIXED = [
    "",
    "---",
    "",
    "## Fix the timestamp @codex",
    "",
    "> [!user]",
    '> "Fix the broken timestamp now"',
    "",
    "**Tool calls:**",
    "- `Bash pytest tests/test_stamp.py -q` → ❌ FAILED test_stamp - AssertionError",
    "",
    "The clock is wrong.",
    "",
    "**Tool calls:**",
    "- `Edit src/stamp.py` → +1 -1",
    "- `Bash pytest tests/test_stamp.py -q` → 3 passed",
    "",
    "> [!error]",
    "> The stamp was off by an hour",
    "> Resolution: take the zone from the settings",
]
END = frozenset(f"{ascii_letters}.")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    """Create sessions with secrets and personal data in all places, as if the user had typed them into the notes."""
    root = tmp_path_factory.mktemp("planted") / "vault"
    init_vault(root)
    rng = random.Random(20)
    for ident, text in session_texts(SESSIONS):
        lines = [*text.split("\n"), *FIXED]
        head = lines.index("---", 1)
        for at in range(head + 1, len(lines)):
            # What ends in a word or a sentence takes more words: prose, calls and results, callouts, headings.
            if lines[at][-1:] in END and rng.random() < 0.6:
                lines[at] += f" {rng.choice(SECRETS + PERSONAL)}"
        (root / "sessions" / f"{ident}.md").write_text("\n".join(lines), encoding="utf-8")
    return Vault(root)


def _cases(vault: Vault) -> list[Case]:
    gatherer = Gatherer(vault, redact_of(vault.settings.secrets), CaseFilter())
    return [case for path in sorted(vault.session_paths()) for case in gatherer.gather(path).cases]


@pytest.fixture(scope="module")
def cases(planted: Vault) -> list[Case]:
    return _cases(planted)


def _scrubber(vault: Vault) -> Scrubber:
    return Scrubber(redact_of(vault.settings.secrets))


def _whole(cases: list[Case]) -> list[Case]:
    """Mark all cases as complete, since `tools` skips others."""
    return [replace(case, complete=True) for case in cases]


def _left(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.is_file())


def test_the_sample_notes_hold_secrets_and_personal_data(planted: Vault) -> None:
    held = _left(planted.root / "sessions")
    assert all(held.count(word) >= 10 for word in SECRETS + PERSONAL)


@pytest.mark.parametrize("shape", list(Shape))
def test_no_row_has_a_secret_or_personal_data(shape: Shape, planted: Vault, cases: list[Case], tmp_path: Path) -> None:
    done = export_files(_whole(cases), Export(shape), _scrubber(planted), tmp_path)
    assert done.tally.rows > 10
    left = _left(tmp_path)
    for word in (*SECRETS, "rosalind", "9fX2qLm0Tz"):
        assert word not in left, word
    assert {"email", "home-path", "github-token"} <= done.tally.redactions.keys()


def test_no_puzzle_has_a_secret_or_personal_data(planted: Vault, cases: list[Case], tmp_path: Path) -> None:
    assert len(write_puzzles(tmp_path, cases, _scrubber(planted)).written) > 10
    left = _left(tmp_path)
    for word in (*SECRETS, "rosalind", "9fX2qLm0Tz"):
        assert word not in left, word


def test_no_case_note_has_a_secret(planted: Vault, cases: list[Case]) -> None:
    gatherer = Gatherer(planted, redact_of(planted.settings.secrets), CaseFilter())
    kept = write_case_notes(planted, cases, gatherer.heading)
    assert len(kept.new) == len(cases)
    left = _left(planted.root / "cases")
    for word in (*SECRETS, "9fX2qLm0Tz"):
        assert word not in left, word
    assert "rosalind" in left  # messages stand to the letter until they leave the vault
    assert _cases(planted) == cases


def test_the_same_cases_give_the_same_bytes(planted: Vault, cases: list[Case], tmp_path: Path) -> None:
    for name, found in (("one", cases), ("two", _cases(planted))):
        export_files(found, Export(Shape.MESSAGES), _scrubber(planted), tmp_path / name)
    assert _left(tmp_path / "one") == _left(tmp_path / "two")


def test_every_row_is_one_line_of_json(planted: Vault, cases: list[Case], tmp_path: Path) -> None:
    done = export_files(_whole(cases), Export(Shape.TOOLS), _scrubber(planted), tmp_path)
    lines = done.files[0].path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert all(set(json.loads(line)) == {"messages", "tools", "metadata"} for line in lines)
