"""What becomes of every step: order, failures by grade, conditions, what is handed over, and an end in the middle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.client import Answer
from crucible.clients.launch.answering_process import Exited, Stopped, TimedOut
from crucible.commands.run.jobs import EarlierResult, Job, JobOutcome, JobResult, Runner
from crucible.commands.run.scheduler import StopSignals, run_plan
from crucible.core.errors import AgentFailed
from crucible.documents.workflow.workflow import RunStatus
from tests.cases import fewer
from tests.unit.commands.run.flows import Told, fates, means, plan_of, play

CHAIN = "# T\n\n## A{a}\ndx → da\n\n## B\nda → db\n\n## C\ndb → dc\n\n## Z\ndz → dw\n"
FAILED = "Tried.\nSTEP: failed: no luck"


def raising(error: Exception) -> Callable[[str], Answer]:
    def ask(_: str) -> Answer:
        raise error

    return ask


def test_steps_run_in_the_order_of_their_data() -> None:
    told = Told()
    report = play("# T\n\n## C\ndb → dc\n\n## B\nda → db\n\n## A\ndx → da\n\n## D\n", told)
    assert told.asked == ["A", "B", "C", "D"]
    assert report.is_done
    assert set(fates(report).values()) == {"done"}


def test_a_plain_failure_keeps_back_only_what_depends_on_it() -> None:
    report = play(CHAIN.format(a=""), Told({"A": FAILED}))
    assert fates(report) == {"A": "failed", "B": "held back", "C": "held back", "Z": "done"}
    assert report.outcomes[0].reason == "no luck"
    assert report.outcomes[1].reason == "“A” failed"
    assert report.outcomes[2].reason == "“B” was held back"
    assert not report.is_done
    assert report.halted is None


def test_a_critical_failure_begins_nothing_else() -> None:
    told = Told({"A": FAILED})
    report = play(CHAIN.format(a=" !"), told)
    assert told.asked == ["A"]
    assert fates(report) == {"A": "failed", "B": "left", "C": "left", "Z": "left"}
    assert report.halted
    assert report.halted.step.name == "A"


def test_an_optional_failure_is_skipped_over_and_others_go_on_without_it() -> None:
    told = Told({"A": FAILED})
    report = play(CHAIN.format(a=" ?"), told)
    assert fates(report) == {"A": "passed over", "B": "done", "C": "done", "Z": "done"}
    assert report.is_done
    assert report.outcomes[0].status is RunStatus.SKIPPED
    assert "not given; continue" in told.prompts["B"]


@pytest.mark.parametrize(
    ("error", "status", "reason"),
    [
        (TimedOut("agent: no answer within 1 seconds"), RunStatus.TIMEOUT, "no answer within"),
        (Exited("agent: exit code 3: bad", 3, b"half"), RunStatus.FAILED, "exit code 3"),
        (AgentFailed("agent: cannot be started"), RunStatus.FAILED, "cannot be started"),
    ],
)
def test_an_agent_that_fails_is_a_step_that_failed(error: Exception, status: RunStatus, reason: str) -> None:
    report = play("# T\n\n## A\n", Told({"A": raising(error)}))
    assert report.outcomes[0].status is status
    assert reason in report.outcomes[0].reason
    assert report.outcomes[0].answer == ("half" if isinstance(error, Exited) else "")


def test_without_a_last_line_the_exit_code_decides() -> None:
    assert play("# T\n\n## A\n", Told({"A": "No line."})).is_done
    assert play("# T\n\n## A\n", Told({"A": ""})).is_done


def test_answers_and_reasons_are_redacted_before_observers_see_them() -> None:
    told = Told({"A": "The key is s3cret.", "B": "x\nSTEP: failed: s3cret is wrong"})
    report = play("# T\n\n## A\ndx → da\n\n## B\nda → db\n", told)
    assert "s3cret" not in told.prompts["B"]
    assert "[gone]" in told.prompts["B"]
    assert report.outcomes[1].reason == "[gone] is wrong"


# --- conditions ------------------------------------------------------------------------------------------------------

BRANCH = """# T

## Check
code → verdict
If the tests pass → proceed to Ship
If the docs are old → proceed to Write
Otherwise → proceed to Mend

## Ship
verdict → release

## Write

## Mend

