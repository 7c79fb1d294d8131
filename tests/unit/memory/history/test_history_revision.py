"""Updating a history note: our items follow the session, a user's edits stay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Source
from crucible.memory.history.history import HistoryEntry, HistoryLine
from crucible.memory.history.history_notes import render_history
from crucible.memory.history.history_revision import own_entry, revised

ENTRY = HistoryEntry(
    "2026-11-21-x",
    title="T",
    agent="claude-code",
    tokens=7,
    decisions=(
        HistoryLine("Token bucket", "Constant memory", finding="decision-1"),
        HistoryLine("Redis", finding="decision-2"),
    ),
    further=(HistoryLine("To do: ship"),),
)
NOTE = render_history(ENTRY)


def again(text: str, entry: HistoryEntry) -> str:
    return revised(Source(text), entry).text


def test_nothing_new_changes_nothing() -> None:
    assert again(NOTE, ENTRY) == NOTE


def test_an_untouched_note_becomes_what_a_new_one_would_be() -> None:
    entry = replace(
        ENTRY,
        tokens=9,
        agent="",
        project="shop",
        decisions=(
            HistoryLine("Token bucket", "Constant memory", finding="decision-1"),
            HistoryLine("Postgres", finding="decision-3"),
        ),
        questions=(HistoryLine("Retry?", finding="inbox-1"),),
        further=(HistoryLine("Continue: ship", finding="task-1"),),
    )
    assert own_entry(Source(again(NOTE, entry))) == entry


def test_line_ends_stay_as_they_are() -> None:
    text = again(NOTE.replace("\n", "\r\n"), replace(ENTRY, questions=(HistoryLine("Retry?"),)))
    assert text.count("\n") == text.count("\r\n")
    assert "- Retry?\r\n" in text


def test_an_edited_item_stays_and_is_not_repeated() -> None:
    text = NOTE.replace("- **Redis**", "- **Redis, in one region**")
    assert again(text, ENTRY) == text
    assert "- **Redis, in one region**" in again(text, replace(ENTRY, decisions=()))


def test_an_added_item_stays_in_place() -> None:
    text = NOTE.replace(
        "## Next Session\n",
        "Mine.\n\n## Open Questions\n\n- My own?\n\n> [!note]\n> Words\n\n## Next Session\n",
    )
    changed = again(text, replace(ENTRY, questions=(HistoryLine("Retry?"),)))
    for line in ("Mine.", "- My own?", "> [!note]", "> Words", "- Retry?"):
        assert f"\n{line}\n" in changed


def test_a_deleted_item_stays_deleted() -> None:
    text = NOTE.replace("- **Redis**\n", "").replace("tokens: 7\n", "")
    once = again(text, replace(ENTRY, tokens=9, questions=(HistoryLine("Retry?"),)))
    assert "Redis" not in once
    assert "tokens:" not in once.partition("<!-- crucible")[0]
    assert "Redis" not in again(once, ENTRY)


def test_an_edited_property_stays() -> None:
    text = NOTE.replace("agent: claude-code", "agent: me")
    assert "\nagent: me\n" in again(text, replace(ENTRY, agent="codex"))


def test_a_section_for_something_new_is_made_in_its_place() -> None:
    entry = replace(ENTRY, questions=(HistoryLine("Retry?"),), request=(HistoryLine("Limit requests"),))
    text = again(NOTE, entry)
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Request",
        "## Decisions Made",
        "## Open Questions",
        "## Next Session",
    ]
    assert text.replace("\n\n\n", "\n\n") == render_history(entry)


def test_a_section_with_nothing_left_in_it_goes() -> None:
    assert "## Next Session" not in again(NOTE, replace(ENTRY, further=()))
    mine = NOTE.replace("- To do: ship\n", "- To do: ship\n\n> [!note]\n> Mine\n")
    assert "## Next Session\n" in again(mine, replace(ENTRY, further=()))


def test_a_finding_in_other_words_replaces_its_line() -> None:
    entry = replace(ENTRY, decisions=(HistoryLine("Token buckets", finding="decision-1"), ENTRY.decisions[1]))
    assert again(NOTE, entry) == render_history(entry)


def test_a_line_that_a_human_edited_does_not_come_again_when_its_finding_changes() -> None:
    text = NOTE.replace("- **Redis**", "- **Redis, in one region**")
    entry = replace(ENTRY, decisions=(ENTRY.decisions[0], HistoryLine("Redis cluster", finding="decision-2")))
    assert again(text, entry).count("Redis") == 1


def test_items_are_renumbered_except_for_the_users() -> None:
    entry = replace(ENTRY, done=tuple(HistoryLine(name, finding=f"outcome-{name}") for name in "abc"))
    text = render_history(entry).replace("2. **b**", "2. **b**\n7. Mine")
    assert "\n1. **b**\n7. Mine\n3. **c**\n" in again(text, replace(entry, done=entry.done[1:]))


def test_a_note_without_marks_belongs_to_the_user() -> None:
    text = NOTE.partition("<!-- crucible")[0]
    assert again(text, replace(ENTRY, tokens=9)) == text


def test_another_note_is_refused() -> None:
    with pytest.raises(EditRefused):
        again("# Mine\n", ENTRY)
