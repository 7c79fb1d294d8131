"""The evaluation over real sessions measures what it says, on two invented sessions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from samples.recall_eval.real_measuring import (
    Found,
    Shown,
    certainty,
    changes,
    figures_of,
    groups_by,
    interval,
    judge,
    misses,
    report,
    table,
)
from samples.recall_eval.real_questions import NONE, AnswerTexts, RealAnswer, RealQuestion, read_real_questions
from samples.recall_eval.real_recall import Corpus, CruRecall, any_of, fts5, import_real, native_ids, telling
from tests.unit.clients.building import assistant, text, user
from tests.unit.commands.imports.places import write_rows

LAMP, PIER = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"
BULB = "The bulb went dark because salt water crept into the socket, so we filled the socket with wax last night."
PLANK = "We chose oak for the planks of the pier, since pine rots within four winters when the tide reaches it."
WHY = RealQuestion("why", "why did the bulb go dark", (RealAnswer(LAMP, ("lamp-2",)),))
WHAT = RealQuestion("what", "which wood for the planks of the pier", (RealAnswer(PIER, ("pier-2", "pier-9")),))
NOBODY = RealQuestion(NONE, "who paints the harbour office", ())
ALL = (WHY, WHAT, NOBODY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions about a harbour."""
    folder = tmp_path_factory.mktemp("real")
    for session, name, asked, said in ((LAMP, "lamp", "What is wrong?", BULB), (PIER, "pier", "Which wood?", PLANK)):
        rows = [
            user(asked, sessionId=session, uuid=f"{name}-1"),
            assistant(text(said), stop="end_turn", sessionId=session, uuid=f"{name}-2"),
        ]
        write_rows(folder / "-home-dev-harbour" / f"{session}.jsonl", rows)
    return folder


@pytest.fixture(scope="module")
def texts(folder: Path) -> AnswerTexts:
    return AnswerTexts(folder, ALL)


@pytest.fixture
def vault_root(folder: Path, tmp_path: Path) -> Path:
    root = tmp_path / "harbour"
    import_real(root, folder)
    return root


def test_cru_recall_finds_and_shows_the_row_that_answers(vault_root: Path, texts: AnswerTexts) -> None:
    recall = CruRecall(vault_root)
    for question in (WHY, WHAT):
        outcome = judge(question, recall.ask(question.text), texts)
        assert (outcome.r1, outcome.r5, outcome.mrr, outcome.first, outcome.shown) == (1, 1, 1, 1, 1)
        assert outcome.found.score > 0


def test_a_sessions_passage_answers_but_is_no_hit(texts: AnswerTexts) -> None:
    outcome = judge(WHY, Found((PIER, LAMP), (Shown(PIER, PLANK),), passages=(Shown(LAMP, BULB),)), texts)
    assert (outcome.shown, outcome.whole) == (0, 1)


def test_a_question_about_nothing_has_no_rank(vault_root: Path, texts: AnswerTexts) -> None:
    outcome = judge(NOBODY, CruRecall(vault_root).ask(NOBODY.text), texts)
    assert (outcome.r1, outcome.r5, outcome.mrr, outcome.first, outcome.shown) == (0, 0, 0, 0, 0)


def test_a_subagents_note_counts_for_its_parent(vault_root: Path) -> None:
    lines = ["---", "type: session", "---", "", "%%", "sources:", f"  - claude-code:{LAMP}/agent-7", "%%", ""]
    (vault_root / "sessions" / "child.md").write_text("\n".join(lines))
    natives = native_ids(vault_root)
    assert natives["child"] == LAMP
    assert sorted(natives.values()) == [LAMP, LAMP, PIER]


def test_rank_is_that_of_the_first_session_that_answers(texts: AnswerTexts) -> None:
    outcome = judge(WHY, Found((PIER, PIER, LAMP), (Shown(PIER, BULB), Shown(LAMP, "Elsewhere."))), texts)
    assert (outcome.r1, outcome.r5, outcome.mrr) == (0, 1, 1 / 3)
    assert (outcome.first, outcome.shown) == (0, 0)
    assert judge(WHY, Found((PIER,) * 5 + (LAMP,)), texts).r5 == 0


@pytest.mark.parametrize(
    ("passage", "shows"),
    [
        (BULB, True),
        (f"agent: … {BULB[9:100]} …", True),
        (BULB.upper().replace(",", " *"), True),
        ("The bulb went dark because salt", False),
        ("we filled the bulb with salt because the socket went dark last night", False),
    ],
)
def test_a_passage_shows_a_row_if_it_has_a_dozen_of_its_words_in_a_row(
    texts: AnswerTexts, passage: str, shows: bool
) -> None:
    assert texts.are_in(LAMP, passage, WHY) is shows


