"""What of a session may be worth keeping: its findings, and what acts prove."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.tools.recorded_calls import recorded_calls_of
from crucible.analysis.tools.tool_calls import moments_of
from crucible.commands.capture.candidates import PROPOSED, Candidate, CandidateKind
from crucible.commands.capture.detection import apis_in, detect, is_decision_record, subject_of
from crucible.documents.recording.call_lines import call_line
from crucible.documents.session.findings import Source, findings_of
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Outcome,
    Prose,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.vault.events.event_reader import EventRecord
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.paths import ROOT
from tests.unit.commands.capture.sample_sessions import (
    failed,
    found_in,
    kinds_of,
    passed,
    said,
    session_of,
    user,
    written,
)

FIX = Grounds(Source.FIX, 0.95, ("64403031",))


def _one(*found: Candidate) -> Candidate:
    assert len(found) == 1, found
    return found[0]


# --- findings --------------------------------------------------------------------------------------------------------


def test_a_decision_has_its_reason_and_what_was_not_chosen() -> None:
    grounds = Grounds(Source.QUESTION, 0.97, ("3a77d35a",))
    decision = Decision(
        "Where shall the cache live? One SQLite file",
        "no server to run",
        "Redis; a file per user",
        "user",
        grounds,
    )
    found = _one(*found_in(decision))
    assert (found.kind, found.confidence, found.source) == (CandidateKind.DECISION, 0.97, "answered question")
    assert found.summary == "Where shall the cache live? One SQLite file"
    assert found.detail == "Why: no server to run\n\nInstead of: Redis; a file per user"
    assert found.finding == "decision-3a77d35a"
    assert (found.phase, found.line) == ("phase-1", 1)


def test_a_recorded_decision_has_its_source() -> None:
    found = _one(*found_in(Decision("Use SQLite for the index.", "one file, no server")))
    assert (found.source, found.confidence) == (Source.CALLOUT, 1.0)


def test_a_title_is_the_summary_in_one_line() -> None:
    short = _one(*found_in(Decision("One\nSQLite file")))
    assert (short.summary, short.detail) == ("One SQLite file", "")


def test_a_correction_and_a_fact_of_the_environment_are_candidates() -> None:
    grounds = Grounds(Source.REJECTION, 0.98, ("5ad1908e",))
    noted = (
        FindingItem("correction", "Build the data in the test", "refused: Edit orders.json", grounds),
        FindingItem("environment", "The integration tests need the build tag", None, Grounds(Source.MODEL, 0.8)),
        FindingItem("outcome", "CSV import skips empty lines", None, Grounds(Source.SUMMARY, 0.89)),
        FindingItem("open_end", "Shall old exports keep their format?", None, Grounds(Source.STATE, 0.9)),
    )
    found = detect(session_of(Subagent(AgentRef("explore"), summary="It is in app.py."), findings=noted))
    assert [(one.kind, one.summary, one.detail) for one in found] == [
        (CandidateKind.CORRECTION, "Build the data in the test", "refused: Edit orders.json"),
        (CandidateKind.OBSERVATION, "The integration tests need the build tag", ""),
    ]


MESSAGE = "pytest: test_refund_rounds, 0.1 off / 1 failed"
FAILURE = Failure(MESSAGE, "fixed in invoice.py", "the amount was rounded before the tax was added", FIX)
RED, GREEN = failed("Bash pytest", "1 failed: test_refund_rounds, 0.1 off"), passed("Bash pytest", "1 passed")
EDITED = passed("Edit invoice.py")


def test_a_run_that_passed_after_the_first_fix_with_a_stated_cause_is_a_self_correction() -> None:
    found = _one(*found_in(RED, EDITED, GREEN, FAILURE))
    assert (found.kind, found.confidence) == (CandidateKind.SELF_CORRECTION, 0.95)
    cause = "the amount was rounded before the tax was added"
    assert (found.summary, found.cause, found.fix) == (cause, cause, "fixed in invoice.py")
    assert (found.detail, found.finding) == (f"What failed: {MESSAGE}\n\nSeen in: pytest", "failure-64403031")
    assert found_in(RED, EDITED, GREEN, replace(FAILURE, cause=None)) == []
    assert found_in(RED, EDITED, GREEN, replace(FAILURE, cause="Let me fix it.")) == []


@for_each(
    "entries",
    [
        (failed("Bash ruff check", "3 errors"), EDITED, passed("Bash ruff check")),
        (failed("Bash npm run build", "failed"), EDITED, passed("Bash npm run build")),
        (failed("Bash go test ./...", "app.go:33:15: undefined: fmt"), EDITED, passed("Bash go test ./...")),
        (RED, EDITED, RED, EDITED, GREEN),
        (RED, passed("Edit test_invoice.py"), GREEN),
        (passed("Edit tax.py"), passed("Edit test_invoice.py"), RED, EDITED, GREEN),
        (EDITED, RED, EDITED, GREEN),
        (RED, user("It rounds too early."), EDITED, GREEN),
        (),
    ],
)
def test_what_a_check_refused_and_what_no_first_fix_proves_is_a_failure(entries: tuple[Entry, ...]) -> None:
    assert kinds_of(*entries, FAILURE) == [CandidateKind.FAILURE]


def test_a_failure_s_title_is_the_sentence_of_its_cause_that_says_the_most() -> None:
    told = "The amount was rounded before the tax was added."
    assert _one(*found_in(RED, EDITED, GREEN, replace(FAILURE, cause=f"Two issues here. {told}"))).summary == told


REPLY = Grounds(Source.REPLY, 0.85, ("64403031",))
BEFORE = "Only three callers use the old name."


def _replied(text: str, *outcomes: str) -> list[Candidate]:
    noted = tuple(FindingItem("outcome", one, None, Grounds(Source.SUMMARY, 0.9)) for one in outcomes)
    decision = Decision(text, BEFORE, by="user", grounds=REPLY)
    reply = user(text.rpartition(" → ")[2])
    return detect(session_of(reply, decision, *map(said, outcomes), findings=noted))


def test_a_yes_decided_what_was_done_then() -> None:
    asked = "Want me to rename the command? → yes"
    found = _one(*_replied(asked, "The command is called tidy now."))
    assert found.summary == "The command is called tidy now."
    assert found.detail == f"Asked: {asked}\n\nBefore: {BEFORE}"
    assert _replied("Want me to rename it, or keep the name? → yes") == []
    assert _replied(asked, "All checks pass.") == []


def test_what_another_turn_did_was_not_decided_by_a_yes() -> None:
    done = FindingItem("outcome", "The command is called tidy now.", None, Grounds(Source.SUMMARY, 0.9))
    yes = Decision("Want me to rename the command? → yes", by="user", grounds=REPLY)
    assert detect(session_of(user("go on"), yes, said(done.text), findings=(done,))) == []


def test_a_reply_that_tells_enough_is_what_was_decided() -> None:
    question, reply = "Want me to rename it?", "yes, but keep an alias for the old command"
    found = _one(*_replied(f"{question} → {reply}", "The command is called tidy now."))
    assert found.summary == reply
    assert found.detail == f"Asked: {question}\n\nBefore: {BEFORE}\n\nDone: The command is called tidy now."


def test_a_reply_that_tells_little_needs_its_question_and_one_that_tells_nothing_is_none() -> None:
    short = "Should the limit stay at 50? → maybe raise it to 100"
    found = _one(*_replied(short, "All checks pass."))
    assert (found.summary, found.detail) == (short, f"Before: {BEFORE}")
    assert _replied("Shall I go on with more of them? → okay now let's do 6,7,8,10") == []


def test_an_instruction_has_how_it_was_done_and_what_came_of_it_and_is_only_listed() -> None:
    words = "Show the date on every line of the list"
    noted = [FindingItem("instruction", one, "I change the template.", REPLY) for one in (words, "go on", f"{words}?")]
    assert detect(session_of(user(words), findings=tuple(noted))) == []
    done = FindingItem("outcome", "The list has dates.", None, Grounds(Source.SUMMARY, 0.9))
    found = _one(*detect(session_of(user(words), said(done.text), findings=(*noted, done))))
    assert (found.kind, found.confidence) == (CandidateKind.DECISION, PROPOSED)
    assert (found.summary, found.detail) == (
        words,
        "How: I change the template.\n\nDone: The list has dates.",
    )


@pytest.mark.parametrize(
    ("words", "confidence"),
    [
        ("Keep the orders in the fixture file", 0.87),
        ("Use subagents to save the main context", 0.8),
        ("wait, let's talk about this", None),
    ],
)
def test_a_stop_is_ticked_only_if_the_words_name_something_of_what_was_stopped(
    words: str, confidence: float | None
) -> None:
    grounds = Grounds(Source.REJECTION, 0.87, ("5ad1908e",))
    found = detect(session_of(findings=(FindingItem("correction", words, "refused: Edit orders.json", grounds),)))
    assert [one.confidence for one in found] == ([] if confidence is None else [confidence])


def test_tests_that_had_to_fail_first_and_slips_in_fresh_lines_are_none() -> None:
    assert kinds_of(passed("Write test_invoice.py"), RED, EDITED, GREEN, FAILURE) == []
    unbuilt = failed("Bash go test ./...", "app.go:33:15: undefined: fmt")
    slip = (passed("Edit app.go"), unbuilt, passed("Edit app.go"), passed("Bash go test ./..."))
    assert kinds_of(*slip, FAILURE) == []


def test_a_recorded_failure_needs_a_resolution_and_no_cause() -> None:
    told = _one(*found_in(Failure("The export was empty.", "It reads the right table now.")))
    assert (told.kind, told.source) == (CandidateKind.FAILURE, Source.CALLOUT)
    assert found_in(Failure("The export was empty.")) == []


def test_a_user_refused_to_have_a_file_changed_that_the_fix_changed() -> None:
    refused = Intervention("use the other table", "refused: Edit src/invoice.py")

    def told(*entries: Entry) -> str:
        report = _one(*found_in(*entries)).report
        assert report
        return report.corrected

    assert told(refused, RED, EDITED, GREEN, FAILURE) == "use the other table"
    assert told(RED, EDITED, GREEN, FAILURE, refused) == ""
    assert told(replace(refused, note="refused: Edit b.py"), RED, EDITED, GREEN, FAILURE) == ""
    assert told(user("change invoice.py"), RED, EDITED, GREEN, FAILURE) == ""


# --- records of decisions --------------------------------------------------------------------------------------------


@for_each(
    "path",
    [
        "docs/adr/0007-use-sqlite.md", "doc/arch/ADR-12.adoc", "adr/why-grpc.md", "services/pay/ADR/0001-x.markdown", "docs/decisions/0003-keys.md",
        "docs/architecture-decisions/keys.rst", "docs/architecture/decisions/0001-record.md", "architektur/entscheidungen/004-suche.md", "docs/decision-records/a.md",
    ],
)  # fmt: skip
def test_a_record_of_a_decision_is_known_by_its_path(path: str) -> None:
    assert is_decision_record(path)


@for_each(
    "path",
    [
        "lib/decision_tree.rb", "src/address/adr_lookup.ts", "docs/adr-tool-manual.html", "docs/adr/README.md", "docs/adr/template.md", "src/adr_parser.py",
        "docs/quadrants.md", "README.md", ".github/ISSUE_TEMPLATE/bug.md",
    ],
)  # fmt: skip
def test_what_is_about_records_is_none(path: str) -> None:
    assert not is_decision_record(path)


def test_a_record_is_one_candidate_however_often_it_changed() -> None:
    path = "docs/adr/0007-use-sqlite.md"
    found = _one(*found_in(passed(f"Write {path}"), passed(f"Edit {path}"), passed(f"Bash cat {path}")))
    assert (found.kind, found.file, found.line) == (CandidateKind.ADR, path, 1)
    assert found.confidence > 0.9
    assert "use sqlite" in found.summary
    assert subject_of(path) == "use sqlite"


@pytest.mark.parametrize(
    "command",
    ["envsubst < t.md > docs/adr/0007-a.md", "cp t.md .adr/0007-a.md", "tee docs/architecture/0007-a.md"],
)
def test_a_record_put_there_by_any_program_counts(command: str) -> None:
    assert kinds_of(passed(f"Bash {command}")) == [CandidateKind.ADR]


def test_a_record_that_an_agent_wrote_has_its_own_text() -> None:
    path = "docs/adr/0007-use-sqlite.md"
    call, evidence = written(path, "# 7. Use SQLite\n\n## Context\n\nOne file.\n")
    found = _one(*found_in(call, evidence=evidence))
    assert (found.summary, found.detail) == ("7. Use SQLite", "**Context**\n\nOne file.")


def test_a_record_that_is_looked_at_is_none() -> None:
    for command in ("cat docs/adr/0007-a.md > /tmp/a", "git add docs/adr/0007-a.md", "ls .adr"):
        assert kinds_of(passed(f"Bash {command}")) == [], command


def test_a_record_made_in_the_shell_counts_and_one_refused_or_read_does_not() -> None:
    assert kinds_of(passed("Bash cp docs/template.md docs/adr/0009-queues.md")) == [CandidateKind.ADR]
    assert kinds_of(passed('Bash adr new "queues"', "docs/adr/0010-queues.md")) == [CandidateKind.ADR]
    assert kinds_of(passed("Bash ls docs/adr", "0001-a.md"), passed("Bash cat docs/adr/0001-a.md")) == []
    refused = ToolCalls((ToolCall("Write docs/adr/0011-x.md", "", Outcome.REJECTED),))
    assert kinds_of(refused) == []


# --- outside APIs ----------------------------------------------------------------------------------------------------


def test_a_record_that_was_deleted_again_is_none() -> None:
    path = "docs/adr/0007-use-sqlite.md"
    assert kinds_of(passed(f"Write {path}"), passed(f"Bash rm {path} && git add -A")) == []
    moved = kinds_of(passed(f"Write {path}"), passed(f"Bash git mv {path} docs/adr/0008-use-sqlite.md"))
    assert moved == [CandidateKind.ADR]


def test_code_that_calls_an_outside_api_is_a_pattern_at_seven_tenths() -> None:
    call, evidence = written("shop/pay.py", 'answer = httpx.post("https://api.stripe.com/v1/refunds", json=order)\n')
    found = _one(*found_in(call, evidence=evidence))
    assert (found.kind, found.confidence) == (CandidateKind.PATTERN, 0.7)
    assert "api.stripe.com" in found.summary
    assert found_in(call) == []  # without whole arguments nothing is known of it


def _calls(path: str, content: str) -> int:
    call, evidence = written(path, content)
    return len([*apis_in(moments_of(session_of(call), evidence))])


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("shop/pay.py", '# see https://api.stripe.com/docs, requests.get("x")\n'),
        ("shop/pay.py", 'answer = httpx.get("https://example.org/api/a")\n'),
        ("README.md", 'httpx.post("https://api.stripe.com/v1/refunds")\n'),
        ("settings.toml", 'url = "https://api.stripe.com/v1/refunds"\n'),
        ("tests/test_pay.py", 'httpx.post("https://api.stripe.com/v1/refunds")\n'),
        ("shop/pay.py", 'answer = httpx.get("http://localhost:8080/api/a")\n'),
        ("a.py", 'open("https://github.com/a/b")'),
    ],
)
def test_an_address_is_no_call(path: str, content: str) -> None:
    assert _calls(path, content) == 0


@pytest.mark.parametrize(
    "line", ['requests.get("https://api.github.com/repos/a/b")', 'connect("wss://stream.kraken.com/v2")']
)
def test_an_api_is_known_by_its_host_or_its_path(line: str) -> None:
    assert _calls("a.py", line) == 1


def test_of_a_patch_each_file_has_what_it_holds_afterwards() -> None:
    patch = """*** Begin Patch
