"""Open ends: unfinished work and unanswered questions."""

from __future__ import annotations

from crucible.clients.events import At, PromptKind, Rewound, ToolUsed
from crucible.documents.session.findings import Kind
from tests.unit.analysis.findings.scripted_session import Played


def test_a_last_question_is_open_until_it_is_answered() -> None:
    played = Played().you("go").agent("Done. Shall old exports keep their date format?", final=True)
    assert played.open_ends == ["Asked, no answer: Shall old exports keep their date format?"]
    assert not played.you("yes").agent("They do.", final=True).open_ends


def test_a_command_that_starts_no_work_leaves_the_question_open() -> None:
    assert len(Played().you("go").agent("Shall I?").you("/exit", PromptKind.COMMAND).open_ends) == 1


def test_work_that_stops_in_a_call_was_begun() -> None:
    played = Played().you("add a dry run").agent("I look around.").run("ls")
    assert played.open_ends == ["Begun, not finished: add a dry run"]
    assert not played.agent("Done.").open_ends


def test_a_file_that_ends_in_an_edit_is_not_unfinished() -> None:
    assert not Played().you("rename it").edit().open_ends


def test_a_plan_is_open_until_something_is_edited() -> None:
    played = Played().you("plan it").plan("# Cache in SQLite", approved=None)
    assert played.open_ends == ["Planned, not carried out: Cache in SQLite"]
    assert not played.edit().agent("Done.").open_ends


def test_tasks_of_the_last_list_that_are_not_ticked_are_one_open_end() -> None:
    played = Played().you("go").tasks(a="completed", b="pending", c="in_progress").agent("That is it.")
    assert played.open_ends == ["Open tasks: b; c"]
    assert not played.tasks(b="completed").agent("All done.").open_ends


def test_uncommitted_work_is_no_open_end() -> None:
    assert not Played().you("go").edit().agent("Done.").open_ends


def test_a_subagent_s_task_is_no_open_end() -> None:
    assert not Played().you("explore the hooks", PromptKind.TASK).run("ls").open_ends


def test_words_that_were_taken_back_leave_nothing_open() -> None:
    assert not Played().you("go").agent("Shall I?").tell(Rewound(At(9))).open_ends
    assert not Played().you("go").run("ls").tell(Rewound(At(9))).open_ends


def test_the_list_before_a_question_is_no_part_of_it() -> None:
    text = "The export is done.\n\n- orders\n- refunds\n\nOld files keep their format. Want me to convert exports/2019.csv?"
    (found,) = Played().you("go").agent(text).noted(Kind.OPEN_END)
    assert found.text == "Asked, no answer: Want me to convert exports/2019.csv?"
    assert found.details == "Old files keep their format."


def test_many_open_tasks_are_one_short_line_and_the_rest_is_in_the_details() -> None:
    tasks = {f"task_{number}_{'x' * 60}": "pending" for number in range(5)}
    (found,) = Played().you("go").tasks(**tasks).agent("So far.").noted(Kind.OPEN_END)
    assert len(found.text) <= 200
    assert found.details
    assert all((name in found.text) is not (name in found.details) for name in tasks)


def test_a_commit_finishes_the_begun_work() -> None:
    played = Played().you("draw the walrus and commit").edit("walrus.py").run("git add walrus.py")
    assert played.open_ends
    played.run("git commit -m x", "[main 1a2b3c4] Draw the walrus").run("git status")
    assert not played.open_ends


def test_a_commit_under_way_is_not_unfinished() -> None:
    played = Played().you("commit").tell(ToolUsed(At(9), "c", "Bash", {"command": "git add . && git commit -m x"}))
    assert not played.open_ends


def test_a_question_that_names_items_by_number_takes_them_along() -> None:
    played = (
        Played().you("what could be better?").agent("### 5. Draw a walrus\ntext\n### 9. Name it\n\n### 11. Sell it")
    )
    played.you("first 11").agent("Done:\n\n1. Sold\n2. Paid\n\nWant me to do the remaining suggestions (5, 9)?")
    (found,) = played.noted(Kind.OPEN_END)
    assert found.details == "5. Draw a walrus; 9. Name it"


def test_a_question_without_a_subject_has_the_work_as_details() -> None:
    text = "The importer skips `None` and tabs.\n\n- blanks\n\nAll good.\n\nWant me to commit and push?"
    (found,) = Played().you("go").agent(text).noted(Kind.OPEN_END)
    assert "importer skips None" in f"{found.text} {found.details}"


def test_a_question_with_several_answers_is_whole() -> None:
    text = "It fails.\n\nWould you like me to:\n1. Revert the cache?\n2. Look further?"
    (found,) = Played().you("go").agent(text).noted(Kind.OPEN_END)
    assert found.text == "Asked, no answer: Would you like me to: Revert the cache? Look further?"
