"""`cru briefing` on the console."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.documents.session.session import Status, Task
from crucible.vault.notes.vault import Vault
from tests.running import Cru, CruProcess
from tests.trusting import trust
from tests.unit.commands.briefing.sample_vault import PROJECT, history, session


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a repository with a README."""
    folder = tmp_path / PROJECT
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "README.md").write_text("# Shop\n\nSells hats to people who like hats.\n")
    monkeypatch.chdir(folder)
    return folder


def recently(vault: Vault, **more: object) -> Path:
    return session(vault, started=datetime.now(UTC) - timedelta(hours=2), **more)  # type: ignore[arg-type]


def test_a_briefing_writes_nothing_unasked(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    assert cru("briefing").stderr == ""
    assert not (vault.root / "projects").exists()


def test_the_first_profile_is_proposed_and_never_touched_again(cru: Cru, vault: Vault, project: Path) -> None:
    first = cru("briefing", "--profile")
    assert first.exit_code == 0
    assert first.stderr == "wrote projects/shop.md, proposed from README.md; cru will not overwrite it\n"
    assert "Sells hats to people" in first.stdout
    path = vault.root / "projects" / "shop.md"
    path.write_text("---\ntype: project\n---\n\nMine.\n")
    (project / "README.md").write_text("# Shop\n\nSells shoes to people who like shoes.\n")
    again = cru("briefing", "--profile")
    assert again.stderr == ""
    assert "- Mine." in again.stdout
    assert path.read_text() == "---\ntype: project\n---\n\nMine.\n"


def test_a_briefing_of_another_project_proposes_nothing(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    done = cru("briefing", "--profile", "--project", "ledger")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == 'No sessions of project ledger yet. Run "cru import" to import them.\n'
    assert not (vault.root / "projects").exists()


def test_a_profile_that_cannot_be_written_stops_nothing(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    (vault.root / "projects").write_text("a file in its place")
    recently(vault)
    done = cru("briefing", "--profile")
    assert done.exit_code == 0
    assert "warning: the project's note cannot be written" in done.stderr
    assert "## Recent sessions" in done.stdout


def test_the_paused_session_is_the_position_and_always_stays(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault, status=Status.PAUSED)
    for budget in ("1", "150", "2000"):
        text = cru("briefing", "--budget", budget).stdout
        assert "resume with: cru session resume 2026-11-21-clock" in text
        assert ("## Current tasks" in text) is (budget == "2000")
    assert "Omitted: " in cru("briefing", "--budget", "300").stdout


def test_without_a_paused_session_the_last_one_is_the_position(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    (line,) = [one for one in cru("briefing").stdout.split("\n") if one.startswith("Current state")]
    assert line.startswith("Current state: 2026-11-21-clock (Ticks), ")
    assert line.endswith("; completed, last active 2 h ago")


def test_json_has_every_part(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    history(vault, started=datetime.now(UTC) - timedelta(days=1))
    found = json.loads(cru("briefing", "--format", "json", "--budget", "200").stdout)
    assert set(found) == {
        *(
            "schema",
            "project",
            "workflow",
            "budget",
            "tokens",
            "position",
            "explained",
            "sections",
            "left_out",
            "failed",
            "text",
        ),
    }
    assert (found["project"], found["budget"]) == ("shop", 200)
    assert found["tokens"] <= 200
    assert set(found["left_out"]) <= {
        f"{name}{end}" for name in ("convention", "lesson", "decision", "todo") for end in ("", "s")
    }
    assert {item["rank"] for one in found["sections"] for item in one["items"]} == {"todos"}


def test_a_broken_source_is_named_on_stderr_and_in_the_text(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    (vault.root / "projects").mkdir()
    (vault.root / "projects" / "shop.md").write_text("mine, without properties")
    done = cru("briefing")
    assert done.exit_code == 0
    assert "warning: skipped: profile: projects/shop.md: its type is not 'project'" in done.stderr
    assert "Omitted because of errors: profile (" in done.stdout


def test_a_template_with_an_error_is_named_with_its_line(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    (vault.root / ".crucible" / "templates" / "briefing.md.j2").write_text("{{ label }}\n{% nothing %}")
    trust(vault.root)
    done = cru("briefing")
    assert done.exit_code == 0
    assert "briefing.md.j2:2: " in done.stderr
    assert "the built-in template is used" in done.stderr
    assert "## Recent sessions" in done.stdout


def test_in_the_vault_it_is_about_every_project(cru: Cru, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(vault.root)
    recently(vault)
    done = cru("briefing")
    assert done.stdout.startswith("# Briefing\n")
    # Two hours ago is yesterday in the first two hours of a day.
    assert re.search(r"^- 2026-11-21-clock \((today|yesterday), completed\): ", done.stdout, re.MULTILINE)
    assert not (vault.root / "projects").exists()


def test_a_workflow_is_explained_and_an_unknown_one_refused(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    (vault.root / "workflows").mkdir(exist_ok=True)
    (vault.root / "workflows" / "release.md").write_text(
        "---\ntype: workflow\n---\n\n# Release\n\n## Build the wheel\n"
    )
    done = cru("briefing", "--workflow", "release")
    assert "For the workflow `release`, which carries out work" in done.stdout
    assert "## Project\n" not in done.stdout
    refused = cru("briefing", "--workflow", "nothing-like-it")
    assert refused.exit_code == 1
    assert refused.stdout == ""


def test_knowledge_is_recalled(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault, words="Token bucket")
    cru(
        "knowledge",
        "add",
        "pattern",
        "Token bucket everywhere",
        "One bucket for each key.",
        "--project",
        "shop",
    )
    text = cru("briefing").stdout
    assert "- pattern: Token bucket everywhere: One bucket for each key. (token-bucket-everywhere)" in text
    assert "## Relevant knowledge" in text


def test_a_tasks_annotation_is_told_by_its_counts(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault, tasks=(Task("1", "Write it", "in_progress"),))
    folder = vault.root / ".crucible" / "tasks"
    folder.mkdir(exist_ok=True)
    (folder / "2026-11-21-clock.1.yaml").write_text(
        "task_id: 1\nrecall_context:\n  patterns: [p-one, p-two]\n  failures: [f-one]\n  query: x\n"
    )
    text = cru("briefing").stdout
    assert "2026-11-21-clock.1: Write it; recall: 2 patterns, 1 failure; load them with `cru task pick`" in text
    assert "p-one" not in text


def test_a_pipe_gets_no_path_of_this_machine(vault: Vault, project: Path, cru_process: CruProcess) -> None:
    home = os.environ["HOME"]
    recently(vault, words=f"Look at {project}/src/x.py and {vault.root}/sessions/y.md and {home}/z.txt")
    done = cru_process("--vault", vault.root, "briefing", cwd=project)
    assert b"Look at src/x.py and sessions/y.md" in done.stdout
    assert str(project.parent).encode() not in done.stdout + done.stderr
    assert home.encode() not in done.stdout


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("form", ["markdown", "json"])
def test_what_a_human_wrote_of_a_paused_session_is_told_without_secrets_and_paths(
    cru: Cru, vault: Vault, project: Path, form: str
) -> None:
    home = os.environ["HOME"]
    words = f"Use {KEY} in {project}/src/a.py, {home}/x -I{home}/y"
    recently(vault, words=words, status=Status.PAUSED, pause_reason=words)
    text = cru("briefing", "--format", form).stdout
    assert "paused because: Use [REDACTED:github-token] in src/a.py, x -Iy" in text
    assert KEY not in text
    assert str(project.parent) not in text
    assert home not in text


def test_a_project_that_rested_longer_than_is_told_has_its_position(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    session(vault, started=datetime.now(UTC) - timedelta(days=45))
    text = cru("briefing", "--budget", "1").stdout
    assert "last active 45 d ago" in text
    assert "## Recent sessions" not in text


def test_json_names_the_workflow_without_its_path(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    path = vault.root / "workflows" / "release.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("---\ntype: workflow\n---\n\n# Release\n\n## Build the wheel\n")
    text = cru("briefing", "--format", "json", "--workflow", str(path)).stdout
    assert json.loads(text)["workflow"] == "release"
    assert str(vault.root) not in text


def test_an_annotation_that_is_broken_is_named_and_the_tasks_are_told(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault, tasks=(Task("1", "Write it", "in_progress"),))
    (vault.root / ".crucible" / "tasks").mkdir(exist_ok=True)
    (vault.root / ".crucible" / "tasks" / "2026-11-21-clock.1.yaml").write_bytes(b"\xff\xfe: {")
    done = cru("briefing")
    assert "warning: skipped: tasks: task 1: its annotation" in done.stderr
    assert "2026-11-21-clock.1: Write it" in done.stdout


def test_a_history_folder_that_is_a_file_is_named_in_words(cru: Cru, vault: Vault, project: Path) -> None:
    assert project.is_dir()
    recently(vault)
    (vault.root / "history").write_text("")
    done = cru("briefing")
    assert done.stderr.endswith("warning: skipped: history: history: not a directory\n")
    assert "Omitted because of errors: history (`history: not a directory`)." in done.stdout
