"""Failures: a failed command, the cause, the edits, and the passing command; for the tools of every client."""

from __future__ import annotations

import pytest

from crucible.clients.events import CallEnd
from crucible.documents.session.findings import Source
from tests.unit.analysis.findings.scripted_session import Played

RED = "Exit code 1\n--- FAIL: TestRefund (0.01s)\n    refund_test.go:41: total = 0.3, want 0.2\nFAIL"
CAUSE = "The totals are rounded before the tax is added, so a cent goes missing."

CLIENTS = [
    ("Edit", "Bash", "command"),
    ("apply_patch", "exec_command", "cmd"),
    ("apply_patch", "shell", "command"),
    ("write_file", "run_shell_command", "command"),
    ("edit", "bash", "command"),
]


@pytest.mark.parametrize(("edits", "shell", "command"), CLIENTS)
def test_red_edit_green_is_a_failure_with_cause_and_fix(edits: str, shell: str, command: str) -> None:
    played = Played(edits, shell, command).you("fix it").run("go test ./...", RED, CallEnd.FAILED).agent(CAUSE)
    assert not played.edit("shop/tax.go").failures, "not yet green"
    (found,) = played.run("go test ./shop -count=1").failures
    assert found.text == "go test: 1 failed: TestRefund - refund_test.go:41 total = 0.3, want 0.2"
    assert found.cause == CAUSE
    assert found.resolution == "fixed in tax.go; go test passed after 2 runs"
    assert found.grounds
    assert (found.grounds.source, found.grounds.rows) == (
        Source.FIX,
        ("row00003", "row00004"),
    )


def test_red_that_a_pipe_hides_is_known_by_its_lines() -> None:
    played = (
        Played().you("go").run("pytest -q | tail", "FAILED tests/test_tax.py::test_refund - assert 3 == 2").agent(CAUSE)
    )
    assert len(played.edit().run("pytest -q | tail", "12 passed").failures) == 1


def test_passing_output_about_failures_is_not_red() -> None:
    text = "ok: prints 'FAIL' when it fails\nPASS: 3 errors handled"
    played = Played().you("go").run("go test ./...", text).edit().run("go test ./...", text)
    assert not played.failures


def test_runs_of_red_of_one_command_are_one_failure() -> None:
    played = Played().you("go")
    for _ in range(3):
        played.run("go test ./...", RED, CallEnd.FAILED).agent(CAUSE).edit()
    (found,) = played.run("go test ./...").failures
    assert found.resolution == "fixed in cache.py; go test passed after 4 runs"


def test_green_without_an_edit_fixed_nothing() -> None:
    assert not Played().you("go").run("go test ./...", RED, CallEnd.FAILED).run("go test ./...").failures


def test_another_command_that_passes_proves_nothing() -> None:
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).edit()
    assert not played.run("go build ./...").run("ls").run("cat log | grep FAIL").failures


def test_probing_for_files_is_no_failure() -> None:
    played = Played().you("go").run("ls nowhere", "No such file", CallEnd.FAILED).edit().run("ls nowhere")
    assert not played.failures


def test_a_refused_or_interrupted_run_is_not_red() -> None:
    for end in (CallEnd.REJECTED, CallEnd.INTERRUPTED):
        assert not Played().you("go").run("go test ./...", RED, end).edit().run("go test ./...").failures


def test_the_cause_may_stand_in_a_thought_alone() -> None:
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).thinks(CAUSE).edit().run("go test ./...")
    assert played.failures[0].cause == CAUSE


def test_a_task_runner_s_prefix_hides_nothing() -> None:
    text = "[lint:go] shop/tax.go:4:2: unused variable (unused)\n[lint:go] 1 issues:"
    played = Played().you("go").run("mise run lint | tail -5", text).edit().run("mise run lint | tail -5", "0 issues.")
    assert played.failures[0].text == "mise run lint: 1 issue: tax.go:4 unused variable (unused)"


def test_a_conflict_is_fixed_by_the_edits_that_follow() -> None:
    text = "Auto-merging tax.go\nCONFLICT (content): Merge conflict in tax.go"
    played = (
        Played().you("merge main").run("git merge main", text, CallEnd.FAILED).agent("Both renamed it.").edit("tax.go")
    )
    assert played.failures[0].resolution == "fixed in tax.go"


def test_a_pasted_log_is_a_failure_once_files_are_edited() -> None:
    log = "I got this:\n$ shop import\nError: no such table: orders"
    played = Played().you(log).agent("The migration of the orders is missing.")
    assert played.edit("migrate.py").failures[0].cause == "The migration of the orders is missing."
    assert not Played().you(log).agent("It is meant so.").you("ok, add a note").edit().failures


