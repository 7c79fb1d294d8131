"""`cru session codify` as a user meets it."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from crucible.documents.markdown.source import Source
from crucible.documents.workflow.workflow import Workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.journeys.terminals import all_shown
from tests.paths import ROOT
from tests.running import Cru, CruProcess

ID, CHILD, OTHER = "2026-11-21-limiter", "2026-11-21-clock", "2026-11-22-limiter"


@pytest.fixture(autouse=True)
def _sessions(vault: Vault) -> None:
    write(vault, ID, LIMITER)
    write(vault, CHILD, CLOCK)
    again = LIMITER.replace(f"session_id: {ID}", f"session_id: {OTHER}").replace("2026-11-21T", "2026-11-22T")
    write(vault, OTHER, again)


def workflows(vault: Vault) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in (vault.root / "workflows").glob("*")}


def read(text: str) -> Workflow:
    return read_workflow(Source(text), "")


def configure(command: str) -> None:
    folder = Path(os.environ["HOME"]) / ".config" / "crucible"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f"[agents]\ncommand = {json.dumps(command)}\n", encoding="utf-8")


def agent(tmp_path: Path, script: str) -> str:
    """A program that has the prompt in `said` and the draft of it in `draft`."""
    path = tmp_path / "agent.py"
    path.write_text(
        "import re, sys, pathlib\n"
        "said = sys.stdin.read()\n"
        "draft = said[said.index('# The draft'):].split('\\n````text\\n')[1].split('\\n````')[0]\n"
        f"{script}\n",
        encoding="utf-8",
    )
    return shlex.join([sys.executable, str(path)])


# --- the note --------------------------------------------------------------------------------------------------------


def test_a_note_is_written_and_its_path_printed(cru: Cru, vault: Vault) -> None:
    result = cru("session", "codify", ID)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"{vault.root}/workflows/add-a-rate-limiter.md\n"
    assert '"cru workflow run add-a-rate-limiter --dry-run"' in result.stderr
    (text,) = workflows(vault).values()
    workflow = read(text)
    assert (workflow.title, workflow.sessions, workflow.marked) == ("Add a rate limiter", (ID,), True)
    assert "Decided: Token bucket" in text
    assert "```mermaid\n" in text
    assert [step.agent.name for step in workflow.walk() if step.agent][:1] == ["claude-code"]
    assert any(step.agent and step.agent.name == "general-purpose" for step in workflow.walk())
    assert any(marker.values["session"] == ID for step in workflow.walk() for marker in step.markers)


def test_whether_whole_events_were_there_is_said(cru: Cru, vault: Vault) -> None:
    assert f"{ID}: made from its note only" in cru("session", "codify", ID).stderr
    (vault.sessions / f"{CHILD}.md").unlink()
    assert "a subagent's note is missing" in cru("session", "codify", ID).stderr


def test_codifying_again_writes_nothing(cru: Cru, vault: Vault) -> None:
    cru("session", "codify", ID)
    path = vault.root / "workflows" / "add-a-rate-limiter.md"
    before = path.stat().st_mtime_ns
    again = cru("session", "codify", ID)
    assert (again.exit_code, again.stdout) == (0, f"{path}\n")
    assert "nothing to change" in again.stderr
    assert path.stat().st_mtime_ns == before


def test_an_edited_note_is_refused_with_what_to_do(cru: Cru, vault: Vault) -> None:
    cru("session", "codify", ID)
    path = vault.root / "workflows" / "add-a-rate-limiter.md"
    path.write_text(path.read_text("utf-8") + "\nMine.\n", encoding="utf-8")
    write(vault, ID, LIMITER.replace("constant memory", "it is small"))
    refused = cru("session", "codify", ID)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "changed since it was codified" in refused.stderr
    assert "--force" in refused.stderr
    assert path.read_text("utf-8").endswith("\nMine.\n")
    assert cru("session", "codify", ID, "--force").exit_code == 0
    assert "it is small" in path.read_text("utf-8")
    assert "Mine." not in path.read_text("utf-8")


def test_the_note_of_a_session_that_was_renamed_is_known_again(cru: Cru, vault: Vault) -> None:
    cru("session", "codify", ID)
    assert cru("session", "rename", ID, "renamed").exit_code == 0
    result = cru("session", "codify", "renamed")
    assert result.exit_code == 0, result.stderr
    (text,) = workflows(vault).values()
    assert read(text).sessions == ("renamed",)


def test_another_workflow_of_that_title_has_a_number(cru: Cru, vault: Vault) -> None:
    for ref in (ID, OTHER):
        cru("session", "codify", ref)
    assert sorted(workflows(vault)) == ["add-a-rate-limiter-2.md", "add-a-rate-limiter.md"]


def test_several_sessions_by_prefix_and_path_make_one_workflow(cru: Cru, vault: Vault) -> None:
    result = cru("session", "codify", "2026-11-21-l", f"sessions/{OTHER}.md", f"{vault.sessions}/{ID}.md")
    assert result.exit_code == 0, result.stderr
    (text,) = workflows(vault).values()
    assert set(read(text).sessions) == {ID, OTHER}
    rows = [marker.values["session"] for marker in read(text).steps[0].markers]
    assert rows == [ID, OTHER]


def test_a_subagent_comes_with_its_parent_and_may_be_codified_alone(cru: Cru, vault: Vault) -> None:
    both = cru("session", "codify", ID, CHILD)
    assert both.exit_code == 0, both.stderr
    assert f"{CHILD}: included as a subagent of {ID}" in both.stderr
    assert read(workflows(vault)["add-a-rate-limiter.md"]).sessions == (ID,)
    assert cru("session", "codify", CHILD).stdout.endswith("workflows/ask-the-clock.md\n")


def test_secrets_do_not_come_into_the_workflow(cru: Cru, vault: Vault) -> None:
    secret = "ghp_" + "a1B2" * 9
    write(
        vault,
        "s",
        note("s", f"## One\n\n> [!user]\n> Use {secret}\n\n**Tool calls:**\n- `Bash git push {secret}` → ok\n"),
    )
    assert cru("session", "codify", "s").exit_code == 0
    (text,) = workflows(vault).values()
    assert "[REDACTED" in text
    assert secret not in text


@pytest.mark.parametrize("ids", [("s",), ("s", "t")])
@pytest.mark.parametrize("options", [(), ("--format", "json"), ("-o", "x.md"), ("--refine", "--with", "false")])
def test_sessions_without_work_make_no_workflow(
    cru: Cru, vault: Vault, ids: tuple[str, ...], options: tuple[str, ...]
) -> None:
    write(vault, "s", note("s"))
    write(vault, "t", note("t"))
    result = cru("session", "codify", *ids, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{', '.join(ids)}: nothing to codify" in result.stderr
    assert 'Run "cru session show" to see its phases.' in result.stderr
    assert workflows(vault) == {}
    assert not Path("x.md").exists()


def test_a_session_without_work_is_left_out_of_the_workflow_of_others(cru: Cru, vault: Vault) -> None:
    write(vault, "s", note("s"))
    result = cru("session", "codify", "s", ID)
    assert result.exit_code == 0, result.stderr
    assert "s: skipped, nothing to codify" in result.stderr
    (text,) = workflows(vault).values()
    assert read(text).sessions == (ID,)
    assert "Only in" not in text


def test_what_is_no_session_is_refused(cru: Cru, vault: Vault) -> None:
    assert cru("session", "codify", "nothing").exit_code == 1
    assert cru("session", "codify").exit_code == 2
    assert not (vault.root / "workflows").exists()


# --- elsewhere and otherwise -----------------------------------------------------------------------------------------


def test_a_file_may_be_named_and_is_not_written_over(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    assert cru("session", "codify", ID, "-o", path).stdout == f"{path}\n"
    assert cru("session", "codify", ID, "-o", path).exit_code == 0
    assert not (vault.root / "workflows").exists()
    path.write_text("My own.\n", encoding="utf-8")
    refused = cru("session", "codify", ID, "-o", path)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert path.read_text("utf-8") == "My own.\n"
    assert cru("session", "codify", ID, "-o", path, "--force").exit_code == 0
    assert read(path.read_text("utf-8")).sessions == (ID,)


def test_a_file_is_seen_from_here(vault: Vault, tmp_path: Path, cru_process: CruProcess) -> None:
    done = cru_process("--vault", vault.root, "session", "codify", ID, "-o", "mine.md")
    assert (done.returncode, done.stdout) == (0, b"mine.md\n")
    assert (tmp_path / "mine.md").is_file()


def test_a_format_that_is_named_is_printed_and_nothing_is_written(cru: Cru, vault: Vault) -> None:
    shown = {name: cru("session", "codify", ID, "--format", name) for name in ("markdown", "json", "mermaid")}
    assert [result.exit_code for result in shown.values()] == [0, 0, 0]
    assert read(shown["markdown"].stdout).sessions == (ID,)
    assert json.loads(shown["json"].stdout)["title"] == "Add a rate limiter"
    assert shown["mermaid"].stdout.startswith(("flowchart", "graph", "---", "%%"))
    assert cru("session", "codify", ID, "-o", "-").stdout == shown["markdown"].stdout
    assert not (vault.root / "workflows").exists()
    cru("session", "codify", ID)
    assert list(workflows(vault).values()) == [shown["markdown"].stdout]


@pytest.mark.parametrize("format_", ["json", "mermaid", "markdown"])
def test_a_format_goes_into_the_file_that_is_named(cru: Cru, tmp_path: Path, format_: str) -> None:
    path = tmp_path / "out"
    result = cru("session", "codify", ID, "--format", format_, "-o", path)
    assert (result.exit_code, result.stdout) == (0, f"{path}\n")
    printed = cru("session", "codify", ID, "--format", format_).stdout
    if format_ == "json":
        assert json.loads(path.read_text("utf-8")) == json.loads(printed)
    else:
        assert path.read_text("utf-8") == printed
    assert cru("session", "codify", ID, "--format", format_, "-o", path).exit_code == 0


def test_the_other_dialect_lies_beside_ours(cru: Cru, vault: Vault) -> None:
    cru("session", "codify", ID)
    assert cru("session", "codify", ID, "--dialect", "crucible").exit_code == 0
    assert sorted(workflows(vault)) == ["add-a-rate-limiter-crucible.md", "add-a-rate-limiter.md"]
    assert cru("session", "codify", ID, "--dialect", "crucible").exit_code == 0
    listed = json.loads(cru("workflow", "list", "--format", "json").stdout)["workflows"]
    assert [row["name"] for row in listed] == ["add-a-rate-limiter"]
    rows = json.loads(cru("workflow", "sessions", "--format", "json").stdout)["steps"]
    assert {row["workflow"] for row in rows} == {"add-a-rate-limiter"}
    done = cru("workflow", "check", "add-a-rate-limiter-crucible")
    assert "written for the Rust Crucible" in done.stderr
    assert (done.exit_code, done.stdout) == (2, "")
    assert cru("workflow", "check").exit_code == 0
    assert len(workflows(vault)) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--with", "x", "--no-refine"],
        ["--dialect", "crucible", "--format", "json"],
        ["--interactive"],
        ["--interactive", "--format", "json"],
        ["--with", "  "],
        ["--refine"],
        ["-o", ""],
        ["-o", "."],
        ["--format", "dot"],
    ],
)
def test_what_makes_no_sense_is_refused_and_writes_nothing(cru: Cru, vault: Vault, options: list[str]) -> None:
    result = cru("session", "codify", ID, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert not (vault.root / "workflows").exists()


# --- refining --------------------------------------------------------------------------------------------------------


def test_an_agent_that_was_named_refines_it(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    command = agent(tmp_path, "print('Sure:\\n```markdown\\n' + draft.replace('# Add a', '# Build a') + '\\n```')")
    result = cru("session", "codify", ID, "--refine", "--with", command)
    assert result.exit_code == 0, result.stderr
    # The name is the draft's, so that codifying again finds it.
    (text,) = workflows(vault).values()
    assert result.stdout == f"{vault.root}/workflows/add-a-rate-limiter.md\n"
    assert read(text).title == "Build a rate limiter"
    assert any(step.markers for step in read(text).walk())


def test_the_agent_of_the_settings_is_asked_only_with_refine(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    configure(agent(tmp_path, f"pathlib.Path({str(asked)!r}).touch(); print(draft)"))
    assert cru("session", "codify", ID).exit_code == 0
    assert not asked.exists()
    assert cru("session", "codify", ID, "--refine").exit_code == 0
    assert asked.exists()


def test_without_an_agent_it_is_said_how_to_configure_one(cru: Cru) -> None:
    result = cru("session", "codify", ID, "--refine")
    assert "agents.command" in result.stderr
    assert "--with" in result.stderr


@pytest.mark.parametrize("script", ["print('I would rather not.')", "sys.exit('no credit')"])
def test_after_two_tries_the_draft_is_written_and_the_exit_code_is_3(
    cru: Cru, vault: Vault, tmp_path: Path, script: str
) -> None:
    tries = tmp_path / "tries"
    command = agent(tmp_path, f"open({str(tries)!r}, 'a').write('x')\n{script}")
    result = cru("session", "codify", ID, "--refine", "--with", command)
    assert result.exit_code == 3
    assert tries.read_text() == "xx"
    assert "not refined, kept the draft: " in result.stderr
    assert result.stdout == f"{vault.root}/workflows/add-a-rate-limiter.md\n"
    (refused,) = workflows(vault).values()
    (vault.root / "workflows" / "add-a-rate-limiter.md").unlink()
    cru("session", "codify", ID)
    assert list(workflows(vault).values()) == [refused]


def test_an_answer_that_loses_a_decision_is_refused_and_the_second_one_taken(
    cru: Cru, vault: Vault, tmp_path: Path
) -> None:
    script = (
        "lost = '\\n'.join(line for line in draft.split('\\n') if 'Decided:' not in line)\n"
        "print(draft if '[what was wrong]' in said else lost)"
    )
    assert cru("session", "codify", ID, "--refine", "--with", agent(tmp_path, script)).exit_code == 0
    assert "Decided: Token bucket" in next(iter(workflows(vault).values()))


def test_a_client_is_named_by_its_name(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("claude", "codex"):
        told = f"pathlib.Path({str(tmp_path / name)!r}).write_text(' '.join(sys.argv[1:])); print(draft)"
        (folder / name).write_text(f'#!/bin/sh\nexec {agent(tmp_path, told)} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
        env = {"PATH": f"{folder}:{os.environ['PATH']}"}
        assert cru("session", "codify", ID, "--refine", "--with", name, env=env).exit_code == 0
    assert (tmp_path / "claude").read_text().startswith("-p")
    assert (tmp_path / "codex").read_text().startswith("exec -")
    assert "--skip-git-repo-check" in (tmp_path / "codex").read_text()


# --- an editor -------------------------------------------------------------------------------------------------------


def at_terminal(vault: Vault, typed: str, *options: str, editor: str, **env: str) -> tuple[int, str]:
    """Exit code and what the terminal showed; `typed` is what the reader types ahead."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "crucible", "--vault", vault.root, "session", "codify", ID, "--interactive", *options],
        stdin=side, stdout=side, stderr=side,
        env={**os.environ, "PYTHONPATH": str(ROOT), "VISUAL": editor, "TERM": "dumb", **env},
    )  # fmt: skip
    os.close(side)
    os.write(main, typed.encode())
    shown = all_shown(main)
    return process.wait(60), shown.decode().replace("\r\n", "\n")


