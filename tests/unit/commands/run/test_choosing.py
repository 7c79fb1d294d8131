"""Who carries out which step: only whom the user named."""

from __future__ import annotations

import pytest

from crucible.commands.run.executors import Cast, cast_of
from crucible.core.errors import UsageError
from tests.unit.commands.run.flows import plan_of

JOBS = plan_of("# T\n\n## A @coder@2\n\n## B @reviewer\n\n## C\n").jobs
ROLES = {"coder", "coder@2", "reviewer"}


def who(cast: Cast) -> list[str]:
    return [str(player.agent) if (player := cast.player(job)) else "-" for job in JOBS]


def test_nobody_runs_whom_the_user_did_not_name() -> None:
    cast = cast_of([], "", ROLES, [])
    assert who(cast) == ["-", "-", "-"]
    with pytest.raises(UsageError, match="“A”, “B”, “C”") as caught:
        cast.check(JOBS)
    assert "--with" in caught.value.hint


def test_parts_go_to_whom_the_user_says_and_all_else_to_everybody() -> None:
    assert who(cast_of(["claude", "reviewer=codex"], "", ROLES, [])) == [
        "claude-code",
        "codex",
        "claude-code",
    ]
    assert who(cast_of(["@coder@2=my-agent -x", "Reviewer=claude"], "", ROLES, [])) == [
        "my-agent",
        "claude-code",
        "-",
    ]
    assert who(cast_of(["coder=opencode"], "claude -p", ROLES, [])) == [
        "opencode",
        "claude-code",
        "claude-code",
    ]


def test_client_arguments_stand_last() -> None:
    cast = cast_of(["claude"], "", ROLES, ["--model", "m"])
    assert cast.everybody
    assert cast.everybody.words == ("claude", "-p", "--output-format", "json", "--model", "m")
    command = cast_of(["my-agent 'a b'"], "", ROLES, ["-x"])
    assert command.everybody
    assert command.everybody.words == ("my-agent", "a b", "-x")


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["nobody=claude"], "no step that is carried out is @nobody's"),
        (["claude", "codex"], "two programs"),
        ([""], "empty"),
        (["my 'agent"], "no command line"),
        (["coder="], "empty"),
    ],
)
def test_what_makes_no_sense_is_refused(named: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cast_of(named, "", ROLES, [])
