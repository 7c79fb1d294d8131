"""Adding knowledge: redacted, never twice, with a choice for similar items, and with a reason if refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from crucible.core.errors import EditRefused, OutsideVault, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import KnowledgeSettings, SecretSettings, VaultSettings
from crucible.documents.knowledge.item_notes import read_item, render_item
from crucible.documents.knowledge.item_rules import likeness, normal_title, words_of
from crucible.documents.knowledge.items import (
    Category,
    FailureCause,
    Item,
    ItemScope,
    ItemSource,
    ItemStatus,
    ItemType,
    Verification,
)
from crucible.documents.markdown.source import Source, apply_edits
from crucible.memory.knowledge.add_item import (
    Added,
    AddOutcome,
    SimilarChoice,
    add_item,
    merge_items,
    title_of,
)
from crucible.memory.knowledge.item_status import merge_edits, merged, retire_item
from crucible.memory.knowledge.knowledge_folder import find_item, load_item, load_items
from crucible.vault.notes.vault import Vault
from tests.unit.memory.knowledge.sample_items import NOW, any_item, failure_item, item_of, unchanged

BACKOFF = item_of("Use exponential backoff with jitter for retries", "All clients came back at once.")


@pytest.fixture
def add(vault: Vault) -> Callable[..., Added]:
    def adding(item: Item, choice: SimilarChoice | None = None, **more: Any) -> Added:
        return add_item(vault, item, NOW, unchanged, choice=choice, **more)

    return adding


def with_limits(vault: Vault, **limits: Any) -> Vault:
    return Vault(vault.root, VaultSettings(knowledge=KnowledgeSettings(**limits)))


def names(vault: Vault) -> list[str]:
    return sorted(one.id for one in load_items(vault))


# --- a new one -------------------------------------------------------------------------------------------------------


def test_a_new_item_is_a_note_named_by_its_title(vault: Vault, add: Callable[..., Added]) -> None:
    added = add(replace(BACKOFF, created=None, updated=None))
    assert (added.outcome, added.id) == (AddOutcome.ADDED, "use-exponential-backoff-with-jitter-for-retries")
    assert added.path == vault.root / "knowledge" / f"{added.id}.md"
    assert added.path in vault.touched
    item = load_item(vault, added.path).item
    assert item == replace(BACKOFF, created=NOW, updated=NOW, confidence=0.9)
    assert added.why == f"updated knowledge/{added.id}.md"


def test_an_added_item_is_stored(vault: Vault, add: Callable[..., Added]) -> None:
    added = add(failure_item())
    assert added.path
    assert load_item(vault, added.path).item == failure_item()


def test_an_item_without_a_title_is_called_by_its_first_sentence(add: Callable[..., Added]) -> None:
    assert add(item_of("", "- Use `uv`, not pip. It locks.")).item.title == "Use `uv`, not pip"
    assert title_of("x" * 300) == "x" * 99 + "…"
    with pytest.raises(UsageError, match="needs a title"):
        add(item_of("", " \n"))


def test_a_long_title_is_cut(add: Callable[..., Added]) -> None:
    assert len(add(item_of("word " * 100)).item.title) == 200


def test_a_name_that_is_taken_anywhere_near_is_not_taken_again(vault: Vault, add: Callable[..., Added]) -> None:
    for place in ("workflows/a-plan.md", "knowledge/old/b-plan.md", "knowledge/c-plan.md"):
        path = vault.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    assert [add(item_of(f"{letter} plan")).id for letter in "abc"] == ["a-plan-2", "b-plan-2", "c-plan-2"]
    assert (vault.root / "knowledge" / "c-plan.md").read_text() == "mine"


def test_a_secret_in_any_part_is_never_written(vault: Vault) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    texts: dict[str, Any] = dict.fromkeys(("title", "text", "project", "domain"), f"x {secret} y")
    item = replace(
        failure_item(),
        **texts,
        tags=(secret,),
        failure=FailureCause(Category.TOOL_MISUSE, secret, secret, secret),
        verification=Verification(True, f"curl -H {secret}", secret, NOW),
        source=replace(failure_item().source, heading=secret),
    )
    added = add_item(vault, item, NOW, redact_of(SecretSettings()))
    assert added.path
    assert secret not in added.path.read_text("utf-8")
    assert secret not in str(added.path)
    assert sum(added.redactions.values()) >= 10


def test_a_folder_that_leaves_the_vault_is_refused(
    vault: Vault, add: Callable[..., Added], tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (vault.root / "knowledge").symlink_to(outside)
    with pytest.raises(OutsideVault):
        add(BACKOFF)
    assert not [*outside.iterdir()]


# --- the same, or alike ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    [
        "Use exponential backoff with jitter for retries",
        "use the EXPONENTIAL backoff  with a jitter for retries.",
        "“Use exponential backoff with jitter” for `retries`",
    ],
)
def test_the_same_title_is_skipped_and_named(vault: Vault, add: Callable[..., Added], title: str) -> None:
    first = add(BACKOFF)
    before = first.path.read_bytes() if first.path else b""
    for choice in (None, SimilarChoice.SKIP, SimilarChoice.KEEP_BOTH):
        second = add(item_of(title, "Other words."), choice)
        assert second.outcome is AddOutcome.SKIPPED
        assert (second.id, second.alike[0].id) == ("", first.id)
        assert f"knowledge/{first.id}.md says the same" in second.why
    assert names(vault) == [first.id]
    assert first.path
    assert first.path.read_bytes() == before


def test_what_differs_in_a_sign_that_matters_is_not_the_same() -> None:
    assert len({normal_title(one) for one in ("Use C", "Use C++", "Use C#", "Use .NET", "Use node.js")}) == 5
    assert normal_title("???") == "???"
    assert normal_title("The") == "the"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Use exponential backoff with jitter for all retries", "It helps."),
        ("Exponential backoff with jitter", "for retries."),
        ("Retries", "Use exponential backoff with jitter: all clients came back at once."),
    ],
)
def test_a_similar_item_needs_a_choice(vault: Vault, add: Callable[..., Added], title: str, text: str) -> None:
    first = add(BACKOFF)
    offered = add(item_of(title, text))
    assert offered.outcome is AddOutcome.ALIKE
    assert offered.alike[0].id == first.id
    assert offered.choices == (SimilarChoice.MERGE, SimilarChoice.KEEP_BOTH, SimilarChoice.SKIP)
    assert "of its words" in offered.why
    assert names(vault) == [first.id]
    assert add(item_of(title, text), SimilarChoice.SKIP).outcome is AddOutcome.SKIPPED
    kept = add(item_of(title, text), SimilarChoice.KEEP_BOTH)
    assert kept.outcome is AddOutcome.ADDED
    assert names(vault) == sorted([first.id, kept.id])


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Keep tests quick", "The suite has five minutes."),
        ("Use jitter", ""),
        ("Use exponential notation for numbers", "They are large."),
        ("Retry with a fixed wait in the import", "The server asks for it."),
    ],
)
def test_a_new_item_is_added_without_a_question(add: Callable[..., Added], title: str, text: str) -> None:
    add(BACKOFF)
    assert add(item_of(title, text)).outcome is AddOutcome.ADDED


def test_a_short_text_is_not_alike_to_a_book_that_has_its_words() -> None:
    book = words_of(" ".join(f"word{number}" for number in range(400)))
    assert likeness(words_of("word1 word2 word3 word4 word5"), book) < 0.1
    assert likeness(words_of("a b c"), words_of("a b c d e f")) == 0.5 - 0.1  # `a` is no word
    assert likeness(words_of(""), book) == 0
    assert likeness(words_of("重试要有抖动"), words_of("重试要有抖动!")) == 1


class Index:
    """Finds what it is told to find."""

    def __init__(self, *found: tuple[str, float]) -> None:
        self.found = found
        self.asked: list[str] = []

    def similar(self, text: str, limit: int) -> Sequence[tuple[str, float]]:
        self.asked.append(text)
        return self.found[:limit]


def test_what_the_index_finds_alike_is_offered_too(add: Callable[..., Added]) -> None:
    first = add(BACKOFF)
    index = Index((first.id, 0.85), ("gone", 0.99))
    offered = add(item_of("Wait a random time", "before asking again"), similar=index.similar)
    assert offered.outcome is AddOutcome.ALIKE
    assert (offered.alike[0].id, offered.alike[0].why) == (first.id, "85% alike by its text")
    assert index.asked == ["Wait a random time\nbefore asking again"]
    assert add(item_of("Wait a random time"), similar=Index((first.id, 0.7)).similar).outcome is AddOutcome.ADDED


def test_only_visible_items_are_compared(add: Callable[..., Added]) -> None:
    assert add(BACKOFF).outcome is AddOutcome.ADDED
    assert add(replace(BACKOFF, project="blog")).outcome is AddOutcome.ADDED
    assert add(replace(BACKOFF, scope=ItemScope.GLOBAL)).outcome is AddOutcome.ADDED
    assert add(replace(BACKOFF, project="third")).outcome is AddOutcome.SKIPPED


def test_a_retired_item_does_not_return_by_itself(vault: Vault, add: Callable[..., Added]) -> None:
    first = add(BACKOFF)
    assert first.path
    retire_item(vault, first.path, NOW, "wrong")
    again = add(BACKOFF)
    assert again.outcome is AddOutcome.ALIKE
    assert again.why.startswith("retired knowledge/")
    assert add(BACKOFF, SimilarChoice.MERGE).outcome is AddOutcome.MERGED
    item = load_item(vault, first.path).item
    assert item
    assert (item.status, item.retired, item.retired_because) == (ItemStatus.ACTIVE, None, "")
    retire_item(vault, first.path, NOW)
    assert add(BACKOFF, SimilarChoice.KEEP_BOTH).id == f"{first.id}-2"


# --- merging ---------------------------------------------------------------------------------------------------------


def test_a_merge_brings_texts_tags_and_counters_together(vault: Vault, add: Callable[..., Added]) -> None:
    first = add(replace(BACKOFF, tags=("retry",), use_count=3, useful_count=1, last_used=NOW, confidence=0.6))
    assert first.path
    mine = "mine: 1  # kept\ntype: decision"
    first.path.write_text(first.path.read_text().replace("type: decision", mine) + "\n## My notes\n\n  mine  \n")
    other = item_of(
        "Exponential backoff with jitter, always",
        "The floor is a tenth.",
        tags=("http", "retry"),
        use_count=2,
        useful_count=2,
        last_used=NOW - timedelta(days=1),
        created=NOW - timedelta(days=9),
        source=ItemSource(session="2026-05-09-again"),
        failure=FailureCause(None, "No jitter."),
        confidence=0.8,
    )
    made = add(other, SimilarChoice.MERGE)
    assert (made.outcome, made.id) == (AddOutcome.MERGED, first.id)
    text = first.path.read_text()
    item = load_item(vault, first.path).item
    assert item
    assert item.text == (
        "All clients came back at once.\n\n## My notes\n\n  mine  \n\nExponential backoff with jitter, always\n\nThe floor is a tenth."
    )
    assert (item.title, item.tags) == (BACKOFF.title, ("retry", "http"))
    assert (item.use_count, item.useful_count, item.last_used) == (5, 3, NOW)
    assert (item.created, item.updated, item.confidence) == (NOW - timedelta(days=9), NOW, 0.8)
    assert (item.also_from, item.failure.root_cause) == (("2026-05-09-again",), "No jitter.")
    assert mine in text
    assert "\n## My notes\n\n  mine  \n" in text


def test_merging_the_same_again_changes_no_text(vault: Vault, add: Callable[..., Added]) -> None:
    first = add(BACKOFF)
    assert first.path
    before = first.path.read_bytes()
    assert add(BACKOFF, SimilarChoice.MERGE).outcome is AddOutcome.MERGED
    assert first.path.read_bytes() == before


@given(any_item(), any_item())
def test_any_item_can_be_merged_into_any(one: Item, other: Item) -> None:
    source = Source(render_item(one))
    try:
        after = apply_edits(source, merge_edits(source, "x", other, NOW))
    except EditRefused:
        # A counter that no frontmatter can hold.
        assert max(one.use_count + other.use_count, one.useful_count + other.useful_count) > 2**53
        return
    assert read_item(after, "x").item == merged(one, other, NOW)


def test_two_items_can_be_made_one(vault: Vault, add: Callable[..., Added]) -> None:
    one, other = add(BACKOFF), add(item_of("Wait a random time", "Always."))
    notes = {note.id: note for note in load_items(vault)}
    merge_items(vault, notes[one.id], notes[other.id], NOW)
    after = {note.id: note.item for note in load_items(vault)}
    into, gone = after[one.id], after[other.id]
    assert into
    assert gone
    assert into.text.endswith("Wait a random time\n\nAlways.")
    assert (gone.status, gone.retired_because) == (ItemStatus.RETIRED, f"merged into [[knowledge/{one.id}|{one.id}]]")
    with pytest.raises(UsageError, match="the same item"):
        merge_items(vault, notes[one.id], notes[one.id], NOW)


def test_a_merge_that_was_killed_in_the_middle_counts_nothing_twice(
    vault: Vault, add: Callable[..., Added], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = add(BACKOFF), add(replace(item_of("Wait a random time"), use_count=7, useful_count=5))
    notes = {note.id: note for note in load_items(vault)}

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("crucible.memory.knowledge.add_item.retire_item", killed)
        with pytest.raises(KeyboardInterrupt):
            merge_items(vault, notes[one.id], notes[other.id], NOW)
    between = {note.id: note for note in load_items(vault)}
    merge_items(vault, between[one.id], between[other.id], NOW)
    after = {note.id: note.item for note in load_items(vault)}
    into, gone = after[one.id], after[other.id]
    assert into
    assert gone
    assert (into.use_count, into.useful_count, into.merged) == (7, 5, (other.id,))
    assert gone.status is ItemStatus.RETIRED


# --- room ------------------------------------------------------------------------------------------------------------


def distinct(number: int, **more: Any) -> Item:
    return item_of(f"alpha{number} beta{number} gamma{number}", **more)


def test_a_full_place_refuses_and_says_what_to_retire(vault: Vault) -> None:
    small = with_limits(vault, project_limit=5, domain_limit=5, global_limit=2)
    for number in range(5):
        added = add_item(small, distinct(number, updated=NOW - timedelta(days=10 * number)), NOW, unchanged)
        assert added.outcome is AddOutcome.ADDED
        assert bool(added.warnings) is (number >= 3)
    assert added.warnings == (
        (
            "nearly full: 5 of 5 items of the project shop; consider retiring the items with the lowest weight: "
            "alpha3-beta3-gamma3 (0.71), alpha2-beta2-gamma2 (0.77), alpha1-beta1-gamma1 (0.83)"
        ),
    )
    full = add_item(small, distinct(9), NOW, unchanged)
    assert full.outcome is AddOutcome.FULL
    assert full.to_retire == (
        "alpha4-beta4-gamma4",
        "alpha3-beta3-gamma3",
        "alpha2-beta2-gamma2",
    )
    assert "alpha4-beta4-gamma4" in full.why
    assert len(names(vault)) == 5
    # Other places have room, and a retired item takes none.
    assert add_item(small, distinct(10, project="blog"), NOW, unchanged).outcome is AddOutcome.ADDED
    assert add_item(small, distinct(11, scope=ItemScope.GLOBAL), NOW, unchanged).outcome is AddOutcome.ADDED
    retire_item(small, find_item(small, "alpha4"), NOW, "old")
    assert add_item(small, distinct(9), NOW, unchanged).outcome is AddOutcome.ADDED


def test_a_full_place_still_takes_a_merge(vault: Vault) -> None:
    small = with_limits(vault, project_limit=1)
    add_item(small, BACKOFF, NOW, unchanged)
    assert add_item(small, BACKOFF, NOW, unchanged, choice=SimilarChoice.MERGE).outcome is AddOutcome.MERGED


def test_the_limits_are_the_plans() -> None:
    settings = KnowledgeSettings()
    assert (settings.project_limit, settings.domain_limit, settings.global_limit) == (500, 1000, 1000)


# --- several at once -------------------------------------------------------------------------------------------------


def _add_some(root: Path, writer: int) -> list[str]:
    vault = Vault(root)
    shared = [add_item(vault, distinct(number), NOW, unchanged).outcome.value for number in range(5)]
    own = add_item(vault, item_of(f"own{writer} of{writer}"), NOW, unchanged)
    return [*shared, own.outcome.value]


def test_several_processes_that_add_the_same_make_one_note_of_each(vault: Vault) -> None:
    with ProcessPoolExecutor(4) as pool:
        outcomes = [*pool.map(_add_some, [vault.root] * 4, range(4))]
    assert len(names(vault)) == 5 + 4
    for place in range(5):
        assert sorted(one[place] for one in outcomes) == ["added", "skipped", "skipped", "skipped"]
    assert all(one[5] == "added" for one in outcomes)


def test_two_of_one_title_are_the_same_whatever_their_types(add: Callable[..., Added]) -> None:
    add(BACKOFF)
    assert add(replace(BACKOFF, type=ItemType.PATTERN)).outcome is AddOutcome.SKIPPED
