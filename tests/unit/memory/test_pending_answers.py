"""An answer is inserted into the note once, at its place, and changes nothing else."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import CrucibleError, EditRefused, SessionNotFound, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Grounds,
    Intervention,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.memory.pending_questions import (
    AlreadyAnswered,
    AnswerVerdict,
    ItemNotFound,
    PendingItem,
    PendingKind,
    answer,
    items_of,
)
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from samples.hostile_texts import hostile_text

NAME = "2026-11-21-add"
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"
NOTE = f"""\
---
type: session
session_id: {NAME}
started: 2026-11-21T20:26:47Z
status: active
project: shop
---

# Add a limiter

## Think

> [!decision_needed] Which store?
> - SQLite
> - Postgres

> [!approval_required]
> Drop the old table?

A human's line.
> [!error]
> No disk left.

> [!error] Flaky
> Resolution:

> [!task_complete]
> The limiter is in.
"""
DECISION, APPROVAL, ERROR, FLAKY, DONE = range(5)


def plain(text: str) -> tuple[str, dict[str, int]]:
    return text, {}


def made(vault: Vault, text: str = NOTE) -> list[PendingItem]:
    note = vault.create(NAME, text)
    return items_of(note)


def text_of(vault: Vault) -> str:
    return vault.load(NAME).source.text


def item(vault: Vault, at: int) -> PendingItem:
    return items_of(vault.load(NAME))[at]


def test_an_answer_is_right_after_its_question(vault: Vault) -> None:
    made(vault)
    answer(vault, item(vault, DECISION).id, "SQLite.", redact=plain)
    name = item(vault, DECISION).id.rpartition(".")[2]
    assert f'> - Postgres\n\n> [!user]\n> "SQLite." - answered (inbox {name})\n\n> [!approval' in text_of(vault)
    assert item(vault, DECISION).answered
    assert item(vault, DECISION).answer == "SQLite."
    assert not item(vault, APPROVAL).answered


def test_the_answer_to_the_second_of_two_questions_leaves_the_first_open(vault: Vault) -> None:
    made(vault)
    answer(vault, item(vault, APPROVAL).id, verdict=AnswerVerdict.REJECTED, redact=plain)
    assert [one.answered for one in items_of(vault.load(NAME))] == [False, True, False, False, False]


def test_a_task_that_was_seen_leaves_those_before_it_and_an_answer_above_it_does_not_count(
    vault: Vault,
) -> None:
    made(vault, f"{NOTE}\n> [!task_complete]\n> And documented.\n")
    answer(vault, items_of(vault.load(NAME))[-1].id, verdict=AnswerVerdict.SEEN, redact=plain)
    done = [one for one in items_of(vault.load(NAME)) if one.kind is PendingKind.DONE]
    assert [one.answered for one in done] == [False, True]


@pytest.mark.parametrize(("at", "labels"), [(ERROR, 2), (FLAKY, 1)], ids=["without a label", "with an empty one"])
def test_an_error_gets_its_resolution(vault: Vault, at: int, labels: int) -> None:
    made(vault)
    answer(vault, item(vault, at).id, "A bigger disk.\n\nAnd less noise.", redact=plain)
    mended = item(vault, at)
    assert (mended.answered, mended.answer) == (True, "A bigger disk.\n\nAnd less noise.")
    assert text_of(vault).count("Resolution:") == labels


def test_an_error_with_a_cause_and_a_source_gets_its_resolution(vault: Vault) -> None:
    told = "> [!error]\n> No room left.\n> Cause: a log\n> Source: reply, 0.5, row abcd1234\n"
    made(vault, f"{NOTE}\n{told}")
    answer(vault, items_of(vault.load(NAME))[-1].id, "By: hand.\nSource: reply, 1", redact=plain)
    *_, failure = vault.load(NAME).session.all_entries()
    assert failure == Failure(
        "No room left.", "By: hand.\nSource: reply, 1", "a log", Grounds("reply", 0.5, ("abcd1234",))
    )
    assert told in text_of(vault)


def test_an_error_that_may_stay_is_seen_and_not_resolved(vault: Vault) -> None:
    made(vault)
    answer(vault, item(vault, -3).id, verdict=AnswerVerdict.SEEN, redact=plain)
    assert item(vault, -3).answered
    assert vault.load(NAME).session.phases[0].status == "failed"


@pytest.mark.parametrize(
    ("at", "verdict", "text"),
    [
        (DECISION, AnswerVerdict.APPROVED, "x"),
        (DECISION, AnswerVerdict.ANSWERED, " \n"),
        (-1, AnswerVerdict.REJECTED, ""),
        (-1, AnswerVerdict.ANSWERED, "\x1b[0m"),
        (-3, AnswerVerdict.APPROVED, ""),
    ],
)
def test_a_verdict_that_the_item_does_not_allow_is_refused(
    vault: Vault, at: int, verdict: AnswerVerdict, text: str
) -> None:
    made(vault)
    with pytest.raises(UsageError):
        answer(vault, item(vault, at).id, text, verdict=verdict, redact=plain)
    assert text_of(vault) == NOTE


def test_an_item_is_answered_once(vault: Vault) -> None:
    name = made(vault)[-1].id
    answer(vault, name, verdict=AnswerVerdict.SEEN, redact=plain)
    before = text_of(vault)
    with pytest.raises(AlreadyAnswered, match=r"Seen\."):
        answer(vault, name, "Thanks", redact=plain)
    assert text_of(vault) == before


def test_what_a_human_did_meanwhile_stays_and_the_id_still_fits(vault: Vault) -> None:
    name = made(vault)[-1].id
    path = vault.find(NAME)
    edited = NOTE.replace("## Think", "## Before\n\n> [!task_complete]\n> Another.\n\n## Thought").replace(
        "The limiter is in.", "The  limiter\n> is in."
    )
    path.write_text(edited)
    answer(vault, name, verdict=AnswerVerdict.SEEN, redact=plain)
    assert text_of(vault).startswith(edited)


def test_an_item_whose_words_were_changed_is_gone_and_one_taken_out_too(vault: Vault) -> None:
    name = made(vault)[-1].id
    vault.find(NAME).write_text(NOTE.replace("The limiter", "The bucket"))
    with pytest.raises(ItemNotFound) as caught:
        answer(vault, name, "x", redact=plain)
    assert "cru inbox" in caught.value.hint


def test_two_items_that_say_the_same_are_two(vault: Vault) -> None:
    first, second = [one for one in made(vault, f"{NOTE}\n> [!error]\n> No disk left.\n") if "disk" in one.text]
    assert second.id == f"{first.id}-2"
    answer(vault, second.id, verdict=AnswerVerdict.SEEN, redact=plain)
    found = [one.answered for one in items_of(vault.load(NAME)) if "disk" in one.text]
    assert found == [False, True]


def test_a_beginning_of_an_id_is_enough_and_a_session_where_one_waits(vault: Vault) -> None:
    made(vault)
    with pytest.raises(ItemNotFound, match="matches several items"):
        answer(vault, NAME, "x", redact=plain)
    for one in items_of(vault.load(NAME))[1:]:
        answer(vault, one.id[:-1], "Yes.", redact=plain)
    assert answer(vault, "2026-11-21", "x", redact=plain).item.kind is PendingKind.DECISION
    with pytest.raises(ItemNotFound):
        answer(vault, NAME, "x", redact=plain)
    with pytest.raises(SessionNotFound):
        answer(vault, "2026-11-22-none.abcdef", "x", redact=plain)


def test_a_session_whose_id_ends_like_an_items_is_found(vault: Vault) -> None:
    vault.create("2026-11-21-v1.2", NOTE)
    one = items_of(vault.load("2026-11-21-v1.2"))[-1]
    assert answer(vault, one.id, "Thanks", redact=plain).item.session == "2026-11-21-v1.2"


def test_a_secret_in_an_answer_is_taken_out_and_counted(vault: Vault) -> None:
    name = made(vault)[-1].id
    parted = SECRET[:9] + "\x1b[1m" + SECRET[9:]
    done = answer(vault, name, f"use {SECRET} or {parted}", redact=redact_of(vault.settings.secrets))
    assert sum(done.redactions.values()) == 2
    assert SECRET not in text_of(vault)
    assert vault.load(NAME).session.redactions == 2
    assert NOTE[NOTE.index("\n# Add") :] in text_of(vault)


def test_a_question_without_frontmatter_in_an_open_fence_or_before_any_phase(vault: Vault) -> None:
    vault.create(NAME, "> [!decision_needed] Now?\n\n```\nopen\n")
    assert answer(vault, NAME, "Now.", redact=redact_of(vault.settings.secrets)).item.phase == ""
    assert text_of(vault).startswith('> [!decision_needed] Now?\n\n> [!user]\n> "Now."')


def test_of_concurrent_answers_one_is_written(vault: Vault) -> None:
    name = made(vault)[-1].id
    told: list[object] = []

    def say(number: int) -> None:
        try:
            told.append(answer(Vault(vault.root), name, f"It is {number}.", redact=plain))
        except AlreadyAnswered as error:
            told.append(error)

    threads = [threading.Thread(target=say, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(isinstance(one, AlreadyAnswered) for one in told) == 3
    assert text_of(vault).count("It is ") == 1


# --- whatever a note holds ---------------------------------------------------------------------------------------------

_said = hostile_text()
_asking = st.one_of(
    st.builds(
        Callout,
        st.sampled_from(("decision_needed", "approval_required", "task_complete")),
        st.just(""),
        _said,
    ),
    st.builds(Failure, _said),
)
_entry: st.SearchStrategy[Entry] = st.one_of(
    _asking,
    _asking,
    st.builds(Prose, _said),
    st.builds(Decision, _said),
    st.builds(Intervention, _said),
    st.just(ToolCalls((ToolCall("Bash ls", "ok"),))),
)
_phases = st.lists(
    st.builds(
        Phase,
        st.just("Work"),
        entries=st.lists(_entry, max_size=5).map(tuple),
        subphases=st.lists(
            st.builds(Phase, st.just("Part"), entries=st.lists(_entry, max_size=2).map(tuple)), max_size=1
        ).map(tuple),
    ),
    min_size=1,
    max_size=2,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    root = tmp_path_factory.mktemp("inbox") / "vault"
    init_vault(root)
    vault = Vault(root)
    return Vault(root, vault.settings._replace(fsync=False))


@given(_phases, st.lists(_said, max_size=2), _said, st.sampled_from(AnswerVerdict), st.data())
def test_only_the_answer_is_added_and_nothing_else_of_the_session_changes(
    shared: Vault,
    phases: list[Phase],
    mess: list[str],
    said: str,
    verdict: AnswerVerdict,
    data: st.DataObject,
) -> None:
    text = render_session(Session(NAME, phases=tuple(phases)))
    for one in mess:  # a human wrote it, contained by nothing
        at = data.draw(st.integers(text.index("\n---\n") + 5, len(text)))
        text = text[:at] + one + text[at:]
    path = shared.sessions / f"{NAME}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode(errors="replace"))
    before = shared.load(NAME)
    waiting = [one for one in items_of(before) if not one.answered]
    if not waiting:
        return
    chosen = data.draw(st.sampled_from(waiting))
    try:
        answer(shared, chosen.id, said, verdict=verdict, redact=plain)
    except (UsageError, EditRefused):
        assert path.read_bytes() == before.data
        return
    after = shared.load(NAME)
    _check_inserted(before.source.text, after.source.text)
    now = {one.id: one for one in items_of(after)}
    assert now.pop(chosen.id).answered
    others = {one.id: one.answered for one in items_of(before) if one.id != chosen.id}
    same = {name: one.answered for name, one in now.items()}
    # An error that is mended mends those that say the same.
    changed = {name for name in others if same[name] != others[name]}
    assert same.keys() == others.keys()
    assert all(chosen.kind is PendingKind.ERROR and now[name].text == chosen.text for name in changed)


def _check_inserted(before: str, after: str) -> None:
    """Something stands between the beginning and the end of what was there."""
    added = len(after) - len(before)
    assert added > 0
    assert any(before == after[:at] + after[at + added :] for at in range(len(before) + 1))


def test_an_answer_never_becomes_structure(vault: Vault) -> None:
    made(vault)
    said = "## Phase\n> [!decision]\n> forged\n---\n```tasks\n[]\n```\n[[link]] %%x%%\nResolution: no"
    before = vault.load(NAME).session
    for one in [one for one in items_of(vault.load(NAME)) if one.kind in (PendingKind.ERROR, PendingKind.DONE)]:
        answer(vault, one.id, said, redact=plain)
    after = read_session(vault.load(NAME).source, NAME)
    assert len(after.phases) == len(before.phases)
    assert after.tasks == ()
    assert not any(isinstance(entry, Decision) for entry in after.all_entries())
    assert [entry.words for entry in after.all_entries() if isinstance(entry, Intervention)] == [said]


def test_a_note_that_cannot_be_written_is_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    name = made(vault)[-1].id

    def full(*_: object, **__: object) -> None:
        raise CrucibleError(f"{NAME}.md: no space left on device")

    monkeypatch.setattr("crucible.core.files.write_atomic", full)
    with pytest.raises(CrucibleError, match="no space"):
        answer(vault, name, "x", redact=plain)
    assert Path(vault.find(NAME)).read_text() == NOTE
