"""Terms on a ClickHouse server, and the scores of sessions, without the server."""

from __future__ import annotations

from crucible.search.clickhouse.stored_terms import LEVELED, LEVELS, level_term, leveled, stored_term, times_of
from crucible.search.embedded.index_format import KINDS
from crucible.search.recall import EventKind
from crucible.search.team.terms import TermCounts, rows_of, terms_of_head
from samples.pushed_documents import document


def test_stored_terms_have_no_spaces_and_differ_by_kind() -> None:
    terms = ["wrun", "nrun", "frun:", "fphase:run the tests", "w2run"]
    stored = [*map(stored_term, terms), level_term(2, "wrun")]
    assert len({*stored}) == 6
    assert not [one for one in stored if " " in one]


def test_terms_are_stored_in_the_order_of_the_text() -> None:
    found = leveled(TermCounts(["fkind:user", "wlimit", "wrun", "wtest"], [1, 1, 3, 1]), "Running the tests: limits")
    assert found == [":kind:user", "run", "test", "limit", level_term(2, "wrun")]


def test_times_are_estimated_between_the_levels() -> None:
    for times in (1, 2, 3, 4, 8, 20):
        estimate = times_of([1, *(int(times >= level) for level in LEVELS)])
        assert 1 + len(LEVELS) == LEVELED
        # BM25 with its usual constants, of a text of mean length
        assert abs(estimate / (estimate + 1.2) - times / (times + 1.2)) < 0.12


def test_the_head_of_a_session_has_what_its_events_do_not_have() -> None:
    rows = rows_of(document(1, said="rocket plans"))
    head = terms_of_head(rows)
    tool = KINDS.index(EventKind.TOOL)
    said = {term for one in rows.terms if rows.kinds[one.number] != tool for term in (*one.counts, *one.names)}
    assert {*head.terms} | said >= {term for term in rows.counts if not term.startswith("f")}
    assert not [term for term in head.terms if term.startswith("f") or term == "wrocket"]
