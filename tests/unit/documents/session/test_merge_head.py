"""The findings block of a note when the transcript grew: what a human made of it counts for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.session.findings_block import normal_item, render_findings
from crucible.documents.session.markup import render_session
from crucible.documents.session.merge import merge
from crucible.documents.session.merge_head import merge_findings
from crucible.documents.session.session import (
    Callout,
    Decision,
    Failure,
    FindingItem,
    Grounds,
    Phase,
    Prose,
    Session,
    Task,
)
from crucible.documents.session.session_reader import read_session
from tests.cases import for_each
from tests.counting import steps_of
from tests.unit.documents.session.session_strategies import findings


def item(text: str, row: str = "", kind: str = "outcome", details: str | None = None) -> FindingItem:
    return FindingItem(kind, text, details, Grounds("reply", 0.5, (row,) if row else ()))


A, B, C = item("A", "a1"), item("B", "b1", details="more"), item("C", "c1", "open_end")


def note_of(*items: FindingItem, **more: object) -> Session:
    return Session("s", title="T", findings=items, phases=(Phase("P", entries=(Prose("Said."),)),), **more)  # type: ignore[arg-type]


def merged(text: str, base: Sequence[FindingItem], now: Sequence[FindingItem]) -> str:
    source = Source(text)
    return apply_edits(source, merge_findings(source, read_session(source, "s"), base, now)).text


def told(text: str) -> list[str]:
    return [found.text for found in read_session(Source(text), "s").findings]


# --- one thing at a time ---------------------------------------------------------------------------------------------


def test_new_items_come_in_at_their_place_and_old_ones_change_or_go() -> None:
    text = merged(render_session(note_of(A, B)), [A, B], [item("A2", "a1"), C, B])
    assert told(text) == ["A2", "C", "B"]
    assert "> [!findings]- 3 findings\n" in text
    assert told(merged(text, [item("A2", "a1"), C, B], [B])) == ["B"]


@pytest.mark.parametrize("preamble", [(), (Prose("About."),), (Callout("abstract", "Brief", "So far."),)])
def test_a_block_that_was_never_there_is_made_above_the_first_phase(
    preamble: tuple[Prose | Callout, ...],
) -> None:
    session = note_of(preamble=preamble, tasks=(Task("1", "Do"),))
    text = merged(render_session(session), [], [A])
    assert read_session(Source(text), "s") == replace(session, findings=(A,))
    assert text.index("### Tasks") < text.index("[!findings]") < text.index("## P")


def test_a_block_without_items_goes() -> None:
    session = note_of(A, preamble=(Prose("About."),))
    text = merged(render_session(session), [A], [])
    assert text == render_session(replace(session, findings=()))


def test_a_block_with_a_human_s_remark_stays_when_its_items_go() -> None:
    text = render_session(note_of(A)).replace("1 finding\n", "1 finding\n> I looked.\n")
    assert "> [!findings]- 0 findings\n> I looked.\n" in merged(text, [A], [])


@for_each(
    ("edit", "now", "expected"),
    [
        (("outcome: A", "outcome: A, indeed"), [item("A2", "a1"), B], ["A, indeed", "B"]),
        (("outcome: A", "outcome: A, indeed"), [B], ["A, indeed", "B"]),
        ((" (reply, 0.5, row a1)", ""), [item("A2", "a1"), B], ["A", "B"]),
        (("> - outcome: A (reply, 0.5, row a1)\n", ""), [A, B, C], ["B", "C"]),
        (("> - outcome: A (reply, 0.5, row a1)\n", ""), [item("A2", "a1"), B], ["B"]),
        ((">   Details: more\n", ""), [A], ["A", "B"]),
        (("> - outcome: B", "> - mine\n> - outcome: B"), [B, C], ["mine", "B", "C"]),
        (("> - outcome: B", "> - open_end: C\n> - outcome: B"), [A, B, C], ["A", "C", "B"]),
    ],
)
def test_what_a_human_changed_added_or_deleted_counts(
    edit: tuple[str, str], now: list[FindingItem], expected: list[str]
) -> None:
    text = render_session(note_of(A, B))
    assert edit[0] in text
    assert told(merged(text.replace(*edit), [A, B], now)) == expected


def test_a_block_that_a_human_deleted_stays_deleted() -> None:
    text = render_session(note_of())
    assert merged(text, [A], [A, B]) == text


def test_a_title_and_a_fold_of_a_human_s_stay() -> None:
    text = render_session(note_of(A)).replace("[!findings]- 1 finding", "[!Findings]+ What we know")
    assert "> [!Findings]+ What we know\n> - outcome: A" in merged(text, [A], [A, B])


def test_two_items_of_one_row_are_two() -> None:
    second = item("A, too", "a1")
    assert told(merged(render_session(note_of(A)), [A], [A, second])) == ["A", "A, too"]
    assert told(merged(render_session(note_of(A, second)), [A, second], [second])) == ["A, too"]


def test_what_another_transcript_told_is_not_told_twice_nor_taken_out() -> None:
    text = render_session(note_of(A, B))
    assert told(merged(text, [], [A, C])) == ["C", "A", "B"]
    assert told(merged(text, [A], [])) == ["B"]


def test_the_merge_of_a_note_brings_the_block_with_it() -> None:
    base = note_of(A, synced_to=("c:1",), sources=("c:x",))
    now = note_of(A, B, synced_to=("c:2",), sources=("c:x",))
    source = Source(render_session(base))
    after = apply_edits(source, merge(source, read_session(source, "s"), base, now))
    assert read_session(after, "s") == read_session(Source(render_session(now)), "s")
    silent = replace(now, synced_to=("c:1",))  # what left no row in the note may still have settled something
    after = apply_edits(source, merge(source, read_session(source, "s"), base, silent))
    assert read_session(after, "s").findings == (A, B)


def test_a_guest_that_was_not_last_at_work_brings_its_tasks_and_findings() -> None:
    note = note_of(A, sources=("c:x", "d:y"), synced_to=("c:1", "d:1"), started=None)
    base = Session("s", sources=("d:y",), synced_to=("d:1",))
    now = replace(base, synced_to=("d:2",), tasks=(Task("1", "Do"),), findings=(B,))
    source = Source(render_session(note))
    after = apply_edits(source, merge(source, read_session(source, "s"), base, now, is_guest=True))
    assert [found.text for found in read_session(after, "s").findings] == ["B", "A"]
    assert len(read_session(after, "s").tasks) == 1


# --- any ------------------------------------------------------------------------------------------------------------


@given(findings, findings)
def test_an_untouched_block_becomes_what_is_told_now(
    base: tuple[FindingItem, ...], now: tuple[FindingItem, ...]
) -> None:
    text = merged(render_session(note_of(*base)), base, now)
    found = read_session(Source(text), "s").findings
    assert len(found) == len(now)
    assert all(one in now for one in found)
    assert merged(text, now, now) == text


Edited = Callable[[list[str], int], list[str]]
EDITS: dict[str, Edited] = {
    "delete": lambda lines, at: lines[:at] + lines[at + 1 :],
    "change": lambda lines, at: [*lines[:at], f"{lines[at]} by me", *lines[at + 1 :]],
    "add": lambda lines, at: [*lines[:at], "> - my own", *lines[at:]],
    "remark": lambda lines, at: [*lines[:at], ">", "> I say", ">", *lines[at:]],
}


@given(
    findings.filter(bool),
    findings,
    st.sampled_from(list(EDITS)),
    st.integers(0, 9),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_human_s_edit_survives_any_merge(
    base: tuple[FindingItem, ...], now: tuple[FindingItem, ...], edit: str, at: int, newline: str
) -> None:
    """Lines outside the block stay too, and what was deleted comes back only as a finding that is new."""
    written = render_session(note_of(*base))
    head, _, rest = written.partition("> [!findings]")
    block, _, below = rest.partition("\n\n")
    lines = block.split("\n")[1:]
    edited = EDITS[edit](lines, min(at, len(lines) - 1))
    text = f"{head}> [!findings]{block.partition(chr(10))[0]}\n" + "\n".join(edited) + f"\n\n{below}"
    after = merged(text.replace("\n", newline), base, now)
    assert after.count("\r") == (after.count("\n") if newline == "\r\n" else 0)
    after = after.replace(newline, "\n")
    assert after.startswith(head)
    assert after.endswith(f"\n\n{below}") or "[!findings]" not in after
    if edit != "delete":
        mine = [line for line in edited if line not in lines]
        assert [line for line in after.split("\n") if line in mine] == mine
    assert merged(after, now, now) == after


def test_items_are_compared_as_a_note_keeps_them() -> None:
    raw = FindingItem("outcome", " A\n  b ", "\n", Grounds("reply", 0.123456, ("a 1",)))
    text = merged(render_session(note_of()), [], [raw])
    assert read_session(Source(text), "s").findings == (normal_item(raw),)
    assert merged(text, [raw], [raw]) == text


def test_a_callout_that_the_end_of_a_transcript_settled_is_told_once() -> None:
    """The next import reads that end as the middle, and finds it settled a row later, in the next phase."""
    chosen = Decision("Tabs\n", "why", grounds=Grounds("reply", 0.5, ("a1", "b2")))
    other = replace(chosen, grounds=Grounds("reply", 0.5, ("c3",)))
    fixed = Failure("Broke", "fixed", grounds=Grounds("reply", 0.5, ("a1",)))
    wrote = Phase("P", entries=(Prose("Said."), chosen, fixed))
    base = replace(note_of(), synced_to=("c:1",))
    now = replace(base, synced_to=("c:2",), phases=(*base.phases, Phase("Q", entries=(fixed, chosen, other))))
    source = Source(render_session(replace(base, phases=(wrote,))))
    after = apply_edits(source, merge(source, read_session(source, "s"), base, now))
    told = read_session(after, "s").phases
    assert told[0].entries == (Prose("Said."), replace(chosen, text="Tabs"), fixed)
    assert told[1].entries == (replace(other, text="Tabs"),)


def test_a_callout_keeps_the_fold_that_a_human_gave_it_when_it_is_written_again() -> None:
    def switch(text: str, fold: str = "") -> Session:
        entry = Callout("agent_switch", "a → b", text, fold=fold)
        return replace(note_of(), phases=(Phase("P", entries=(entry,)),), synced_to=(f"c:{text}",))

    source = Source(render_session(switch("model x", "+")))
    after = apply_edits(source, merge(source, read_session(source, "s"), switch("model x"), switch("model y")))
    assert "> [!agent_switch]+ a → b\n> model y\n" in after.text


def test_merging_findings_takes_about_twice_the_work_for_twice_the_findings() -> None:
    def work(count: int) -> int:
        items = [FindingItem("outcome", f"All of {at} is done.") for at in range(count)]
        text = "\n".join(["# One", "", *render_findings(items), "", "## Phase", "", "x", ""])
        source = Source(text)
        note = read_session(source, "one")
        now = [replace(item, text=f"{item.text} It is fast.") for item in items[1:]]
        merge_findings(source, note, note.findings, now)  # compiles the patterns
        return steps_of(lambda: merge_findings(source, note, note.findings, now))

    assert work(160) <= 2.3 * work(80)
