"""Generalizing a session for another run: work is kept, and what was pasted, named or chosen once is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crucible.commands.codify.codify_sessions import RecordedSession, codify
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.session import Decision, FindingItem, Grounds, Intervention, Outcome, Phase, Session
from crucible.documents.workflow.workflow import Workflow
from samples.codified_sessions import (
    calls,
    codify_one,
    failed,
    flow_of,
    inline,
    no_secrets,
    phase,
    session,
    tree,
)

LINT = "src/limiter.py:12:5: F401 unused import\nsrc/limiter.py:40:1: E302 two blank lines"


def asked(words: str, *entries: object, name: str = "") -> Phase:
    return phase(name or words.split("\n", maxsplit=1)[0], Intervention(words), *entries)  # type: ignore[arg-type]


def lines(found: Workflow, at: int = 0) -> list[str]:
    return found.steps[at].prose.split("\n")


def test_a_pasted_plan_is_a_parameter_of_the_request() -> None:
    plan = "Implement the following plan:\n\n# A limiter\n\nWhy.\n\n## Steps\n\n" + "Write limiter.py. " * 20
    found = codify_one(session(asked(plan, calls("Write limiter.py", "Bash mise run lint"))))
    assert lines(found) == ['- Asked: "Implement the following plan: {{plan}}"', "- Check: `mise run lint`"]
    assert found.preamble.split("\n")[-1].startswith("- Parameter `plan`: the plan to carry out, such as")
    assert (found.title, flow_of(found.steps[0])) == (
        "Carry out the plan, check it",
        "plan → changes, lint_results",
    )


def test_a_pasted_log_is_replaced_by_the_check_that_the_words_name() -> None:
    words = f"fix lint errors:\n{LINT}\n" + "x" * 200
    found = codify_one(session(asked(words, calls("Edit src/limiter.py", "Bash make lint"))))
    assert (tree(found), lines(found)) == (
        ["fix lint errors"],
        ["- Look up: `make lint`", "- Check: `make lint`"],
    )


def test_a_pasted_log_without_a_check_is_a_parameter() -> None:
    words = f"this broke in production:\n{LINT}\n" + "x" * 200
    found = codify_one(session(asked(words, calls("Edit src/limiter.py", "Bash make lint"))))
    assert lines(found)[0] == '- Asked: "this broke in production: {{log}}"'


@pytest.mark.parametrize(
    "words",
    [
        "Add a TokenBucket to the limiter",
        "Rename max_wait everywhere",
        "Fix the retry bug in app.py",
        "make the `start` command hidden",
        "let's do 3 and 7",
    ],
)
def test_a_request_that_names_code_is_a_parameter(words: str) -> None:
    found = codify_one(session(asked(words, calls("Edit a.py", "Bash make test"))))
    assert tree(found) == ["Carry out the request"]
    assert lines(found) == ['- Asked: "{{request}}"', "- Check: `make test`"]
    assert flow_of(found.steps[0]) == "request → changes, test_results"


def test_a_session_without_repeatable_requests_has_no_step() -> None:
    assert codify_one(session(asked("Rename max_wait everywhere", calls("Edit a.py")))).steps == ()


def test_a_request_of_several_sessions_keeps_its_words() -> None:
    def one(name: str) -> Session:
        return session(asked("Fix the retry bug in app.py", calls("Edit app.py", "Bash make test")), name=name)

    found = codify([RecordedSession(one("a")), RecordedSession(one("b"))], no_secrets)
    assert tree(found) == ["Fix the retry bug in app.py"]


def test_later_talk_is_dropped_except_for_its_checks() -> None:
    found = codify_one(
        session(
            asked("address the feedback", calls("Bash gh pr view 12", "Edit a.py", "Bash make test")),
            asked("could that be simpler?", calls("Edit a.py", "Bash make lint")),
            asked("commit and push", calls("Bash git add a.py", "Bash git commit -m x", "Bash git push")),
            asked("rename it to limiter_two", calls("Edit a.py")),
            asked("commit and push", calls("Bash git add a.py", "Bash git commit -m y", "Bash git push")),
        )
    )
    assert tree(found) == ["address the feedback", "commit and push"]
    assert lines(found)[-2:] == ["- Check: `make test`", "- Check: `make lint`"]


def test_a_choice_after_a_review_is_made_again_in_each_run() -> None:
    found = codify_one(
        session(
            asked("/review", calls("Bash gh pr view 12", "Bash git diff main...HEAD")),
            asked(
                "do 2 and 4",
                Decision("do 2 and 4", grounds=Grounds("option", 0.9)),
                calls("Edit a.py", "Bash make test"),
            ),
            asked("commit this please", calls("Bash git add a.py", "Bash git commit -m x")),
        )
    )
    assert tree(found) == ["/review", "Make the changes that the user chooses", "commit this please"]
    assert lines(found) == ["- Look up: `gh pr view {{pull_request}}`", "- Look up: `git diff main...HEAD`"]
    assert found.steps[1].prose == "- Check: `make test`"


def test_a_commit_with_a_here_document_is_kept_and_a_push_follows_the_checks() -> None:
    message = "Bash git add src/a.py src/b.py && git commit -m \"$(cat <<'EOF'⏎Fix it⏎⏎Why.⏎EOF⏎)\" && git push"
    found = codify_one(
        session(asked("fix it and push", calls("Bash git push", "Edit src/a.py", "Bash make test", message)))
    )
    assert lines(found)[-4:] == [
        "- Check: `make test`",
        "- Run: `git add {{files}}`",
        "- Run: `git commit -m {{message}}`",
        "- Run: `git push`",
    ]


def test_a_check_of_a_part_gets_a_parameter_for_the_part() -> None:
    one = asked(
        "fix the test",
        failed("Bash pytest tests/a.py -k b"),
        calls("Edit a.py", "Bash pytest tests/a.py -k b"),
    )
    assert lines(codify_one(session(one)))[-2:] == [
        "- Look up: `pytest {{tests}}`",
        "- Check: `pytest {{tests}}`",
    ]
    whole = asked("fix the test", calls("Edit a.py", "Bash pytest tests/a.py", "Bash pytest"))
    assert lines(codify_one(session(whole)))[-1:] == ["- Check: `pytest`"]


def test_work_in_a_folder_elsewhere_is_no_step() -> None:
    elsewhere = calls("Bash cd $FOLDER && git init && git commit -m first")
    found = codify_one(session(asked("fix the hook", calls("Edit a.py"), elsewhere, calls("Bash make test"))))
    assert lines(found) == ["- Check: `make test`"]


def test_the_opening_request_is_added_to_a_short_later_one() -> None:
    found = codify_one(
        session(
            asked("we have merge conflicts", calls("Bash git status")),
            asked("take them from main", calls("Bash git merge main", "Edit a.py", "Bash git commit --no-edit")),
        )
    )
    assert tree(found) == ["we have merge conflicts"]
    assert lines(found)[0] == '- Asked: "take them from main"'


def test_a_correction_of_a_command_is_kept_and_one_of_code_is_not() -> None:
    words = ("never push to main", "not in two places")
    refused = (
        calls("Bash git push", outcome=Outcome.REJECTED, result=words[0]),
        calls("Edit a.py", outcome=Outcome.REJECTED, result=words[1]),
    )
    done = calls("Edit a.py", "Bash git push -u origin x")
    one = session(asked("Rename max_wait everywhere", *refused, done))
    grounds = Grounds("rejected call", 0.98)
    findings = tuple(
        FindingItem("correction", f'"{text}"', f"refused: {tool} x", grounds=grounds)
        for text, tool in zip(words, ("Bash", "Edit"), strict=True)
    )
    prose = codify_one(replace(one, findings=findings)).steps[0].prose
    assert "never push to main" in prose
    assert "two places" not in prose


def test_delegated_work_that_names_code_is_part_of_the_request() -> None:
    task = "Review src/limiter.py and max_wait"
    found = codify_one(session(asked("simplify it", calls("Edit a.py"), inline(task), calls("Edit a.py"))))
    assert tree(found) == ["simplify it"]
    plain = inline("Review the changes")
    found = codify_one(session(asked("simplify it", calls("Edit a.py"), plain, calls("Edit a.py"))))
    assert tree(found) == [["simplify it", "Make the changes", "Review the changes", "Make the changes 2"]]


def test_a_session_that_only_explored_makes_no_step() -> None:
    for task in ("Explore src/limiter.py", "Explore the limiter"):
        looked = inline(task, calls("Read src/limiter.py"))
        assert codify_one(session(asked("I have a problem with the limiter", looked))).steps == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("go test -tags=e2e -c ./x -o /dev/null", "go test -tags=e2e -c {{tests}} -o /dev/null"),
        ("go test ./x -run TestA -v", "go test {{tests}} -v"),
        ("golangci-lint run --build-tags=e2e ./x/...", "golangci-lint run --build-tags=e2e {{files}}"),
        ("golangci-lint run -c .golangci.yml", "golangci-lint run -c .golangci.yml"),
        ("cd web && npm test -- src/a.test.ts", "cd web && npm test -- {{tests}}"),
        ("pytest -q tests/test_a.py::test_b tests/test_c.py", "pytest -q {{tests}}"),
    ],
)
def test_a_check_keeps_its_options(command: str, expected: str) -> None:
    one = asked("fix it", calls("Edit x/a.go", f"Bash {command}"))
    assert lines(codify_one(session(one))) == [f"- Check: `{expected}`"]


def test_a_check_of_a_part_is_dropped_beside_a_complete_one_but_a_variant_stays() -> None:
    first = asked("Rename max_wait everywhere", calls("Edit a.go", "Bash go test ./a", "Bash go build ./a"))
    checks = calls("Bash mise run test", "Bash go test -tags=e2e -c ./e2e", "Bash git commit -m x")
    found = codify_one(session(first, asked("commit all of it", checks)))
    assert [line for at in (0, 1) for line in lines(found, at)][1:] == [
        "- Check: `mise run test`",
        "- Check: `go test -tags=e2e -c {{tests}}`",
        "- Run: `git commit -m x`",
    ]


def test_a_check_in_one_folder_is_dropped_beside_a_complete_one() -> None:
    checks = calls("Edit a.py", "Bash cd x && make test", "Bash make test")
    assert lines(codify_one(session(asked("simplify it", checks)))) == ["- Check: `make test`"]


def test_a_command_with_a_loop_variable_is_dropped() -> None:
    loop = "Bash for id in 1 2; do gh api repos/a/b/pulls/comments/$id; done"
    help_ = "Bash go run ./cmd/x --help"
    found = codify_one(session(asked("address the feedback", calls(loop, help_, "Edit a.py", "Bash make test"))))
    assert lines(found) == ["- Check: `make test`"]


def test_a_merge_is_checked_again_and_a_commit_before_it() -> None:
    work = calls("Edit a.py", "Bash git add a.py", "Bash git commit -m x", "Bash make test", "Bash git merge main")
    found = codify_one(session(asked("fix it and merge main", work, calls("Bash make test", "Bash git push"))))
    assert lines(found) == [
        "- Check: `make test`",
        "- Run: `git add {{files}}`",
        "- Run: `git commit -m x`",
        "- Run: `git merge main`",
        "- Check: `make test`",
        "- Run: `git push`",
    ]


def test_a_merge_that_fixed_a_rejected_push_is_no_step() -> None:
    work = (calls("Edit a.py", "Bash git commit -m x"), failed("Bash git push"))
    mended = calls("Bash git pull --rebase", "Bash git push")
    found = codify_one(session(asked("fix it and push", *work, mended)))
    assert lines(found) == ["- Run: `git commit -m x`", "- Run: `git push`"]


def test_work_after_the_commit_of_a_red_test_is_a_step() -> None:
    found = codify_one(
        session(
            asked(
                "write a test that shows the bug",
                calls("Write test_a.py"),
                failed("Bash make test"),
                calls("Bash git commit -m x"),
            ),
            asked("now mend it", calls("Edit a.py", "Bash make test")),
            asked("commit it now", calls("Bash git commit -m y")),
        )
    )
    assert tree(found) == [
        "write a test that shows the bug",
        "Make the changes that the user chooses",
        "commit it now",
    ]


def test_an_example_names_no_parameter() -> None:
    plan = "Implement the following plan:\n\n# ENT-12: A limiter\n\nWhy.\n\n## Steps\n\n" + "Write it. " * 20
    found = codify_one(session(asked(plan, calls("Write limiter.py", "Bash mise run lint"))))
    assert "such as `# ENT-12: A limiter" in found.preamble


def test_an_opening_request_with_details_is_kept_completely() -> None:
    found = codify_one(
        session(
            asked("help me with these:\n- one of them\n- two of them\n" + "x" * 200),
            asked("fix and commit", calls("Edit a.py", "Bash git commit -m x")),
        )
    )
    assert lines(found)[0] == '- Asked: "help me with these: {{points}}"'


def test_a_secret_in_a_request_is_redacted_before_its_example_is_cut() -> None:
    secret = "ghp_" + "a1B2" * 9
    words = f"Rename max_wait {'and all the others ' * 2}{secret} please"
    redact = redact_of(VaultSettings().secrets)
    found = codify(
        [RecordedSession(session(asked(words, calls("Edit a.py", "Bash make test"), name="Rename")))], redact
    )
    assert "Rename max_wait" in found.preamble
    assert secret[:12] not in found.preamble


def test_a_correction_of_a_command_in_later_talk_is_kept_in_the_step_before() -> None:
    words = "rebase from main first"
    refused = calls("Bash git push", outcome=Outcome.REJECTED, result=words)
    one = session(
        asked("address the feedback", calls("Bash gh pr view 12", "Edit a.py", "Bash make test")),
        asked("is that all of it in limiter_two?", refused),
    )
    correction = FindingItem(
        "correction", f'"{words}"', "refused: Bash git push. Then: Sure.", Grounds("rejected call", 0.98)
    )
    (step,) = codify_one(replace(one, findings=(correction,))).steps
    assert f'"{words}" (refused: Bash git push; correction-' in step.prose


def test_a_check_in_later_talk_is_put_before_the_push() -> None:
    push = calls("Bash gh pr view 12", "Edit a.py", "Bash make test", "Bash git push")
    one = session(
        asked("address the feedback", push),
        asked("and what about limiter_two?", calls("Edit b.py", "Bash make lint")),
    )
    assert lines(codify_one(one))[-3:] == [
        "- Check: `make test`",
        "- Check: `make lint`",
        "- Run: `git push`",
    ]
