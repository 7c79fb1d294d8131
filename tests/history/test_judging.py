"""What a model tells is held against the session: nothing that is not in it is kept, and nothing of it is lost."""

from __future__ import annotations

import pytest

from crucible.history.model import Entry, Line
from crucible.history.telling import Grounds, Refused, files_in, judge_answer, tasks_in

COMPOSED = Entry(
    "s",
    done=(Line("Composed"),),
    decisions=(
        Line("Chose Stripe over Paddle for billing.", "Better docs", finding="decision-1"),
        Line("Retry with jitter", finding="decision-2"),
    ),
    questions=(Line("How should failed payments be handled?", finding="inbox-1"),),
    further=(Line("Continue: billing types (task-4)", finding="task-4"), Line("Blocked: no API keys")),
)
SAID = "we edited src/billing.ts and docs/adr/003-stripe.md; pytest; node.js; stripe paddle"
GROUNDS = Grounds(COMPOSED, frozenset({"1", "4", "task-007", "ship"}), SAID)


def answer(**parts: str) -> str:
    names = {
        "done": "What We Did",
        "decisions": "Decisions Made",
        "questions": "Open Questions",
        "further": "Next Session",
    }
    return "\n\n".join(f"## {heading}\n\n{parts.get(part, '')}" for part, heading in names.items())


GOOD = answer(
    done="- Billing in `src/billing.ts` (task 1)",
    decisions="- Stripe, not Paddle [D1]\n  - Why: its documentation\n- Jitter on every retry [D2]",
    questions="- What about failed payments? They must be handled. [Q1]",
    further="- Go on with the types (task 4) once the API keys are there; blocked until then [Q2] [Q3]",
)


def test_a_good_answer_is_kept_with_the_ids_of_its_decisions() -> None:
    entry = judge_answer(GOOD, GROUNDS)
    assert entry.done == (Line("Billing in `src/billing.ts` (task 1)"),)
    assert entry.decisions == (
        Line("Stripe, not Paddle", "its documentation", finding="decision-1"),
        Line("Jitter on every retry", finding="decision-2"),
    )
    assert [line.text[:5] for line in entry.questions] == ["What "]
    assert entry.session_id == "s"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("src/billing.ts", "src/invented.ts", "no file `src/invented.ts`"),
        ("src/billing.ts", "billing.tsx", "no file `billing.tsx`"),
        ("(task 1)", "(task 9)", "no task 9"),
        ("(task 1)", "tasks 1, 4 and 12", "no task 12"),
        ("[D1]", "[D3]", "no D3"),
        (
            "Stripe, not Paddle [D1]",
            "We moved to Redis",
            "did not decide this, or a mark such as [D1] is missing: We moved to Redis",
        ),
        ("Stripe, not Paddle [D1]", "Stripe, not Mollie [D1]", "never mentions Mollie"),
    ],
)
def test_what_is_not_in_the_session_is_refused(old: str, new: str, complaint: str) -> None:
    with pytest.raises(Refused) as refused:
        judge_answer(GOOD.replace(old, new), GROUNDS)
    assert complaint in refused.value.complaints[0]


def test_a_decision_without_its_mark_is_known_by_its_words() -> None:
    entry = judge_answer(GOOD.replace("Stripe, not Paddle [D1]", "Chose Stripe over Paddle"), GROUNDS)
    assert entry.decisions[0] == Line("Chose Stripe over Paddle", "its documentation", finding="decision-1")


def test_what_was_left_out_is_told_as_without_a_model() -> None:
    entry = judge_answer(answer(done="- Things"), GROUNDS)
    assert (entry.decisions, entry.questions, entry.further) == (
        COMPOSED.decisions,
        COMPOSED.questions,
        COMPOSED.further,
    )


def test_the_answer_may_be_in_a_fence() -> None:
    loose = "Here it is:\n```markdown\n# Session\n## What we did\n- Things\n\n## Decisions Made\n1. Retry with jitter [D2]\n\n## Open Questions\n- None.\n```"
    entry = judge_answer(loose, GROUNDS)
    assert entry.done == (Line("Things"),)
    assert [line.finding for line in entry.decisions] == ["decision-2", "decision-1"]
    assert entry.questions == COMPOSED.questions


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", "## What We Did\n\n- None", answer(done="- x\n" * 99)]
)
def test_what_is_no_summary_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        judge_answer(text, GROUNDS)


def test_files_and_tasks_are_found_in_words() -> None:
    text = "See `src/a.py:12`, tests/b.test.ts::x, Makefile, e.g. v1.5 and/or time.monotonic(), docs/notes; task queue"
    assert list(files_in(text)) == ["src/a.py", "tests/b.test.ts", "Makefile"]
    assert list(tasks_in("task 1, task-007, Task #12 and tasks 4, 5 and 9; a task queue")) == [
        "1",
        "7",
        "12",
        "4",
        "5",
        "9",
    ]
