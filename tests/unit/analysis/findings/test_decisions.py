"""Decisions: replies that settle something, and replies that do not."""

from __future__ import annotations

import pytest

from crucible.clients.events import CallEnd, Choice, PromptKind
from crucible.documents.session.findings import Kind, Source
from tests.unit.analysis.findings.scripted_session import Played

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
    assert found.text == "Where shall the cache live? → One file"
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


def test_a_repeated_plan_is_one_decision() -> None:
    played = Played().plan(PLAN, approved=None).you(PLAN, PromptKind.PLAN).plan(PLAN, approved=True)
    (found,) = played.decisions
    assert found.text == "Cache in SQLite"
    assert found.rationale
    assert "three seconds" in found.rationale


def test_a_refused_plan_decides_nothing() -> None:
    assert not Played().plan(PLAN, approved=False).decisions


def test_a_yes_accepts_an_offer_in_the_agents_words() -> None:
    offer = f"{OFFER}Shall I keep the first pass in memory.py?"
    played = Played().you("make it faster").agent(offer, final=True).you("yes please")
    assert not played.decisions, "nothing has followed yet"
    (found,) = played.agent("I keep the first pass.").edit().decisions
    assert found.text == "Keep the first pass in memory.py"
    assert found.rationale == OFFER.strip()
    assert found.grounds
    assert found.grounds.rows[:2] == ("row00003", "row00002")


def test_a_no_settles_it_at_the_end_of_the_turn() -> None:
    played = (
        Played()
        .you("make it faster")
        .agent(f"{OFFER}Shall I keep the first pass in memory.py?")
        .you("no")
        .agent("I leave it.", final=True)
    )
    assert [each.text for each in played.decisions] == ["Shall I keep the first pass in memory.py? → no"]


def test_permission_to_commit_decides_nothing() -> None:
    played = Played().you("go").agent("All done. Shall I commit?").you("yes")
    assert not played.run("git add -A && git commit -m x").agent("Committed.", final=True).decisions


def test_words_after_a_stop_settle_no_offer() -> None:
    played = Played().you("go").agent("Shall I drop the table?").stop().you("yes").edit()
    assert not played.decisions


def test_the_option_that_is_named_is_the_decision_and_the_others_are_not() -> None:
    offer = "Two ways:\n\n**Option A** - one file\n\n**Option B** - a file for each user\n\nWhich one?"
    (found,) = Played().you("go").agent(offer).you("B, but keep the name").agent("Fine.", final=True).decisions
    assert "a file for each user" in found.text
    assert found.alternatives
    assert "one file" in found.alternatives
    assert found.grounds
    assert found.grounds.source == Source.OPTION


def test_an_article_names_no_option() -> None:
    offer = "Where the importer looks:\n\nA. one file\n\nB. two files\n\nWhich one?"
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


def test_a_request_for_work_is_no_decision() -> None:
    approach = "I keep the counts beside the rows rather than in a table of their own, since every reader needs both of them at once."
    played = Played().you("add a limit").edit().agent("Done.").you("store the counts too").agent(approach).edit()
    assert not played.decisions
    (found,) = played.noted(Kind.INSTRUCTION)
    assert (found.text, found.details) == ("store the counts too", approach)
    asked = Played().you("go").edit().agent("Done.").you("are the counts stored too?").agent(approach).edit()
    assert not asked.noted(Kind.INSTRUCTION)


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("Shall I do that?", "yes please"),
        ("Shall I fix them?", "ok, do it"),
        ("Does this look right?", "yes, continue"),
        ("Shall I write it down and go on?", "yes, write it down"),
        ("Shall I draw tusks.svg, or is it good for now?", "yes"),
        ("It lies beside importer.py. Or would you keep it where it is, next to the notes?", "yes"),
    ],
)
def test_a_go_ahead_that_names_nothing_decides_nothing(asked: str, reply: str) -> None:
    assert not Played().you("go").agent(f"{OFFER}{asked}").you(reply).edit().agent("Done.", final=True).decisions


def test_an_analysis_without_a_question_offers_nothing() -> None:
    played = Played().you("how long would a limit for each user take?").agent(OFFER * 2).you("do it").edit()
    assert not played.decisions


def test_a_choice_in_a_word_needs_no_edit_and_another_topic_does() -> None:
    offer = f"{OFFER}Shall the limit be kept at fifty or go back to twenty?"
    (found,) = Played().you("go").agent(offer).you("make it 100").agent("Fine.", final=True).decisions
    assert found.text == "Shall the limit be kept at fifty or go back to twenty? → make it 100"
    other = Played().you("go").agent(offer).you("our nightly build has been failing since yesterday morning")
    assert not other.agent("I look.", final=True).decisions
    again = Played().you("go").agent(offer).you("twenty is enough for everybody who works here")
    assert len(again.agent("Fine.", final=True).decisions) == 1


