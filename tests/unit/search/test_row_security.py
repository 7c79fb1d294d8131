"""Row-level security of the server, which also applies to `psql`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from crucible.core.errors import ServerFailed
from crucible.search.recall import EventKind, Question
from crucible.search.team_servers import open_pusher, open_team
from samples.postgres_server import Running, Team
from samples.pushed_documents import Held, document
from tests.unit.search.conftest import database

NOW = datetime(2026, 11, 22, tzinfo=UTC)
APOLLO, ZEUS = document(1, said="rocket plans"), document(2, project="zeus", said="thunder secret plans")
TABLES = ("sessions", "session_events", "postings", "projects", "members")


def _fill(team: Team) -> Team:
    """Two projects; anna may read one of them."""
    open_pusher(team.address(), "vault").push(Held([APOLLO, ZEUS]))
    team.run("SELECT crucible.grant_project('anna', 'apollo')")
    return team


@pytest.fixture
def filled(team: Team) -> Team:
    return _fill(team)


@pytest.fixture(scope="module")
def kept(postgres: Running) -> Iterator[Team]:
    """The same, shared by tests that change nothing."""
    with database(postgres) as team:
        _fill(team)
        team.run("ANALYZE", role="admin")
        team.run("GRANT CREATE ON SCHEMA public TO anna", role="admin")
        yield team


def test_a_user_without_projects_gets_a_one_line_error(filled: Team) -> None:
    with pytest.raises(ServerFailed, match="does not allow this user to do that") as failed:
        open_team(filled.address("ben")).ask(Question("plans"), NOW)
    assert "grant" in failed.value.hint


def test_members_find_their_projects_only(filled: Team) -> None:
    recall = open_team(filled.address("anna"))
    answer = recall.ask(Question("thunder rocket plans"), NOW)
    assert {hit.event.session for hit in answer.hits} == {APOLLO.session}
    assert [one.session for one in answer.sessions] == [APOLLO.session]
    assert recall.get([ZEUS.events[0].id, APOLLO.events[0].id]) == APOLLO.events[:1]
    assert recall.around(ZEUS.events[0].id, 1, 1) == ()
    assert recall.state() == ("anna", ("apollo",), (), 1, 6, False)


def test_hidden_rows_do_not_change_scores(filled: Team) -> None:
    anna = open_team(filled.address("anna"))
    before = anna.ask(Question("rocket plans"), NOW)
    open_pusher(filled.address(), "vault").push(Held([document(n, project="zeus", said="rocket") for n in range(3, 9)]))
    assert anna.ask(Question("rocket plans"), NOW) == before


@pytest.mark.parametrize("table", TABLES)
def test_psql_shows_a_member_nothing_of_other_projects(kept: Team, table: str) -> None:
    everything = kept.psql(
        "anna",
        f"SELECT t::text FROM crucible.{table} t;",
        f"SELECT t::text FROM crucible.{table} t WHERE t::text ~ 'zeus|thunder|s-00002|owner';",
    )
    assert everything.stdout.strip()
    assert "zeus" not in everything.stdout.replace("owner", "")
    assert "thunder" not in everything.stdout
    assert "s-00002" not in everything.stdout


@pytest.mark.parametrize(
    "query",
    [
        "SET ROLE owner; SELECT 'got' FROM crucible.sessions WHERE project = 2;",
        "SET SESSION AUTHORIZATION owner; SELECT 'got' FROM crucible.sessions WHERE project = 2;",
        "SET row_security = off; SELECT 'got' FROM crucible.sessions;",
        "ALTER TABLE crucible.sessions DISABLE ROW LEVEL SECURITY; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "DROP POLICY seen ON crucible.sessions; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "SELECT 'got', * FROM crucible.session_events_2026_04;",
        "INSERT INTO crucible.members SELECT 'anna', no, true FROM crucible.projects; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "UPDATE crucible.members SET project = NULL; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "UPDATE crucible.sessions SET project = 1; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "SELECT crucible.grant_project('anna', '*', true); SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "SELECT crucible.make_month('2026-01-01'); SELECT 'got' FROM pg_class WHERE relname = 'session_events_2026_01';",
        "DELETE FROM crucible.sessions RETURNING 'got';",
        "TRUNCATE crucible.sessions; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) = 0;",
        "SELECT 'got' FROM pg_stats WHERE schemaname = 'crucible' AND most_common_vals::text LIKE '%thunder%';",
        "SELECT 'got' FROM pg_statistic;",
        "COPY crucible.session_events TO STDOUT; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "CREATE FUNCTION crucible.readable() RETURNS int[] LANGUAGE sql AS $$ SELECT '{1,2}'::int[] $$; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
        "CREATE TEMP TABLE members AS SELECT 'anna'::regrole AS role, NULL::int AS project; SELECT 'got' WHERE (SELECT count(*) FROM crucible.sessions) > 1;",
    ],
)
def test_members_cannot_bypass_row_security(kept: Team, query: str) -> None:
    assert "got" not in kept.psql("anna", query).stdout
    assert kept.run("SELECT count(*) FROM crucible.sessions") == [(2,)]


@pytest.mark.parametrize(
    "text",
    [
        "project:zeus thunder",
        "-project:apollo plans",
        f"session:{ZEUS.session}",
        'thunder "secret plans"',
        "file:thunder -rocket",
        "type:user type:agent type:tool type:decision",
        "thunder') OR true OR ('' = '",
        "plans'; SET ROLE owner; --",
    ],
)
def test_no_question_finds_hidden_rows(kept: Team, text: str) -> None:
    anna = open_team(kept.address("anna"))
    for narrowed in (
        Question(text),
        Question(text, project="zeus"),
        Question(text, session=ZEUS.session),
        Question(text, kinds=frozenset({*EventKind} - {EventKind.KNOWLEDGE}), session="s-"),
    ):
        answer = anna.ask(narrowed._replace(limit=20), NOW)
        shown = {event.session for hit in answer.hits for event in (hit.event, *hit.before, *hit.after)}
        assert shown | {one.session for one in answer.sessions} <= {APOLLO.session}
        assert "thunder" not in repr(answer)
    anna.close()


def test_functions_show_a_member_nothing_more(kept: Team) -> None:
    """Our functions run with the rights of the caller; only `make_month` does not, and only writers may call it."""
    found = kept.run(
        "SELECT oid::regprocedure::text, prosecdef, has_function_privilege('anna', oid, 'EXECUTE') FROM pg_proc"
        " WHERE pronamespace = 'crucible'::regnamespace"
    )
    assert {name for name, as_owner, _ in found if as_owner} == {"crucible.make_month(date)"}
    assert not [name for name, as_owner, may in found if as_owner and may]
    assert kept.psql("anna", "SELECT crucible.readable();", "SELECT crucible.writable();").stdout == "{1}\n{}\n"


def test_a_view_or_function_of_the_owner_shows_each_member_their_projects(filled: Team) -> None:
    filled.run("CREATE SCHEMA shown")
    filled.run("CREATE VIEW shown.sessions AS SELECT session_id FROM crucible.sessions")
    filled.run("GRANT USAGE ON SCHEMA shown TO anna, ben; GRANT SELECT ON shown.sessions TO anna, ben")
    assert filled.psql("anna", "SELECT * FROM shown.sessions;").stdout == f"{APOLLO.session}\n"
    assert filled.psql("ben", "SELECT * FROM shown.sessions;").stdout == ""


def test_a_view_of_a_member_shows_no_hidden_rows(filled: Team) -> None:
    filled.run("GRANT CREATE ON SCHEMA public TO anna", role="admin")
    made = filled.psql(
        "anna",
        "CREATE VIEW public.mine AS SELECT session_id FROM crucible.sessions; GRANT SELECT ON public.mine TO ben;",
        "SELECT * FROM public.mine;",
    )
    assert APOLLO.session in made.stdout
    assert ZEUS.session not in made.stdout
    assert filled.psql("ben", "SELECT * FROM public.mine;").stdout == ""
    filled.run("SELECT crucible.grant_project('ben', 'zeus')")
    assert filled.psql("ben", "SELECT * FROM public.mine;").stdout == f"{ZEUS.session}\n"


def test_a_leaky_function_gets_no_hidden_row(kept: Team) -> None:
    result = kept.psql(
        "anna",
        "CREATE FUNCTION public.tell(text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE WARNING 'told %', $1; RETURN true; END $$;",
        "SELECT count(*) FROM crucible.session_events WHERE public.tell(payload::text);",
        "SELECT count(*) FROM crucible.postings WHERE public.tell(term);",
        "SELECT count(*) FROM crucible.projects WHERE public.tell(name);",
    )
    assert "rocket" in result.stderr
    assert "thunder" not in result.stderr
    assert "zeus" not in result.stderr


def test_row_security_applies_to_the_owner(filled: Team) -> None:
    filled.run("SELECT crucible.revoke_project('owner', '*')")
    for table in ("sessions", "session_events", "postings"):
        assert filled.run(f"SELECT count(*) FROM crucible.{table}") == [(0,)]
        assert filled.run(f"DELETE FROM crucible.{table} RETURNING 1") == []
    assert filled.run("SELECT count(*) FROM crucible.sessions", role="admin") == [(2,)]


def test_the_state_says_that_a_superuser_bypasses_row_security(filled: Team) -> None:
    assert open_team(filled.address("admin")).state().unbound


def test_a_writer_pushes_to_their_project_only(filled: Team) -> None:
    filled.run("SELECT crucible.grant_project('ben', 'apollo', true)")
    pusher = open_pusher(filled.address("ben"), "ben's vault")
    pushed = pusher.push(Held([document(3), document(4, project="zeus"), document(5, project="new")]))
    assert (pushed.new, pushed.refused) == (1, {"zeus": 1, "new": 1})
    assert filled.run("SELECT session_id FROM crucible.sessions ORDER BY 1") == [
        ("s-00001",),
        ("s-00002",),
        ("s-00003",),
    ]


def test_a_reader_cannot_push(filled: Team) -> None:
    pushed = open_pusher(filled.address("anna"), "vault").push(Held([document(3)]))
    assert (pushed.new, pushed.refused) == (0, {"apollo": 1})


def test_a_note_in_a_hidden_project_is_not_replaced(filled: Team) -> None:
    filled.run("SELECT crucible.grant_project('ben', 'apollo', true)")
    same = document(6, path=ZEUS.path)
    assert open_pusher(filled.address("ben"), "vault").push(Held([same])).refused == {"apollo": 1}
    assert open_pusher(filled.address("ben"), "vault").delete(ZEUS.session) == 0
    assert filled.run("SELECT session_id FROM crucible.sessions ORDER BY 1") == [("s-00001",), ("s-00002",)]


def test_rows_that_name_a_session_of_another_project_are_never_seen(filled: Team) -> None:
    """A writer adds rows that name a session of another project: a user who sees both does not find them."""
    filled.run("SELECT crucible.grant_project('ben', 'apollo', true)")
    forged = filled.psql(
        "ben",
        "INSERT INTO crucible.postings SELECT 'wgorgon', 1, '2026-04-01', 0, 9, 9, array_agg(no << 53 | 65537), array_agg(no << 53 | 1 << 16) FROM generate_series(1::bigint, 9) no;",
        "INSERT INTO crucible.session_events (session_no, project, month, sequence, id, session_id, event_type, payload)"
        " VALUES (2, 1, '2026-04-01', 0, 's-00002#00000001', 's-00002', 'user', '{\"text\": \"gorgon\"}');",
        "INSERT INTO crucible.sessions SELECT s.* FROM crucible.sessions s;",
        "INSERT INTO crucible.postings VALUES ('wgorgon', 2, '2026-04-01', 0, 1, 1, '{18014398509547521}', '{}');",
    )
    assert "row-level security" in forged.stderr
    recall = open_team(filled.address())
    answer = recall.ask(Question("gorgon"), NOW)
    assert {hit.event.session for hit in answer.hits} <= {APOLLO.session}
    assert {one.session for one in answer.sessions} <= {APOLLO.session}
    assert recall.get([ZEUS.events[0].id]) == ZEUS.events[:1]


def test_pushed_by_cannot_be_forged(filled: Team) -> None:
    filled.run("SELECT crucible.grant_project('ben', 'apollo', true)")
    row = """INSERT INTO crucible.sessions (project, month, vault, key, digest, clone, session_id, path, title, branch, tags, parent, first, last,
        events, event_words, event_names, words, names, whole, times, pushed_by)
        SELECT project, month, 'v', %s, '', '', '', '', '', '', '{}', '', 0, 0, 0, 0, 0, 0, 0, true, '{}', %s
        FROM crucible.sessions WHERE session_id = 's-00001'"""
    with pytest.raises(ServerFailed, match="does not allow this user"):
        filled.run(row, ["a", "owner"], role="ben")
    filled.run(row, ["b", "ben"], role="ben")


def test_a_failing_insert_reveals_no_hidden_row(filled: Team) -> None:
    filled.run("SELECT crucible.grant_project('ben', 'apollo', true)")
    (number,) = filled.run("SELECT no FROM crucible.sessions WHERE session_id = 's-00002'")[0]
    row = "INSERT INTO crucible.session_events (session_no, project, month, sequence, id, session_id, event_type, payload) VALUES"
    results = [
        filled.psql("ben", f"{row} ({no}, 1, '2026-04-01', 0, 'x', 'x', 'user', '{{}}') RETURNING 'taken';").stdout
        for no in (number, number + 1000)
    ]
    assert results == ["taken\nINSERT 0 1\n"] * 2 or results[0] == results[1]


def test_a_recreated_role_inherits_no_grants(filled: Team) -> None:
    filled.run("CREATE ROLE dora LOGIN", role="admin")
    try:
        filled.run("SELECT crucible.grant_project('dora', 'apollo')")
        filled.run(
            "DROP OWNED BY dora; DROP ROLE dora; CREATE ROLE dora LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA crucible TO dora",
            role="admin",
        )
        assert filled.psql("dora", "SELECT count(*) FROM crucible.sessions;").stdout.strip() == "0"
        assert filled.psql("anna", "SELECT count(*) FROM crucible.sessions;").stdout.strip() == "1"
    finally:
        filled.run("DROP OWNED BY dora; DROP ROLE dora", role="admin")


def test_grants_to_a_group_apply_to_its_members(filled: Team) -> None:
    filled.run("CREATE ROLE crew; GRANT crew TO ben", role="admin")
    try:
        filled.run("SELECT crucible.grant_project('crew', 'zeus')")
        assert open_team(filled.address("ben")).state().readable == ("zeus",)
        filled.run("REVOKE crew FROM ben", role="admin")
        assert "permission denied" in filled.psql("ben", "SELECT count(*) FROM crucible.sessions;").stderr
    finally:
        filled.run("DROP OWNED BY crew; DROP ROLE crew", role="admin")


def test_revoking_applies_to_open_connections(filled: Team) -> None:
    anna = open_team(filled.address("anna"))
    assert anna.ask(Question("rocket"), NOW).hits
    filled.run("SELECT crucible.revoke_project('anna', 'apollo')")
    assert not anna.ask(Question("rocket"), NOW).hits


def test_a_star_grants_all_present_and_future_projects(filled: Team) -> None:
    filled.run("SELECT crucible.grant_project('ben', '*', true)")
    ben = open_pusher(filled.address("ben"), "ben's vault")
    assert ben.push(Held([document(5, project="new")])).new == 1
    assert open_team(filled.address("ben")).state().readable == ("apollo", "new", "zeus")
