"""`cru doctor --fix`: what it reports is what it changes, and after that both find nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from crucible.commands.learn.case_notes import read_case
from crucible.documents.markdown.source import Source
from crucible.integrations.doctor import CheckState
from crucible.integrations.doctor.fixes import Fix, FixContext, NoteFix, apply_fix, find_faults, report_faults
from crucible.integrations.doctor.note_fixes import FIXES
from crucible.vault.notes.vault import Note, Vault
from tests.paths import ROOT
from tests.unit.documents.session.older_notes import older, older_links

BY_NAME = {fix.name: fix for fix in FIXES}
SESSION = """---
type: session
session_id: {id}
started: 2026-11-21T20:26:47Z
status: completed
project: shop{more}
format: 2
---

# Fix it

## A

[[child]] is mine.

> [!subagent] @a
> mode: link
> [[child]]
> Summary: see [[child]]
"""
HISTORY = """---
type: history
session_id: parent
format: 2
---

# Fix it

From [[sessions/parent]].

%% crucible wrote: type=e1ecd44b %%
"""


@pytest.fixture
def old(vault: Vault) -> Vault:
    """A vault of version 0.1, with a note that a human moved."""
    logs = '\nsubagent_logs:\n  - "[[child]]"\nsources:\n  - claude-code:a\nmine: "[[child]]"'
    vault.create("parent", SESSION.format(id="parent", more=logs))
    vault.create("child", SESSION.format(id="child", more='\nparent: "[[parent]]"'), "deep")
    for name, text in {
        "history/parent.md": HISTORY,
        "start.md": "[[parent]] [[history/parent|h]] [[history/parent#A]]\n",
        "projects/shop.md": "---\ntype: project\nproject: shop\n---\n",
    }.items():
        path = vault.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return vault


def fix_all(vault: Vault) -> list[str]:
    fixed = []
    for fix in FIXES:
        context = FixContext(vault, UTC)
        results = list(apply_fix(context, fix, find_faults(context, [fix])[fix.name].paths))
        assert all(not reason for _, reason in results), results
        fixed += [f"{fix.name} {name}" for name, _ in results]
    return fixed


def states(vault: Vault) -> dict[str, CheckState]:
    return {result.topic: result.state for result in report_faults(FixContext(vault, UTC), FIXES)}


def bytes_of(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")}


def test_what_is_reported_is_fixed_and_then_nothing_is(old: Vault) -> None:
    reported = {
        f"{r.topic} {n}"
        for r in report_faults(FixContext(old, UTC), FIXES)
        if r.state is not CheckState.GOOD
        for n in r.items
    }
    fixed = {one.replace("parent-history", "parent") if "links" in one else one for one in fix_all(old)}
    assert fixed == reported
    assert set(states(old).values()) == {CheckState.GOOD}
    before = bytes_of(old.root)
    assert fix_all(old) == []
    assert bytes_of(old.root) == before


def test_links_get_the_folder_of_their_note_and_those_of_humans_stay(old: Vault) -> None:
    fix_all(old)
    text = old.load("parent").source.text
    assert '  - "[[sessions/deep/child|child]]"\n' in text
    assert "> [[sessions/deep/child|child]]\n" in text
    assert ("[[child]] is mine.\n" in text, 'mine: "[[child]]"\n' in text, "see [[child]]" in text) == (
        True,
        True,
        True,
    )
    assert 'parent: "[[sessions/parent|parent]]"\n' in old.load("child").source.text


def test_a_link_whose_folder_is_wrong_is_mended(old: Vault) -> None:
    fix_all(old)
    child = old.load("child")
    child.path.rename(old.sessions / "child.md")
    assert states(old)["links"] is CheckState.NOTE
    fix_all(old)
    assert '  - "[[sessions/child|child]]"\n' in old.load("parent").source.text


def test_a_history_moves_with_the_links_to_it(old: Vault) -> None:
    fix_all(old)
    text = (old.root / "history/parent-history.md").read_text()
    assert not (old.root / "history/parent.md").exists()
    assert text.endswith("From [[sessions/parent]].\n\n<!-- crucible wrote: type=e1ecd44b -->\n")
    start = (old.root / "start.md").read_text()
    assert start == "[[parent]] [[history/parent-history|h]] [[history/parent-history#A]]\n"


def test_a_history_whose_name_is_taken_stays_and_is_named(old: Vault) -> None:
    (old.root / "history/parent-history.md").write_text("Mine.\n")
    found = find_faults(FixContext(old, UTC), [BY_NAME["history-names"]])["history-names"]
    assert (found.paths, found.left) == ((), ("history/parent.md: history/parent-history.md already exists",))


def test_properties_move_and_a_project_with_a_note_is_a_link(old: Vault) -> None:
    fix_all(old)
    text = old.load("parent").source.text
    assert 'project: "[[projects/shop|shop]]"\n' in text
    assert text.endswith("\n<!-- crucible\nsources:\n  - claude-code:a\n-->\n")
    assert "title: Fix it\naliases:\n  - Fix it\n" in text


def test_the_example_of_version_0_1_becomes_the_example(vault: Vault) -> None:
    example = ROOT / "vault-example"
    for folder in ("sessions", "projects"):
        for path in (example / folder).glob("*.md"):
            target = vault.root / folder / path.name
            target.parent.mkdir(exist_ok=True)
            imported = "recording: 2" in path.read_text()
            target.write_text(older(path.read_text()) if imported else path.read_text())
    fix_all(vault)
    for path in (example / "sessions").glob("*.md"):
        now = (vault.sessions / path.name).read_text()
        assert sorted(now.split("\n")) == sorted(path.read_text().split("\n"))


def test_a_case_that_nobody_edited_still_counts_as_such(vault: Vault) -> None:
    example = ROOT / "vault-example"
    for path in (*example.glob("cases/*.md"), *example.glob("sessions/*.md")):
        target = vault.root / path.relative_to(example)
        target.parent.mkdir(exist_ok=True)
        target.write_text(older_links(path.read_text()))
    cases = sorted((vault.root / "cases").glob("*.md"))
    before = [read_case(Source(path.read_text()), path.stem).as_written for path in cases]
    fix_all(vault)
    assert [read_case(Source(path.read_text()), path.stem).as_written for path in cases] == before
    assert (True in before, all("[[sessions/" in path.read_text() for path in cases)) == (True, True)


def test_a_note_that_cannot_be_read_stops_nothing(old: Vault) -> None:
    (old.sessions / "odd.md").symlink_to(old.sessions / "odd.md")
    assert "properties sessions/parent.md" in fix_all(old)


def test_the_files_for_obsidian_are_added_where_they_are_missing(vault: Vault) -> None:
    (vault.root / "Sessions.base").write_text("mine")
    fix = BY_NAME["obsidian"]
    context = FixContext(vault, UTC)
    added = [name for name, _ in apply_fix(context, fix, find_faults(context, [fix])["obsidian"].paths)]
    assert ("Cases.base" in added, "Sessions.base" in added) == (True, False)
    assert (vault.root / "Sessions.base").read_text() == "mine"
    assert [result.state for result in report_faults(context, [fix])] == [CheckState.GOOD]


def test_a_missing_file_is_added_and_one_that_is_there_is_not_touched(vault: Vault) -> None:
    wanted = {"A.base": b"a", "deep/B.base": b"b"}

    def missing(context: FixContext) -> dict[str, bytes]:
        return {name: data for name, data in wanted.items() if not (context.vault.root / name).exists()}

    fix = Fix("files", "missing", "all there", files=missing)
    (vault.root / "A.base").write_bytes(b"mine")
    context = FixContext(vault, UTC)
    assert list(apply_fix(context, fix, find_faults(context, [fix])["files"].paths)) == [("deep/B.base", "")]
    assert [(vault.root / name).read_bytes() for name in wanted] == [b"mine", b"b"]
    assert [result.state for result in report_faults(context, [fix])] == [CheckState.GOOD]


def test_a_note_that_changes_meanwhile_is_fixed_as_it_is_then(old: Vault) -> None:
    links = BY_NAME["links"]
    path = old.sessions / "parent.md"

    def edited(context: FixContext, note: Note) -> NoteFix:
        if "Meanwhile" not in path.read_text():
            path.write_text(path.read_text() + "\nMeanwhile.\n")
        return links.find(context, note)

    slow = replace(links, find=edited)
    assert [reason for _, reason in apply_fix(FixContext(old, UTC), slow, ["sessions/parent.md"])] == [""]
    assert "Meanwhile." in path.read_text()
    assert "[[sessions/deep/child|child]]" in path.read_text()
