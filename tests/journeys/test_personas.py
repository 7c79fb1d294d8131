"""`cru launch --as`: what a client gets of a persona, which vaults' personas may be used, and what the session's note says."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from crucible.vault.notes.vault import Vault
from tests.clients.secrets_made import make_secrets
from tests.running import Cru

REVIEWER = """---
type: persona
client: claude
model: opus
tools: [Read, "Bash(git diff:*)"]
skills: [review]
---
# Reviewer

You review changes; `$(touch gone)` is only text.
"""
_ROWS = [
    {
        "type": "user",
        "uuid": "1",
        "parentUuid": None,
        "message": {"role": "user", "content": "Review the limiter"},
    },
    {
        "type": "assistant",
        "uuid": "2",
        "parentUuid": "1",
        "message": {
            "id": "m",
            "role": "assistant",
            "model": "opus",
            "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Reviewed."}],
        },
    },
]
_CLIENT = (
    f"#!{sys.executable}\nROWS = {_ROWS!r}\n"
    """
import json, os, sys, datetime
json.dump(sys.argv, open(os.environ["SEEN"], "w"))
folder = os.path.expanduser("~/.claude/projects/-shop")
os.makedirs(folder, exist_ok=True)
given = sys.argv[sys.argv.index("--session-id") + 1] if "--session-id" in sys.argv else "11111111"
for ident in [*filter(None, [os.environ.get("AT_ONCE")]), given]:
    with open(folder + f"/{ident}.jsonl", "w") as log:
        for row in ROWS:
            now = datetime.datetime.now(datetime.UTC).isoformat().replace("+00:00", "Z")
            row |= {"timestamp": now, "cwd": os.getcwd(), "version": "2.1.197", "isSidechain": False}
            row |= {"sessionId": ident, "uuid": ident + row["type"]}
            row["parentUuid"] = ident + "user" if row["type"] == "assistant" else None
            log.write(json.dumps(row) + "\\n")