*** Update File: shop/pay.py
@@
-post("https://api.old.com/v1/a")
+post("https://api.stripe.com/v1/refunds")
*** Update File: shop/ship.py
@@
 get("https://api.dhl.com/track")
*** End Patch
"""
    records = [
        EventRecord(1, "ToolUsed", values={"name": "apply_patch", "call": "a", "arguments": {"input": patch}}),
        EventRecord(2, "ToolReturned", values={"call": "a", "end": "ok", "text": "done"}),
    ]
    line = call_line("apply_patch", {"input": patch})
    found = found_in(passed(line), evidence=recorded_calls_of(records))
    assert [one.summary for one in found] == [
        "pay.py calls api.stripe.com/v1/refunds",
        "ship.py calls api.dhl.com/track",
    ]


# --- evidence --------------------------------------------------------------------------------------------------------


def test_a_quantity_that_a_command_printed_and_the_agent_repeats_is_evidence() -> None:
    bench = passed("Bash python bench/scale.py 1000 1000000", "decode: 12 ms per row, 31 MB")
    found = _one(*found_in(bench, said("It scales. Decoding takes 12ms per row with a million rows.")))
    assert (found.kind, found.source) == (CandidateKind.EVIDENCE, "python bench/scale.py 1000 1000000")
    assert found.summary == "Decoding takes 12ms per row with a million rows."
    assert "31 MB" in found.detail
    assert found.confidence > 0.8


@pytest.mark.parametrize(
    ("command", "printed", "words"),
    [
        ("pytest", "91 passed in 3.2s", "All 91 tests pass in 3.2s, the change is safe."),
        ("python bench/scale.py", "12 ms per row", "That works. Now the docs are next."),
        ("python bench/scale.py", "12 ms per row", "It should take less than 10 ms per row."),
        ("cat bench/results.txt", "12 ms per row", "Decoding took 12 ms per row last week."),
    ],
)
def test_a_suite_that_passes_and_words_without_what_was_measured_are_none(
    command: str, printed: str, words: str
) -> None:
    assert found_in(passed(f"Bash {command}", printed), said(words)) == []
    assert found_in(failed(f"Bash {command}", printed), said(words)) == []


# --- all of it -------------------------------------------------------------------------------------------------------


def test_words_alone_are_no_candidates() -> None:
    assert (
        found_in(
            said("I chose a token bucket over a sliding log because it needs constant memory per key."),
            user("Always use tabs from now on."),
            said("I was wrong: the window slides. The lesson is to take the clock as an argument."),
            failed("Bash make docs", "guide.md:21: unknown heading"),
            said("The heading was renamed, because nobody looked."),
            passed("Edit guide.md"),
            passed("Bash make docs", "41 pages"),
        )
        == []
    )


def test_candidates_come_in_the_notes_order_and_none_below_what_is_proposed() -> None:
    unsure = Decision("No cache.", grounds=Grounds(Source.REPLY, 0.5))
    found = found_in(Decision("Use SQLite."), passed("Write docs/adr/0001-a.md"), unsure, Decision("No retries."))
    assert [one.summary for one in found] == ["Use SQLite.", "Decision record: a", "No retries."]
    assert all(one.confidence >= PROPOSED for one in found)


_WORDS = st.lists(st.sampled_from([*"ab i:;,.?!'`>#-*\n—、。é", "12 ms ", "refused: "]), max_size=40).map("".join)
_GROUNDS = st.one_of(st.none(), st.builds(Grounds, st.sampled_from(Source), st.floats(0, 1)))
_ENTRIES = st.one_of(
    _WORDS.map(Prose),
    st.builds(Intervention, _WORDS, _WORDS),
    st.builds(Decision, _WORDS.filter(str.strip), _WORDS, _WORDS, grounds=_GROUNDS),
    st.builds(Failure, _WORDS.filter(str.strip), _WORDS, _WORDS, _GROUNDS),
    st.builds(lambda call, result, end: ToolCalls((ToolCall(call, result, end),)), _WORDS, _WORDS, st.sampled_from(Outcome)),
)  # fmt: skip


@given(st.lists(_ENTRIES, max_size=8))
def test_any_session_has_candidates_that_are_sane(entries: list[Prose]) -> None:
    for one in found_in(*entries):
        assert 0.6 <= one.confidence <= 1
        assert one.summary
        assert "\n" not in one.summary
        assert one.phase == "phase-1"
        assert one.line >= 1


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    ["12 ms " * 9_000, "1" * 60_000, "1." * 30_000, "a/" * 30_000, "a:1:" * 15_000, "> [!x]\n" * 9_000],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    began = time.process_time()
    found_in(
        passed("Bash make x", text),
        said(text),
        Failure(text, text, text),
        Failure(text, text, text, FIX),
        passed(f"Bash {text}", text),
    )
    assert time.process_time() - began < 2.0


@pytest.mark.timed
def test_time_grows_with_the_session_alone() -> None:
    unit = (
        failed("Bash make", "no"),
        said("12 ms"),
        passed("Edit a.py"),
        Decision("Keep it."),
        Failure("pytest: a", "b", "c", FIX),
    )

    def seconds(count: int) -> float:
        session = session_of(*(unit * count))
        began = time.process_time()
        detect(session)
        return time.process_time() - began

    seconds(5)
    assert seconds(240) < 14 * seconds(40) + 0.2


def test_every_candidate_of_the_example_says_its_finding_or_is_proved_by_a_call() -> None:
    vault = Vault(ROOT / "vault-example")
    named = 0
    for path in sorted(vault.sessions.glob("*.md")):
        session = vault.read(path).session
        found = {one.id: one for one in findings_of(session)}
        for one in detect(session):
            if one.kind in (CandidateKind.ADR, CandidateKind.EVIDENCE, CandidateKind.PATTERN):
                assert not one.finding
                continue
            named += 1
            assert " ".join(found[one.finding].summary.split()) in f"{one.summary}\n{one.detail}"
    assert named