def test_a_passage_of_another_session_never_answers(texts: AnswerTexts) -> None:
    assert not texts.are_in(PIER, BULB, WHY)
    assert judge(WHY, Found((), (Shown(PIER, BULB),)), texts).first == 0


def test_a_hit_counts_for_the_sessions_folded_into_it(texts: AnswerTexts) -> None:
    assert judge(WHY, Found((), (Shown(PIER, BULB, (LAMP,)),)), texts).first == 1


def test_questions_about_other_folders_are_skipped(folder: Path) -> None:
    elsewhere = RealQuestion("what", "how high is the tower", (RealAnswer("33333333", ("x",)),))
    texts = AnswerTexts(folder, [*ALL, elsewhere])
    assert [texts.has(one) for one in (*ALL, elsewhere)] == [True, True, True, False]


def test_fts5_has_the_same_events(vault_root: Path, texts: AnswerTexts) -> None:
    corpus = Corpus(vault_root, Path(), native_ids(vault_root))
    found = dict(fts5(corpus, [one.text for one in ALL]))
    assert sorted(found) == ["FTS5, events", "FTS5, whole sessions"]
    for each in found.values():
        judged = [judge(one, answer, texts) for one, answer in zip(ALL, each, strict=True)]
        assert [one.r1 for one in judged] == [1, 1, 0]
        assert [one.first for one in judged] == [1, 1, 0]


def test_questions_for_any_word_have_no_stop_words() -> None:
    assert telling("what is the tide?") == ["tide"]
    assert telling("what is it?") == ["what", "is", "it"]
    assert any_of("what is the harbour bulb") == '"harbour" OR "bulb"'


def test_tables_show_figures_by_kind_with_intervals(texts: AnswerTexts) -> None:
    outcomes = [
        judge(WHY, Found((LAMP,), (Shown(LAMP, BULB),), 3.0), texts),
        judge(WHAT, Found((LAMP,), (), 2.0), texts),
        judge(NOBODY, Found((LAMP,), (), 1.0, unsure=True), texts),
    ]
    lines = list(table("kind", groups_by(outcomes, lambda one: one.kind)))
    assert lines[2].startswith("| what | 1 | 0.0 [0, 0] |")
    assert lines[3] == "| why | 1" + " | 100.0 [100, 100]" * 6 + " |"
    assert lines[4].startswith("| all | 2 | 50.0 [0, 100] |")
    told = list(certainty([*outcomes, *(judge(one, Found(score=2.0), texts) for one in _both_halves())]))
    assert told[0].startswith('no answer: "nothing certain" for 1 of 1; best scores (least, quartiles, most) 1.00')
    assert told[-1].endswith("1 of 1 without")


def test_changes_compare_the_same_questions_of_two_runs(texts: AnswerTexts) -> None:
    before = {WHY.text: figures_of(judge(WHY, Found((PIER, LAMP)), texts))}
    now = [judge(WHY, Found((LAMP,)), texts), judge(WHAT, Found((PIER,)), texts)]
    lines = list(changes(now, before))
    assert lines[1].startswith("| kind, change | questions | R@1 |")
    assert lines[3].startswith("| why | 1 | 100.0 [100, 100] | 0.0 [0, 0] | 50.0 [50, 50] |")


def _both_halves() -> list[RealQuestion]:
    asked = [RealQuestion("what", f"zebra{name}", (RealAnswer(LAMP, ("lamp-2",)),)) for name in "abcdefgh"]
    assert {one.split for one in asked} == {"open", "held"}
    return asked


def test_an_interval_is_the_same_each_time_and_surrounds_the_mean() -> None:
    values = [1.0] * 30 + [0.0] * 70
    low, high = interval(values)
    assert (low, high) == interval(values)
    assert 0.2 < low < 0.3 < high < 0.4


def test_misses_show_open_questions_only(texts: AnswerTexts) -> None:
    outcomes = [judge(one, Found((PIER,)), texts) for one in _both_halves()]
    printed = "\n".join([*report(outcomes), *misses(outcomes)])
    for one in outcomes:
        assert (one.question.text in printed) is (one.question.split == "open")


def test_there_are_enough_questions_of_every_kind_and_each_is_asked_once() -> None:
    questions = read_real_questions()
    kinds = Counter(one.kind for one in questions)
    assert len(questions) >= 200
    assert kinds["why"] >= 20
    assert kinds["fixed"] >= 15
    assert kinds[NONE] >= 10
    assert len({one.text for one in questions}) == len(questions)
    assert max(Counter(one.answers[0].session for one in questions if one.answers).values()) <= 3
    assert all((one.kind == NONE) is not bool(one.answers) for one in questions)
    assert all(answer.rows for one in questions for answer in one.answers)
    halves = Counter(one.split for one in questions)
    assert abs(halves["open"] - halves["held"]) < 30
