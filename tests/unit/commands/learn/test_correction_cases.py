"""Which parts of a session belong to a correction."""

from __future__ import annotations

from dataclasses import replace

from crucible.commands.learn.case import Correction
from crucible.commands.learn.correction_cases import find_corrections
from crucible.documents.session.session import Entry, FindingItem, Outcome
from tests.unit.commands.learn.sample_sessions import call, corrected, timeline_of, user

START: tuple[Entry | str, ...] = (user("Add a limiter."), "On it.", call("Edit limiter.py"))
REFUSED = call("Bash rm -rf build", "", Outcome.REJECTED)


def found(*phases: tuple[Entry | str, ...], findings: tuple[FindingItem, ...]) -> list[Correction]:
    bodies = [case.body for case in find_corrections(timeline_of(*phases, findings=findings))]
    return [body for body in bodies if isinstance(body, Correction)]


def test_words_without_a_finding_are_no_correction() -> None:
    assert found(START, (user("No, per user."), "Changing it."), findings=()) == []


def test_a_finding_whose_words_are_not_in_the_note_makes_no_case() -> None:
    assert found(START, findings=(corrected("No, per user."),)) == []


def test_words_that_open_the_next_phase_correct_the_previous_work() -> None:
    words = "It must be per user, not global"
    [one] = found(START, (user(words), "Per user then.", call("Edit limiter.py")), findings=(corrected(words),))
    assert (one.goal, one.words, one.rejected) == ("Add a limiter.", words, "")
    assert [turn.calls[0].name for turn in one.did if turn.calls] == ["Edit"]
    assert [turn.text for turn in one.then] == ["Per user then.", "ok"]


def test_words_amid_the_work_correct_the_work_so_far() -> None:
    words = "stop, not in that folder"
    [one] = found((*START, user(words), "The right folder then.", call("Edit b.py")), findings=(corrected(words),))
    assert (one.goal, one.words) == ("Add a limiter.", words)
    assert [turn.text for turn in one.then] == ["The right folder then.", "ok"]


def test_a_shortened_finding_still_matches_the_words() -> None:
    words = "Please never touch the migrations: they run on every customer's database as soon as they are merged."
    [one] = found(START, (user(words), "Understood."), findings=(corrected(f"{words[:40]}…"),))
    assert one.words == words


def test_a_finding_without_the_quotation_marks_matches_the_words() -> None:
    [one] = found(
        START,
        (user("No, `limiter.py`\n*is* right."), "So."),
        findings=(corrected("No, limiter.py is right."),),
    )
    assert one.words == "No, `limiter.py`\n*is* right."


def test_a_rejected_call_is_corrected_by_the_words_of_the_rejection() -> None:
    refused = call("Bash rm -rf build", "keep it, the cache is there", Outcome.REJECTED)
    findings = (corrected("keep it, the cache is there"),)
    [one] = found((*START, refused, "Then not.", call("Edit b.py")), findings=findings)
    assert (one.words, one.rejected) == ("keep it, the cache is there", "Bash rm -rf build")
    assert one.did[-1].failed
    assert one.then[0].text == "Then not."


def test_words_after_a_rejection_correct_the_rejected_call() -> None:
    words = "that is where the cache is"
    [one] = found((*START, REFUSED), (user(words), "I see."), findings=(corrected(words),))
    assert (one.words, one.rejected) == (words, "Bash rm -rf build")


def test_the_goal_of_a_second_correction_is_the_original_request() -> None:
    findings = (corrected("no, per user and per key"), corrected("still wrong, the key comes first"))
    phases = (START, (user("no, per user and per key"), "Yes.", call("Edit a.py")), (user("still wrong, the key comes first"), "Ah."))  # fmt: skip
    assert [one.goal for one in found(*phases, findings=findings)] == ["Add a limiter."]


def test_a_correction_that_the_user_had_to_repeat_makes_no_case() -> None:
    findings = (corrected("no, per user and per key"), corrected("still wrong, the key comes first"))
    phases = (START, (user("no, per user and per key"), "Yes.", call("Edit a.py")), (user("still wrong, the key comes first"), "Ah."))  # fmt: skip
    assert [one.words for one in found(*phases, findings=findings)] == ["still wrong, the key comes first"]


def test_a_correction_after_a_question_concerns_the_work_before_it() -> None:
    asked = (
        *START,
        user("What would an offset cost us?"),
        "It is slow.",
        user("No, rename `next`."),
        "Done.",
    )
    (one,) = found(asked, findings=(corrected("No, rename `next`."),))
    assert [made.name for turn in one.did for made in turn.calls] == ["Edit"]


def test_two_findings_with_the_same_words_are_two_corrections() -> None:
    more = (user("Update the README."), "Yes.", call("Edit README.md"))
    phases = (
        START,
        (user("no"), "So.", call("Edit a.py")),
        more,
        (user("no"), "So then.", call("Edit a.py")),
    )
    findings = (corrected("no"), corrected("no"))
    assert [one.then[0].text for one in found(*phases, findings=findings)] == ["So.", "So then."]


def test_a_failed_call_after_a_correction_is_not_learned() -> None:
    words = "No, per user."
    broken = call("exec_command sed -i s/a/b/ limiter.py", "sed: no such file", Outcome.FAILED)
    [one] = found(START, (user(words), broken, call("Edit limiter.py")), findings=(corrected(words),))
    assert [made.name for turn in one.then for made in turn.calls] == ["Edit"]


def refused_then(words: str, refused: dict[str, object], then: dict[str, object]) -> list[Correction]:
    """A session with words of the user at a rejected command, and the next command."""
    entries = (
        user("Fix it."),
        call("Bash push", "", Outcome.REJECTED),
        user(words),
        "Well.",
        call("Bash other"),
    )
    line = timeline_of(entries, findings=(corrected(words),))
    given = {"Bash push": refused, "Bash other": then}
    moments = tuple(one._replace(arguments=given[one.call.call]) if one.call else one for one in line.moments)
    bodies = [case.body for case in find_corrections(replace(line, moments=moments))]
    return [body for body in bodies if isinstance(body, Correction)]


def test_words_at_a_rejection_that_the_agent_ignores_are_no_correction() -> None:
    assert not refused_then("oh whoops, wrong window", {"command": "git push"}, {"command": "make unit"})


def test_words_at_a_rejection_that_the_next_call_uses_are_a_correction() -> None:
    assert refused_then("pull rebase first", {"command": "git push"}, {"command": "git pull --rebase"})
