"""Diffs and outputs as folded callouts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import CallEnd, Prompted, ToolReturned, ToolUsed
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Source
from crucible.documents.recording.pending_calls import Details, detail_of
from crucible.documents.recording.session_draft import session_of
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Callout, Outcome, ToolCalls
from crucible.documents.session.session_reader import read_session
from samples.hostile_texts import hostile_text
from tests.unit.commands.imports.places import REAL, bytes_of, make_vault, run_import
from tests.unit.documents.recording.sample_events import at, setting

EDIT = {"file_path": "orders.py", "old_string": "a\nb\nc\n", "new_string": "a\nB\nc\n"}


@pytest.mark.parametrize(
    ("arguments", "diff"),
    [
        (EDIT, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"),
        ({"filePath": "a.py", "oldString": "x", "newString": ""}, "@@ -1 +0,0 @@\n-x"),
        ({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]},
         "@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-c\n+d"),
        ({"file_path": "a.py", "content": "x = 1\ny = 2\n"}, "+x = 1\n+y = 2"),
        ({"patchText": "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch"},
         "*** Update File: a.py\n@@\n-a\n+b"),
    ],
)  # fmt: skip
def test_an_edit_is_shown_as_a_diff(arguments: Mapping[str, object], diff: str) -> None:
    shown = detail_of(Details.DIFFS, "Edit orders.py", arguments, "updated", Outcome.OK)
    assert shown == Callout("tool", "Edit orders.py", f"```diff\n{diff}\n```", fold="-")


def test_outputs_are_shown_only_where_all_is_asked_for() -> None:
    bash: dict[str, object] = {"command": "make"}
    text = "Exit code 2\n[build] $ make\nno rule\n"
    assert detail_of(Details.DIFFS, "Bash make", bash, text, Outcome.FAILED) is None
    shown = detail_of(Details.ALL, "Bash make", bash, text, Outcome.FAILED)
    assert shown == Callout("tool", "Bash make", "```text\nno rule\n```", fold="-")
    assert detail_of(Details.ALL, "Bash make", bash, "no, stop", Outcome.REJECTED) is None
    assert detail_of(Details.ALL, "Bash make", bash, "\n", Outcome.OK) is None


def test_an_edit_that_did_not_happen_has_no_diff() -> None:
    assert detail_of(Details.DIFFS, "Edit orders.py", EDIT, "no match", Outcome.FAILED) is None


def test_a_fence_is_longer_than_those_inside_and_a_long_text_loses_its_middle() -> None:
    shown = detail_of(Details.ALL, "Read a.md", {}, "````\nx\n````\n" + "y" * 9000, Outcome.OK)
    assert shown is not None
    assert shown.text.startswith("`````text\n````\nx\n````\nyy")
    assert "… 5012 characters …" in shown.text
    assert len(shown.text) < 4200


def _told(details: Details, *texts: str) -> Recorder:
    recorder = Recorder("claude-code", details=details)
    recorder.add(Prompted(at(), "Go"))
    for n, text in enumerate(texts):
        recorder.add(ToolUsed(at(), f"c{n}", "Edit", {**EDIT, "new_string": text}))
        recorder.add(ToolReturned(at(), f"c{n}", text, CallEnd.OK))
    return recorder


@given(st.lists(hostile_text(), min_size=1, max_size=3), st.sampled_from(Details))
def test_whatever_is_shown_is_read_back(texts: list[str], details: Details) -> None:
    told = session_of(_told(details, *texts).draft(), setting())
    assert read_session(Source(render_session(told)), told.id) == told


def test_a_diff_stands_behind_the_list_that_names_its_call() -> None:
    entries = session_of(_told(Details.DIFFS, "x", "y").draft(), setting()).phases[0].entries
    assert [type(entry) for entry in entries[1:]] == [ToolCalls, Callout, ToolCalls, Callout]
    nothing = session_of(_told(Details.NONE, "x", "y").draft(), setting()).phases[0].entries
    assert [type(entry) for entry in nothing[1:]] == [ToolCalls]


def test_the_setting_makes_an_import_show_diffs(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", VaultSettings(details="diffs"))
    run_import(vault, REAL)
    before = bytes_of(vault)
    notes = [text.decode() for name, text in before.items() if name.endswith(".md")]
    assert any("> [!tool]- Write limiter.py\n> ```diff\n> +" in note for note in notes)
    assert not any("> ```text" in note for note in notes)
    run_import(vault, REAL)
    assert bytes_of(vault) == before


def test_without_the_setting_a_note_has_no_details(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    run_import(vault, REAL)
    assert not any(b"[!tool]" in text for text in bytes_of(vault).values())