def test_a_cause_omits_the_agents_next_action() -> None:
    told = f"I see the issue. {CAUSE} Let me fix this by rounding in add_tax():"
    played = Played().you("fix it").run("go test ./...", RED, CallEnd.FAILED).agent(told).edit("shop/tax.go")
    (found,) = played.run("go test ./...").failures
    assert found.cause == CAUSE
    assert found.resolution == "Fix this by rounding in add_tax(); fixed in tax.go; go test passed after 2 runs"


def test_a_change_announced_before_another_failure_is_no_fix() -> None:
    played = Played().you("fix it").run("go test ./...", RED, CallEnd.FAILED)
    played.agent("Let me round in add_tax():").edit("shop/tax.go").run("go test ./...", RED, CallEnd.FAILED)
    (found,) = played.agent("Let me round in total_of():").edit("shop/tax.go").run("go test ./...").failures
    assert found.resolution == "Round in total_of(); fixed in tax.go; go test passed after 3 runs"


def test_a_pasted_failure_is_not_reported_as_fixed() -> None:
    log = "I got this:\n$ shop import\nError: no such table: orders"
    played = Played().you(log).agent("Let me add logging to migrate.py:").edit("migrate.py")
    assert played.failures[0].resolution == "changed migrate.py"


def test_temporary_folders_and_times_are_no_part_of_a_failure() -> None:
    red = "panic: open /tmp/run-4711/data/orders.db: no such file (12.3s)"
    played = Played().you("go").run("go run ./shop", red, CallEnd.FAILED).agent(CAUSE).edit()
    (found,) = played.run("go run ./shop").failures
    assert found.text == "go run: panic: open orders.db: no such file"


def test_a_conflict_names_its_files_once() -> None:
    text = "CONFLICT (content): Merge conflict in shop/tax.go\nCONFLICT (content): Merge conflict in shop/cart.go"
    played = Played().you("go").run("git merge main", text, CallEnd.FAILED).edit("tax.go").edit("walrus.go")
    assert not played.failures, "one is left"
    (found,) = played.edit("cart.go").failures
    assert (found.text, found.resolution) == (
        "merge conflict in tax.go, cart.go",
        "fixed in tax.go, cart.go",
    )


def test_a_conflict_is_over_once_it_is_committed() -> None:
    text = "CONFLICT (content): Merge conflict in shop/tax.go\nCONFLICT (content): Merge conflict in shop/cart.go"
    played = Played().you("go").run("git merge main", text, CallEnd.FAILED).edit("tax.go")
    (found,) = played.run("git checkout --ours cart.go").run("git add -A && git commit -m Merge").failures
    assert found.resolution == "fixed in tax.go"
    other = Played().you("go").run("git merge main", text, CallEnd.FAILED).edit("walrus.go")
    assert not other.run("git add -A && git commit -m Merge").failures


def test_a_pasted_log_is_shown_by_the_users_words_and_its_first_error() -> None:
    log = "The import stops since this morning:\n$ shop import\nreading orders\nError: no such table: orders\nbye"
    played = Played().you(log).agent(CAUSE).edit("migrate.py")
    assert played.failures[0].text == "The import stops since this morning: Error: no such table: orders"


def test_a_quote_is_no_log() -> None:
    assert not Played().you("You wrote:\n> the limit is ten\nMake it twenty.").agent(CAUSE).edit().failures


@pytest.mark.parametrize(
    "said",
    [
        "(eval):cd:1: no such file or directory: shop",
        "bash: line 1: gop: command not found",
        "(eval):1: parse error near \u0060)",
    ],
)
def test_a_command_that_the_shell_could_not_start_is_no_failure_of_it(said: str) -> None:
    played = Played().you("go").run("cd shop && go test ./...", f"Exit code 1\n{said}", CallEnd.FAILED).edit()
    assert not played.run("go test ./...").failures


LINT = "Exit code 1\nwalrus.go:4: unused variable\n1 issues:"


def test_a_call_s_failure_belongs_to_the_command_that_printed_it() -> None:
    played = (
        Played().you("go").run("go test ./... && golangci-lint run", RED, CallEnd.FAILED).agent(CAUSE).edit("tax.go")
    )
    assert not played.run("golangci-lint run").failures, "the linter did not run before"
    (found,) = played.run("go test ./...").failures
    assert found.text.startswith("go test: 1 failed: TestRefund")
    assert found.resolution == "fixed in tax.go; go test passed after 2 runs"


def test_commands_before_the_failed_one_passed() -> None:
    played = Played().you("go").run("golangci-lint run", LINT, CallEnd.FAILED).agent(CAUSE).edit("walrus.go")
    (found,) = played.run("golangci-lint run && go test ./...", RED, CallEnd.FAILED).failures
    assert found.text.startswith("golangci-lint run: ")