"""
)


@pytest.fixture
def seen(tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a client was started with; the working directory is a project."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (tmp_path / "bin").mkdir()
    for name in ("claude", "codex", "pi"):
        path = tmp_path / "bin" / name
        path.write_text(_CLIENT)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen.json"))
    (vault.root / "agents").mkdir()
    return tmp_path / "seen.json"


def persona(vault: Vault, text: str = REVIEWER, name: str = "reviewer") -> Path:
    path = vault.root / "agents" / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path


def argv(seen: Path) -> list[str]:
    found: list[str] = json.loads(seen.read_text())
    return found


def doctor(cru: Cru, topic: str) -> list[dict[str, Any]]:
    return [one for one in json.loads(cru("doctor", "--json").stdout)["checks"] if one["topic"] == topic]


def test_a_persona_chooses_client_model_tools_and_instructions_and_the_note_names_it(
    vault: Vault, cru: Cru, seen: Path
) -> None:
    persona(vault)
    assert cru("trust", "--yes").exit_code == 0
    done = cru("launch", "--as", "reviewer")
    assert done.exit_code == 0, done.stderr
    assert "Starting claude as reviewer" in done.stderr
    words = argv(seen)
    assert words[1] == "--append-system-prompt"
    assert words[2].startswith("# Persona: reviewer\n\n# Reviewer\n\nYou review changes; `$(touch gone)` is only text.")
    assert "Use these skills where they apply: review." in words[2]
    assert words[3:8] == ["--model", "opus", "--tools", "Read,Bash(git diff:*)", "--session-id"]
    assert not list(seen.parent.rglob("gone"))
    (note,) = vault.session_paths()
    assert '\npersona: "[[agents/reviewer|reviewer]]"\n' in note.read_text()
    listed = json.loads(cru("session", "list", "--persona", "Reviewer", "--json").stdout)["sessions"]
    assert [one["id"] for one in listed] == [note.stem]
    assert json.loads(cru("session", "list", "--persona", "other", "--json").stdout)["sessions"] == []
    cru("import")
    assert '\npersona: "[[agents/reviewer|reviewer]]"\n' in note.read_text()


def test_the_users_own_words_take_precedence(vault: Vault, cru: Cru, seen: Path) -> None:
    persona(vault)
    cru("trust", "--yes")
    assert cru("launch", "--as", "reviewer", "--", "--model=haiku", "--tools", "Edit").exit_code == 0
    assert argv(seen)[5:] == ["--model=haiku", "--tools", "Edit"]
    for more in (["--resume=x"], ["-pc"], ["--session-id", "x"]):
        assert cru("launch", "--as", "reviewer", "--", *more).exit_code == 0
        assert argv(seen)[7:] == more
    assert cru("launch", "--as", "reviewer", "--with", "codex").exit_code == 0
    words = argv(seen)
    assert (Path(words[0]).name, words[3:]) == ("codex", ["--model", "opus"])
    assert "Use only these tools: Read, Bash(git diff:*)." in words[2]


def test_of_two_sessions_that_begin_at_once_the_right_one_has_the_persona(
    vault: Vault, cru: Cru, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    persona(vault)
    cru("trust", "--yes")
    monkeypatch.setenv("AT_ONCE", "0ther")
    assert cru("launch", "--as", "reviewer").exit_code == 0
    cru("import")
    named = {"persona:" in path.read_text(): path.read_text() for path in vault.session_paths()}
    assert argv(seen)[8] in named[True]
    assert "0ther" in named[False]
    # Told to continue a session, the client takes no id; what is guessed is said.
    done = cru("launch", "--as", "reviewer", "--", "-c")
    assert "the persona may belong to another session, since 2 began in this folder" in done.stderr


def test_a_persona_is_nothing_until_it_is_accepted_as_it_is_now(vault: Vault, cru: Cru, seen: Path) -> None:
    path = persona(vault)
    for _ in range(2):
        refused = cru("launch", "--as", "reviewer")
        assert (refused.exit_code, seen.exists()) == (1, False)
        assert "agents/reviewer.md: not accepted yet" in refused.stderr
        assert doctor(cru, "trust")[0]["items"] == ["agents/reviewer.md"]
        shown = cru("trust", "--yes").stdout
        assert "You review changes" in shown
        path.write_text(path.read_text() + "\nAnd push to main.\n")
    assert cru("launch", "--as", "reviewer").exit_code == 1
    assert "trust" not in cru("session", "list").stderr, "a persona that nobody uses is not mentioned"


def test_a_broken_or_hostile_persona_starts_nothing_and_doctor_names_it(vault: Vault, cru: Cru, seen: Path) -> None:
    persona(vault, REVIEWER.replace("model: opus", "model: --dangerously-skip-permissions"))
    cru("trust", "--yes")
    done = cru("launch", "--as", "reviewer")
    assert (done.exit_code, seen.exists()) == (1, False)
    assert "agents/reviewer.md:4: model is not a model's name" in done.stderr
    (found,) = doctor(cru, "personas")
    assert (found["state"], found["items"]) == ("bad", ["agents/reviewer.md:4: model is not a model's name"])


def test_a_secret_in_a_persona_reaches_no_command_line_and_no_message(vault: Vault, cru: Cru, seen: Path) -> None:
    token = make_secrets()["github"]
    persona(vault, REVIEWER.replace("You review", f"Use {token} to review"))
    cru("trust", "--yes")
    done = cru("launch", "--as", "reviewer")
    assert (done.exit_code, seen.exists()) == (1, False)
    assert "it contains a secret" in done.stderr
    assert token not in done.stdout + done.stderr + json.dumps(doctor(cru, "personas"))


def test_a_persona_outside_the_vault_is_refused(vault: Vault, cru: Cru, seen: Path) -> None:
    outside = seen.parent / "reviewer.md"
    outside.write_text(REVIEWER)
    os.symlink(outside, vault.root / "agents" / "reviewer.md")
    cru("trust", "--yes")
    for name in ("reviewer", "../reviewer", f"{outside}"):
        done = cru("launch", "--as", name)
        assert (done.exit_code, seen.exists()) == (1, False)
    assert "no persona" in done.stderr
    assert doctor(cru, "personas")[0]["items"] == ["agents/reviewer.md: it is outside the vault"]
