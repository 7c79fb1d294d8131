"""`cru session resume`: which session, what is printed, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.documents.session.session import Status
from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.commands.resume.resumed import PAUSED, Scene, make_scene, paused_note

Resume = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scene(tmp_path: Path, vault: Vault) -> Scene:
    found = make_scene(tmp_path, vault)
    found.write(paused_note())
    return found


@pytest.fixture
def resume(scene: Scene, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> Resume:
    """`cru session resume` in the project: exit code, stdout, stderr."""
    monkeypatch.chdir(scene.project)
    for name in ("PATH", "FAKE_LOG"):
        monkeypatch.setenv(name, scene.env[name])

    def run(*args: str) -> tuple[int, str, str]:
        done = cru("session", "resume", *args)
        return done.exit_code, done.stdout, done.stderr

    return run


def contents(scene: Scene) -> dict[str, bytes]:
    """Every byte of the vault, beside caches."""
    files = [path for path in scene.vault.root.rglob("*") if path.is_file()]
    held = {str(path.relative_to(scene.vault.root)): path.read_bytes() for path in files}
    return {name: data for name, data in held.items() if "/cache/" not in name and "/index/" not in name}


@pytest.mark.parametrize("args", [(PAUSED, "--print"), (PAUSED,), ("--print",), ()])
def test_without_a_terminal_the_context_is_printed_and_nothing_changes(
    scene: Scene, resume: Resume, args: tuple[str, ...]
) -> None:
    before = contents(scene)
    code, out, err = resume(*args)
    assert (code, err == "") == (0, PAUSED in args)
    assert args[:1] == (PAUSED,) or err == f"{PAUSED}: the last paused session of this project\n"
    for told in ("Token bucket.", "Test it", "Ship it", "phase-2", "task 2 of 3"):
        assert told in out
    assert out.endswith("\n")
    assert contents(scene) == before
    assert not scene.log()


def test_the_context_contains_the_goal(resume: Resume) -> None:
    _, out, _ = resume(PAUSED, "--print", "--goal", "Make it pass on Windows")
    assert "[goal of this resume]\n  Make it pass on Windows\n" in out


def test_the_printed_context_can_be_json(scene: Scene, resume: Resume) -> None:
    code, out, _ = resume(PAUSED, "--print", "--format", "json", "--budget", "4000")
    told = json.loads(out)
    assert code == 0
    assert (told["session"], told["phase"], told["tight"], told["drift"]) == (
        PAUSED,
        "phase-2",
        False,
        None,
    )
    assert 0 < told["tokens"] <= 4000
    assert "Token bucket." in told["text"]


def test_without_an_id_it_is_the_projects_session_that_was_paused_last(scene: Scene, resume: Resume) -> None:
    later = paused_note("2026-11-20-later").replace("2026-11-21T20:3", "2026-11-22T20:3")
    scene.write(later, "2026-11-20-later")
    scene.write(paused_note("2026-11-23-other", "other"), "2026-11-23-other")
    scene.write(paused_note("2026-11-23-done", status="completed"), "2026-11-23-done")
    assert json.loads(resume("--format", "json")[1])["session"] == "2026-11-20-later"


def test_without_a_paused_session_the_error_says_what_to_do(scene: Scene, resume: Resume) -> None:
    next(scene.vault.sessions.glob("*.md")).unlink()
    code, out, err = resume()
    assert (code, out) == (1, "")
    assert "no paused session of project 'shop'" in err
    assert "cru session list --status paused" in err
    scene.write(paused_note(status="completed"))
    code, out, err = resume()
    assert (code, out) == (1, "")
    assert f"The last one is completed: cru session resume {PAUSED} --force" in err


def test_what_a_human_should_not_have_typed_is_not_printed(scene: Scene, resume: Resume) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    scene.write(paused_note().replace("It fails.", f"It fails with {secret}."))
    for form in ("text", "json"):
        code, out, _ = resume(PAUSED, "--format", form)
        assert code == 0
        assert secret not in out
        assert "It fails with [REDACTED:" in out


def test_an_empty_id_is_none_at_all(scene: Scene, resume: Resume) -> None:
    assert resume("")[0] == 2


@pytest.mark.parametrize("status", ["completed", "failed"])
@pytest.mark.parametrize("how", [("--print",), ("--with", "claude")])
def test_a_session_that_has_ended_is_refused_with_the_way_on(
    scene: Scene, resume: Resume, status: str, how: tuple[str, ...]
) -> None:
    scene.write(paused_note(status=status))
    before = contents(scene)
    code, out, err = resume(PAUSED, *how)
    assert (code, out) == (1, "")
    assert f"it is {status}" in err
    assert f"cru session resume {PAUSED} --force" in err
    assert f"cru record start --continues {PAUSED}" in err
    assert contents(scene) == before
    assert resume(PAUSED, "--print", "--force")[0] == 0


def test_a_session_that_continues_another_is_linked_both_ways(scene: Scene, cru: Cru) -> None:
    scene.write(paused_note(status="completed"))
    new = cru("record", "start", "Go on", "--continues", PAUSED).stdout.strip()
    assert scene.session(new).continues == PAUSED
    assert scene.session().continued_by == new


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (("--native", "--fresh", "--with", "claude"), 2, "cannot be used together"),
        (("--with", "claude", "--format", "json"), 2, "--format requires --print"),
        (("--with", "'"), 2, "not a valid command line"),
        (("--with", " "), 2, "--with is empty"),
        (("--with", "codex"), 1, "@openai/codex"),
        (("--with", "opencode"), 1, "opencode-ai"),
        (("--with", "no-such-program --x"), 1, "no-such-program: not installed"),
        (("--with", "claude", "--native"), 1, "claude has no conversation"),
        (("--with", "cat", "--native"), 1, "cat has no conversation"),
        (("--budget", "0", "--print"), 2, "--budget"),
    ],
)
def test_what_cannot_be_is_one_clear_line_and_changes_nothing(
    scene: Scene, resume: Resume, args: tuple[str, ...], code: int, told: str
) -> None:
    before = contents(scene)
    found, out, err = resume(PAUSED, *args)
    assert (found, out) == (code, "")
    assert told in err
    assert err.startswith("error: ")
    assert len(err.splitlines()) <= 2
    assert "http" not in err
    assert contents(scene) == before


def test_a_session_that_no_client_worked_on_needs_a_client_named(scene: Scene) -> None:
    from crucible.commands.resume.continue_session import choose_client
    from crucible.core.errors import UsageError

    with pytest.raises(UsageError, match="no supported client") as raised:
        choose_client(scene.session(), None)
    assert "--with" in raised.value.hint


def test_an_unknown_resume_point_is_only_a_warning(scene: Scene, resume: Resume) -> None:
    scene.write(paused_note().replace("phase-2\n", "phase-9\n"))
    code, out, err = resume(PAUSED, "--print")
    assert code == 0
    assert "Token bucket." in out
    assert len(err.splitlines()) == 1
    assert "'phase-9' is not a phase" in err


def test_a_note_without_phases_goes_on_too(scene: Scene, resume: Resume) -> None:
    head = paused_note().partition("## Write it")[0].replace("resume_point: phase-2\n", "")
    scene.write(head)
    assert resume(PAUSED, "--print")[0] == 0
    code, _, err = resume(PAUSED, "--with", "true")
    assert (code, err.splitlines()[-1][: len(PAUSED) + 9]) == (0, f"Resuming {PAUSED}")
    assert scene.session().status is Status.PAUSED


def test_a_subagents_note_that_is_gone_or_embeds_its_parent_stops_nothing(scene: Scene, resume: Resume) -> None:
    child = f"{PAUSED}-clock"
    more = f"subagents:\n  - session: {child}\n    agent: helper\n  - session: 2026-11-21-gone\n    agent: helper\n"
    scene.write(paused_note(more=more) + f"\n> [!subagent] @helper\n> mode: embed\n> ![[{child}]]\n")
    scene.write(paused_note(child, more=f'parent: "[[{PAUSED}]]"\n') + f"\n![[{PAUSED}]]\n", child)
    code, out, err = resume(PAUSED, "--print")
    assert (code, err) == (0, "")
    assert "helper" in out
