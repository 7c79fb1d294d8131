"""The attribution of a puzzle's failure: its report, and that nothing else in the case changes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from crucible.analysis.failure_causes import TEMPLATE, classify
from crucible.commands.learn.case import Case, Fault, Puzzle, with_digest
from crucible.commands.learn.case_notes import read_case, render_case
from crucible.commands.learn.puzzle_cases import attribute, judge_case, report_of
from crucible.core.errors import AgentFailed
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import SecretSettings, VaultSettings
from crucible.core.templates import OwnTemplate
from crucible.documents.knowledge.items import Category, FailureReport
from crucible.documents.markdown.source import Source
from tests.saying import Says
from tests.trusting import trusted
from tests.unit.commands.learn.sample_cases import (
    OPEN,
    PUZZLE,
    any_case,
    assistant_turn,
    case_of,
    made_cases,
    tool,
    used,
    user_turn,
)

REDACT = redact_of(SecretSettings())
SECRET = "ghp_" + "a1B2" * 9
SED = Puzzle(
    goal="Replace it.",
    state="",
    tried=(
        used("t1", "Read", path="a.txt"),
        tool("t1", "a/b"),
        used("t2", "Bash", "Now I replace it.", command="sed -i 's/a/b/c/' a.txt"),
        tool("t2", "sed: -e expression #1, char 8: unknown option to `s'", failed=True),
        assistant_turn("The slash ends the pattern."),
        user_turn("Hm."),
        used("t3", "Bash", command="sed -i 's/a\\/b\\/c/' a.txt"),
        tool("t3", "sed: unterminated", failed=True),
    ),
    failure="sed: -e expression #1, char 8: unknown option to `s'",
    expected="Another delimiter.",
    solution=(used("t4", "Bash", command="sed -i 's|a/b|c|' a.txt"), tool("t4", "")),
)


GOOD = json.dumps(
    {
        "category": "knowledge_gap",
        "root_cause": "What s takes.",
        "preventable_with": "A note.",
        "confidence": 0.7,
    }
)


def body(case: Case) -> Puzzle:
    assert isinstance(case.body, Puzzle)
    return case.body


# --- the report ------------------------------------------------------------------------------------------------------


def test_a_report_has_the_message_the_failed_call_and_the_fix() -> None:
    assert report_of(case_of(SED)) == FailureReport(
        error=SED.failure,
        context="Replace it.",
        tool="Bash",
        call="sed -i 's/a/b/c/' a.txt",
        resolution="sed -i 's|a/b|c|' a.txt",
        files="a.txt",
    )


def test_another_kind_of_fix_is_reported_in_words() -> None:
    report = report_of(case_of(PUZZLE))
    assert report is not None
    assert (report.call, report.resolution) == ("python app.py --fail", "It tries again with backoff.")


def test_a_message_without_a_matching_result_belongs_to_the_first_failed_call() -> None:
    report = report_of(case_of(replace(SED, failure="[!error] it")))
    assert report is not None
    assert report.call == "sed -i 's/a/b/c/' a.txt"


def test_a_puzzle_without_a_call_is_reported_without_one() -> None:
    report = report_of(case_of(OPEN))
    assert report == FailureReport("Permission denied", context="Deploy.")


def test_a_call_that_passes_when_repeated_failed_by_chance() -> None:
    tried = (used("t1", "Bash", command="make test"), tool("t1", "E: assert 1 == 2", failed=True))
    puzzle = Puzzle("Go.", "", tried, "E: assert 1 == 2")
    passed = attribute(case_of(puzzle, verification="make test"))
    found = body(passed).attribution
    assert found is not None
    assert found.category is Category.EXECUTION_ERROR


@pytest.mark.parametrize("fault", [one for one in Fault if one is not Fault.AGENT])
def test_a_failure_that_was_not_the_agents_has_no_report(fault: Fault) -> None:
    case = case_of(PUZZLE, fault=fault)
    assert report_of(case) is None
    assert attribute(case) is case


def test_only_puzzles_have_a_report() -> None:
    others = [case for case in made_cases() if not isinstance(case.body, Puzzle)]
    assert len(others) == 5
    for case in others:
        assert report_of(case) is None
        assert attribute(case) is case
        assert judge_case(case, Says(), REDACT) == (case, "")


# --- by rules --------------------------------------------------------------------------------------------------------


def test_attribution_by_rules_changes_nothing_else() -> None:
    case = with_digest(case_of(SED))
    report = report_of(case)
    assert report is not None
    found = attribute(case)
    assert found == replace(case, body=replace(SED, attribution=classify(report)))
    assert body(found).attribution == classify(report)
    by_rule = classify(report)
    assert by_rule
    assert by_rule.category is Category.TOOL_MISUSE
    assert with_digest(found) == found
    assert attribute(found) == found


@given(any_case())
def test_any_case_is_attributed_and_reads_back(case: Case) -> None:
    found = attribute(case)
    assert (found.id, found.digest, found.tokens) == (case.id, case.digest, case.tokens)
    assert read_case(Source(render_case(found)), found.id).case == found


# --- by a model ------------------------------------------------------------------------------------------------------


def test_an_agents_attribution_replaces_that_of_the_rules() -> None:
    case = attribute(case_of(SED))
    found, problem = judge_case(case, Says(GOOD, model="small-model"), REDACT)
    attribution = body(found).attribution
    assert problem == ""
    assert attribution is not None
    assert (attribution.category, attribution.judge) == (Category.KNOWLEDGE_GAP, "small-model")
    assert replace(found, body=SED) == case_of(SED)


def test_without_an_answer_the_rules_decide_and_the_problem_is_returned() -> None:
    asker = Says("no", AgentFailed("it is\ndown"))
    found, problem = judge_case(case_of(SED), asker, REDACT)
    assert found == attribute(case_of(SED))
    assert problem == "it is down"
    assert len(asker.prompts) == 2


def test_neither_the_agent_nor_the_rules_see_a_secret() -> None:
    leaky = replace(
        SED,
        goal=f"With {SECRET}.",
        failure=f"unknown option: {SECRET}",
        tried=(
            used("t1", "Bash", command=f"login {SECRET}"),
            tool("t1", f"unknown option: {SECRET}", failed=True),
        ),
        expected=f"As {SECRET}.",
    )
    asker = Says("no", GOOD.replace("What s takes.", SECRET))
    found, problem = judge_case(case_of(leaky), asker, REDACT)
    assert problem == ""
    by_rules, _ = judge_case(case_of(leaky), Says("no", "no"), REDACT)
    for told_ in (*asker.prompts, str(body(found).attribution), str(body(by_rules).attribution)):
        assert SECRET not in told_
    assert "[REDACTED" in str(body(by_rules).attribution)


def test_the_vaults_own_template_is_used(tmp_path: Path) -> None:
    path = tmp_path / ".crucible" / "templates" / "attribution.md.j2"
    path.parent.mkdir(parents=True)
    path.write_text("Mine.\n{{ rules }}{{ report }}{{ refused }}", encoding="utf-8")
    asker = Says(GOOD)
    judge_case(case_of(SED), asker, REDACT, TEMPLATE.of(trusted(tmp_path)))
    assert asker.prompts[0].startswith("Mine.\nYou are given")
    assert isinstance(TEMPLATE.of(VaultSettings()), OwnTemplate)
