"""OpenCode's questions to the user and their decisions: rows made by hand after those of the real client."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.clients.events import CallEnd, Choice, Event, PlanSettled, QuestionsAnswered, ToolReturned
from tests.unit.clients.building import one
from tests.unit.clients.opencode_building import Row, events, talk, text, tool

QUESTION = {"question": "Which store?", "options": [{"label": "SQLite", "description": "one file"}]}
DISMISSED = {"status": "error", "error": "The user dismissed this question"}


def events_of(folder: Path, *parts: Row) -> list[Event]:
    made = talk(folder)
    made.user(text("Begin"))
    made.agent(*parts)
    return events(folder)


@pytest.mark.parametrize(
    ("state", "choice"),
    [
        (
            {"metadata": {"answers": [["SQLite"]]}},
            Choice("Which store?", "SQLite", (("SQLite", "one file"),), ("SQLite",)),
        ),
        (
            {"metadata": {"answers": [["a text file"]]}},
            Choice("Which store?", "a text file", (("SQLite", "one file"),)),
        ),
        ({"metadata": {"answers": []}}, Choice("Which store?", "", (("SQLite", "one file"),))),
        (DISMISSED, Choice("Which store?", "", (("SQLite", "one file"),))),
    ],
)
def test_a_question_comes_with_its_answer(state: Row, choice: Choice, tmp_path: Path) -> None:
    found = events_of(tmp_path, tool("question", input={"questions": [QUESTION]}, **state))
    assert one(found, QuestionsAnswered).choices == (choice,)
    assert one(found, ToolReturned).end is (CallEnd.REJECTED if state is DISMISSED else CallEnd.OK)


@pytest.mark.parametrize(
    ("state", "approved"), [({"output": "User approved switching to build agent."}, True), (DISMISSED, False)]
)
def test_a_plan_is_the_file_of_the_planning_agent(state: Row, approved: bool, tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user(text("Plan it"))
    made.agent(tool("write", "c1", input={"filePath": "p.md", "content": "# One\n\n1. a\n"}), agent="plan")
    made.agent(tool("edit", "c2", input={"filePath": "p.md", "oldString": "a", "newString": "b"}), agent="plan")
    made.agent(tool("plan_exit", "c3", **state), agent="plan")
    settled = one(events(tmp_path), PlanSettled)
    assert (settled.call, settled.text, settled.approved) == ("c3", "# One\n\n1. b\n", approved)


RUN_RULES = '[{"permission":"question","action":"deny"},{"permission":"plan_enter","action":"deny"}]'
REFUSED = "The user rejected permission to use this specific tool call"


@pytest.mark.parametrize(
    ("error", "rules", "end"),
    [
        (f"{REFUSED}.", "[]", CallEnd.REJECTED),
        (f"{REFUSED}.", RUN_RULES, CallEnd.FAILED),
        (f"{REFUSED} with the following feedback: Not there.", RUN_RULES, CallEnd.REJECTED),
    ],
)
def test_a_call_is_rejected_only_if_a_user_was_asked(error: str, rules: str, end: CallEnd, tmp_path: Path) -> None:
    made = talk(tmp_path, permission=rules)
    made.user(text("Begin"))
    made.agent(tool("bash", status="error", error=error))
    assert one(events(tmp_path), ToolReturned).end is end
