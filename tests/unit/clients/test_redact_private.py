from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import (
    At,
    Choice,
    Compacted,
    Event,
    Injected,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    SubagentStarted,
    Titled,
    ToolReturned,
    ToolUsed,
)
from crucible.clients.redact import redactor_of
from crucible.core.secrets.redaction import hide_private
from crucible.core.settings.settings import SecretSettings
from tests.cases import for_each

AT = At(1)
WORDS = "Maria earns ninety thousand"


@for_each(
    ("text", "shown"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("<private>b</private>", "[private]"),
        ("<PRIVATE>b</Private>c", "[private]c"),
        ("a < private >b< / private > c", "a [private] c"),
        ('a <private why="hr" x>b</private\n> c', "a [private] c"),
        ("a <private\n>b\nc</private>d", "a [private]d"),
        ("a <private>b</private> c <private>d</private> e", "a [private] c [private] e"),
        ("a <private>b<private>c</private>d</private> e", "a [private] e"),
        ("a <private>b", "a [private]"),
        ("a <private>b<private>c</private> d", "a [private]"),
        ("a <private b", "a [private]"),
        ("a <private", "a [private]"),
        ("a <private/>b", "a [private]"),
        ("a</private> b", "[private] b"),
        ("x <private>a</private> b</private> c", "[private] c"),
        ("a <private></private> b", "a [private] b"),
        ("a <private>b < c && d > e</private> f", "a [private] f"),
        ("a <private-key>b</private-key> c", "a <private-key>b</private-key> c"),
        ("a <privates>b</privates>", "a <privates>b</privates>"),
        ("vector<private_t> private", "vector<private_t> private"),
        ("", ""),
    ],
)
def test_text_between_the_marks_is_hidden_and_so_is_anything_doubtful(text: str, shown: str) -> None:
    assert hide_private(text)[0] == shown


@given(st.lists(st.sampled_from(["<private>", "</private>", "<private x", "secret", "<", ">", " ", "\n"])))
def test_no_word_within_any_mark_is_left(parts: list[str]) -> None:
    shown, _ = hide_private("".join(parts))
    assert "private>" not in shown.replace("[private]", "")
    again, _ = hide_private(shown)
    assert again == shown


def redacted(*events: Event) -> tuple[list[Event], int]:
    redact = redactor_of(SecretSettings())
    pairs = [redact(event) for event in events]
    return [event for event, _ in pairs], sum(counts.get("private", 0) for _, counts in pairs)


def prompt(text: str, kind: PromptKind = PromptKind.TYPED) -> Prompted:
    return Prompted(AT, text, kind)


@pytest.mark.parametrize("kind", [PromptKind.TYPED, PromptKind.STEERING, PromptKind.COMMAND, PromptKind.SHELL])
def test_a_user_s_words_of_any_kind_are_searched(kind: PromptKind) -> None:
    (event,), count = redacted(prompt(f"/ask <private>{WORDS}</private> now", kind))
    assert event == prompt("/ask [private] now", kind)
    assert count == 1


def test_a_user_s_reason_for_a_refusal_and_answer_to_a_question_are_searched() -> None:
    events, count = redacted(
        ToolReturned(AT, "1", "rejected", feedback=f"no: <private>{WORDS}</private>"),
        ToolUsed(AT, "2", "AskUserQuestion", {}),
        ToolReturned(AT, "2", f'"How much?"="<private>{WORDS}</private>"'),
    )
    assert WORDS not in repr(events)
    assert count == 2


def test_an_answer_to_a_question_of_the_agent_is_searched_and_its_repeats_are_removed() -> None:
    redact = redactor_of(SecretSettings())
    choices = (Choice("Which?", "A"), Choice("Why?", f"<private>{WORDS}</private>, so B", (("B", ""),)))
    clean, counts = redact(QuestionsAnswered(AT, "c", choices))
    assert isinstance(clean, QuestionsAnswered)
    assert clean.choices == (choices[0], Choice("Why?", "[private], so B", (("B", ""),)))
    assert sum(counts.values()) == 1
    later, _ = redact(ToolReturned(AT, "c", f'"Why?"="{WORDS}"'))
    assert WORDS not in str(later)