def test_permission_in_other_words_decides_nothing() -> None:
    played = Played().you("go").agent("All done. Shall I push it?").you("commit and push")
    assert not played.run("git commit -m x && git push").agent("Pushed.", final=True).decisions


def test_a_refusal_with_words_is_a_correction_and_no_decision() -> None:
    played = Played().you("go").edit("orders.json", CallEnd.REJECTED, "build the data in the test instead")
    assert not played.edit("orders_test.py").decisions
    assert played.corrections == ['"build the data in the test instead"']


def test_a_question_with_a_subject_needs_no_context() -> None:
    offer = f"{OFFER}Want me to keep the first pass of importer.py in memory?"
    (found,) = Played().you("go").agent(offer).you("yes").edit().decisions
    assert found.text == "Keep the first pass of importer.py in memory"


def test_a_reply_beyond_yes_is_shown_with_the_question() -> None:
    played = Played().you("go").agent(f"{OFFER}Shall I keep it in memory.py?").you("yes, but only up to ten megabytes")
    assert played.edit().decisions[0].text.endswith("memory.py? → yes, but only up to ten megabytes")


def test_a_rationale_repeats_neither_question_nor_other_options() -> None:
    offer = (
        "Two ways to store it:\n\nA. One file - no server to run\n\nB. Redis - shared\n\nWhich of the two do you want?"
    )
    (found,) = Played().you("go").agent(offer).you("A").edit().decisions
    assert found.text == "Which of the two do you want? → One file"
    assert (found.rationale, found.alternatives) == ("no server to run", "Redis")


def test_a_question_among_the_options_is_none() -> None:
    offer = "A. Tag it now\n\nB. Close the pull request\n\nC. Something else?\n\nWhat is next?"
    (found,) = Played().you("go").agent(offer).you("C, merge the other branch first").edit().decisions
    assert "merge the other branch first" in found.text


@pytest.mark.parametrize(
    "reply", ["yes", "B", "no, keep both files where they are for the time being, we need them in spring"]
)
def test_a_decision_is_one_line_of_at_most_two_hundred_characters(reply: str) -> None:
    offer = f"# Store\n\n{OFFER * 4}\n\n**Option A** - {'one ' * 60}\n\n**Option B** - {'two ' * 60}\n\nShall I take {'a very long ' * 30}one.py?"
    (found,) = Played().you("go").agent(offer).you(reply).edit().decisions
    assert len(found.text) <= 200
    assert "\n" not in found.text


def test_a_long_answer_is_whole_in_the_rationale() -> None:
    answer = "Neither of them. " + "We keep the old one until the spring release is out. " * 6
    (found,) = Played().answer(Choice("Which one?", answer, (("A", ""), ("B", "")))).decisions
    assert found.text.startswith("Which one? → Neither of them.")
    assert len(found.text) <= 200
    assert found.rationale
    assert answer.strip() in found.rationale


def test_a_command_between_offer_and_reply_changes_nothing() -> None:
    played = (
        Played()
        .you("go")
        .agent(f"{OFFER}Shall I keep it in memory.py?")
        .you("/model fast", PromptKind.COMMAND)
        .you("yes")
        .edit()
    )
    assert len(played.decisions) == 1


def test_the_rationale_is_from_the_paragraph_of_the_question() -> None:
    offer = f"## Design\n\n{OFFER}\n\n## Next\n\nThe notes are small. Shall I keep them in memory.py?"
    (found,) = Played().you("How?").agent(offer).you("yes").agent("On it.", final=True).decisions
    assert (found.text, found.rationale) == ("Keep them in memory.py", "The notes are small.")


def test_a_range_picks_all_of_it() -> None:
    offer = "1. tusks\n\n2. fins\n\n3. whiskers\n\n4. flippers\n\nWhich of them shall I draw?"
    for reply in ("1-3", "1 to 3 please"):
        (found,) = Played().you("go").agent(offer).you(reply).agent("Fine.", final=True).decisions
        assert found.text == "Which of them shall I draw? → tusks + fins + whiskers"


def test_a_bare_yes_answers_the_first_of_two_questions() -> None:
    offer = f"{OFFER}Shall I draw walrus.svg with tusks? Or would you prefer to leave the picture as it is today?"
    (found,) = Played().you("go").agent(offer).you("yes").edit().decisions
    assert found.text == "Draw walrus.svg with tusks"


def test_a_new_request_is_no_answer() -> None:
    offer = "The linter warns about walrus.go, which is not mine. Shall I fix that as well?"
    reply = "add another command which throws away everything that previous sessions left behind"
    assert not Played().you("go").agent(offer).you(reply).edit().agent("Done.", final=True).decisions


def test_an_item_of_a_list_is_no_part_of_the_question() -> None:
    offer = f"## Review\n\n{OFFER}\n\n- tusks: two of them grow in any order (fine for a walrus)\nWant me to fix these?"
    (found,) = Played().you("go").agent(offer).you("yes, and name them walrus_tusk").edit().decisions
    assert found.text == "Want me to fix these? → yes, and name them walrus_tusk"


