"""The findings block: what it looks like, what a human may make of it, and that no text in it becomes anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.markdown.source import Source
from crucible.documents.session.findings import findings_of
from crucible.documents.session.findings_block import normal_item, render_findings
from crucible.documents.session.markup import render_entry, render_session
from crucible.documents.session.note_entries import CALLOUT_KINDS
from crucible.documents.session.session import Callout, Decision, Entry, Failure, FindingItem, Grounds, Phase, Session
from crucible.documents.session.session_reader import read_session
from samples.hostile_texts import hostile_line, hostile_text
from tests.cases import for_each
from tests.test_containment import acting
from tests.unit.documents.session.session_strategies import grounds

CORRECTION = FindingItem(
    "correction", '"Not the fixtures"', "refused: Edit a.json", Grounds("rejected call", 0.98, ("5ad1908e",))
)
OUTCOME = FindingItem("outcome", "Empty lines are skipped", None, Grounds("closing text", 0.9, ("a1", "b2")))
BLOCK = """\
> [!findings]- 2 findings
> - correction: "Not the fixtures" (rejected call, 0.98, row 5ad1908e)
>   Details: refused: Edit a.json
> - outcome: Empty lines are skipped (closing text, 0.9, rows a1 b2)
"""


def read(text: str) -> Session:
    return read_session(
        Source(
            f"---\ntype: session\nsession_id: s\nstarted: 2026-01-01\nstatus: active\nformat: 2\n---\n\n# T\n\n{text}\n## A\n"
        ),
        "s",
    )


def found(text: str) -> list[tuple[str, str, str | None, Grounds | None]]:
    return [(item.kind, item.text, item.details, item.grounds) for item in read(text).findings]


def test_an_item_takes_a_line_and_its_details_another() -> None:
    assert "\n".join(render_findings([CORRECTION, OUTCOME])) + "\n" == BLOCK
    session = read(BLOCK)
    assert session.findings == (CORRECTION, OUTCOME)
    assert (session.findings_lines.first, session.findings_lines.end) == (10, 14)
    assert [(item.lines.first, item.lines.end) for item in session.findings] == [(11, 13), (13, 14)]
    assert session.preamble == ()


def test_a_block_without_items_is_not_written() -> None:
    assert render_findings([]) == render_findings([FindingItem("outcome", " ")]) == []


def test_the_block_stands_below_title_brief_and_tasks() -> None:
    brief = Callout("abstract", "Brief", "So far.")
    note = render_session(Session("s", title="T", preamble=(brief,), findings=(OUTCOME,), phases=(Phase("A"),)))
    assert note.index("Brief") < note.index("[!findings]") < note.index("## A")


@for_each(
    ("line", "item"),
    [
        ("- outcome: It works", ("outcome", "It works", None, None)),
        ("* Open end: when?", ("open_end", "when?", None, None)),
        ("-   use tabs", ("environment", "use tabs", None, None)),
        ("- Note: use tabs", ("environment", "Note: use tabs", None, None)),
        ("- outcome: a (b, c)", ("outcome", "a (b, c)", None, None)),
        ("- outcome: a (reply, 1.5)", ("outcome", "a (reply, 1.5)", None, None)),
        ("- outcome: a (reply, 0.5) b", ("outcome", "a (reply, 0.5) b", None, None)),
        ("- outcome: a (x, 0) (reply, 0.50)", ("outcome", "a (x, 0)", None, Grounds("reply", 0.5))),
        ("- outcome: a\n>   and b (reply, 1)", ("outcome", "a and b", None, Grounds("reply", 1.0))),
        ("- outcome: a (reply, 1)\n>   and b", ("outcome", "a and b", None, Grounds("reply", 1.0))),
        ("- outcome: a\nlazy", ("outcome", "a lazy", None, None)),
        ("- outcome: a\n> Details: b\n>   and c", ("outcome", "a", "b and c", None)),
    ],
)
def test_a_human_may_write_items(line: str, item: tuple[str, str, str | None, Grounds | None]) -> None:
    assert found(f"> [!findings]\n> {line}\n") == [item]


def test_remarks_fences_and_blank_lines_belong_to_no_item() -> None:
    text = "> [!Findings]+ Mine\n> Look:\n> - outcome: a\n>\n> later\n>\n> ```\n> - outcome: b\n> ```\n> - outcome: c\n"
    assert [item[1] for item in found(text)] == ["a", "c"]


def test_a_second_block_and_one_in_a_phase_are_text() -> None:
    session = read(f"{BLOCK}\n{BLOCK}")
    assert len(session.findings) == 2
    assert [problem.code for problem in session.problems] == ["second-findings"]
    assert len(session.preamble) == 1
    inside = read(f"## B\n\n{BLOCK}")
    assert (inside.findings, inside.problems) == ((), ())
    assert "findings" not in CALLOUT_KINDS


# --- callouts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        (
            Decision(
                "Where? One file",
                "no server",
                "Redis",
                "user",
                Grounds("answered question", 0.97, ("a", "b")),
            ),
            (
                "> [!decision]\n> Where? One file\n> Rationale: no server\n> Alternatives: Redis\n> By: user\n"
                "> Source: answered question, 0.97, rows a b"
            ),
        ),
        (
            Failure("Broke", "mended", "rounding", Grounds("failing then passing call", 1.0)),
            "> [!error]\n> Broke\n> Cause: rounding\n> Resolution: mended\n> Source: failing then passing call, 1",
        ),
        (
            Decision("One\n\nTwo", by="user", grounds=Grounds("reply", 0.5, ("a",))),
            "> [!decision]\n> One\n>\n> Two\n>\n> By: user\n>\n> Source: reply, 0.5, row a",
        ),
        (
            Decision("By: me\nSource: reply, 0.5", "Alternatives: x"),
            "> [!decision]\n> By\\: me\n> Source\\: reply, 0.5\n>\n> Rationale: Alternatives\\: x",
        ),
        (
            Callout("plan", "approved: Cache", "# One\n\n- two", fold="-"),
            "> [!plan]- approved: Cache\n> \\# One\n>\n> - two",
        ),
    ],
)
def test_what_was_decided_failed_or_planned_as_a_callout(entry: Entry, written: str) -> None:
    assert "\n".join(render_entry(entry)) == written
    assert read(f"## B\n\n{written}\n").phases[0].entries == (entry,)


@pytest.mark.parametrize(
    "line",
    [
        "Source: reply",
        "Source: reply, 2",
        "Source: reply, 0.5, rows",
        "Source: https://x.y",
        "Source: a, 0.5, rows ä",
    ],
)
def test_a_broken_source_is_text(line: str) -> None:
    (entry,) = read(f"## B\n\n> [!decision]\n> Tabs\n> By: me\n> {line}\n").phases[0].entries
    assert entry == Decision("Tabs", by=f"me\n{line}")


def test_what_a_human_wrote_below_the_source_is_kept() -> None:
    (entry,) = read("## B\n\n> [!decision]\n> Tabs\n> By: me\n> Source: reply, 0.5\n> indeed\n").phases[0].entries
    assert entry == Decision("Tabs", by="me\nindeed", grounds=Grounds("reply", 0.5))


def test_labels_of_other_callouts_and_of_prose_stay_unescaped() -> None:
    assert render_entry(Callout("milestone", "", "By: x\nSource: reply, 0.5")) == [
        "> [!milestone]", "> By: x", "> Source: reply, 0.5",
    ]  # fmt: skip


# --- any text --------------------------------------------------------------------------------------------------------

one_line = hostile_line().map(normal_line)
block = hostile_text().map(normal)
optional = st.none() | block
formats = st.sampled_from([1, 2])
items = st.builds(
    FindingItem,
    st.sampled_from(["outcome", "open_end"]),
    one_line.filter(bool),
    st.none() | one_line.filter(bool),
    grounds,
)


@given(st.lists(items, max_size=3).map(tuple), formats)
def test_any_text_in_an_item_is_read_back_and_does_nothing(found: tuple[FindingItem, ...], form: int) -> None:
    note = render_session(Session("s", title="T", findings=found, format=form, phases=(Phase("A"),)))
    session = read_session(Source(note), "s", form)
    assert (session.findings, len(session.phases)) == (found, 1)
    assert form == 1 or acting(note) == []


@given(
    st.builds(Decision, block, optional, optional, optional, grounds)
    | st.builds(Failure, block, optional, optional, grounds)
    | st.builds(Callout, st.just("plan"), one_line, block, fold=st.just("-")),
    formats,
)
def test_any_text_in_a_callout_is_read_back_and_does_nothing(entry: Entry, form: int) -> None:
    note = render_session(Session("s", title="T", format=form, phases=(Phase("A", entries=(entry,)), Phase("B"))))
    session = read_session(Source(note), "s", form)
    assert [phase.entries for phase in session.phases] == [(entry,), ()]
    assert form == 1 or acting(note) == []


@given(st.builds(FindingItem, st.sampled_from(["outcome", "?"]), hostile_text(), st.none() | hostile_text(), grounds))
def test_any_item_is_read_back_in_its_normal_form(item: FindingItem) -> None:
    note = render_session(Session("s", title="T", findings=(item,)))
    told = normal_item(item)
    assert read_session(Source(note), "s").findings == ((told,) if told.text else ())


# --- ids -------------------------------------------------------------------------------------------------------------


def test_a_human_s_callout_keeps_its_id_when_others_are_added() -> None:
    mine = "> [!decision]\n> One file, no server\n"
    (alone,) = findings_of(read(f"{BLOCK}\n## B\n\n{mine}"))[:1]
    among = findings_of(
        read(f"{BLOCK}\n## B\n\n> [!decision]\n> Ship on Friday\n\n{mine}\n> [!error]\n> red\n> Resolution: fixed\n")
    )
    assert alone.id in {one.id for one in among if one.summary == "One file, no server"}
    assert alone.id.startswith("decision-")


def test_ids_are_unique_in_a_note() -> None:
    same = "> [!decision]\n> One file\n> Source: reply, 0.9, row a1\n"
    found = findings_of(read(f"## B\n\n{same}\n{same}"))
    assert [one.id for one in found] == ["decision-a1", "decision-a1-2"]


def test_a_long_text_of_a_human_is_short_in_the_summary_and_whole_in_the_details() -> None:
    text = "We keep one file. " + "It has no server, and nobody has to run one for it. " * 8
    (found,) = findings_of(read(f"## B\n\n> [!decision]\n> {text}\n> Rationale: simple\n"))
    assert len(found.summary) <= 200
    assert found.details.startswith(text.strip())
    assert found.details.endswith("simple")


# --- points ----------------------------------------------------------------------------------------------------------


POINTS = FindingItem(
    "outcome",
    "Tax is right",
    "commit 1a2b3c4",
    Grounds("commit", 0.97, ("a1",)),
    ("rounds late", "- has # marks"),
)


def test_points_are_a_nested_list_below_the_details() -> None:
    lines = render_findings([POINTS])
    assert lines[1:4] == [
        "> - outcome: Tax is right (commit, 0.97, row a1)",
        ">   Details: commit 1a2b3c4",
        ">   - rounds late",
    ]
    assert read("\n".join(lines) + "\n").findings == (POINTS,)
    assert findings_of(read("\n".join(lines) + "\n"))[0].points == POINTS.points


@pytest.mark.parametrize(
    "text",
    [
        "> [!findings]\n> - outcome: a\n>   - b\n>     and c\n>   - d\n",
        "> [!findings]\n> * Outcome: a\n>\t* b and c\n>\t* d\n",
        ">[!findings]\n>- outcome: a\n>    + b\n> and c\n>    + d\n",
    ],
)
def test_a_human_may_write_points(text: str) -> None:
    (item,) = read(text).findings
    assert (item.text, item.points) == ("a", ("b and c", "d"))


def test_indented_items_without_one_above_them_are_items() -> None:
    assert [item[1] for item in found("> [!findings]\n>   - outcome: a\n>   - outcome: b\n")] == ["a", "b"]
