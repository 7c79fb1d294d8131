"""Months as partitions: older tables are migrated, old months dropped, and everyone sees their projects only."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from crucible.core.errors import ServerFailed
from crucible.search.postgres import server_tables
from crucible.search.recall import Question
from crucible.search.team_servers import open_pusher, open_team, set_up_server
from samples.postgres_server import Running, Team
from samples.pushed_documents import Held, document, documents, everything
from tests.unit.search.conftest import database
from tests.unit.search.team_checks import check_sees

NOW = datetime(2026, 11, 22, tzinfo=UTC)
OLD_ROWS = """
    INSERT INTO crucible.session_events (session_no, project, month, session_id, sequence, id, event_type, payload, more, created_at)
    SELECT e.session_no, e.project, e.month, e.session_id, e.sequence, e.id, e.event_type, e.payload, e.more, e.created_at FROM kept.events AS e;
    INSERT INTO crucible.postings (term, session_no, project, times, hits)
    SELECT p.term, (p.block << 10) | h.place, p.project, coalesce(sum((h.hit >> 32) & 2097151) FILTER (WHERE h.whole), 0),
        coalesce(array_agg((((h.hit >> 30) & 8388607) << 40) | (((h.hit >> 16) & 16383) << 24) | (h.hit & 65535) ORDER BY h.hit) FILTER (WHERE NOT h.whole), '{}')
    FROM kept.postings AS p CROSS JOIN LATERAL (
        SELECT hit, hit >> 53 AS place, false AS whole FROM unnest(p.hits) AS hit
        UNION ALL SELECT hit, hit >> 53, true FROM unnest(p.whole_hits) AS hit
    ) AS h WHERE p.term <> '' GROUP BY 1, 2, 3;
"""


def test_tables_of_the_version_before_are_migrated_without_loss(
    postgres: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database(postgres) as team:
        open_pusher(team.address(), "vault").push(documents(9))
        before = team.run(everything)
        team.run(
            "CREATE SCHEMA kept; CREATE TABLE kept.events AS SELECT * FROM crucible.session_events;"
            " CREATE TABLE kept.postings AS SELECT * FROM crucible.postings; CREATE TABLE kept.sessions AS SELECT * FROM crucible.sessions;"
            " CREATE TABLE kept.projects AS SELECT * FROM crucible.projects;"
            " DROP SCHEMA crucible CASCADE"
        )
        with monkeypatch.context() as older:
            older.setattr(server_tables, "_MIGRATIONS", server_tables._MIGRATIONS[:4])
            older.setattr(server_tables, "VERSION", 4)
            set_up_server(team.address())
        team.run("INSERT INTO crucible.projects OVERRIDING SYSTEM VALUE SELECT * FROM kept.projects")
        team.run("SELECT crucible.make_month(month) FROM (SELECT DISTINCT month FROM kept.sessions) AS m")
        team.run("SELECT crucible.grant_project('anna', 'zeus')")
        team.run("INSERT INTO crucible.sessions OVERRIDING SYSTEM VALUE SELECT * FROM kept.sessions")
        team.run(OLD_ROWS)
        # The owner may have given up access: what is there is migrated all the same.
        team.run("SELECT crucible.revoke_project('owner', '*')")
        assert set_up_server(team.address())
        assert not set_up_server(team.address())
        assert open_team(team.address("anna")).state()[3:5] == (4, 24)
        team.run("SELECT crucible.grant_project('owner', '*', true)")
        assert team.run(everything) == before
        assert open_pusher(team.address(), "vault").push(documents(9)).same == 9


def test_a_pruned_month_is_gone_and_stays_gone(team: Team) -> None:
    undated = document(3)._replace(started=None, events=tuple(e._replace(at=None) for e in document(3).events))
    held = Held([document(1), document(2), undated])
    pusher = open_pusher(team.address(), "vault")
    pusher.push(held)
    assert team.run("SELECT to_char(month, 'YYYY-MM') FROM crucible.sessions ORDER BY 1") == [
        ("2000-01",),
        ("2026-03",),
        ("2026-04",),
    ]
    team.run("SELECT crucible.revoke_project('owner', '*')")
    assert team.run("SELECT crucible.prune(%s)", [date(2026, 4, 20)]) == [(1,)]
    team.run("SELECT crucible.grant_project('owner', '*', true)")
    left = {"crucible.session_events_2000_01", "crucible.session_events_2026_04"}
    found = team.run(
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'crucible.session_events'::regclass"
    )
    assert {name for (name,) in found} == left
    again = pusher.push(held)
    assert (again.expired, again.same) == (1, 2)
    with pytest.raises(ServerFailed, match="refused it"):
        team.run("SELECT crucible.make_month('2026-03-01')")
    assert [one.session for one in open_team(team.address()).ask(Question("session:s-0"), NOW).sessions] == [
        "s-00002",
        "s-00003",
    ]


def test_rows_of_many_pushes_are_merged(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault", batch=1)
    pusher.push(documents(6))
    before = team.run(everything)
    (many,) = team.run("SELECT count(*) FROM crucible.postings")[0]
    asked = open_team(team.address())
    answer = asked.ask(Question("word1 word2 retry"), NOW)
    team.run("SELECT crucible.merge()")
    assert team.run("SELECT count(*) FROM crucible.postings")[0][0] < many
    assert team.run("SELECT crucible.merge()") == [(0,)]
    assert team.run(everything) == before
    assert asked.ask(Question("word1 word2 retry"), NOW) == answer
    pusher.sync(Held([]), force=True)
    assert team.run("SELECT sum(events), sum(sessions) FROM crucible.postings") == [(0, 0)]


def test_three_users_see_their_projects_only_in_every_query_and_partition(team: Team) -> None:
    said = {"apollo": document(1, said="rocket plans"), "zeus": document(2, project="zeus", said="thunder plans")}
    open_pusher(team.address(), "vault").push(Held(said.values()))
    team.run("SELECT crucible.grant_project('anna', 'apollo'), crucible.grant_project('ben', 'zeus', true)")
    for role, seen in (("anna", {"apollo"}), ("ben", {"zeus"}), ("owner", {"apollo", "zeus"})):
        asked = open_team(team.address(role))
        check_sees(asked, seen, said)
        assert set(asked.state().readable) == seen
        asked.close()
        for partition in ("session_events_2026_04", "postings_2026_03", "postings_2026_04"):
            told = team.psql(role, f"SELECT count(*) FROM crucible.{partition};")
            assert "permission denied" in told.stderr or told.stdout.strip() == "0"
        if role != "owner":
            for call in ("prune('2030-01-01')", "merge()", "make_month('2026-05-01')" if role == "anna" else "merge()"):
                assert "permission denied" in team.psql(role, f"SELECT crucible.{call};").stderr