def test_another_message_of_the_same_command_is_a_failure_of_its_own() -> None:
    other = "Exit code 1\n--- FAIL: TestWalrus (0.01s)\n    walrus_test.go:9: tusks = 1, want 2\nFAIL"
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).agent(CAUSE).edit("tax.go")
    played.run("go test ./...", other, CallEnd.FAILED).agent(
        "A walrus counts its tusks from zero, and loses one."
    ).edit("walrus.go")
    one, two = played.run("go test ./...").failures
    assert (one.cause, two.cause) == (CAUSE, "A walrus counts its tusks from zero, and loses one.")
    assert one.resolution
    assert two.resolution
    assert ("tax.go" in one.resolution, "walrus.go" in one.resolution) == (True, False)
    assert ("tax.go" in two.resolution, "walrus.go" in two.resolution) == (False, True)


def test_a_cause_is_stated_in_the_same_turn_before_the_edit() -> None:
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).edit("tax.go")
    (found,) = played.agent("The totals of a walrus are whole now.").run("go test ./...").failures
    assert found.cause is None
    later = (
        Played().you("go").run("go test ./...", RED, CallEnd.FAILED).you("and the totals?").agent(CAUSE).edit("tax.go")
    )
    assert later.run("go test ./...").failures[0].cause is None


def test_narration_is_no_cause() -> None:
    played = (
        Played()
        .you("go")
        .run("go test ./...", RED, CallEnd.FAILED)
        .agent("I'll look at both of these issues now.")
        .edit()
    )
    assert played.run("go test ./...").failures[0].cause is None


@pytest.mark.parametrize(
    "said",
    [
        "I see the failing tests now. Let me look at them one by one:",
        "I'll fix both issues",
        "There are two failing tests.",
        "Ah, I need to read the totals in tax.go first.",
        "The linter of the other project is quite slow today.",
        "Shall the totals be rounded in tax.go?",
    ],
)
def test_a_text_about_something_else_is_no_cause(said: str) -> None:
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).agent(said).edit("tax.go")
    assert played.run("go test ./...").failures[0].cause is None


def test_the_clause_after_a_narration_is_the_cause() -> None:
    said = "I see the problem - the totals are rounded before the tax is added."
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).agent(said).edit("tax.go")
    assert played.run("go test ./...").failures[0].cause == "the totals are rounded before the tax is added."


def test_a_slip_that_the_agent_names_is_a_cause() -> None:
    said = "Ah, I rounded the totals too early in the loop."
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).agent(said).edit("total.go")
    assert played.run("go test ./...").failures[0].cause == said


def test_a_verdict_without_names_waits_for_a_run_with_names() -> None:
    short = "FAIL\tshop/tax\t0.3s\nFAIL"
    played = Played().you("go").run("make test | tail -2", short).run("go test ./tax", RED, CallEnd.FAILED)
    played.agent(CAUSE).edit("tax.go").run("go test ./tax")
    (found,) = played.run("make test").failures
    assert found.text.startswith("go test: 1 failed: TestRefund")
    alone = Played().you("go").run("make test | tail -2", short).edit("tax.go").run("make test").failures
    assert not alone, "it names nothing"


def test_red_in_another_way_before_any_edit_is_another_failure() -> None:
    played = Played().you("go").run("go test ./...", "Exit code 1\ngo: updates to go.mod needed", CallEnd.FAILED)
    played.run("go mod tidy").run("go test ./...", RED, CallEnd.FAILED).agent(CAUSE).edit("tax.go")
    (found,) = played.run("go test ./...").failures
    assert "TestRefund" in found.text


def test_one_test_that_two_commands_run_is_one_failure() -> None:
    played = Played().you("go").run("make test", RED, CallEnd.FAILED).run("go test ./tax -v", RED, CallEnd.FAILED)
    played.agent(CAUSE).edit("tax.go").run("go test ./tax -v")
    assert len(played.run("make test").failures) == 1


def test_the_log_of_a_go_test_is_not_its_message() -> None:
    red = (
        "--- FAIL: TestRefund (0.01s)\n    refund_test.go:9: begin\n    refund_test.go:41: total = 0.3, want 0.2\nFAIL"
    )
    played = Played().you("go").run("go test ./...", red, CallEnd.FAILED).edit("tax.go").run("go test ./...")
    assert played.failures[0].text.endswith("TestRefund - refund_test.go:41 total = 0.3, want 0.2")


def test_a_turn_without_edits_gives_no_cause() -> None:
    played = Played().you("go").run("go test ./...", RED, CallEnd.FAILED).agent(CAUSE)
    played.you("leave it, and add a walrus to tax.go").edit("tax.go")
    assert played.run("go test ./...").failures[0].cause is None
