"""An addition comes to the same note whether the whole of it is read or only its two ends."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown.frontmatter import find_frontmatter_span
from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session import append as appending
from crucible.documents.session.append import (
    Addition,
    Appended,
    NoteState,
    PhaseField,
    Plan,
    Step,
    SubagentUpdate,
    Summary,
    TaskList,
    append,
    append_wide,
)
from crucible.documents.session.last_phase import find_tail
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Mode,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from samples.hostile_texts import hostile_text
from tests.cases import fewer, for_each
from tests.unit.documents.session.session_strategies import entries, phases, sessions

WHEN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
HEAD = "---\ntype: session\nsession_id: s\nstarted: 2026-11-21T20:26:47Z\nstatus: active\n---\n\n# S\n\n"

steps = st.one_of(
    entries,
    entries,
    phases(),
    st.integers(0, 10**9).map(lambda n: PhaseField("tokens", n)),
    st.just(PhaseField("ended", WHEN)),
)
keys = st.dictionaries(
    st.sampled_from(["status", "tokens_used", "redacted", "participants", "pause_reason", "odd key"]),
    st.one_of(st.none(), st.integers(0, 99), st.sampled_from(["paused", "a: b"]), st.just(["x", "y"])),
    max_size=2,
)


@st.composite
def notes(draw: st.DrawFn) -> Source:
    """Tidy notes, notes with a human's hostile lines anywhere, other line ends, no last newline."""
    text = render_session(draw(sessions()))
    for _ in range(draw(st.integers(0, 2))):
        lines = text.split("\n")
        at = draw(st.integers(0, len(lines)))
        lines[at:at] = draw(hostile_text(4)).split("\n")
        text = "\n".join(lines)
    if draw(st.booleans()):
        text += draw(
            st.sampled_from(["\n", "\n## Next @a\n", "\n\n### Sub\n\nmore", "tail", "\n---\n", "\n## Summary\n\nx\n"])
        )
    if draw(st.integers(0, 5)) == 0:
        text = text.replace("\n", "\r\n")
    return Source(text.rstrip("\n") if draw(st.booleans()) else text, draw(st.booleans()))


FEWER = fewer(3)
"""Each of these examples is read a dozen times."""


def plan_of(wanted: dict[str, Value], taken: list[Step]) -> Plan:
    return lambda _: Addition(wanted, tuple(taken))


def result(how: object, *args: object) -> tuple[str, str, str]:
    try:
        done: Appended = how(*args)  # type: ignore[operator]
    except EditRefused as error:
        return "refused", str(error), ""
    return "done", done.source.text, done.phase


@given(notes(), keys, st.lists(steps, min_size=1, max_size=3))
def test_reading_two_ends_and_reading_all_come_to_the_same_note(
    source: Source, wanted: dict[str, Value], taken: list[Step]
) -> None:
    start = find_frontmatter_span(source).end
    event("narrow" if start and find_tail(source.text, start) else "wide")
    assert result(append, source, "s", plan_of(wanted, taken)) == result(
        append_wide, source, "s", plan_of(wanted, taken)
    )


def test_a_second_summary_stays_a_phase() -> None:
    source = Source("---\nstatus: active\nformat: 2\n---\n\n# T\n\n## Summary\n\nfirst\n\n## Summary\n\nsecond\n")
    add_prose, add_phase = (plan_of({}, [step]) for step in (Prose("y"), Phase("B")))
    done = append(source, "s", add_prose)
    again = append(done.source, "s", add_phase, done.place)
    assert (again.source.text, again.phase) == result(append_wide, done.source, "s", add_phase)[1:]


@FEWER
@given(notes(), st.lists(st.lists(steps, min_size=1, max_size=2), min_size=2, max_size=4))
def test_what_one_addition_tells_the_next_one_changes_nothing(source: Source, rounds: list[list[Step]]) -> None:
    place = None
    for taken in rounds:
        plan = plan_of({"tokens_used": len(taken)}, taken)
        expected = result(append_wide, source, "s", plan)
        if expected[0] == "refused":
            with pytest.raises(EditRefused, match=r".*"):
                append(source, "s", plan, place)
            return
        done = append(source, "s", plan, place)
        event("known" if done.place else "unknown")
        assert (done.source.text, done.phase) == expected[1:]
        source, place = done.source, done.place


@FEWER
@given(notes(), keys, st.lists(steps, min_size=1, max_size=3))
def test_every_byte_outside_the_edits_is_kept_and_the_edits_lead_to_the_note(
    source: Source, wanted: dict[str, Value], taken: list[Step]
) -> None:
    try:
        done = append(source, "s", plan_of(wanted, taken))
    except EditRefused:
        return
    assert apply_edits(source, done.edits) == done.source
    at = 0
    after = done.source.text
    for edit in sorted(done.edits):
        kept = source.text[at : edit.span.start]
        assert kept in after
        at = edit.span.end
    assert after.endswith(source.text[at:])


@given(notes())
@example(Source(HEAD + "- ```\n  x\n\n## A\n\n  ```\n\n## B\n"))
@example(Source(HEAD + "text\n2. ```\n   code\n   ```\n\n## A\n"))
@example(Source(HEAD + "```\n\n## A\n"))
@example(Source(HEAD + "%%\n\n## A\n\n%%\n\n## B\n"))
@example(Source(HEAD + "<script>\n\n## A\n\n</script>\n\n## B\n"))
@example(Source(HEAD + "## A\n\n   ## B\n\n## C\n"))
@example(Source(HEAD + "## A\n\n## Summary\n\n## C\n"))
@example(Source(HEAD + "> ```\n\n## A\n\n```py\n\n## B\n\n```\n\n## C\n"))
def test_the_tail_that_is_found_is_the_last_phase(source: Source) -> None:
    start = find_frontmatter_span(source).end
    found = find_tail(source.text, start) if start else None
    event("found" if found else "in doubt")
    if found:
        session = read_session(source, "s")
        assert source.starts[session.phases[-1].lines.first] == found[0]
        assert len(session.phases) - 1 == found[1]