## After Ship
release → note
"""


def branch(passes: str, docs: str) -> dict[str, str]:
    def ask(prompt: str) -> Answer:
        if "Does this hold now: “the tests pass”" in prompt:
            return Answer(passes)
        if "Does this hold now" in prompt:
            return Answer(docs)
        return Answer("Looked.\nSTEP: done")

    class Both(Told):
        def ask(self, prompt: str) -> Answer:
            self.asked.append(prompt.partition("\n")[0])
            return ask(prompt)

    return fates(play(BRANCH, Both()))


def test_only_the_ways_whose_condition_holds_are_gone() -> None:
    assert branch("yes", "no") == {
        "Check": "done",
        "Ship": "done",
        "Write": "unmet",
        "Mend": "unmet",
        "After Ship": "done",
    }
    assert branch("no", "no") == {
        "Check": "done",
        "Ship": "unmet",
        "Write": "unmet",
        "Mend": "done",
        "After Ship": "unmet",
    }
    assert branch("I looked.\n**Yes.**", "yes")["Mend"] == "unmet"


FRAME = """# W

## Frame
If the tests pass → proceed to Ship
Otherwise → proceed to Mend

### First
### Last

## Ship

## Mend
"""


@pytest.mark.parametrize(("answer", "ship", "mend"), [("yes", "done", "unmet"), ("no", "unmet", "done")])
@pytest.mark.parametrize("jobs", [1, 4])
def test_the_conditions_of_a_frame_are_decided_once_after_all_its_jobs(
    answer: str, ship: str, mend: str, jobs: int
) -> None:
    class Conditions(Told):
        def ask(self, prompt: str) -> Answer:
            said = super().ask(prompt)
            return Answer(answer) if "Does this hold now" in prompt else said

    told = Conditions()
    found = fates(play(FRAME, told, jobs=jobs))
    assert found == {"First": "done", "Last": "done", "Ship": ship, "Mend": mend}
    asked = [name for name in told.asked if name.startswith("The step")]
    assert len(asked) == 1
    assert told.asked.index(asked[0]) == 2


def test_a_condition_of_a_frame_on_a_step_in_it_is_never_asked() -> None:
    told = Told()
    text = "# W\n\n## Frame\nIf it rains → proceed to Last\n\n### First\n### Last\n"
    assert fates(play(text, told)) == {"First": "done", "Last": "done"}
    assert told.asked == ["First", "Last"]


def test_a_failure_in_a_frame_holds_back_jobs_after_its_conditions() -> None:
    found = fates(play(FRAME, Told({"First": "STEP: failed: no"})))
    assert (found["Ship"], found["Mend"]) == ("held back", "held back")


@pytest.mark.parametrize("answer", ["maybe", "", "yes or no", "yes, but", "STEP: done", "no yes"])
def test_an_unclear_answer_fails_the_step(answer: str) -> None:
    found = branch(answer, "no")
    assert found["Check"] == "failed"
    assert found["Ship"] == "held back"


@pytest.mark.parametrize(("command", "fate"), [("true", "done"), ("exit 3", "unmet")])
def test_a_command_decides_by_its_exit_code(command: str, fate: str, tmp_path: Path) -> None:
    text = f"# T\n\n## A\nIf `{command}` → proceed to B\n\n## B\n"
    told = Told()
    assert fates(play(text, told, tmp_path)) == {"A": "done", "B": fate}
    assert "A" in told.asked


def test_a_command_that_is_not_there_decides_nothing(tmp_path: Path) -> None:
    report = play("# T\n\n## A\nIf `no-such-command-at-all` → proceed to B\n\n## B\n", Told(), tmp_path)
    assert fates(report) == {"A": "failed", "B": "held back"}
    assert "could not be run" in report.outcomes[0].reason


# --- side by side, and an end in the middle ----------------------------------------------------------------------------


def test_independent_steps_run_side_by_side_and_never_more_than_asked_for() -> None:
    both = threading.Barrier(2, timeout=20)
    running = 0
    most = 0
    lock = threading.Lock()

    def ask(_: str) -> Answer:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait()
        with lock:
            running -= 1
        return Answer("ok")

    text = "# T\n\n" + "".join(f"## S{n}\n\n" for n in range(4))
    report = play(text, Told({f"S{n}": ask for n in range(4)}), jobs=2)
    assert report.is_done
    assert most == 2


def test_when_one_halts_those_that_run_are_let_finish() -> None:
    gone = threading.Event()

    def slow(_: str) -> Answer:
        assert gone.wait(20)
        return Answer("late")

    def bad(_: str) -> Answer:
        gone.set()
        return Answer(FAILED)

    text = "# T\n\n## Slow\n\n## Bad !\n\n## Never\n"
    report = play(text, Told({"Slow": slow, "Bad": bad}), jobs=2)
    assert fates(report) == {"Slow": "done", "Bad": "failed", "Never": "left"}


class Keeping:
    """A witness that keeps what it is told."""

    def __init__(self, breaks: str = "") -> None:
        self.began_: list[str] = []
        self.ended_: list[JobResult] = []
        self._breaks = breaks

    def began(self, job: Job, _runner: Runner, _when: datetime) -> None:
        self.began_.append(job.step.name)

    def ended(self, outcome: JobResult) -> None:
        self.ended_.append(outcome)
        if outcome.job.step.name == self._breaks:
            raise OSError("no room")


def test_an_end_in_the_middle_keeps_what_is_over() -> None:
    signals = StopSignals()

    def stopped(_: str) -> Answer:
        signals.end()
        raise Stopped("agent: stopped")

    text = "# T\n\n## A\n\n## B\n\n## C\n"
    keeping = Keeping()
    asked = means(Told({"B": stopped}))
    report = run_plan(plan_of(text), asked, [keeping], signals=signals)
    assert fates(report) == {"A": "done", "B": "stopped", "C": "left"}
    assert report.stopped
    assert asked.reins.stopped
    assert [outcome.outcome for outcome in keeping.ended_] == [JobOutcome.DONE, JobOutcome.STOPPED]


def test_a_stop_before_the_first_step_is_honoured() -> None:
    told, signals = Told(), StopSignals()
    signals.end()
    report = run_plan(plan_of(CHAIN), means(told), signals=signals)
    assert report.stopped
    assert told.asked == []


def test_what_a_witness_raises_ends_what_runs() -> None:
    asked = means(Told())
    with pytest.raises(OSError, match="no room"):
        run_plan(plan_of("# T\n\n## A\n\n## B\n"), asked, [Keeping("A")])
    assert asked.reins.stopped


def test_what_was_done_before_is_not_done_again_and_its_answer_is_handed_over() -> None:
    told = Told()
    plan = plan_of(CHAIN.format(a=""))
    report = run_plan(plan, means(told), earlier={plan.jobs[0].index: EarlierResult("The old answer.")})
    assert told.asked == ["B", "C", "Z"]
    assert "The old answer." in told.prompts["B"]
    assert report.is_done


def test_a_condition_that_was_decided_before_is_not_asked_again() -> None:
    told = Told()
    plan = plan_of("# T\n\n## A\nIf it rains → proceed to B\nOtherwise → proceed to C\n\n## B\n\n## C\n")
    earlier = {plan.jobs[0].index: EarlierResult("x", {"it rains": False})}
    assert fates(run_plan(plan, means(told), earlier=earlier)) == {"A": "done", "B": "unmet", "C": "done"}
    assert told.asked == ["C"]


@fewer(2)
@given(
    st.lists(
        st.tuples(st.sampled_from(["", " !", " ?"]), st.booleans(), st.sets(st.integers(0, 7), max_size=3)),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 3),
)
def test_nothing_runs_before_what_it_waits_for_nor_after_what_it_depends_on_failed(
    steps: list[tuple[str, bool, set[int]]], jobs: int
) -> None:
    lines = ["# T", ""]
    before = {f"S{at}": {f"S{one}" for one in needs if one < at} for at, (_, _, needs) in enumerate(steps)}
    answers: dict[str, str] = {}
    for at, (grade, fails, _) in enumerate(steps):
        name = f"S{at}"
        taken = ", ".join(f"d{one[1:]}" for one in sorted(before[name])) or f"in{at}"
        lines += [f"## {name}{grade}", f"{taken} → d{at}", ""]
        answers |= {name: FAILED} if fails else {}
    told = Told(answers)
    report = play("\n".join(lines), told, jobs=jobs)
    found = {outcome.job.step.name: outcome.outcome for outcome in report.outcomes}
    assert len(told.asked) == len(set(told.asked))
    ran = {name for name, fate in found.items() if fate in (JobOutcome.DONE, JobOutcome.FAILED, JobOutcome.PASSED_OVER)}
    assert ran == set(told.asked)
    for name, fate in found.items():
        above = {found[one] for one in before[name]}
        if name in ran:
            assert above <= {JobOutcome.DONE, JobOutcome.PASSED_OVER}
        if fate is JobOutcome.HELD:
            assert above & {JobOutcome.FAILED, JobOutcome.HELD}
        if fate is JobOutcome.LEFT:
            assert report.halted
