"""A note that is made again: what is ours follows the session, what a human wrote, changed or took out stays so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crucible.errors import EditRefused
from crucible.history.model import Entry, Line
from crucible.history.notes import read_entry, render_entry
from crucible.history.revising import revised
from crucible.note.source import Source

ENTRY = Entry(
    "2026-11-21-x",
    title="T",
    agent="claude-code",
    tokens=7,
    decisions=(Line("Token bucket", "Constant memory", 12), Line("Redis", line=30)),
    further=(Line("To do: ship"),),
)
NOTE = render_entry(ENTRY)


def again(text: str, entry: Entry) -> str:
    return revised(Source(text), entry).text


def test_nothing_new_changes_nothing() -> None:
    assert again(NOTE, ENTRY) == NOTE


def test_an_untouched_note_becomes_what_a_new_one_would_be() -> None:
    entry = replace(
        ENTRY,
        tokens=9,
        agent="",
        project="shop",
        decisions=(Line("Token bucket", "Constant memory", 14), Line("Postgres", line=40)),
        questions=(Line("Retry?", line=50),),
        further=(Line("Continue: ship"),),
    )
    assert read_entry(Source(again(NOTE, entry))).entry == entry


def test_line_ends_stay_as_they_are() -> None:
    text = again(NOTE.replace("\n", "\r\n"), replace(ENTRY, questions=(Line("Retry?"),)))
    assert text.count("\n") == text.count("\r\n")
    assert "- Retry?\r\n" in text


def test_what_a_human_changed_stays_and_does_not_come_twice() -> None:
    text = NOTE.replace("- Redis (line 30)", "- Redis, in one region (line 30)")
    assert again(text, ENTRY) == text
    assert "- Redis, in one region" in again(text, replace(ENTRY, decisions=()))


def test_what_a_human_added_stays_where_it_is() -> None:
    text = NOTE.replace(
        "## Open Questions\n", "Mine.\n\n## Open Questions\n\n- My own?\n\n> [!note]\n> Words\n"
    )
    changed = again(text, replace(ENTRY, questions=(Line("Retry?"),)))
    for line in ("Mine.", "- My own?", "> [!note]", "> Words", "- Retry?"):
        assert f"\n{line}\n" in changed


def test_what_a_human_took_out_stays_out() -> None:
    text = NOTE.replace("- Redis (line 30)\n", "").replace("tokens: 7\n", "")
    once = again(text, replace(ENTRY, tokens=9, questions=(Line("Retry?"),)))
    assert "Redis" not in once
    assert "tokens:" not in once.partition("%% crucible")[0]
    assert "Redis" not in again(once, ENTRY)


def test_a_property_that_a_human_changed_is_his() -> None:
    text = NOTE.replace("agent: claude-code", "agent: me")
    assert "\nagent: me\n" in again(text, replace(ENTRY, agent="codex"))


def test_a_section_that_is_gone_is_made_for_what_is_new() -> None:
    text = NOTE.replace("## Open Questions\n\n", "")
    assert read_entry(Source(again(text, replace(ENTRY, questions=(Line("Retry?"),))))).entry == replace(
        ENTRY, questions=(Line("Retry?"),)
    )


def test_a_note_that_does_not_tell_what_was_written_is_a_humans() -> None:
    text = NOTE.partition("%% crucible")[0]
    assert again(text, replace(ENTRY, tokens=9)) == text


def test_another_note_is_refused() -> None:
    with pytest.raises(EditRefused):
        again("# Mine\n", ENTRY)