def editor(tmp_path: Path, script: str) -> str:
    path = tmp_path / "my editor.py"
    path.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[-1])\ntext = path.read_text()\n" + script, "utf-8"
    )
    return shlex.join([sys.executable, str(path)])


def drafts(vault: Vault) -> list[Path]:
    return sorted((vault.root / ".crucible" / "cache" / "drafts").glob("*"))


def test_what_the_editor_left_is_saved_and_counts_as_edited(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    mine = editor(tmp_path, "path.write_text(text.replace('# Add a', '# My own'))")
    code, shown = at_terminal(vault, "s\n", editor=mine)
    assert code == 0, shown
    assert "# My own rate limiter" in workflows(vault)["add-a-rate-limiter.md"]
    assert drafts(vault) == []
    assert cru("session", "codify", ID).exit_code == 1


def test_problems_are_shown_in_the_editor_and_errors_are_saved_on_a_yes_only(vault: Vault, tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = (
        f"open({str(log)!r}, 'a').write(text.split(chr(10))[0] + chr(10))\n"
        "path.write_text(text + '\\n## Bad\\n\\nIf it rains → proceed to Nowhere\\n' if 'Bad' not in text else text)"
    )
    code, shown = at_terminal(vault, "e\ns\nn\ns\ny\n", editor=editor(tmp_path, script))
    assert code == 0, shown
    first, second = log.read_text("utf-8").splitlines()
    assert first == "---"
    assert second.startswith("%% ")
    assert "Nowhere" in second
    assert "Save it with 1 error?" in shown
    text = workflows(vault)["add-a-rate-limiter.md"]
    assert "Nowhere" in text
    assert "%% " not in text


@pytest.mark.parametrize(
    ("script", "typed", "says"),
    [
        ("path.write_text(text + 'Mine.')", "q\n", "[q]uit"),
        ("path.write_text(text + 'Mine.')", "\x04", "kept"),
        ("path.write_text(text + 'Mine.'); sys.exit(7)", "q\n", "exit code 7"),
        ("path.write_text('')", "q\n", "was restored"),
        ("path.unlink()", "q\n", "was restored"),
    ],
)
def test_whatever_an_editor_does_the_draft_is_kept(
    vault: Vault, tmp_path: Path, script: str, typed: str, says: str
) -> None:
    code, shown = at_terminal(vault, typed, editor=editor(tmp_path, script))
    assert code in (1, 130)
    assert says in shown
    (draft,) = drafts(vault)
    assert str(draft) in shown
    assert "# Add a rate limiter" in draft.read_text("utf-8")
    assert ("Mine." in draft.read_text("utf-8")) == ("Mine." in script)
    assert not (vault.root / "workflows").exists()


def test_an_editor_that_is_not_there_is_named_and_the_draft_kept(vault: Vault) -> None:
    code, shown = at_terminal(vault, "", editor="no-such-editor -w")
    assert code == 1
    assert "no-such-editor: not installed" in shown
    assert str(drafts(vault)[0]) in shown


def test_a_save_that_is_refused_keeps_the_draft(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    cru("session", "codify", ID)
    path = vault.root / "workflows" / "add-a-rate-limiter.md"
    theirs = path.read_text("utf-8") + "\nTheirs.\n"
    path.write_text(theirs, encoding="utf-8")
    code, shown = at_terminal(vault, "s\n", editor=editor(tmp_path, "path.write_text(text + 'Mine.')"))
    assert code == 1
    assert "changed since it was codified" in shown
    (draft,) = drafts(vault)
    assert str(draft) in shown
    assert draft.read_text("utf-8").endswith("Mine.")
    assert path.read_text("utf-8") == theirs
