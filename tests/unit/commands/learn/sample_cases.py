"""Sample cases, one of each type and kind, and Hypothesis strategies for any case."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from crucible.commands.learn.case import (
    Body,
    Case,
    CaseCall,
    CaseTurn,
    CaseType,
    Choice,
    Correction,
    Delegation,
    Difficulty,
    Place,
    Puzzle,
    Role,
    Trajectory,
)
from samples.hostile_texts import hostile_text as any_hostile_text

SESSION = "2026-05-04-1000-retry"


def assistant_turn(text: str) -> CaseTurn:
    return CaseTurn(Role.ASSISTANT, text)


def user_turn(text: str) -> CaseTurn:
    return CaseTurn(Role.USER, text)


def used(id_: str, name: str, text: str = "", **arguments: object) -> CaseTurn:
    return CaseTurn(Role.ASSISTANT, text, (CaseCall(id_, name, arguments),))


def tool(id_: str, text: str, *, failed: bool = False) -> CaseTurn:
    return CaseTurn(Role.TOOL, text, answers=id_, failed=failed)


_TYPES: dict[type, CaseType] = {
    Puzzle: CaseType.PUZZLE,
    Correction: CaseType.CORRECTION,
    Choice: CaseType.DECISION,
    Delegation: CaseType.DELEGATION,
    Trajectory: CaseType.WORKFLOW,
}


def case_of(body: Body, id_: str = "c1", session: str = SESSION, **more: Any) -> Case:
    made = Case(
        id=id_,
        type=_TYPES[type(body)],
        place=Place(session, "p1", "Make retries polite", 42),
        body=body,
        agent="claude-code",
        model="some-model",
        channel="dev",
        project="shop",
        started=datetime(2026, 5, 4, 10, tzinfo=UTC),
        tools=("Bash", "Edit"),
        tags=("retry",),
        difficulty=Difficulty.EASY,
        tokens=120,
        verification="python app.py",
        digest=f"digest-{id_}",
    )
    return replace(made, **more)


PUZZLE = Puzzle(
    goal="Make app.py survive a connection reset.",
    state="Read app.py.",
    tried=(
        used("t1", "Bash", "I run it.", command="python app.py --fail"),
        tool("t1", "ConnectionResetError: [Errno 104]", failed=True),
    ),
    failure="ConnectionResetError: [Errno 104]",
    expected="It tries again with backoff.",
    solution=(
        used("t2", "Edit", path="app.py", old="get(url)", new="retry(get, url)"),
        tool("t2", "ok"),
        assistant_turn("It tries again now."),
    ),
    hints=("Look at the error's class.",),
)
CORRECTION = Correction(
    goal="Add jitter.",
    did=(used("t3", "Edit", "Jitter from zero.", path="app.py", new="random() * wait"), tool("t3", "ok")),
    words="Never zero: keep a floor.",
    then=(used("t4", "Edit", "A floor of a tenth.", path="app.py", new="max(0.1, jitter)"), tool("t4", "ok")),
)
REJECTED = Correction(
    goal="Clean up.",
    did=(used("t5", "Bash", command="rm -rf build"),),
    words="",
    then=(assistant_turn("I leave build where it is."),),
    rejected="Bash rm -rf build",
)
CHOICE = Choice(
    situation="Clients come back all at once.",
    options=("fixed wait", "backoff with jitter"),
    choice="Backoff with jitter.",
    rationale="It spreads them.",
    outcome="The spikes went away.",
)
DELEGATION = Delegation("explorer", "Find all callers of get().", "Three: a.py, b.py, c.py.", used=True)
WORKFLOW = Trajectory(
    goal="Rename the flag.",
    turns=(
        user_turn("Rename the flag."),
        used("t6", "Grep", pattern="--fail", context=2),
        tool("t6", "app.py:3"),
        assistant_turn("There is one place; I change it."),
        used("t7", "Edit", path="app.py", new="--break"),
        tool("t7", "ok"),
        assistant_turn("Renamed."),
    ),
)
OPEN = Puzzle(goal="Deploy.", state="", tried=(assistant_turn("I deploy."),), failure="Permission denied")


def made_cases() -> list[Case]:
    """One case of each type, from three sessions."""
    return [
        case_of(PUZZLE, "puzzle"),
        case_of(CORRECTION, "correction"),
        case_of(REJECTED, "rejected", "2026-05-05-0900-limiter", agent="codex", tools=(), tags=()),
        case_of(CHOICE, "choice", "2026-05-05-0900-limiter", tools=(), verification=""),
        case_of(DELEGATION, "delegation", "2026-05-06-1100-search"),
        case_of(WORKFLOW, "workflow", "2026-05-06-1100-search", started=None),
        case_of(OPEN, "open", verification=""),
    ]


def many_cases(count: int) -> list[Case]:
    """Return copies of the sample cases, each in its own session and with its own words."""
    made = made_cases()
    return [
        replace(
            one,
            id=f"{one.id}-{number}",
            digest=f"{one.digest}-{number}",
            place=one.place._replace(session=f"{one.place.session}-{number}"),
        )
        for number in range(count)
        for one in made
    ]


def hostile_text() -> st.SearchStrategy[str]:
    """A short text as in a cleaned case, without lone surrogates."""
    return any_hostile_text(3).map(lambda text: text.encode("utf-8", "replace").decode())


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | hostile_text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=2,
)
_IDS = st.sampled_from(["", "a", "b", "c"])
_CALLS = st.builds(
    CaseCall,
    _IDS,
    st.sampled_from(["Bash", "mcp: odd/name", ""]),
    st.dictionaries(st.text(max_size=5), _VALUES, max_size=3),
)
_TURNS = st.one_of(
    st.builds(CaseTurn, st.just(Role.ASSISTANT), hostile_text() | st.just(""), st.lists(_CALLS, max_size=3).map(tuple)),
    st.builds(CaseTurn, st.just(Role.TOOL), hostile_text(), answers=_IDS, failed=st.booleans()),
    st.builds(CaseTurn, st.just(Role.USER), hostile_text() | st.just("")),
)


def any_turns() -> st.SearchStrategy[tuple[CaseTurn, ...]]:
    """Turns in any order, with calls that have one, two or no results."""
    return st.lists(_TURNS, max_size=5).map(tuple)


def any_case() -> st.SearchStrategy[Case]:
    """A case of any type with hostile texts."""
    text = hostile_text() | st.just("")
    bodies = st.one_of(
        st.builds(Puzzle, text, text, any_turns(), text, text, any_turns()),
        st.builds(Correction, text, any_turns(), text, any_turns(), text),
        st.builds(Choice, text, st.lists(text, max_size=3).map(tuple), text, text, text),
        st.builds(Delegation, text, text, text, st.sampled_from([None, True, False])),
        st.builds(Trajectory, text, any_turns()),
    )
    return st.builds(case_of, bodies, project=text, tags=st.lists(text, max_size=2).map(tuple))
