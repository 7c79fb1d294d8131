"""Who carries out which step: only whom the user named."""

from __future__ import annotations

import pytest

from crucible.commands.run.jobs import Executors, choose_executors
from crucible.core.errors import UsageError
from tests.unit.commands.run.flows import plan_of

JOBS = plan_of("# T\n\n## A @coder@2\n\n## B @reviewer\n\n## C\n").jobs
ROLES = {"coder", "coder@2", "reviewer"}


def who(executors: Executors) -> list[str]:
    return [str(executor.agent) if (executor := executors.executor(job)) else "-" for job in JOBS]


def test_only_programs_that_the_user_named_are_run() -> None:
    executors = choose_executors([], "", ROLES, [])
    assert who(executors) == ["-", "-", "-"]
    with pytest.raises(UsageError, match="“A”, “B”, “C”") as caught:
        executors.check(JOBS)
    assert "--with" in caught.value.hint


def test_parts_go_to_whom_the_user_says_and_all_else_to_everybody() -> None:
    assert who(choose_executors(["claude", "reviewer=codex"], "", ROLES, [])) == [
        "claude-code",
        "codex",
        "claude-code",
    ]
    assert who(choose_executors(["@coder@2=my-agent -x", "Reviewer=claude"], "", ROLES, [])) == [
        "my-agent",
        "claude-code",
        "-",
    ]
    assert who(choose_executors(["coder=opencode"], "claude -p", ROLES, [])) == [
        "opencode",
        "claude-code",
        "claude-code",
    ]


def test_client_arguments_stand_last() -> None:
    executors = choose_executors(["claude"], "", ROLES, ["--model", "m"])
    assert executors.default
    assert executors.default.words == ("claude", "-p", "--output-format", "json", "--model", "m")
    command = choose_executors(["my-agent 'a b'"], "", ROLES, ["-x"])
    assert command.default
    assert command.default.words == ("my-agent", "a b", "-x")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["nobody=claude"], "no step of this run belongs to @nobody"),
        (["claude", "codex"], "given twice"),
        ([""], "empty"),
        (["my 'agent"], "not a valid command line"),
        (["coder="], "empty"),
    ],
)
def test_what_makes_no_sense_is_refused(named: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_executors(named, "", ROLES, [])
