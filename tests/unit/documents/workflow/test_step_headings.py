"""A step's heading: names, markers, and the way back for every name."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.workflow import Grade
from crucible.documents.workflow.workflow_blocks import is_prose_heading, read_step_heading, render_step_heading
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.hostile_texts import hostile_line
from tests.cases import for_each


@for_each(
    ("text", "name", "agent", "channel", "grade"),
    [
        ("Load Data @data-loader #pipeline", "Load Data", "data-loader", "pipeline", Grade.PLAIN),
        ("Pay @payment-service #payments !", "Pay", "payment-service", "payments", Grade.CRITICAL),
        ("Pay ! #payments @payment-service", "Pay", "payment-service", "payments", Grade.CRITICAL),
        ("Handle Failed Orders ?", "Handle Failed Orders", None, None, Grade.OPTIONAL),
        ("Build ? @claude-code@2.1", "Build", "claude-code@2.1", None, Grade.OPTIONAL),
        ("What next?", "What next?", None, None, Grade.PLAIN),
        ("Ship it! @ops", "Ship it!", "ops", None, Grade.PLAIN),
        ("What now? ?", "What now?", None, None, Grade.OPTIONAL),
        ("Tabs\t@a\t#b\t!", "Tabs", "a", "b", Grade.CRITICAL),
        ("Fix #12", "Fix #12", None, None, Grade.PLAIN),
        ("Write to a@b.c", "Write to a@b.c", None, None, Grade.PLAIN),
        ("Mail @example.com addresses", "Mail @example.com addresses", None, None, Grade.PLAIN),
        ("Do `x @y`", "Do `x @y`", None, None, Grade.PLAIN),
        ("@only", "", "only", None, Grade.PLAIN),
        ("!", "", None, None, Grade.CRITICAL),
        ("", "", None, None, Grade.PLAIN),
        ("Überprüfung 检查 @prüfer #qualität", "Überprüfung 检查", "prüfer", "qualität", Grade.PLAIN),
    ],
)
def test_markers_stand_at_the_end_in_any_order(
    text: str, name: str, agent: str | None, channel: str | None, grade: Grade
) -> None:
    read = read_step_heading(text)
    assert (read.name, str(read.agent) if read.agent else None, read.channel, read.grade) == (
        name,
        agent,
        channel,
        grade,
    )


def test_a_second_marker_of_a_kind_belongs_to_the_name_and_is_told() -> None:
    read = read_step_heading("Ask @bob @alice")
    assert (read.name, read.agent, read.left_over) == ("Ask @bob", AgentRef("alice"), "@bob")
    assert read_step_heading("Odd ! ?").left_over == "!"
    assert not read_step_heading("Plain words @alice").left_over


@pytest.mark.parametrize("text", ["Summary", "notes", "Workflow", "WORKFLOW graph", "Workflow Summary", "workflow\tx"])
def test_some_headings_are_prose_unless_they_carry_a_marker(text: str) -> None:
    assert is_prose_heading(read_step_heading(text))
    for marker in ("@a", "#b", "!", "?"):
        assert not is_prose_heading(read_step_heading(f"{text} {marker}"))
    assert not is_prose_heading(read_step_heading(f"\\{text}"))


@pytest.mark.parametrize("text", ["Summary of it", "My notes", "Workflows", "Release notes", "Team", ""])
def test_other_headings_are_steps(text: str) -> None:
    assert not is_prose_heading(read_step_heading(text))


_ENDS = [
    "!",
    "?",
    "@x",
    "#y",
    "@",
    "#",
    "##",
    "\\!",
    "\\\\?",
    "\\@x",
    "!!",
    "?!",
    "@a@1",
    "#1",
    "\\",
    "→",
    "-> b",
]
_STARTS = [
    "",
    "Summary",
    "summary",
    "Notes",
    "workflow",
    "Workflow x",
    "\\Summary",
    "\\\\notes",
    "\\workflow z",
    "Why",
]
_NAMES = st.one_of(
    hostile_line(),
    st.text(max_size=20),
    st.builds(
        "{}{}{}".format,
        st.one_of(st.sampled_from(_STARTS), hostile_line()),
        st.sampled_from([" ", "", "  "]),
        st.one_of(st.sampled_from(_ENDS), hostile_line()),
    ),
)
_AGENTS = st.none() | st.builds(AgentRef, st.sampled_from(["a", "claude-code"]), st.none() | st.just("2.1"))
_CHANNELS = st.none() | st.sampled_from(["dev", "a/b"])


@given(_NAMES, _AGENTS, _CHANNELS, st.sampled_from(Grade), st.integers(1, 6))
@example("Summary", None, None, Grade.PLAIN, 2)
@example("\\Summary \\!", None, None, Grade.PLAIN, 2)
@example("workflow #", AgentRef("a"), None, Grade.OPTIONAL, 1)
def test_every_name_comes_back_from_a_note(
    name: str, agent: AgentRef | None, channel: str | None, grade: Grade, level: int
) -> None:
    heading = render_step_heading(level, name, agent, channel, grade)
    workflow = read_workflow(Source(f"# T\n\n{heading}\n\n## Other\n"), "w", FORMAT)
    step, other = list(workflow.walk()) if level == 1 else [*workflow.steps][:2]
    assert (step.name, step.agent, step.channel, step.grade) == (
        normal_line(name) or "Untitled",
        agent,
        channel,
        grade,
    )
    assert other.name == "Other"
    assert not workflow.diagnostics


_WORDS = st.sampled_from(["a", "B2", "@x", "@x@1", "#y", "#2", "!", "?", "a!", "@", "#", "→"])


@given(st.lists(_WORDS, max_size=7))
def test_reading_a_heading_keeps_every_word(words: list[str]) -> None:
    read = read_step_heading(" ".join(words))
    mark = {Grade.PLAIN: [], Grade.CRITICAL: ["!"], Grade.OPTIONAL: ["?"]}[read.grade]
    markers = [
        *([f"@{read.agent}"] if read.agent else []),
        *([f"#{read.channel}"] if read.channel else []),
        *mark,
    ]
    assert sorted([*read.name.split(), *markers]) == sorted(words)
    assert read.marked == bool(markers)
