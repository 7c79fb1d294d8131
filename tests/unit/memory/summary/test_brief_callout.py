"""The brief as a callout reads back, and no byte outside its lines changes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.source import NOWHERE, Source, apply_edits
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from crucible.memory.summary.brief import Brief, find_brief, set_brief
from samples.hostile_texts import hostile_line, hostile_text
from tests.cases import for_each
from tests.unit.documents.session.session_strategies import sessions

NEW = Brief("They decided.\n\n- one\n- two", 'phase-1 "One"')

SHAPES = {
    "plain": "---\ntype: session\n---\n\n# Title\n\nWhat it is for.\n\n## One\n\nDone.\n",
    "crlf": "---\r\ntype: session\r\n---\r\n\r\n# Title\r\n\r\nWhat.\r\n\r\n## One\r\n\r\nDone.\r\n",
    "lone cr": "# Title\r\rWhat.\r\r## One\r",
    "no title": "---\ntype: session\n---\n\nWhat it is for.\n\n## One\n\nDone.\n",
    "no title, no frontmatter": "## One\n\nDone.\n",
    "no blank lines": "---\ntype: session\n---\n# Title\nWhat it is for.\n## One\nDone.",
    "tasks under the title": '# Title\n```tasks\n[\n  {"id": "1", "content": "a"}\n]\n```\n## One\nDone.\n',
    "text above the title": "Found here:\n\n# Title\n\n## One\n",
    "a title alone": "# Title",
    "frontmatter alone": "---\ntype: session\n---",
    "nothing": "",
    "a fence": "# Title\n\n```md\n> [!abstract] Brief\n> no\n```\n\n## One\n",
    "a comment": "# Title\n\n%%\n> [!abstract] Brief\n> no\n%%\n\n## One\n",
    "html": "# Title\n\n<!--\n> [!abstract] Brief\n> no\n-->\n\n## One\n",
    "in a list": "# Title\n\n- a\n  > [!abstract] Brief\n  > no\n\n## One\n",
    "another abstract": "# Title\n\n> [!abstract] Of the paper\n> mine\n\n## One\n",
    "in a phase": "# Title\n\n## One\n\n> [!abstract] Brief\n> of this phase\n",
    "a quote under the title": "# Title\n> quoted\n\n## One\n",
    "a list under the title": "# Title\n    indented\n- item\n\n## One\n",
}


def read(source: Source) -> Session:
    return read_session(source, "s")


def written(source: Source, brief: Brief) -> Source:
    return apply_edits(source, set_brief(source, read(source), brief))


@for_each("bom", [False, True])
@for_each("name", SHAPES)
def test_a_first_brief_is_inserted_and_takes_no_byte_away(name: str, bom: bool) -> None:
    source = Source(SHAPES[name], bom)
    before = read(source)
    assert find_brief(before) is None
    [edit] = set_brief(source, before, NEW)
    assert edit.span.start == edit.span.end
    after = apply_edits(source, [edit])
    assert find_brief(read(after)) == NEW
    assert after.to_bytes().replace(edit.text.encode(), b"", 1) == source.to_bytes()
    assert [e for e in read(after).preamble if e not in before.preamble] == [
        e for e in read(after).preamble if getattr(e, "kind", "") == "abstract"
    ]
    assert replace(read(after), preamble=()) == replace(before, preamble=())


def test_a_first_brief_is_right_under_the_title() -> None:
    text = written(Source(SHAPES["plain"]), NEW).text
    assert text == SHAPES["plain"].replace(
        "# Title\n\n",
        '# Title\n\n> [!abstract] Brief\n> Covers: phase-1 "One"\n>\n> They decided.\n>\n> - one\n> - two\n\n',
    )


def test_its_line_ends_are_the_notes_own() -> None:
    text = written(Source(SHAPES["crlf"]), NEW).text
    assert text.count("\n") == text.count("\r\n")
    assert "\n" not in written(Source(SHAPES["lone cr"]), NEW).text


@given(sessions(), hostile_text(), hostile_line(), st.booleans(), st.booleans())
def test_any_text_reads_back_and_nothing_else_changes(
    session: Session, text: str, covers: str, crlf: bool, bom: bool
) -> None:
    rendered = render_session(session)
    source = Source(rendered.replace("\n", "\r\n") if crlf else rendered, bom)
    before = read(source)
    brief = Brief(normal(text), f'phase-1 "{" ".join(normal(covers).split())}"')
    edits = set_brief(source, before, brief)
    after = apply_edits(source, edits)
    assert find_brief(read(after)) == brief
    assert set_brief(after, read(after), brief) == []
    kept = [e for e in read(after).preamble if getattr(e, "kind", "") != "abstract"]
    assert kept == [e for e in before.preamble if getattr(e, "kind", "") != "abstract"]
    assert replace(read(after), preamble=()) == replace(before, preamble=())


@given(st.integers(0, 2**32), hostile_text(), hostile_text())
def test_a_second_brief_takes_the_place_of_the_first_alone(seed: int, first: str, second: str) -> None:
    source = Source(Random(seed).choice(list(SHAPES.values())))
    one = written(source, Brief(normal(first), "phase-1"))
    two = written(one, Brief(normal(second), "phase-2"))
    assert find_brief(read(two)) == Brief(normal(second), "phase-2")
    assert two == written(source, Brief(normal(second), "phase-2"))


def test_the_head_that_a_human_folded_and_moved_stays() -> None:
    text = '# Title\n\nWhat it is for.\n\n> [!ABSTRACT]- brief\n> Covers: phase-1 "One"\n> Old.\n\n## One\n'
    after = written(Source(text), NEW).text
    assert after == text.replace("> Old.\n", ">\n> They decided.\n>\n> - one\n> - two\n")


def test_a_brief_with_a_head_alone_is_filled() -> None:
    assert find_brief(read(written(Source("# Title\n\n> [!abstract] Brief"), NEW))) == NEW


def test_a_brief_that_names_no_phase_covers_none() -> None:
    assert find_brief(read(Source("# T\n\n> [!abstract] Brief\n> By hand.\n>\n> More.\n"))) == Brief(
        "By hand.\n\nMore.", ""
    )


def test_a_line_that_names_a_phase_counts_at_the_top_only() -> None:
    found = find_brief(read(Source('# T\n\n> [!abstract] Brief\n> Text.\n> Covers: phase-9 "X"\n')))
    assert found is not None
    assert found.covers == ""


def test_a_paragraph_that_hangs_on_the_brief_is_not_taken_for_its_text() -> None:
    source = Source("# T\n\n> [!abstract] Brief\n> Old.\nMy own paragraph.\n\n## One\n")
    with pytest.raises(EditRefused, match="s:5: this line continues the brief"):
        set_brief(source, read(source), NEW)


def test_an_unclosed_fence_keeps_a_brief_out() -> None:
    source = Source("---\ntype: session\n# Title\n\n## One\n\nx\n")
    try:
        after = written(source, NEW)
    except EditRefused:
        return
    assert find_brief(read(after)) == NEW
    assert after.text.replace("\n", "").endswith("## Onex")


def test_an_inline_subagent_has_no_brief() -> None:
    text = "# T\n\n## One\n\n> [!subagent] @a\n> mode: inline\n>\n> > > [!abstract] Brief\n> > > x\n"
    assert find_brief(read(Source(text))) is None
    assert read(Source(text)).title_lines is not NOWHERE


@given(
    hostile_text(12),
    st.sampled_from(("", "# Title\n", "# Title\n\n", "---\ntype: session\n---\n")),
    hostile_text(),
)
def test_in_an_untidy_note_a_brief_shows_or_is_refused(text: str, head: str, said: str) -> None:
    source = Source(head + text + "\n\n## Last\n\nend\n")
    before, brief = read(source), Brief(normal(said), 'phase-1 "x"')
    try:
        edits = set_brief(source, before, brief)
    except EditRefused:
        return
    after = read(apply_edits(source, edits))
    assert find_brief(after) == brief
    assert after.phases == before.phases
    assert (after.title, after.tasks, after.summary) == (before.title, before.tasks, before.summary)
    assert [p.code for p in after.problems] == [p.code for p in before.problems]
