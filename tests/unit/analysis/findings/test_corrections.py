"""Corrections: stops with words, and prompts that are no corrections."""

from __future__ import annotations

import pytest

from crucible.clients.events import At, CallEnd, ContextSeen, PlanSettled, PromptKind, ToolReturned
from crucible.documents.session.findings import Kind, Source
from tests.unit.analysis.findings.scripted_session import Played


def test_a_refusal_with_a_comment_keeps_the_comment_and_the_call() -> None:
    played = (
        Played()
        .you("go")
        .edit("orders.json", CallEnd.REJECTED, "don't touch the fixtures")
        .agent("I build it in the test.")
    )
    (found,) = played.noted(Kind.CORRECTION)
    assert found.text == '"don\'t touch the fixtures"'
    assert found.details == "refused: Edit orders.json. Then: I build it in the test."
    assert found.grounds
    assert found.grounds.source == Source.REJECTION


def test_a_refusal_with_a_question_is_one_only_where_the_agent_concedes() -> None:
    asked = Played().you("go").edit(end=CallEnd.REJECTED, feedback="does the old one do that too?")
    assert not asked.agent("Let me look.").corrections
    asked = Played().you("go").edit(end=CallEnd.REJECTED, feedback="isn't that the wrong file?")
    assert len(asked.agent("You're right, it is the other one.").corrections) == 1


def test_a_refusal_without_words_is_explained_by_the_next_prompt() -> None:
    played = Played().you("go").run("git stash", end=CallEnd.REJECTED).stop().you("do not stash, read the files")
    assert played.corrections == ['"do not stash, read the files"']


def test_an_orphan_refusal_corrects_nothing() -> None:
    played = Played().you("x")
    played.tell(ToolReturned(At(9, "r"), "never seen", "", CallEnd.REJECTED)).you("go on")
    assert not played.corrections


def test_a_plan_after_a_refusal_is_no_correction() -> None:
    played = Played().you("go").call("ExitPlanMode", {"plan": "# P"}, "", CallEnd.REJECTED).stop()
    assert not played.you("# P\n\nDo it.", PromptKind.PLAN).corrections


def test_an_interruption_after_work_is_explained_by_the_next_prompt() -> None:
    played = (
        Played().you("go").edit("fin.py").agent("I filter the edits as well.").stop().you("no, take those edits back")
    )
    (found,) = played.noted(Kind.CORRECTION)
    assert found.details == "interrupted: I filter the edits as well."


@pytest.mark.parametrize("said", ["I filter the edits", "I filter the edits.", "I filter the edits:"])
def test_an_interruption_ends_in_one_full_stop(said: str) -> None:
    played = Played().you("go").agent(said).stop().you("no, take those edits back").agent("Taken back.")
    (found,) = played.noted(Kind.CORRECTION)
    assert found.details == "interrupted: I filter the edits. Then: Taken back."


def test_stopping_before_any_work_is_editing_ones_own_prompt() -> None:
    assert not Played().you("go").stop().you("go to the tests").corrections


def test_the_same_prompt_again_and_a_long_new_task_are_none() -> None:
    assert not Played().you("go").agent("On it.").stop().you("go").corrections
    assert not Played().you("go").agent("On it.").stop().you("\n".join(["new task"] * 6)).corrections


def test_words_to_work_that_is_there_correct_where_the_agent_concedes() -> None:
    begun = ("add a limit", "Done.")
    played = Played().you(begun[0]).edit().agent(begun[1]).you("the limit is off by one")
    assert not Played().you(begun[0]).edit().agent(begun[1]).you("and the docs").agent("Sure.").corrections
    assert played.agent("You are right, it counts from zero.").corrections == ['"the limit is off by one"']
    assert not Played().you(begun[0]).agent("You're right.").corrections, "the first prompt corrects nothing"


def test_a_question_that_the_agent_finds_fair_is_no_concession() -> None:
    played = Played().you("go").edit().agent("Done.").you("is that enough?").agent("You're right to ask. It is.")
    assert not played.corrections


def test_words_in_mid_turn_are_one_where_the_agent_concedes() -> None:
    played = Played().you("go").edit().you("and a test", PromptKind.STEERING).agent("Adding one.")
    assert not played.corrections
    assert len(played.you("that is the old name", PromptKind.STEERING).agent("My mistake.").corrections) == 1


def test_rephrasing_ones_own_prompt_corrects_nothing() -> None:
    played = Played().you("rename the table orders to purchases").agent("I look.").stop()
    assert not played.you("rename the table orders to purchases, and the column too").corrections


def test_a_long_correction_is_cut_after_a_sentence() -> None:
    words = (
        "Build the data in the test, the fixtures are shared by both importers. "
        + "They are read by the shop as well. " * 8
    )
    played = Played().you("go").edit("orders.json", CallEnd.REJECTED, words.strip())
    (told,) = played.corrections
    assert len(told) <= 200
    assert told.endswith('."')


def test_a_refused_call_is_shown_by_first_line_and_relative_path() -> None:
    played = Played()
    played.tell(ContextSeen(At(1), "native", "/home/me/shop")).you("go")
    played.run(
        "cat /home/me/shop/data/orders.json <<EOF\nsecond line\nEOF",
        end=CallEnd.REJECTED,
        feedback="leave it alone",
    )
    assert played.noted(Kind.CORRECTION)[0].details == "refused: Bash cat data/orders.json <<EOF"


def test_words_that_send_a_plan_back_are_a_correction() -> None:
    plan = PlanSettled(At(1, "row-of-the-plan"), "", "# Cache in Redis\n\nOne server.", approved=False)
    played = Played().you("plan it").agent("Here it is.").tell(plan).you("no server, use a file")
    (found,) = played.noted(Kind.CORRECTION)
    assert (found.text, found.details) == ('"no server, use a file"', "refused: plan Cache in Redis")


def test_a_prompt_after_a_stop_corrects_only_what_it_names() -> None:
    for words in (
        "whoops, the network went away",
        "merge conflicts...",
        "great, now the next change for walruses",
    ):
        played = Played().you("go").run("make fins && cat zoo/walruses/fin.py merge-base", end=CallEnd.REJECTED).stop()
        assert not played.you(words).agent("Fine.").run("make fins").edit("fin.py").corrections
    never = Played().you("go").run("git stash", end=CallEnd.REJECTED).stop().you("never stash anything")
    assert never.corrections == ['"never stash anything"']
    tool = Played().you("go").call("issues__add_comment", {"to": "7"}, "", CallEnd.REJECTED).stop()
    assert tool.you("not as a comment, but as a document").corrections


def test_a_prompt_after_a_stop_is_a_correction_where_the_agent_concedes() -> None:
    played = Played().you("go").edit("fin.py").agent("I filter the fins.").stop().you("no, take that back")
    assert not played.corrections
    assert played.agent("You're right, I take it back.").corrections
