"""Which sentences, callouts and answers are decisions, and what is told of them."""

from __future__ import annotations

import pytest

from crucible.acts.choosing import settled_in
from crucible.acts.evidence import Evidence
from crucible.cases.choices import find_choices
from crucible.cases.model import Choice
from crucible.cases.timeline import build_timeline
from crucible.session.model import Decision, Entry
from tests.cases.extracted import call, session_of, timeline_of, user

GOAL = user("Add a limiter.")


def found(*entries: Entry | str) -> list[Choice]:
    bodies = [case.body for case in find_choices(timeline_of((GOAL, *entries)))]
    return [body for body in bodies if isinstance(body, Choice)]


@pytest.mark.parametrize(
    ("sentence", "choice", "over", "why"),
    [
        ("I chose Redis over Memcached because it persists.", "Redis", "Memcached", "it persists"),
        ("We'll go with SQLite: one file is enough.", "SQLite", "", "one file is enough"),
        ("Actually the better approach is a dict of buckets.", "a dict of buckets", "", ""),
        ("**Decision:** a cursor. Rows move.", "a cursor", "", "Rows move"),
        ("I decided against a lock file: it stays behind. So it becomes a mutex.", "a mutex", "a lock file", "it stays behind"),
        ("Between threads and processes I prefer processes since the GIL is in the way.", "processes", "threads", "the GIL is in the way"),
        ("I'm switching to pnpm instead of npm since its lock file is smaller.", "pnpm", "npm", "its lock file is smaller"),
        ("I'll use a heap because order does not matter.", "a heap", "", "order does not matter"),
        ("After comparing both, SQLite is the better choice, so I'm using it.", "SQLite", "", ""),
        ("The simplest solution is a lock file, so I'll do that.", "a lock file", "", ""),
        ("So a heap it is, because order does not matter.", "a heap", "", "order does not matter"),
        ("I went with cents as integers over floats, as sums are exact.", "cents as integers", "floats", "sums are exact"),
    ],
)  # fmt: skip
def test_a_sentence_tells_what_was_chosen_over_what_and_why(
    sentence: str, choice: str, over: str, why: str
) -> None:
    one = next(settled_in(f"I read it all. {sentence}"))
    assert (one.choice, one.over, one.why) == (choice, over, why)
    assert one.before == "I read it all."


@pytest.mark.parametrize(
    "sentence",
    [
        "I'll use grep to find all callers.",
        "The planner chose a nested loop.",
        "I haven't decided whether it is optional.",
        "Should I go with a heap?",
        "Let me choose a few rows at random.",
        "This decision was made last year.",
        "I'll pick up where we left off.",
        "I could go with a heap or a list.",
        "I'll use Read instead of cat to look at it.",
        "I'll go with you through the code.",
        "I decide later.",
        "I'll use sed since the file is long.",
        "I'll fix it by using a monotonic clock and starting from now.",
    ],
)
def test_a_next_step_or_what_is_open_or_anothers_is_none(sentence: str) -> None:
    assert list(settled_in(sentence)) == []


def test_told_twice_is_one() -> None:
    [one] = found("I chose a token bucket over a log.", Decision("Use a token bucket.", "Constant memory."))
    assert one.options == ("a token bucket", "a log")
    assert one.rationale == "Constant memory."


def test_two_choices_are_two() -> None:
    both = found("I chose a token bucket over a log.", Decision("Keys are UUIDs.", "They sort."))
    assert [one.choice for one in both] == ["a token bucket", "Keys are UUIDs."]


def test_the_situation_does_not_tell_the_choice() -> None:
    [one] = found("Two ways lead there. I chose a token bucket over a log.", call("Edit a.py"))
    assert one.situation == "Add a limiter.\n\nTwo ways lead there."


