"""Properties of the detector for any sequence of events."""

from __future__ import annotations

import time
from dataclasses import fields, is_dataclass
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.findings.detector import Detector
from crucible.clients import events as events_module
from crucible.clients.events import At, CallEnd, Choice, Event, PromptKind, TaskState
from crucible.documents.session.session import Decision, Failure, FindingItem
from samples.hostile_texts import hostile_text

_SAID = (
    "yes", "no", "2", "B, please", "Which one?", "Shall I do it?", "You're right.", "--- FAIL: TestX", "Error: gone", "/exit", "# Plan: P\n\nText.",
    "1. one\n2. two\n\nWhich?", "Implement the following plan:\n# P", "[main 1a2b3c4] did it", "CONFLICT (content): Merge conflict in a.py", "",
)  # fmt: skip
_TEXT = st.one_of(st.sampled_from(_SAID), hostile_text())
_SCRIPTS = st.one_of(
    st.sampled_from(
        ("go test ./...", "pytest | tail", "git commit -m 'x", "cat <<E > a.py\nx\nE", "sed -i s/a/b/ a.py")
    ),
    _TEXT,
)
_ARGUMENTS = st.one_of(
    st.fixed_dictionaries({"command": st.one_of(_SCRIPTS, st.lists(_SCRIPTS, max_size=3), st.none())}),
    st.fixed_dictionaries({"file_path": st.one_of(_TEXT, st.integers())}),
    st.dictionaries(
        st.sampled_from(("path", "input", "patch", "todos", "plan", "cmd")),
        st.one_of(_TEXT, st.integers(), st.lists(_TEXT, max_size=2)),
    ),
)
_VALUES: dict[str, st.SearchStrategy[object]] = {
    "at": st.builds(At, st.integers(0, 99), st.sampled_from(("", "a", "row-1", "🙂" * 20))),
    "call": st.sampled_from(("c1", "c2", "")),
    "name": st.one_of(st.sampled_from(("Edit", "Bash", "apply_patch", "shell", "Task")), _TEXT),
    "arguments": _ARGUMENTS,
    "kind": st.sampled_from(PromptKind),
    "end": st.sampled_from(CallEnd),
    "approved": st.sampled_from((True, False, None)),
    "choices": st.lists(st.builds(Choice, _TEXT, _TEXT, st.lists(st.tuples(_TEXT, _TEXT), max_size=2).map(tuple)), max_size=2).map(tuple),
    "tasks": st.lists(st.builds(TaskState, _TEXT, _TEXT, _TEXT), max_size=3).map(tuple),
}  # fmt: skip


def _any_event(of: type[Event]) -> st.SearchStrategy[Event]:
    assert is_dataclass(of)
    given_values = {
        each.name: _VALUES[each.name] if each.name in _VALUES else _plain(str(each.type)) for each in fields(of)
    }
    return st.builds(of, **given_values)


def _plain(kind: str) -> st.SearchStrategy[object]:
    if kind == "bool":
        return st.booleans()
    if kind.startswith("int"):
        return st.integers(0, 9)
    if kind.startswith("tuple"):
        return st.just(())
    return st.none() if "Mapping" in kind else _TEXT


_EVENTS = st.lists(st.one_of([_any_event(of) for of in get_args(events_module.Event)]), max_size=30)


def _judged(told: list[Event]) -> tuple[list[Decision | Failure], tuple[FindingItem, ...]]:
    detector = Detector()
    callouts = [each for event in told for each in detector.add(event)]
    return callouts, detector.noted()


@given(_EVENTS)
def test_any_events_are_judged_and_always_the_same(told: list[Event]) -> None:
    assert _judged(told) == _judged(told)


@given(_EVENTS, st.integers(0, 30))
def test_looking_at_the_block_changes_nothing_and_callouts_only_grow(told: list[Event], at: int) -> None:
    detector = Detector()
    first = [each for event in told[:at] for each in detector.add(event)]
    assert detector.noted() == detector.noted() == _judged(told[:at])[1]
    rest = [each for event in told[at:] for each in detector.add(event)]
    assert ([*first, *rest], detector.noted()) == _judged(told)
    assert first == _judged(told[:at])[0]


@given(_EVENTS)
def test_findings_are_short_and_say_where_they_come_from(told: list[Event]) -> None:
    callouts, noted = _judged(told)
    for each in (*callouts, *noted):
        assert each.text
        assert len(each.text) < 1400
        assert each.grounds is not None
        assert 0.5 < each.grounds.confidence < 1
        assert all(0 < len(row) <= 20 for row in each.grounds.rows)


def test_memory_does_not_grow_with_the_texts() -> None:
    detector = Detector()
    for number in range(300):
        detector.add(events_module.Reasoned(At(number), "thought " * 500))
        detector.add(events_module.ToolUsed(At(number), str(number), "Bash", {"command": f"go test ./p{number} " * 50}))
        detector.add(events_module.ToolReturned(At(number), str(number), "--- FAIL: TestX\n" * 900, CallEnd.FAILED))
    kept = detector._failures._open
    assert len(kept) <= 40
    assert sum(len(line) for run in kept for line in run.text) < 40_000


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        "=== 1",
        "=== " + "1" * 50,
        "```\n",
        "git ",
        "sed ",
        ' --title "',
        "[a ",
        "aZ\n",
        "1.",
        "  - ",
        "https://x",
        "> ",
        "?\n\n",
        "A. ",
        "\u2715 ",
        "a:1:",
        "''",
        "$(",
        "<<E\n",
    ],
)
def test_long_texts_of_anything_take_no_time(piece: str) -> None:
    text = piece * (120_000 // len(piece))
    told: list[Event] = [
        events_module.Prompted(At(1), text),
        events_module.Replied(At(2), f"{text}\nShall I?"),
        events_module.Prompted(At(3), "2"),
        events_module.Replied(At(4), text),
        events_module.ToolUsed(At(5), "c", "Bash", {"command": f"gh pr create {text}"}),
        events_module.ToolReturned(At(6), "c", text, CallEnd.FAILED),
        events_module.ToolUsed(At(7), "d", "Edit", {"file_path": text}),
        events_module.ToolReturned(At(8), "d", "ok"),
        events_module.ToolUsed(At(9), "e", "Bash", {"command": text}),
        events_module.ToolReturned(At(10), "e", text),
        events_module.Replied(At(11), text),
        events_module.Prompted(At(12), text, PromptKind.PLAN),
    ]
    start = time.process_time()
    _judged(told)
    assert time.process_time() - start < 2
