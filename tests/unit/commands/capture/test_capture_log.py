"""What is remembered of candidates: `.crucible/memory/captures.jsonl`."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.capture.candidates import Candidate, CandidateKind
from crucible.commands.capture.capture_log import (
    CaptureState,
    KnownCaptures,
    Remembered,
    append_states,
    captures_of,
    key_of,
    load_known,
    spend,
)
from crucible.commands.capture.question import MOST_PROMPTS, Interaction, QuestionBudget
from crucible.core.secrets.redaction import redact_of
from crucible.memory.bookmarks.resume_tickets import CAPTURES
from crucible.memory.history.history import Capture
from crucible.vault.notes.vault import Vault

NOW = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
ID = "2026-11-21-x"
PROMPT = (Interaction.CAPTURE_PROMPT,)


def said(key: str, state: CaptureState, summary: str = "Use a token bucket", item: str = "") -> Remembered:
    return Remembered(key, state, "decision", summary, item=item)


def keep(vault: Vault, *states: Remembered, session: str = ID, project: str = "shop") -> None:
    append_states(vault.root, session, states, at=NOW, project=project, fsync=False)


def memory(vault: Vault) -> Path:
    return vault.root / ".crucible" / "memory" / CAPTURES


def test_a_vault_where_nothing_was_proposed_remembers_nothing(vault: Vault) -> None:
    assert load_known(vault.root, ID) == KnownCaptures({})
    assert captures_of(vault.root, ID).suggested == ()


def test_the_same_in_other_words_of_no_weight_has_the_same_key() -> None:
    one = Candidate(CandidateKind.DECISION, 0.9, "Use the token bucket.", "phase-1", 3)
    assert key_of(one) == key_of(one._replace(summary="use a  Token Bucket", confidence=0.7, line=9, phase="phase-2"))
    assert (
        len({key_of(one), key_of(one._replace(kind=CandidateKind.PATTERN)), key_of(one._replace(file="adr/1.md"))}) == 3
    )


@given(st.lists(st.sampled_from([*CaptureState]), min_size=1, max_size=6), st.randoms())
def test_whatever_the_order_of_lines_the_strongest_state_holds(states: list[CaptureState], chance: object) -> None:
    lines = [said("c-1", state) for state in states]
    import random
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / ".crucible").mkdir()
        for one in random.sample(lines, len(lines)):
            append_states(root, ID, [one], at=NOW, fsync=False)
        rank = [*CaptureState].index
        assert load_known(root, ID).state("c-1") is max(states, key=rank)


def test_the_history_lists_suggested_approved_and_skipped_captures(vault: Vault) -> None:
    keep(vault, said("c-1", CaptureState.SUGGESTED), said("c-2", CaptureState.ASKED), said("c-3", CaptureState.ASKED))
    keep(
        vault,
        said("c-2", CaptureState.APPROVED),
        said("c-3", CaptureState.SKIPPED),
        said("c-2", CaptureState.KEPT, item="use-it"),
    )
    keep(vault, said("c-9", CaptureState.KEPT), session="2026-11-21-y")
    told = captures_of(vault.root, ID)
    assert told.suggested == (Capture("decision", "", "Use a token bucket"),)
    assert told.approved == (Capture("decision", "use-it", "Use a token bucket"),)
    assert len(told.skipped) == 1


def test_what_was_skipped_in_a_project_is_not_asked_in_its_next_session(vault: Vault) -> None:
    keep(vault, said("c-1", CaptureState.SKIPPED), said("c-2", CaptureState.SKIPPED))
    keep(vault, said("c-2", CaptureState.KEPT), session="2026-11-22-y")
    assert load_known(vault.root, "2026-11-23-z", "shop").refused == {"c-1", "c-2"}
    assert load_known(vault.root, "2026-11-22-y", "shop").refused == {"c-1"}
    assert load_known(vault.root, "2026-11-23-z", "bank").refused == frozenset()


def test_what_waits_in_another_session_of_the_project_is_known(vault: Vault) -> None:
    keep(
        vault, said("c-1", CaptureState.SUGGESTED), said("c-2", CaptureState.SUGGESTED), said("c-2", CaptureState.KEPT)
    )
    assert load_known(vault.root, "2026-11-23-z", "shop").waiting == {"c-1"}
    assert load_known(vault.root, ID, "shop").waiting == frozenset()
    assert load_known(vault.root, "2026-11-23-z", "bank").waiting == frozenset()


def test_lines_that_are_none_are_passed_over(vault: Vault) -> None:
    keep(vault, said("c-1", CaptureState.SKIPPED))
    with memory(vault).open("ab") as file:
        file.write(
            b'<<<<<<< HEAD\n{"session":"../x"}\n{"session":"2026-11-21-x","at":"2026-11-21T00:00:00Z","state":"great"}\n'
        )
        file.write(b'{"session":"2026-11-21-x","at":"2026-11-21T00:00:00Z","spent":["bribe"]}\n{"torn')
    assert [*load_known(vault.root, ID).states] == ["c-1"]


def test_no_line_looks_like_a_secret(vault: Vault) -> None:
    keep(vault, said(key_of(Candidate(CandidateKind.DECISION, 0.9, "Use it", "", 1)), CaptureState.KEPT, item="use-it"))
    spend(vault.root, ID, PROMPT, QuestionBudget(2), at=NOW)
    text = memory(vault).read_text()
    assert redact_of(vault.settings.secrets)(text) == (text, {})


def test_git_merges_the_file_by_union(vault: Vault) -> None:
    keep(vault, said("c-1", CaptureState.SKIPPED))
    subprocess.run(["git", "init", "-q", vault.root], check=True)
    told = subprocess.run(
        ["git", "-C", vault.root, "check-attr", "merge", memory(vault).relative_to(vault.root)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout.strip().endswith("merge: union")


# --- what is spent ---------------------------------------------------------------------------------------------------


def test_nothing_is_spent_beyond_the_budget(vault: Vault) -> None:
    assert [spend(vault.root, ID, PROMPT, QuestionBudget(2), at=NOW) for _ in range(4)] == [True, True, False, False]
    assert load_known(vault.root, ID).spent == (PROMPT, PROMPT)


def test_three_prompts_are_the_most_of_a_session(vault: Vault) -> None:
    assert [spend(vault.root, ID, PROMPT, QuestionBudget(6), at=NOW) for _ in range(5)].count(True) == MOST_PROMPTS
    assert spend(vault.root, "2026-11-21-y", PROMPT, QuestionBudget(6), at=NOW)


def test_a_name_that_a_session_had_counts(vault: Vault) -> None:
    keep(vault, said("c-1", CaptureState.SKIPPED))
    (memory(vault).parent / "renames.jsonl").write_text(json.dumps({"session": "2026-11-21-new", "was": ID}) + "\n")
    assert load_known(vault.root, "2026-11-21-new").state("c-1") is CaptureState.SKIPPED


_SPENDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from crucible.commands.capture.question import QuestionBudget, Interaction
from crucible.commands.capture.capture_log import spend
now = datetime(2026, 11, 21, tzinfo=UTC)
done = [spend(Path(sys.argv[1]), "2026-11-21-x", (Interaction.CAPTURE_PROMPT,), QuestionBudget(6), at=now, fsync=False) for _ in range(8)]
print(sum(done))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a quick start of processes")
def test_processes_at_once_do_not_ask_more_than_one_would(vault: Vault) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", _SPENDER, str(vault.root)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sum(int(one.communicate()[0]) for one in running) == MOST_PROMPTS