@pytest.mark.parametrize(
    "text",
    [
        "## A\n\n```py\n## not\n\n## not either\n```\n\n## B\n\nx\n",
        "## A\n\n> ```\n> x\n\n**Tool calls:**\n- `a` → b\n\n<!-- -->\n\n- x\n\n## B @a@1 #c\n",
        "## A\n\n1 < 2 and a <b> inside\n\n## B\n",
        "## Summary of it\n\nx\n\n## B\n",
        "## A\n\n- ```\n  in a list\n\n## B\n",
        "## A\n\n``` a`b\n\n## B\n",
    ],
)
def test_an_ordinary_note_is_not_in_doubt(text: str) -> None:
    source = Source(HEAD + text)
    assert find_tail(source.text, find_frontmatter_span(source).end) == (source.text.rindex("\n## B") + 1, 1)


@for_each(
    "text",
    [
        "## A\n\n  ```\n  x\n\n## B\n",
        "## A\n\n%% x %%\n\n## B\n",
        "## A\n\n<div>\n\n## B\n",
        "## A\n\n## Summary\n\n## B\n",
        "## A\n\n ## B\n",
        "## A\n\r\n## B\n",
        "## A\ntext\n## B\n",
        "no phase\n",
    ],
)
def test_what_only_the_whole_note_can_tell_is_left_to_it(text: str) -> None:
    source = Source(HEAD + text)
    assert find_tail(source.text, find_frontmatter_span(source).end) is None


def test_a_long_note_is_not_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(HEAD + "".join(f"## P{n}\n\nsaid\n\n---\n\n" for n in range(300)) + "## Last\n\nsaid\n")
    lengths: list[int] = []

    def counting(part: Source, name: str, form: int | None = None) -> Session:
        lengths.append(len(part.text))
        return read_session(part, name, form)

    monkeypatch.setattr(appending, "read_session", counting)
    plan = plan_of({"tokens_used": 3}, [Decision("x"), Phase("New"), ToolCalls((ToolCall("a"),))])
    done = append(source, "s", plan)
    assert lengths
    assert max(lengths) < 200
    assert done.phase == "phase-302"
    assert read_session(done.source, "s").tokens_used == 3


def test_a_fence_that_is_never_closed_refuses_the_addition_with_its_line() -> None:
    source = Source(HEAD + "## A\n\nx\n\n## B\n\n```\nopen\n")
    with pytest.raises(EditRefused, match=r"s:16: this fence is never closed"):
        append(source, "s", plan_of({}, [Decision("x")]))


def test_an_entry_needs_a_phase() -> None:
    with pytest.raises(EditRefused, match="no phases yet"):
        append(Source(HEAD), "s", plan_of({}, [Decision("x")]))


def test_a_sub_phase_that_a_human_began_takes_the_next_entry() -> None:
    source = Source(HEAD + "## A\n\nx\n\n### Sub\n\ny\n")
    done = append(source, "s", plan_of({}, [Decision("z")]))
    assert done.phase == "phase-1.1"
    assert read_session(done.source, "s").phases[0].subphases[0].entries[-1] == Decision("z")


def test_the_plan_sees_the_properties_and_the_last_phase_under_its_own_id() -> None:
    seen: list[NoteState] = []

    def plan(standing: NoteState) -> Addition:
        seen.append(standing)
        return Addition()

    source = Source(HEAD + "## A\n\n---\n\n## B @x@1\n\nsaid\n")
    done = append(source, "s", plan)
    assert done.source == source
    assert not done.edits
    assert seen[0].phase is not None
    assert (seen[0].phase.id, seen[0].phase.agent) == ("phase-2", AgentRef("x", "1"))
    assert str(seen[0].head.status) == "active"


def test_a_summary_goes_to_the_end_once() -> None:
    source = Source(HEAD + "## A\n\nx\n")
    for text in ("One\n\n## no heading", "Two"):
        source = append(source, "s", plan_of({}, [Summary(text)])).source
    session = read_session(source, "s")
    assert session.summary == "One\n\n## no heading\n\nTwo"
    assert source.text.count("\n## Summary\n") == 1
    assert [phase.name for phase in session.phases] == ["A"]


@given(notes(), hostile_text(5))
def test_a_summary_reads_back_or_is_refused(source: Source, text: str) -> None:
    before = read_session(source, "s")
    try:
        done = append(source, "s", plan_of({}, [Summary(text)]))
    except EditRefused:
        return
    after = read_session(done.source, "s")
    assert after.phases == before.phases
    assert (after.summary or "").startswith(before.summary or "")


def test_the_whole_note_is_read_for_what_stands_elsewhere() -> None:
    link = Subagent(AgentRef("r"), None, Mode.LINK, "s-child")
    first = Session("s", WHEN, title="S", phases=(Phase("A", entries=(link, Prose("x"))), Phase("B"), Phase("C")))
    source = Source(render_session(first))
    told = Subagent(AgentRef("r"), None, Mode.LINK, "s-child", summary="Done.")
    done = append(
        source, "s", plan_of({}, [SubagentUpdate(told), TaskList((Task("1", "do"),)), Callout("milestone", "", "m")])
    )
    session = read_session(done.source, "s")
    assert session.phases[0].entries == (told, Prose("x"))
    assert session.tasks == (Task("1", "do"),)
    assert session.phases[-1].entries == (Callout("milestone", "", "m"),)
