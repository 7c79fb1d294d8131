"""`cru task` and its commands, from a task's first word to what it leaves to others."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.commands import record
from crucible.commands.capture import capture as keeping
from crucible.commands.capture.candidates import Candidate, CandidateKind
from crucible.commands.record.tasks import NewTask, TaskWriter
from crucible.core.secrets.redaction import redact_of
from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT
from tests.running import Cru, CruProcess
from tests.trusting import trust

NATIVE = "2efaab17-4298-45ef-bba4-e6df39d7a7e3"
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"


@pytest.fixture
def session(vault: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A session that is at work, in whose surroundings we are."""
    begun = record.session("Bill with Stripe", vault=vault, project="shop", agent="a@1")
    begun.phase("Plan")
    monkeypatch.setenv("CRU_SESSION", begun.id)
    monkeypatch.delenv("CLAUDECODE", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return begun.id


@pytest.fixture
def chain(vault: Vault, session: str) -> str:
    """Three tasks, each after the one before, that nobody annotated yet."""
    put = TaskWriter(vault, session, now=datetime.now(UTC), redact=redact_of(vault.settings.secrets), ours=True)
    put.add([NewTask("Select a provider"), NewTask("Implement the retry", (0,)), NewTask("Test it", (1,))])
    return session


def annotation(vault: Vault, session: str, task: str) -> Path:
    return vault.root / ".crucible" / "tasks" / f"{session}.{task}.yaml"


# --- a journey ---------------------------------------------------------------------------------------------------------


def test_a_task_goes_from_its_first_word_to_those_that_depend_on_it(cru: Cru, vault: Vault, chain: str) -> None:
    listed = cru("task")
    assert (listed.exit_code, listed.stderr) == (0, "")
    assert listed.stdout == (
        "0 completed, 0 in progress, 3 pending\n\n"
        f"Ready\n  {chain}.1  Select a provider\n\n"
        f"Blocked\n  {chain}.2  Implement the retry; waits for 1 (not started)\n  {chain}.3  Test it; waits for 2 (not started)\n"
    )
    assert cru("task", "pick", "1").stdout.startswith(f"# Task {chain}.1\n")
    assert cru("task", "annotate", "1", "--decision", "Use Stripe", "--rationale", "webhooks").exit_code == 0
    detail = ("--decision", "Renamed a variable", "--type", "implementation_detail")
    assert cru("task", "annotate", "1", *detail).exit_code == 0
    assert cru("task", "annotate", "1", "--discovery", "429 has Retry-After", "--applies-to", "x").exit_code == 0
    done = cru("task", "done", "1")
    assert (done.exit_code, done.stdout) == (0, f"{chain}.1: completed\n")
    assert "passed decisions to 2: Implement the retry\npassed decisions to 3: Test it\nready now: 2" in done.stderr
    picked = cru("task", "pick", f"{chain}.2", "--format", "json")
    told = json.loads(picked.stdout)
    assert (told["id"], told["status"]) == (f"{chain}.2", "in_progress")
    assert "Use Stripe\n  Rationale: webhooks\n  from task 1" in told["context"]
    assert "429 has Retry-After\n  for: x\n  from task 1" in told["context"]
    assert "Renamed" not in told["context"]
    note = vault.load(chain).session
    assert [task.status for task in note.tasks] == ["completed", "in_progress", "pending"]
    kinds = [getattr(entry, "kind", "decision") for entry in note.phases[-1].entries]
    assert kinds == ["milestone"] * 3 + ["decision", "decision", "observation"]


def test_show_tells_the_annotation_without_what_recall_found(cru: Cru, vault: Vault, chain: str) -> None:
    cru("knowledge", "add", "pattern", "Implement a retry with jitter", "Never without a limit.")
    cru("task", "add", "Implement the retry with jitter")
    assert "(1 pattern)" in cru("task", "list").stdout
    shown = cru("task", "show", "4").stdout
    assert "patterns   implement-a-retry-with-jitter" in shown
    assert "Never without" not in shown
    assert "Never without a limit." in cru("task", "pick", "4").stdout
    told = json.loads(cru("task", "show", f"{chain}.2", "--format", "json").stdout)["tasks"][0]
    assert (told["waits_for"], told["before"], told["depends_on"]) == (["1"], ["3"], ["1"])
    assert told["annotation"] is None


def test_recall_is_asked_when_the_task_is_made_and_no_more(cru: Cru, vault: Vault, chain: str) -> None:
    assert cru("task", "add", "Select a provider").stdout == f"{chain}.4\n"
    before = annotation(vault, chain, "4").read_bytes()
    cru("knowledge", "add", "pattern", "Select a provider", "By its webhooks.")
    assert "By its webhooks" not in cru("task", "pick", "4").stdout
    assert annotation(vault, chain, "4").read_bytes() == before
    assert "By its webhooks" in cru("task", "pick", "1").stdout


def test_a_vault_that_wants_it_all_gets_titles_in_the_list(cru: Cru, vault: Vault, chain: str) -> None:
    cru("knowledge", "add", "failure", "Testing it without a clock", "It waits.")
    cru("task", "add", "Testing it without a clock")
    config = vault.root / ".crucible" / "config.toml"
    config.write_text("[tasks]\neager_recall_loading = true\n", encoding="utf-8")
    assert "      failure: Testing it without a clock\n" in cru("task").stdout
    config.write_text("[tasks.briefing]\nshow_recall_summary = false\nmax_tasks_shown = 1\n", encoding="utf-8")
    listed = cru("task")
    assert "failure" not in listed.stdout
    assert '3 more; list all with "cru task list --all"' in listed.stderr


# --- which task, which session -----------------------------------------------------------------------------------------


def test_a_task_is_found_by_a_beginning_and_a_wrong_name_is_refused(cru: Cru, chain: str) -> None:
    assert cru("task", "show", f"{chain[:-3]}.2").stdout.startswith(f"{chain}.2\n")
    for name, code in ((chain, 2), ("nothing.1", 1), ("9", 1), ("", 1)):
        for command in ("show", "pick", "done"):
            failed = cru("task", command, name)
            assert (failed.exit_code, failed.stdout) == (code, "")
    assert f"One of: {chain}.1, {chain}.2" in cru("task", "show", chain).stderr


def test_without_a_session_add_says_what_to_do(cru: Cru, chain: str) -> None:
    failed = cru("task", "add", "x", env={"CRU_SESSION": ""})
    assert failed.exit_code == 2
    assert "cru record start" in failed.stderr
    assert cru("task", "add", " ").exit_code == 2
    assert "depends on '9'" in cru("task", "add", "x", "--depends-on", "9").stderr
    assert cru("task", "add", "x", "--depends-on", f"{chain}.1").stdout == f"{chain}.4\n"


def test_a_task_of_a_session_that_is_over_is_taken_up_by_another(cru: Cru, vault: Vault, chain: str) -> None:
    record.open(chain, vault=vault).end()
    other = record.session("Go on", vault=vault, project="shop")
    other.phase("Work")
    here = {"CRU_SESSION": other.id}
    assert cru("task", "pick", f"{chain}.1", env=here).exit_code == 0
    note = vault.load(chain).session
    assert (note.status, note.tasks[0].status) == ("completed", "in_progress")
    assert f"Task picked up: Select a provider ({chain}.1)" in vault.load(other.id).source.text
    assert "it waits for 1 (in progress)" in cru("task", "pick", f"{chain}.2", env=here).stderr
    assert cru("task", "annotate", f"{chain}.1", "--discovery", "found late", env=here).exit_code == 0
    assert "found late" in cru("task", "pick", f"{chain}.2", env=here).stdout
    assert cru("task", "done", f"{chain}.1", env=here).exit_code == 0
    assert "it is completed" in cru("task", "pick", f"{chain}.1", env=here).stderr
    assert "no tasks can be added" in cru("task", "add", "x", "--session", chain, env=here).stderr


def test_subagents_see_what_those_beside_them_found(cru: Cru, vault: Vault, chain: str) -> None:
    parent = record.open(chain, vault=vault)
    ids = []
    for name in ("one", "two"):
        child = parent.subagent(name, task="help")
        assert isinstance(child, record.Recorder)
        child.phase("Work")
        child.add_tasks(f"Help {name}")
        ids.append(child.id)
    more = ("--tag", "parallel-discovery", "--task", "1", "--applies-to", "stripe")
    assert cru("record", "observation", "Stripe answers 429", *more, env={"CRU_SESSION": ids[0]}).exit_code == 0
    assert "> [!observation] parallel-discovery, task 1\n> Stripe answers 429" in vault.load(ids[0]).source.text
    for picked in (f"{ids[1]}.1", f"{chain}.2"):
        assert "Stripe answers 429\n  for: stripe" in cru("task", "pick", picked).stdout


def test_the_list_narrows_and_tells_what_it_leaves_out(cru: Cru, vault: Vault, chain: str) -> None:
    item = '```tasks\n[{"id": "1", "content": "Old one", "status": "pending"}]\n```\n'
    vault.create("2020-01-01-old", f"---\nstarted: 2020-01-01T10:00:00Z\nproject: bank\n---\n\n# Old\n\n{item}")
    listed = cru("task", "list")
    assert "Old one" not in listed.stdout
    assert '1 open in older sessions; list them with "cru task list --all"' in listed.stderr
    assert re.search(r"^  2020-01-01-old\.1 +Old one$", cru("task", "list", "--all").stdout, re.MULTILINE)
    assert cru("task", "list", "--session", "2020").stdout.startswith("0 completed, 0 in progress, 1 pending\n")
    assert cru("task", "list", "--project", "bank", "--all").stdout.count("Old one") == 1
    assert cru("task", "list", "--project", "none").stdout == "0 completed, 0 in progress, 0 pending\n"
    assert cru("task", "list", "--session", "2020", "--all").exit_code == 2
    told = json.loads(cru("task", "list", "-n", "1", "--format", "json").stdout)
    assert told["counts"] == {"completed": 0, "in_progress": 0, "pending": 3, "omitted": 2, "older": 1}
    assert [(one["state"], one["project"]) for one in told["tasks"]] == [("ready", "shop")]


def test_circles_are_named_in_a_line_and_do_no_harm(cru: Cru, vault: Vault, session: str) -> None:
    items = [{"id": str(n), "content": f"t{n}", "depends_on": [str(n % 3 + 1)]} for n in range(1, 4)]
    record.open(session, vault=vault).tasks([*items, {"id": "4", "content": "t4", "depends_on": ["4", "77"]}])
    listed = cru("task")
    assert listed.exit_code == 0
    assert listed.stderr.splitlines() == [
        f"warning: {session}: circular dependency: 1 → 2 → 3 → 1",
        f"warning: {session}: circular dependency: 4 → 4",
    ]
    assert "needs 77, not in its list" in listed.stdout
    assert json.loads(cru("task", "list", "--format", "json").stdout)["cycles"][1] == [f"{session}.4"]
    for command in ("show", "pick", "done"):
        assert cru("task", command, "2").exit_code == 0


# --- the client's lists ------------------------------------------------------------------------------------------------


def test_a_clients_list_is_shown_and_changed_only_through_a_note(
    cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRU_SESSION", raising=False)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    shutil.copytree(ROOT / "tests" / "data" / "claude_tasks" / NATIVE, tmp_path / "claude" / "tasks" / NATIVE)
    assert f"{NATIVE}.2  Implement the limiter" in cru("task", "list", "--all").stdout
    assert cru("task", "show", f"{NATIVE}.2").exit_code == 0
    assert "cru import claude-code" in cru("task", "pick", f"{NATIVE}.2").stderr
    item = '[{"id": "2", "content": "Implement it", "status": "pending"}]'
    head = f"started: 2026-11-22T10:00:00Z\nstatus: paused\nsources:\n  - claude-code:{NATIVE}"
    vault.create("2026-11-22-limit", f"---\n{head}\n---\n\n# L\n\n```tasks\n{item}\n```\n\n## Work\n\nDone.\n")
    listed = cru("task", "list", "--all").stdout
    assert NATIVE not in listed
    assert "In progress\n  2026-11-22-limit.2  Implement it\n" in listed
    assert "adds it to the note" in cru("task", "pick", "2026-11-22-limit.4").stderr
    assert cru("task", "done", "2026-11-22-limit.2").exit_code == 0
    assert cru("task", "list", "--all").stdout.startswith("2 completed, 0 in progress, 1 pending\n")


# --- breaking down -----------------------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the configured model answers."""
    answer = tmp_path / "answer.json"
    tasks = [
        {"content": "Choose"},
        {"content": "Build", "after": [1]},
        {"content": "Report", "after": [1, 2]},
    ]
    answer.write_text(json.dumps({"tasks": tasks}))
    code = f"import sys; sys.stdin.read(); print(open({str(answer)!r}).read())"
    settings = tmp_path / "settings.toml"
    command = shlex.join([sys.executable, "-S", "-c", code])
    settings.write_text(f"[agents]\ncommand = {json.dumps(command)}\n")
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(settings))
    return answer


def test_a_model_breaks_a_description_into_tasks(cru: Cru, vault: Vault, session: str, model: Path) -> None:
    refused = cru("task", "add", "Bill it", "--break-down")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "  2. Build  (after 1)\n" in refused.stderr
    assert "Add them with --yes" in refused.stderr
    assert not vault.load(session).session.tasks
    assert cru("task", "add", "First", "--yes").stdout == f"{session}.1\n"  # nobody wished for it
    done = cru("task", "add", "Bill it", "--break-down", "--yes", "--depends-on", "1", "--priority", "high")
    assert done.stdout.split() == [f"{session}.{n}" for n in (2, 3, 4)]
    tasks = vault.load(session).session.tasks
    assert [(one.content, one.depends_on) for one in tasks[1:]] == [
        ("Choose", ("1",)),
        ("Build", ("2",)),
        ("Report", ("2", "3")),
    ]
    assert all(annotation(vault, session, one.id).is_file() for one in tasks)
    model.write_text("I cannot")
    failed = cru("task", "add", "Bill it", "--break-down", "--yes")
    assert failed.stdout == f"{session}.5\n"
    assert "added as one task: its answer was rejected" in failed.stderr


@pytest.mark.parametrize("says", ["y", "n"])
def test_a_human_on_a_terminal_is_asked(
    vault: Vault, session: str, model: Path, cru_process: CruProcess, says: str
) -> None:
    main, side = pty.openpty()
    os.write(main, f"{says}\n".encode())
    more = {"capture_output": False, "stdin": side, "stdout": side, "stderr": subprocess.PIPE}
    done = cru_process("--vault", vault.root, "task", "add", "Bill it", "--break-down", **more)
    os.close(side)
    os.close(main)
    assert b"2. Build  (after 1)" in done.stderr
    assert (done.returncode, len(vault.load(session).session.tasks)) == ((0, 3) if says == "y" else (130, 0))


def test_a_renamed_session_takes_along_what_is_noted_of_its_tasks(cru: Cru, vault: Vault, chain: str) -> None:
    cru("task", "annotate", "1", "--decision", "Use Stripe")
    assert cru("session", "rename", chain, "2026-11-22-renamed").exit_code == 0
    assert "decided    Use Stripe" in cru("task", "show", "2026-11-22-renamed.1").stdout


def test_without_a_model_a_description_is_one_task(cru: Cru, session: str) -> None:
    assert cru("task", "add", "Bill it", "--yes").stdout == f"{session}.1\n"
    refused = cru("task", "add", "x", "--break-down")
    assert "no agent is configured" in refused.stderr
    assert "--with" not in refused.stderr  # it has no such option


# --- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_secret_is_written_nowhere(cru: Cru, vault: Vault, session: str) -> None:
    cru("task", "add", f"Use {SECRET}")
    cru("task", "annotate", "1", "--decision", f"key {SECRET}", "--rationale", SECRET, "--discovery", SECRET)
    cru("task", "pick", "1")
    cru("task", "done", "1")
    files = [path for path in vault.root.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


BOMB = "a: &a [x, x]\n" + "".join(
    f"{c}: &{c} [*{p}, *{p}, *{p}, *{p}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "recall_context: [1, 2]\nexecution_context: x\ninherited_context: {a: b}\n",
        "recall_context:\n  patterns: ../../../etc/passwd\n  query: q\n",
        "x" * ((1 << 20) + 1),
        "\x00\xff]: [",
        "task_id: other\nrecall_context: !!python/object/apply:os.system [true]\n",
    ],
    ids=["bomb", "shapes", "path", "huge", "bytes", "tag"],
)
def test_a_hostile_annotation_is_read_safely_or_named(cru: Cru, vault: Vault, chain: str, text: str) -> None:
    annotation(vault, chain, "1").write_text(text, encoding="latin-1")
    assert cru("task").exit_code in (0, 3)
    for command in ("show", "pick", "done"):
        result = cru("task", command, "1")
        assert result.exit_code in (0, 3), result.stderr
        assert len(result.stdout) < 20_000
        assert "root:" not in result.stdout
    assert vault.load(chain).session.tasks[0].status == "completed"


def test_an_annotations_folder_that_leads_away_is_named_and_left(
    cru: Cru, vault: Vault, chain: str, tmp_path: Path
) -> None:
    shutil.rmtree(vault.root / ".crucible" / "tasks")
    (tmp_path / "away").mkdir()
    (vault.root / ".crucible" / "tasks").symlink_to(tmp_path / "away")
    listed = cru("task")
    assert listed.exit_code == 3
    assert "3 pending" in listed.stdout
    assert cru("task", "pick", "1").exit_code == 0
    assert cru("task", "done", "1").exit_code == 0
    assert not list((tmp_path / "away").iterdir())


def test_a_broken_template_is_named_and_ours_is_used(cru: Cru, vault: Vault, chain: str) -> None:
    (vault.root / ".crucible" / "templates" / "task.md.j2").write_text("{{ label }}\n{% if %}")
    trust(vault.root)
    picked = cru("task", "pick", "1")
    assert (picked.exit_code, picked.stdout.startswith("# Task")) == (0, True)
    assert "task.md.j2:2: " in picked.stderr


def test_a_terminal_obeys_nothing_that_a_task_says(cru: Cru, vault: Vault, session: str) -> None:
    items = [{"id": "1\x1b[31m", "content": "x\x1b]0;title\x07\nReady\u202e", "status": "pending"}]
    text = f"---\nstarted: 2026-11-22T10:00:00Z\n---\n\n# L\n\n```tasks\n{json.dumps(items)}\n```\n"
    vault.create("2026-11-22-odd", text)
    for told in (cru("task", "list", "--all").stdout, cru("task", "show", "2026-11-22-odd").stdout):
        assert not {"\x1b", "\x07", "\u202e"} & set(told)
        assert "\nReady\u202e" not in told


# --- killed, and two at a time -----------------------------------------------------------------------------------------


def test_who_is_killed_while_recall_is_asked_loses_no_task(vault: Vault, session: str, cru: Cru) -> None:
    code = (
        "import os, signal, sys\nimport crucible.cli.task_add as adding\n"
        "adding._annotate = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from crucible.cli.main import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    args = ["--vault", str(vault.root), "task", "add", "Left behind"]
    died = subprocess.run([sys.executable, "-c", code, *args], check=False, capture_output=True, cwd=ROOT)
    assert died.returncode == -signal.SIGKILL
    assert not annotation(vault, session, "1").exists()
    assert "Left behind" in cru("task").stdout
    assert cru("task", "pick", "1").exit_code == 0
    assert "query: Left behind" in annotation(vault, session, "1").read_text()


def test_two_who_write_at_once_both_get_their_word(vault: Vault, chain: str, cru_process: CruProcess) -> None:
    def work(number: int) -> None:
        args = ("--vault", vault.root, "task")
        for more in (("add", f"Task of {number}"), ("annotate", "1", "--decision", f"Choice of {number}")):
            done = cru_process(*args, *more)
            failed.extend([done.stderr] if done.returncode else [])

    failed: list[bytes] = []
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    contents = [task.content for task in vault.load(chain).session.tasks]
    assert sorted(contents[3:]) == ["Task of 0", "Task of 1"]
    text = annotation(vault, chain, "1").read_text()
    assert all(f"Choice of {number}" in text for number in range(2))


def test_a_tick_in_obsidian_is_read_everywhere(cru: Cru, vault: Vault, chain: str) -> None:
    path = vault.find(chain)
    text = path.read_text()
    assert "- [ ] Implement the retry (after 1) ^task-2\n" in text
    text = text.replace("- [ ] Select a provider", "- [x] Select a provider")
    path.write_text(text.replace("^task-3\n", "^task-3\n- [ ] Buy milk\n"))
    listed = cru("task").stdout
    assert f"Ready\n  {chain}.2 " in listed
    assert f"  {chain}.buy-milk  Buy milk\n" in listed
    assert "Buy milk" in cru("briefing").stdout
    assert "at task 2 of 4" in cru("session", "resume", chain, "--print").stdout
    assert cru("task", "done", "buy-milk").exit_code == 0
    assert "- [x] Buy milk (completed " in path.read_text()
    assert cru("session", "end", chain).exit_code == 0
    assert "- Pending: Test it (after 2) ^task-3\n" in path.read_text()
    assert "- [ ]" not in path.read_text()


def test_a_tasks_block_that_is_no_json_is_named_and_not_taken_for_an_empty_one(
    cru: Cru, vault: Vault, chain: str
) -> None:
    path = vault.find(chain)
    head, _, _ = path.read_text().partition("### Tasks")
    broken = f'{head}```tasks\n[{{"id": "1" "content": "Select a provider"}}]\n```\n\n## Work\n'
    path.write_text(broken)
    listed = cru("task")
    assert listed.exit_code == 3
    assert f"warning: {chain}:" in listed.stderr
    assert "the tasks block is not JSON" in listed.stderr
    assert cru("task", "list", "--session", chain, "--format", "json").exit_code == 3
    for words in (["show", "1"], ["done", f"{chain}.2"], ["pick", "3"]):
        told = cru("task", *words)
        assert told.exit_code == 1
        assert "the tasks block is not JSON" in told.stderr
    assert cru("task", "add", "One more").exit_code == 1
    assert path.read_text() == broken


def test_done_tells_only_items_that_were_made(
    cru: Cru, vault: Vault, chain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault.root / ".crucible" / "config.toml").write_text("[knowledge]\nproject_limit = 1\n")
    one = Candidate(CandidateKind.SELF_CORRECTION, 0.85, "The window slides", "phase-1", 9)
    monkeypatch.setattr(keeping, "detect", lambda *_: (one, one._replace(summary="Clocks run backwards")))
    told = json.loads(cru("task", "done", "1", "--capture", "--format", "json").stdout)
    assert told["captured"] == ["the-window-slides"]


def test_a_list_that_claude_codes_sessions_share_is_shown(
    cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, work = tmp_path / "claude", tmp_path / "shop"
    work.mkdir()
    shutil.copytree(ROOT / "tests" / "data" / "claude_tasks" / NATIVE, client / "tasks" / "team-list_1")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(client))
    monkeypatch.chdir(work)

    def lists() -> set[str]:
        rows = json.loads(cru("task", "list", "--project", project, "--format", "json").stdout)["tasks"]
        return {row["session"] for row in rows}

    (work / ".git").mkdir()
    project = "shop"
    assert lists() == set()
    monkeypatch.setenv("CLAUDE_CODE_TASK_LIST_ID", "team list_1")
    assert lists() == {"team-list_1"}
    monkeypatch.delenv("CLAUDE_CODE_TASK_LIST_ID")
    (client / "settings.json").write_text('{"env": {"CLAUDE_CODE_TASK_LIST_ID": "team-list_1"}}')
    assert lists() == {"team-list_1"}
    for wrong in ("nonsense", "[]", '{"env": 1}', '{"env": {"CLAUDE_CODE_TASK_LIST_ID": 7}}'):
        (client / "settings.json").write_text(wrong)
        assert lists() == set()
