from __future__ import annotations

import json

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, note, write
from tests.running import Cru

FOUND = note(
    "findings",
    """> [!findings]- 1 finding
> - open_end: Asked, no answer: shall old exports keep their date format? (last state, 0.9, row b5e2f9c1)

## Import orders @claude-code

> [!decision]
> Where shall the cache live? One SQLite file
> Rationale: no server to run
> Alternatives: Redis
> By: user
> Source: answered question, 0.78, rows 3a77d35a 6f76c352

> [!error]
> pytest: 0.1 off
> Cause: rounded too early
> Resolution: fixed in tax.py
> Source: failing then passing call, 0.94, row 64403031

## More @claude-code

Nothing.
""",
)


@pytest.fixture
def vault(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-22-findings", FOUND)
    return vault


def test_findings_are_listed_as_json_with_what_they_stand_on(cru: Cru, vault: Vault) -> None:
    result = cru("session", "show", "2026-11-22-findings", "--findings", "--format", "json")
    (found,) = json.loads(result.stdout)["sessions"]
    assert found["id"] == "2026-11-22-findings"
    assert [each["kind"] for each in found["findings"]] == ["decision", "failure", "open_end"]
    assert found["findings"][0] == {
        "id": "decision-3a77d35a",
        "kind": "decision",
        "summary": "Where shall the cache live? One SQLite file",
        "details": "no server to run",
        "alternatives": "Redis",
        "by": "user",
        "phase": "phase-1",
        "source": "answered question",
        "confidence": 0.78,
        "rows": ["3a77d35a", "6f76c352"],
    }


def test_findings_are_listed_to_be_read(cru: Cru, vault: Vault) -> None:
    shown = cru("session", "show", "2026-11-22-findings", "--findings").stdout
    assert "failure: pytest: 0.1 off\n    cause: rounded too early\n    fix: fixed in tax.py\n" in shown
    assert shown.rstrip().endswith("source: last state, 0.9, row b5e2f9c1\n    id: open_end-b5e2f9c1")


def test_findings_of_one_phase_and_of_a_note_without_any(cru: Cru, vault: Vault) -> None:
    one = cru("session", "show", "2026-11-22-findings", "--findings", "--phase", "1", "--format", "json")
    assert [each["kind"] for each in json.loads(one.stdout)["sessions"][0]["findings"]] == ["decision", "failure"]
    assert cru("session", "show", "2026-11-22-findings", "--findings", "--phase", "2").stdout == "no findings\n"


def test_findings_of_several_sessions_are_a_list(cru: Cru, vault: Vault) -> None:
    both = ("2026-11-21-limiter", "2026-11-22-findings")
    found = json.loads(cru("session", "show", *both, "--findings", "--format", "json").stdout)["sessions"]
    assert [each["id"] for each in found] == [*both]
    assert "==> sessions/2026-11-21-limiter.md <==" in cru("session", "show", *both, "--findings").stdout


def test_findings_have_no_markdown(cru: Cru, vault: Vault) -> None:
    assert cru("session", "show", "2026-11-22-findings", "--findings", "--format", "markdown").exit_code == 2
