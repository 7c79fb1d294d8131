"""What the benchmarks measure with, and growth that no bar names."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.measuring import run, seconds_of
from benchmarks.workflows import chain, check_generated, validate, web
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.line_scan import scan_lines
from crucible.documents.markdown.source import Source
from crucible.vault.notes.vault import Vault
from samples.notes import sample_notes
from samples.transcripts import copy_sessions, write_large

NOTES = sample_notes()


def _imported(root: Path, projects: Path) -> ImportReport:
    """Import into a new vault that does not wait for the disk."""
    (root / ".crucible").mkdir(parents=True)
    (root / "sessions").mkdir()
    options = ImportOptions(datetime(2026, 11, 23, tzinfo=UTC))
    return import_transcripts(
        Vault(root, VaultSettings(fsync=False)), DIALECTS["claude-code"], [projects], options=options
    )


@pytest.mark.parametrize("name", NOTES)
def test_a_note_as_we_write_it_needs_no_markdown_it(name: str) -> None:
    source = Source(NOTES[name])
    assert scan_lines(source.lines, find_frontmatter(source).lines.end) is not None


def _import_seconds(folder: Path, copies: int) -> float:
    """The best of two imports of `copies` of both sessions, without waiting for the disk; the processor's seconds, whoever else works."""
    projects = folder / "projects"
    assert copy_sessions(projects, copies) == 2 * copies
    best = float("inf")
    for number in range(2):
        start = time.process_time()
        report = _imported(folder / f"vault-{number}", projects)
        best = min(best, time.process_time() - start)
        assert len(report.created) == 5 * copies
    return best


@pytest.mark.timed
def test_importing_takes_linear_time_though_all_sessions_have_one_title_and_day(tmp_path: Path) -> None:
    few, many = _import_seconds(tmp_path / "few", 5), _import_seconds(tmp_path / "many", 20)
    assert many <= 4 * few * 2


def test_copies_of_a_session_are_sessions_of_their_own(tmp_path: Path) -> None:
    copy_sessions(tmp_path / "projects", 2)
    report = _imported(tmp_path / "vault", tmp_path / "projects")
    assert len(report.created) == 10
    assert not report.unreadable
    assert not report.unknown_rows


def test_nine_tenths_of_the_large_transcript_are_tool_results(tmp_path: Path) -> None:
    path = write_large(tmp_path / "large.jsonl", 5_000_000)
    lines = path.read_bytes().split(b"\n")
    assert sum(len(line) for line in lines if b'"tool_result"' in line) >= 0.9 * path.stat().st_size


def test_a_measured_process_tells_its_time_its_memory_and_its_end(tmp_path: Path) -> None:
    ran = run(
        ["python3", "-c", "x = b'x' * 300_000_000; print('done'); raise SystemExit(3)"],
        home=tmp_path,
        log=tmp_path / "log",
    )
    assert (ran.code, ran.out) == (3, "done\n")
    assert ran.peak >= 300_000_000
    assert ran.seconds > 0


def _validate_seconds(text: str) -> float:
    """The best of three."""
    return min(seconds_of(lambda: validate(text), 1) for _ in range(3))


@pytest.mark.timed
@pytest.mark.parametrize("made", [chain, web])
def test_validating_takes_linear_time(made: Callable[[int], str]) -> None:
    few, many = (_validate_seconds(made(steps)) for steps in (300, 1_500))
    assert many <= 5 * few * 2


@pytest.mark.parametrize("seed", range(5_000, 5_016))
def test_a_codified_session_reads_back_without_a_cycle_and_to_the_same_bytes(seed: int) -> None:
    assert check_generated(seed) == []
