"""Tables on a terminal: no wider than it, while a pipe gets every cell whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from crucible.cli.table_output import Tier, fitted
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.terminals import on_a_terminal
from tests.paths import TESTS
from tests.running import Cru, CruProcess

DATA = TESTS / "data" / "transcripts"
LONG = "2026-11-21-make-the-limiter-forget-old-keys-and-be-quick-about-it"
PEOPLE = "participants:\n  - claude-code@2.1.197-beta.12\n  - general-purpose@0.0.1\nstarted"


@pytest.fixture
def long(vault: Vault) -> Vault:
    write(vault, LONG, note(LONG).replace("started", PEOPLE, 1).replace(f"# {LONG}", "# 時計を直す"))
    child = f"{LONG}--explorer-find-the-clock"
    write(vault, child, note(child, parent=f'"[[{LONG}]]"'))
    write(vault, "b", note("b"))
    return vault


@pytest.mark.parametrize("options", [[], ["--children"], ["--sort", "parent", "--where", "title ~ 時"]])
@pytest.mark.parametrize("columns", [80, 100])
def test_a_list_of_sessions_fits_a_terminal(
    long: Vault, cru: Cru, cru_process: CruProcess, options: list[str], columns: int
) -> None:
    shown = on_a_terminal(cru_process, long, columns, "session", "list", *options)
    assert max(cell_len(line) for line in shown if not line.startswith("  ")) <= columns
    whole = cru("session", "list", *options, env={"COLUMNS": str(columns)}).stdout
    assert len(shown) in (len(whole.splitlines()), 2 * len(whole.splitlines()))
    assert "…" not in whole
    assert shown[0].split()[:3] == ["title", "project", "status"]


def test_a_list_on_a_terminal_begins_with_titles(long: Vault, cru: Cru, cru_process: CruProcess) -> None:
    shown = on_a_terminal(cru_process, long, 200, "session", "list")
    assert (shown[0].split()[0], shown[0].split()[-1]) == ("title", "id")
    assert any(line.startswith("時計を直す") and line.endswith(f"  {LONG}") for line in shown)
    assert "title" not in cru("session", "list").stdout.splitlines()[0]


def test_the_summary_of_an_import_fits_a_terminal(vault: Vault, cru_process: CruProcess) -> None:
    folders = [str(path) for path in (DATA / "claude-code", DATA / "codex", DATA / "gemini")]
    shown = on_a_terminal(cru_process, vault, 40, "import", *folders, "--dry-run")
    assert max(map(cell_len, shown)) <= 40


@pytest.mark.parametrize("columns", [30, 40, 80, 200])
def test_what_a_list_prints_can_be_pasted_back(long: Vault, cru: Cru, cru_process: CruProcess, columns: int) -> None:
    shown = "\n".join(on_a_terminal(cru_process, long, columns, "session", "list", "--children")).split()
    for name in (LONG, f"{LONG}--explorer-find-the-clock", "b"):
        assert name in shown
        assert cru("session", "show", name).exit_code == 0


@given(
    st.integers(1, 5).flatmap(
        lambda count: st.lists(
            st.lists(st.text("a日e\u0301", max_size=30), min_size=count, max_size=count),
            min_size=1,
            max_size=6,
        )
    ),
    st.integers(1, 120),
)
def test_what_can_be_made_to_fit_fits_and_all_else_stays_whole(columns: list[list[str]], room: int) -> None:
    cut = [at for at in range(len(columns)) if at % 2]
    shown = fitted(columns, room, [Tier(cut[:1], 12), Tier(cut, 8, in_middle=True)])
    lines = ["  ".join(cells) for cells in zip(*shown, strict=True)]
    whole = fitted(columns, None, [])
    widths = [max(map(cell_len, texts)) for texts in columns]
    least = [min(width, 8) if at in cut else width for at, width in enumerate(widths)]
    if sum(least) + 2 * (len(columns) - 1) <= room:
        assert all(cell_len(line) <= room for line in lines)
    else:
        assert shown == whole
    assert all(shown[at] == whole[at] for at in range(len(columns)) if at not in cut)
