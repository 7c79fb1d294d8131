"""The folder of knowledge: items are listed, found and checked, and no error is hidden."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from crucible.core.errors import CrucibleError, OutsideVault, UnknownId, UsageError
from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_notes import render_item
from crucible.documents.knowledge.item_rules import Audience
from crucible.documents.knowledge.items import Item, ItemScope, ItemSource, ItemStatus, ItemType, Origin, Verification
from crucible.memory.knowledge.add_item import add_item
from crucible.memory.knowledge.knowledge_folder import (
    ItemFilter,
    check_items,
    find_item,
    list_items,
    load_items,
    stats_of,
)
from crucible.vault.notes.vault import Vault
from tests.unit.memory.knowledge.sample_items import NOW, item_of, unchanged

SETTINGS = KnowledgeSettings()


def put(vault: Vault, name: str, item: Item | str) -> Path:
    path = vault.root / "knowledge" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(item if isinstance(item, str) else render_item(item))
    return path


def listed(vault: Vault, **wish: object) -> list[str]:
    return [row.id for row in list_items(vault, load_items(vault), ItemFilter(**wish), NOW, SETTINGS)]  # type: ignore[arg-type]


def days(number: int) -> timedelta:
    return timedelta(days=number)


@pytest.fixture
def filled(vault: Vault) -> Vault:
    put(vault, "new.md", item_of("New", tags=("Retry",)))
    put(vault, "old.md", item_of("Old", updated=NOW - days(200), use_count=4))
    put(vault, "deep/seen.md", item_of("Seen", type=ItemType.EVIDENCE, use_count=9, useful_count=9))
    put(vault, "gone.md", item_of("Gone", status=ItemStatus.RETIRED))
    put(vault, "everybody.md", item_of("Everybody", type=ItemType.OBSERVATION, scope=ItemScope.GLOBAL))
    put(vault, "other.md", item_of("Other", project="blog"))
    put(vault, "mine.md", "# only mine\n")
    return vault


# --- lists -----------------------------------------------------------------------------------------------------------


def test_a_list_is_by_weight_and_leaves_out_what_is_retired(filled: Vault) -> None:
    assert listed(filled) == ["seen", "new", "other", "everybody", "old"]
    assert listed(filled, retired=True) == ["gone"]
    assert "gone" in listed(filled, retired=None)


def test_a_list_is_narrowed(filled: Vault) -> None:
    assert listed(filled, types=frozenset({ItemType.EVIDENCE, ItemType.OBSERVATION})) == ["seen", "everybody"]
    assert listed(filled, tags=frozenset({"retry"})) == ["new"]
    put(filled, "gone-long.md", item_of("Gone", status=ItemStatus.RETIRED, updated=NOW - days(400)))
    assert listed(filled, to_verify=True, retired=None) == ["old"]
    assert listed(filled, viewer=Audience(ItemScope.PROJECT, "blog")) == ["other", "everybody"]


def test_a_disproved_item_needs_verification_at_once(filled: Vault) -> None:
    put(filled, "wrong.md", item_of("Wrong", verification=Verification(False, "", "", NOW)))
    assert listed(filled, to_verify=True) == ["wrong", "old"]


def test_a_row_has_path_and_parts_of_the_weight(filled: Vault) -> None:
    (row,) = list_items(filled, load_items(filled), ItemFilter(to_verify=True), NOW, SETTINGS)
    assert (row.path, row.to_verify) == ("knowledge/old.md", True)
    assert row.weight.parts == {"type": 0.9, "freshness": 0.5 ** (200 / 90), "usefulness": 0.5}


def test_nothing_makes_no_folder(vault: Vault) -> None:
    assert not listed(vault)
    assert not [*check_items(vault)]
    assert not (vault.root / "knowledge").exists()


# --- finding ---------------------------------------------------------------------------------------------------------


def test_an_item_is_found_by_its_id_its_path_and_its_beginning(filled: Vault) -> None:
    path = filled.root / "knowledge" / "deep" / "seen.md"
    for ref in ("seen", "SEEN", "se", "seen.md", "deep/seen.md", "knowledge/deep/seen.md", str(path)):
        assert find_item(filled, ref) == path
    assert find_item(filled, "seen.md", path.parent) == path


def test_several_matches_or_none_are_an_error(filled: Vault) -> None:
    put(filled, "a/twin.md", item_of("Twin"))
    put(filled, "b/twin.md", item_of("Twin"))
    with pytest.raises(UsageError, match="matches 2 knowledge items") as told:
        find_item(filled, "twin")
    assert "knowledge/a/twin.md, knowledge/b/twin.md" in told.value.hint
    put(filled, "sea.md", item_of("Sea"))
    with pytest.raises(UsageError, match="matches 2"):
        find_item(filled, "se")
    for ref in ("nothing", "", "../x", "a\0b.md", "/"):
        with pytest.raises(UnknownId, match="no knowledge item matches"):
            find_item(filled, ref)
    (filled.root / "own.md").write_text("mine")
    with pytest.raises(UsageError, match="not in knowledge/"):
        find_item(filled, "own.md")
    with pytest.raises(OutsideVault):
        find_item(filled, "/etc/../etc/hosts.md" if Path("/etc/hosts.md").exists() else _outside(filled))


def _outside(vault: Vault) -> str:
    outside = vault.root.parent / "outside.md"
    outside.write_text("x")
    return str(outside)


# --- what is wrong ---------------------------------------------------------------------------------------------------


def test_every_problem_is_reported_with_its_line(vault: Vault) -> None:
    (vault.root / "sessions" / "there.md").write_text("---\ntype: session\n---\n")
    good = item_of("Good", source=ItemSource(Origin.SESSION, "there"))
    put(vault, "good.md", good)
    put(vault, "lost.md", item_of("Lost", source=ItemSource(Origin.SESSION, "2026-gone")))
    put(vault, "nowhere.md", item_of("Nowhere", source=ItemSource(Origin.SESSION)))
    put(vault, "placeless.md", item_of("Placeless", project=""))
    put(vault, "counted.md", item_of("Counted", use_count=1, useful_count=2))
    put(vault, "undated.md", item_of("Undated", created=None, updated=None))
    put(vault, "broken.md", "---\ntype: pattern\nproject: a: b: [\n---\n")
    put(vault, "joke.md", "---\na: 1\ntype: joke\n---\n")
    put(vault, "bare.md", "# mine\n")
    put(vault, "sourceless.md", render_item(good).replace("source: session\n", ""))
    put(vault, "sub/good.md", good)
    (vault.root / "knowledge" / "link.md").symlink_to(vault.root / "no-where.md")
    (vault.root / "knowledge" / "folder.md").mkdir()
    found = {(one.path, one.problem.code): one.problem.line for one in check_items(vault)}
    scope = render_item(item_of("Placeless", project="")).split("\n").index("scope: project") + 1
    assert found.pop(("knowledge/placeless.md", "no-place")) == scope
    assert found.pop(("knowledge/lost.md", "no-such-session")) > 1
    assert found.pop(("knowledge/nowhere.md", "no-session")) > 1
    assert found.pop(("knowledge/counted.md", "bad-count")) > 1
    assert found.pop(("knowledge/joke.md", "bad-field")) == 3
    assert {path for path, _ in found if path == "knowledge/broken.md"}
    found = {one: line for one, line in found.items() if one[0] != "knowledge/broken.md"}
    assert found == {
        ("knowledge/undated.md", "no-date"): 1,
        ("knowledge/bare.md", "no-frontmatter"): 1,
        ("knowledge/sourceless.md", "no-source"): 1,
        ("knowledge/sub/good.md", "same-name"): 1,
        ("knowledge/link.md", "unreadable"): 1,
    }


def test_an_unreadable_note_is_reported_and_does_not_block_adding(vault: Vault) -> None:
    put(vault, "a.md", item_of("A thing"))
    (vault.root / "knowledge" / "link.md").symlink_to(vault.root / "no-where.md")
    told: list[CrucibleError] = []
    assert [one.id for one in load_items(vault, told.append)] == ["a"]
    assert len(told) == 1
    assert add_item(vault, item_of("Another"), NOW, unchanged).id == "another"


# --- how it does -----------------------------------------------------------------------------------------------------


def test_statistics_list_used_unhelpful_and_old_items(filled: Vault) -> None:
    put(filled, "sure.md", item_of("Sure", updated=NOW - days(999), verification=Verification(True)))
    stats = stats_of(filled, load_items(filled), NOW, SETTINGS)
    assert (stats.active, stats.retired, stats.unread, stats.uses, stats.useful) == (6, 1, 1, 13, 9)
    assert stats.by_type == {"decision": 4, "evidence": 1, "observation": 1}
    assert stats.by_scope == {"project": 5, "global": 1}
    assert [row.id for row in stats.used] == ["seen", "old"]
    assert [row.id for row in stats.never_useful] == ["old"]
    assert [row.id for row in stats.never_used] == ["sure", "everybody", "new", "other"]
    assert [row.id for row in stats.stale] == ["old"]
    assert [str(room) for room in stats.rooms] == [
        "4 of 500 items of the project shop",
        "1 of 500 items of the project blog",
        "1 of 1,000 items of scope global",
    ]
    assert len(stats_of(filled, load_items(filled), NOW, SETTINGS, 1).never_used) == 1