@pytest.mark.parametrize(
    ("words", "choice"),
    [
        ("the second one", "a log"),
        ("a bucket please", "a bucket"),
        ("Option 1.", "a bucket"),
        ("the latter, it is exact", "a log"),
        ("what do you think?", None),
        ("later", None),
    ],
)
@pytest.mark.parametrize(
    "question", ["There are two ways:\n\n1. a bucket\n2. a log\n\nWhich one?", "I can do it with a bucket or with a log. Which?"]
)  # fmt: skip
def test_the_user_chooses_among_what_the_agent_named(words: str, choice: str | None, question: str) -> None:
    told = found(question, user(words), "Good.", call("Edit a.py"))
    assert [one.choice for one in told] == ([choice] if choice else [])
    assert all(one.options == ("a bucket", "a log") for one in told)


def test_an_answer_without_a_question_chooses_nothing() -> None:
    assert found("I can do it with a bucket or with a log.", user("the first one"), "Good.") == []


def test_an_answer_to_a_tool_that_asks_is_one() -> None:
    said = 'User has answered your questions: "Which store?"="Redis". You can now continue.'
    [one] = found(call("AskUserQuestion Which store?", said))
    assert one.choice == "Redis"
    assert "Which store?" in one.situation


def test_what_the_user_says_of_it_later_is_its_outcome() -> None:
    told = session_of((GOAL, "I chose full jitter because it is simple.", call("Edit a.py")), (user("No, jitter must have a floor."), "Right."))  # fmt: skip
    [case] = find_choices(build_timeline(told, Evidence()))
    assert isinstance(case.body, Choice)
    assert case.body.outcome == 'The user said later: "No, jitter must have a floor."'


# --- as humans write them ---------------------------------------------------------------------------------------------


def test_a_callout_may_name_its_options_on_a_line_of_their_own() -> None:
    (one,) = found(
        Decision("Postgres with SKIP LOCKED.\nOptions: Redis, RabbitMQ or Postgres.", "It is there.")
    )
    assert one.options == ("Redis", "RabbitMQ", "Postgres")
    assert one.choice == "Postgres with SKIP LOCKED."
    (one,) = found(Decision("LISTEN/NOTIFY.\nConsidered:\n- polling\n- LISTEN/NOTIFY"))
    assert one.options == ("polling", "LISTEN/NOTIFY")
    assert one.choice == "LISTEN/NOTIFY."


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Implementation complete. Ready for PR.", ""),
        ("Frontmatter schema:\n- type, started (required)\n- channel (optional)", ""),
        ("Ship it now. The rest comes later.", ""),
        ("A heap, because order does not matter.", "order does not matter"),
        ("SQLite: one file is enough.", "one file is enough"),
    ],
)
def test_a_callouts_reason_is_only_what_is_said_as_one(text: str, why: str) -> None:
    (one,) = found(Decision(text))
    assert one.rationale == why


def test_options_in_a_list_or_a_sentence_before_the_choice_are_its_options() -> None:
    (one,) = found(
        "I considered:\n\n1. polling\n2. LISTEN/NOTIFY\n\nI went with LISTEN/NOTIFY because it is instant."
    )
    assert one.options == ("polling", "LISTEN/NOTIFY")
    (one,) = found("We could use cron, systemd timers or a loop. I chose systemd timers since they log.")
    assert one.options == ("cron", "systemd timers", "a loop")
    (one,) = found("- read a.py\n- read b.py\n\nI chose a heap because order does not matter.")
    assert one.options == ()


def test_an_answer_is_to_the_question_that_was_asked_last() -> None:
    *_, one = found(
        "We have:\n- a table\n- a worker\n\nShould retries back off linearly or exponentially?",
        user("exponentially"),
    )
    assert one.choice == "exponentially"
    assert one.options == ("linearly", "exponentially")


@pytest.mark.parametrize("text", ["I decided to stop here.", "Decision: none needed for the name."])
def test_to_do_nothing_more_is_no_decision(text: str) -> None:
    assert found(text) == []