def test_numbers_are_written_out() -> None:
    review = "### 1. Draw tusks\n\nTwo of them.\n\n### 2. Draw fins\n\n### 3. Draw whiskers\n\nWhich of them shall I draw first?"
    played = Played().you("review it").agent(review).you("let's do 1 first").edit()
    assert played.decisions[0].text == "Which of them shall I draw first? → Draw tusks"
    assert played.decisions[0].alternatives is None, "the others may come later"
    played.agent("Drawn. Shall I go on with more of them (2-3)?").you("ok, now 2 and 3").edit()
    assert played.decisions[1].text == "Shall I go on with more of them (2-3)? → Draw fins + Draw whiskers"


def test_a_table_lists_options_too() -> None:
    offer = "| # | Issue |\n|---|---|\n| **A. Warn** | print a line |\n| **B. Fail** | stop |\n\nI would take A. Which of these do you want?"
    (found,) = Played().you("go").agent(offer).you("A. is fine, but log it").agent("Fine.", final=True).decisions
    assert (found.text, found.alternatives) == ("Which of these do you want? → Warn", "Fail")
    assert found.rationale == 'print a line — "A. is fine, but log it"'


def test_a_finished_item_is_no_option() -> None:
    offer = "1. \u2705 Draw tusks\n2. Draw fins\n3. Draw whiskers\n\nWhich of them is next?"
    (found,) = Played().you("go").agent(offer).you("3").edit().decisions
    assert (found.text, found.alternatives) == ("Which of them is next? → Draw whiskers", "Draw fins")


@pytest.mark.parametrize(
    "reply",
    [
        "let's set the limit to 2 then since each of the files is read by exactly one importer",
        "does 2 need a server?",
    ],
)
def test_a_number_inside_a_sentence_picks_nothing(reply: str) -> None:
    offer = "1. one file\n2. two files\n\nShall I go on with the importer?"
    played = Played().you("go").agent(offer).you(reply).edit().agent("Done.", final=True)
    assert not any(each.grounds and each.grounds.source == Source.OPTION for each in played.decisions)


def test_a_reply_to_each_item_is_a_decision_for_each() -> None:
    offer = (
        "1. **Depth**: how far back shall it look?\n2. **Colour**: shall the active one be green?\n3. **Name**: which one?\n\n"
        "4. **Speed**: it reads all notes.\n\nWhat do you say to these?"
    )
    reply = "1. fifty commits\n2. yes\n3. what do you suggest?\n4. ok"
    played = Played().you("go").agent(offer).you(reply).agent("Good.", final=True)
    assert [each.text for each in played.decisions] == [
        "Depth: how far back shall it look? → fifty commits",
        "Colour: shall the active one be green? → yes",
    ]


def test_a_longer_reply_that_quotes_the_offer_answers_it() -> None:
    offer = "It will print `Strategy ready` at the end, below the list of what was set up. Shall I do that?"
    reply = 'instead of "Strategy ready" it has to say which of them it is, and nothing behind it'
    (found,) = Played().you("go").agent(offer).you(reply).edit().decisions
    assert "which of them it is" in found.text


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (
            "# Plan: Drop the cache\n\n## Goal\n\nDrop the cache in `cache.py` and read the notes each time. It is quick.\n",
            "Drop the cache in cache.py and read the notes each time.",
        ),
        (
            "# Walrus cache\n\n## Goal\n\nAdd a cache for walruses.\n\n## 1. Add `walrus_cache.py`\n",
            "Walrus cache: Add a cache for walruses.",
        ),
        (
            "# Fix the cache\n\n## Context\n\nThe cache is stale.\n\n## Changes\n\n### 1. Store the time of each note\n\n### 2. Read it at the start\n",
            "Fix the cache: Store the time of each note; Read it at the start",
        ),
        (
            "# Fix the cache\n\n## Context\n\nThe cache is stale.\n\n### 1. `cache.py`\n\n### 2. `notes.py`\n",
            "Fix the cache",
        ),
        (
            "# Drop fields\n\n## Goal\n\nDrop these fields:\n\n- `tusks`\n- `fins`\n\n## Why\n",
            "Drop these fields: tusks; fins",
        ),
    ],
)
def test_a_plan_decides_what_it_states_first_or_its_steps(plan: str, told: str) -> None:
    (found,) = Played().plan(plan, approved=True).decisions
    assert found.text == told


def test_a_list_at_the_end_of_a_text_may_be_the_question() -> None:
    offer = "Before I begin, what shall the cache be:\n\nA) One file\nB) A file for each user\nC) Something else?"
    (found,) = Played().you("go").agent(offer).you("B").agent("Fine.", final=True).decisions
    assert found.text == "Before I begin, what shall the cache be: → A file for each user"
    assert not Played().you("go").agent(offer.rstrip("?")).you("what would B cost?").edit().decisions
