"""Decisions: what settles one, and what looks as if it did."""

from __future__ import annotations

from crucible.session.findings import Source
from crucible.transcript.events import CallEnd, Choice, PromptKind
from tests.findings.played import Played

PLAN = "# Plan: Cache in SQLite\n\n## Why\n\nEvery start reads four hundred notes, which takes three seconds on a laptop.\n"
OFFER = (
    "The importer reads every file twice, once to count and once to parse. We could keep the first pass in memory, which costs"
    " about a megabyte for each thousand notes and halves the time. "
)


def test_an_answered_question_is_a_decision_with_its_alternatives() -> None:
    choice = Choice(
        "Where shall the cache live?",
        "One file",
        (("One file", "no server to run"), ("Redis", "shared by machines")),
        ("One file",),
    )
    (found,) = Played().answer(choice, Choice("And the logs?")).decisions
    assert found.text == "Where shall the cache live? One file"
    assert (found.rationale, found.alternatives, found.by) == (
        "no server to run",
        "Redis: shared by machines",
        "user",
    )
    assert found.grounds
    assert (found.grounds.source, found.grounds.rows) == (Source.QUESTION, ("row00001",))


def test_an_answer_in_words_of_ones_own_leaves_every_option_an_alternative() -> None:
    (found,) = Played().answer(Choice("Which?", "neither, use the old one", (("A", ""), ("B", "")))).decisions
    assert found.text.endswith("neither, use the old one")
    assert found.alternatives == "A; B"


def test_a_plan_is_one_decision_however_often_it_is_told() -> None:
    played = Played().plan(PLAN, approved=None).you(PLAN, PromptKind.PLAN).plan(PLAN, approved=True)
    (found,) = played.decisions
    assert found.text == "Cache in SQLite"
    assert found.rationale
    assert "three seconds" in found.rationale


def test_a_refused_plan_decides_nothing() -> None:
    assert not Played().plan(PLAN, approved=False).decisions


def test_a_yes_settles_the_offer_in_the_words_of_the_agent() -> None:
    played = Played().you("make it faster").agent(f"{OFFER}Shall I do that?", final=True).you("yes please")
    assert not played.decisions, "nothing has followed yet"
    (found,) = played.agent("I keep the first pass.").edit().decisions
    assert "keep the first pass in memory" in found.text
    assert found.text.endswith('— "yes please"')
    assert found.grounds
    assert found.grounds.rows[:2] == ("row00003", "row00002")


def test_a_no_settles_it_at_the_end_of_the_turn() -> None:
    played = (
        Played()
        .you("make it faster")
        .agent(f"{OFFER}Shall I do that?")
        .you("no")
        .agent("I leave it.", final=True)
    )
    assert len(played.decisions) == 1


def test_permission_to_commit_decides_nothing() -> None:
    played = Played().you("go").agent("All done. Shall I commit?").you("yes")
    assert not played.run("git add -A && git commit -m x").agent("Committed.", final=True).decisions


def test_words_after_a_stop_settle_no_offer() -> None:
    played = Played().you("go").agent("Shall I drop the table?").stop().you("yes").edit()
    assert not played.decisions


def test_the_option_that_is_named_is_the_decision_and_the_others_are_not() -> None:
    offer = "Two ways:\n\n**Option A** - one file\n\n**Option B** - a file for each user\n\nWhich one?"
    (found,) = (
        Played().you("go").agent(offer).you("B, but keep the name").agent("Fine.", final=True).decisions
    )
    assert "a file for each user" in found.text
    assert found.alternatives
    assert "one file" in found.alternatives
    assert found.grounds
    assert found.grounds.source == Source.OPTION


def test_an_article_names_no_option() -> None:
    offer = "A. one file\n\nB. two files\n\nWhich one?"
    (found,) = (
        Played()
        .you("go")
        .agent(offer)
        .you("put it in a third place, next to the notes, as the importer has it today")
        .edit()
        .decisions
    )
    assert found.grounds
    assert found.grounds.source == Source.REPLY


def test_a_question_back_settles_nothing() -> None:
    assert not Played().you("go").agent(f"{OFFER}Shall I?").you("what would it cost?").edit().decisions


def test_a_later_instruction_counts_only_where_the_agent_says_how_it_goes_about_it() -> None:
    approach = "I keep the counts beside the rows rather than in a table of their own, since every reader needs both of them at once."
    begun = "add a limit"
    assert not Played().you(begun).agent(approach).edit().decisions, "the first prompt is the task"
    played = Played().you(begun).edit().agent("Done.").you("store the counts too")
    assert len(played.agent(approach).edit().decisions) == 1
    silent = Played().you(begun).edit().agent("Done.").you("store the counts too").edit()
    assert not silent.decisions
    conceded = (
        Played()
        .you(begun)
        .edit()
        .agent("Done.")
        .you("the counts are gone")
        .agent(f"You're right. {approach}")
        .edit()
    )
    assert not conceded.decisions, "that is a correction"


def test_a_refusal_with_words_that_is_followed_by_edits_decides() -> None:
    played = Played().you("go").edit("orders.json", CallEnd.REJECTED, "build the data in the test instead")
    (found,) = played.edit("orders_test.py").decisions
    assert found.text == "build the data in the test instead"
    assert found.rationale == "instead of: Edit orders.json"


def test_a_command_between_offer_and_reply_changes_nothing() -> None:
    played = (
        Played().you("go").agent(f"{OFFER}Shall I?").you("/model fast", PromptKind.COMMAND).you("yes").edit()
    )
    assert len(played.decisions) == 1


def test_an_offer_in_several_paragraphs_loses_the_marks_of_its_headings() -> None:
    played = (
        Played().you("How?").agent(f"## Design\n\n{OFFER}\n\n## Next\n\nDoes this look right?").you("yes")
    )
    (found,) = played.agent("On it.", final=True).decisions
    assert found.text.startswith("Design The importer reads")
    assert "#" not in found.text