@pytest.mark.parametrize(
    "event",
    [
        Replied(AT, "The `<private>` element hides members: <private>int x;</private>"),
        Reasoned(AT, "<private> opens"),
        ToolReturned(AT, "1", "/// <private>doc</private>\nint y;"),
        ToolUsed(AT, "1", "Write", {"content": "<private>\nint x;\n</private>"}),
        prompt("Explain <private>x</private>", PromptKind.TASK),
        prompt("# Plan\n\nUse <private>x</private>", PromptKind.PLAN),
        Injected(AT, "<private> in CLAUDE.md"),
    ],
)
def test_the_same_tag_in_other_texts_stays(event: Event) -> None:
    assert redacted(event) == ([event], 0)


def test_a_repeat_in_the_same_session_is_removed_too() -> None:
    events, count = redacted(
        prompt(f"Mail her: <private>\n{WORDS}\n</private>"),
        Replied(AT, f"You wrote “{WORDS}”; I will not."),
        Reasoned(AT, WORDS),
        ToolUsed(AT, "1", "Bash", {"command": f"echo '{WORDS}'", "env": [{"x": WORDS}]}),
        ToolReturned(AT, "1", f"{WORDS}\n", details={"lines": WORDS}),
        SubagentStarted(AT, "2", "general", f"The user said: <private>{WORDS}</private>", title=WORDS),
        prompt(f"Task: {WORDS}", PromptKind.TASK),
        Compacted(AT, summary=f'Summary: "{WORDS}"'),
        Injected(AT, WORDS),
        Titled(AT, WORDS),
    )
    assert WORDS not in repr(events)
    assert events[-1] == Titled(AT, "[private]")
    assert count == 13


def test_a_repeat_in_json_and_a_long_line_alone_are_known() -> None:
    secret = 'first "line" of two\nthe second of both lines'
    events, _ = redacted(
        prompt(f"<private>{secret}</private>"),
        ToolReturned(AT, "1", '{"display": "first \\"line\\" of two\\nthe second of both lines"}'),
        Replied(AT, "> the second of both lines"),
    )
    assert repr(events).count("[private]") == 3
    assert "second" not in repr(events)


def test_short_words_are_not_looked_for_elsewhere() -> None:
    events, count = redacted(prompt("<private>abc</private>"), Replied(AT, "abc is fine"))
    assert events[1] == Replied(AT, "abc is fine")
    assert count == 1


def test_short_words_with_their_marks_are_known_anywhere() -> None:
    """For example in the text of a command that the client expands."""
    events, count = redacted(
        prompt("/mail <private>abc</private>", PromptKind.COMMAND),
        Injected(AT, "Write a mail: <private>abc</private>"),
    )
    assert events[1] == Injected(AT, "Write a mail: [private]")
    assert count == 2


@pytest.mark.parametrize("said", ["<private></private>", "</private>", "Why? <private> </private>"])
def test_empty_private_marks_are_not_searched_for_elsewhere(said: str) -> None:
    code = Replied(AT, "<private></private> and </private>")
    assert redacted(prompt(said), code)[0][1] == code


def test_private_texts_of_one_session_do_not_affect_another() -> None:
    redacted(prompt(f"<private>{WORDS}</private>"))
    assert redacted(Replied(AT, WORDS)) == ([Replied(AT, WORDS)], 0)


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece", ["<private>", "</private>", "<private ", "<", "< ", "<private>a</private>", "< / private"]
)
def test_hiding_takes_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        best = 9.0
        for _ in range(3):
            begin = time.process_time()
            hide_private(text)
            best = min(best, time.process_time() - begin)
        return best

    times = [seconds(size) for size in (200_000, 400_000, 800_000)]
    assert all(late < 4 * early + 0.02 for early, late in pairwise(times))
