"""The page of a session: what it shows at each level, its ids, and that it is safe to open."""

from __future__ import annotations

from datetime import UTC, datetime
from html import unescape
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session as render_note
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Failure,
    Intervention,
    Mode,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.web.call_details import CallDetail
from crucible.web.page_frame import Frame, page_frame
from crucible.web.session_entries import Level, Report, Shown, call_in_place, calls_of
from crucible.web.session_page import Facts, changes_html, session_html
from samples.random_sessions import random_session
from tests.unit.web.test_markdown_html import Page

START = datetime(2026, 11, 21, 20, 26, tzinfo=UTC)
SESSION = Session(
    "2026-11-21-limiter",
    started=START,
    title="Add a <limiter>",
    phases=(
        Phase(
            "Add it",
            AgentRef("claude-code", "2.1"),
            entries=(
                Intervention("Add a limiter\n  please"),
                Prose("Looking at **it**."),
                ToolCalls((ToolCall("Bash cat a.py", "16 lines"), ToolCall("Edit a.py", "+1 -1"))),
                Decision("A token bucket", "constant memory"),
                Failure("The clock jumps"),
                Subagent(AgentRef("general-purpose"), link="2026-11-21-clock", text="Asked."),
                Subagent(AgentRef("x"), mode=Mode.INLINE, entries=(ToolCalls((ToolCall("Read b.py"),)),)),
            ),
            id="phase-1",
        ),
    ),
)


def page(shown: Shown | None = None, session: Session = SESSION, frame: Frame | None = None) -> str:
    return session_html(session, frame or page_frame(assets="/static/"), shown or Shown(), Facts())


def test_a_page_shows_everything_the_note_has() -> None:
    html = page()
    for text in (
        "Add a &lt;limiter&gt;",
        "Add a limiter\n  please",
        "<strong>it</strong>",
        "16 lines",
        "constant memory",
    ):
        assert text in html


@pytest.mark.parametrize(
    ("level", "is_there", "is_not"),
    [
        (Level.USER, ("Add a limiter", "A token bucket"), ("Looking at", "16 lines", "Read")),
        (Level.TALK, ("Looking at", "The clock jumps", "Asked."), ("16 lines", "b.py")),
        (Level.FULL, ("16 lines", "b.py"), ()),
    ],
)
def test_a_level_leaves_out_what_it_does_not_show(level: Level, is_there: tuple[str], is_not: tuple[str]) -> None:
    body = page(Shown(level)).partition("<main")[2]
    assert all(text in body for text in is_there)
    assert not any(text in body for text in is_not)


def test_every_entry_has_an_id_of_its_own_and_calls_are_numbered() -> None:
    ids = [value for name, value in Page(page()).attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {"phase-1", "e1-1", "e1-2", "e1-3", "e1-4", "e1-7-1"} <= set(ids)
    assert [name for name, _ in calls_of(SESSION)] == ["e1-3-1", "e1-3-2", "e1-7-1-1"]


def test_ids_stay_when_a_note_grows() -> None:
    grown = (*SESSION.phases[0].entries, Prose("more"))
    assert "id=e1-4>" in page(session=Session("x", phases=(Phase("Add it", entries=grown, id="phase-1"),)))


def test_details_of_a_call_fold_out_with_a_diff() -> None:
    html = page(Shown(details={"e1-3-2": CallDetail("-a\n+b", output="done <x>")}))
    assert "<li><details><summary><b>Edit</b> a.py <i>+1 -1</i></summary>" in html
    assert "<del>-a\n</del><ins>+b\n</ins>" in html
    assert "done &lt;x&gt;" in html


def test_a_subagents_report_is_shown_in_place_and_linked() -> None:
    report = Session("2026-11-21-clock", phases=(Phase("p", entries=(Prose("It jumps."),), id="phase-1"),))
    shown = Shown(links=lambda target: f"/{target}", reports={"2026-11-21-clock": Report(report)})
    html = page(shown)
    assert '<a href="/sessions/2026-11-21-clock">@general-purpose</a>' in html
    assert "<summary>Work of @general-purpose</summary><div class=md id=e1-6-r1-1><p>It jumps." in html


def test_a_file_contains_its_style_and_script_and_a_policy_with_their_hashes() -> None:
    html = unescape(page(frame=page_frame(inline=True)))
    assert "default-src 'none'; style-src 'sha256-" in html
    assert "src=" not in html.partition("<body>")[0]
    assert "<link" not in html


def test_a_change_holds_only_the_last_phases() -> None:
    phases = tuple(Phase(f"Phase {n}", entries=(Prose(f"said {n}"),), id=f"phase-{n}") for n in (1, 2, 3))
    html = changes_html(Session("x", phases=phases), range(3, 9), Shown(), Facts())
    assert "said 3" in html
    assert "said 2" not in html
    assert html.count("<li><a href=#phase-") == 3


@given(st.integers(0, 10_000))
def test_any_session_makes_a_page_without_scripts_of_its_own(seed: int) -> None:
    session = read_session(Source(render_note(random_session(Random(seed)))), "x")
    found = Page(page(Shown(links=lambda _target: "/note"), session))
    assert found.tags.count("script") == 1
    assert not {"img", "iframe", "object", "style", "base"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on") or name == "style"]


def test_an_unreadable_time_or_empty_note_still_has_a_page() -> None:
    assert "<h1>x</h1>" in page(session=read_session(Source("---\ntype: session\nstarted: soon\n---\n"), "x"))


def test_a_call_shown_in_place_belongs_to_the_subagents_session() -> None:
    inner = Subagent(AgentRef("explorer"), link="deep")
    entry = Subagent(AgentRef("explorer"), mode=Mode.INLINE, link="child", entries=(Prose("x"), inner))
    session = Session("s", phases=(Phase("p", entries=(Prose("x"), entry), id="phase-1"),))
    assert call_in_place(session, "e1-1-1") == ("", "e1-1-1")
    assert call_in_place(session, "e1-2-r3-1-2") == ("child", "e3-1-2")
    assert call_in_place(session, "e1-2-2-r1-1-1") == ("deep", "e1-1-1")
    assert call_in_place(session, "e9-2-r1-1-1") == ("", "e1-1-1")
