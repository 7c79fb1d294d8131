"""A team's ClickHouse server: the engine itself (`chdb`) behind a stub of its HTTP interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest

from crucible.core.errors import ServerFailed
from crucible.core.settings.settings import VaultSettings
from crucible.documents.knowledge.item_rules import EVERYTHING
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.clickhouse.http_server import ClickHouse
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Document, EventKind, Question
from crucible.search.team.team_recall import TeamRecall
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team, prune_server, set_up_server
from crucible.vault.notes.vault import Vault
from samples.clickhouse_engine import DATABASE, Engine
from samples.pushed_documents import Held, document, documents
from samples.recall_eval.measuring import figures_by, put_all
from samples.recall_eval.questions import grade_all, read_questions
from samples.recall_eval.vault import documents as evaluated
from samples.recall_eval.vault import open_recall
from tests.unit.search.team_checks import check_sees
from tests.unit.search.test_team_recall import HOSTILE, QUESTIONS, _session
from tests.unit.search.vaults import NOW, recall, vault_of

pytestmark = pytest.mark.e2e  # the engine works for half a minute

Both = tuple[EmbeddedRecall, TeamRecall]


@pytest.fixture(scope="module")
def both(clickhouse: tuple[Engine, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Both engines, over the same vault."""
    root = vault_of(tmp_path_factory.mktemp("vaults") / "v", *(_session(number) for number in range(60)))
    # A worker that takes tests from another one may come back to this module, and begins again.
    address = clickhouse[1].replace(f"/{DATABASE}", f"/{root.parent.name}")
    assert set_up_server(address)
    assert open_pusher(address, "vault").push(VaultDocuments(root, VaultSettings())).new == 60
    team = open_team(address)
    yield recall(root), team
    team.close()


def test_questions_find_what_the_embedded_engine_finds(both: Both) -> None:
    for text in QUESTIONS:
        here, there = (one.ask(Question(text, limit=10), NOW) for one in both)
        assert there.notes == here.notes, text
        assert (bool(there.hits), bool(there.sessions)) == (bool(here.hits), bool(here.sessions)), text
        mine, theirs = ({one.session: one.score for one in answer.sessions} for answer in (there, here))
        if max(theirs.values(), default=0) < 1.01 * min(theirs.values(), default=0):
            assert list(mine.values()) == pytest.approx(list(theirs.values()), rel=0.15), text
            continue  # each engine orders equal scores differently
        assert len(mine.keys() & theirs.keys()) >= 0.8 * len(theirs), text
        for session in mine.keys() & theirs.keys():
            # How often a word occurs is rounded.
            assert mine[session] == pytest.approx(theirs[session], rel=0.15), text


def test_filters_work_as_in_the_embedded_engine(both: Both) -> None:
    day = datetime(2026, 11, 5, tzinfo=UTC)
    for narrow in (
        {"kinds": frozenset({EventKind.DECISION})},
        {"kinds": frozenset({EventKind.USER, EventKind.ERROR})},
        {"agent": "Codex@0.46"},
        {"channel": "dev"},
        {"project": "Shop"},
        {"project": "none"},
        {"session": "2026-11-03-s2"},
        {"since": day, "until": day.replace(day=8)},
    ):
        for text in ("cache bucket", ""):
            here, there = (one.ask(Question(text, limit=20, **narrow), NOW) for one in both)
            assert [hit.event.at for hit in there.hits if not text] == [hit.event.at for hit in here.hits if not text]
            assert (len(there.hits), len(there.sessions)) == (len(here.hits), len(here.sessions)), (text, narrow)


def test_events_are_stored_as_they_are_in_the_note(both: Both) -> None:
    here, there = both
    ids = [hit.event.id for hit in here.ask(Question("cache", limit=20), NOW).hits]
    asked = [*ids, "nothing#00000000", "", "\0", ids[0].partition("#")[0], ids[0]]
    assert there.get(asked) == here.get(asked)
    for identity in ids[:4]:
        assert there.around(identity, 2, 3) == here.around(identity, 2, 3)
    assert there.around(ids[0], -1, 10**12) == here.around(ids[0], -1, 10**12)


def test_sql_in_a_question_is_only_text(both: Both) -> None:
    there = both[1]
    for text in HOSTILE:
        there.ask(Question(text, session=text, agent=text, project=text, channel=text), NOW)
        there.ask(Question(text), NOW)
        there.get([text])
    assert there.state().sessions == 60


def test_the_evaluation_is_answered_as_well_as_by_the_embedded_engine(evaluation: Vault, emptied: str) -> None:
    vault = evaluation
    assert not open_pusher(emptied, "vault").push(VaultDocuments(vault.root, vault.settings, ItemShelf(vault))).failed
    server = open_team(emptied, viewer=EVERYTHING)
    questions = grade_all(read_questions(), evaluated(vault))[::32]
    found = {name: put_all(questions, ask) for name, ask in (("here", open_recall(vault).ask), ("there", server.ask))}
    here, there = (figures_by(found[name], "sessions", lambda _: "each")["all"].means for name in ("here", "there"))
    assert abs(there.r10 - here.r10) <= 0.05


def test_a_repeated_or_interrupted_push_stores_everything_once(emptied: str) -> None:
    pusher = open_pusher(emptied, "vault", batch=2)
    tables = pusher._tables
    insert = ClickHouse.insert

    def broken(server: ClickHouse, table: str, *rest: object) -> None:
        insert(server, table, *rest)  # type: ignore[arg-type]
        if table == "events":
            raise ServerFailed("the connection was lost after a block of events")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ClickHouse, "insert", broken)
        with pytest.raises(ServerFailed):
            pusher.push(documents(6))
    assert pusher.push(documents(6)).new == 6
    assert open_pusher(emptied, "vault", "another clone").push(documents(6, seed=1)).same == 6
    server = ClickHouse(emptied)
    assert server.run("SELECT count() FROM events WHERE kind >= 0") == [[36]]
    assert server.run("SELECT count() FROM sessions") == [[6]]
    assert tables.stored("vault").keys() == open_pusher(emptied, "vault")._tables.stored("vault").keys()


def test_replaced_moved_renamed_and_removed_notes_are_found_no_more(emptied: str) -> None:
    pusher = open_pusher(emptied, "vault", "here")
    old = document(1, said="ancient")
    pusher.push(Held([old, document(2)]))
    asked = open_team(emptied)

    def said(word: str) -> list[tuple[str, str]]:
        return [(hit.event.session, hit.event.project) for hit in asked.ask(Question(word, limit=20), NOW).hits[:1]]

    shorter = document(1, said="modern", events=3)
    assert pusher.push(Held([shorter, document(2)])).replaced == 1
    assert (said("ancient"), said("modern")) == ([], [("s-00001", "apollo")])
    assert len(asked.around(shorter.events[0].id, 9, 9)) == 3
    assert pusher.push(Held([document(1, said="moved", project="zeus"), document(2)])).replaced == 1
    assert (said("modern"), said("moved")) == ([], [("s-00001", "zeus")])
    assert pusher.push(Held([document(1, said="renamed", path="sessions/other.md"), document(2)])).replaced == 1
    assert (said("moved"), said("renamed")) == ([], [("s-00001", "apollo")])
    assert open_pusher(emptied, "vault", "there").sync(Held([document(2)])).removed == 0
    assert pusher.sync(Held([document(2)])).removed == 1
    assert (said("renamed"), asked.state().sessions) == ([], 1)
    assert pusher.push(Held([old, document(2)])).new == 1
    assert said("ancient") == [("s-00001", "apollo")]


def test_events_that_others_wrote_in_any_form_can_be_read(emptied: str) -> None:
    pusher = open_pusher(emptied, "vault")
    pusher.push(Held([document(1, events=1)]))
    server = ClickHouse(emptied)
    ((no, project, version),) = server.run("SELECT no, project, version FROM sessions")
    columns = ("no", "project", "version", "sequence", "kind", "event")
    forms = [
        "",
        "\0",
        "#1\0two\0" + "9" * 40,
        "\0".join("#2,²,1e9,user,\ud800".encode(errors="replace").decode().split(",")),
    ]
    rows = [(int(no), project, int(version), 10 + at, 0, one) for at, one in enumerate(forms)]
    server.insert("events", columns, rows, "")
    found = open_team(emptied).around(document(1).events[0].id, 0, 99)
    assert len(found) == 5
    assert [event.line for event in found[1:]] == [0] * 4


def _found(address: str) -> list[str]:
    return [hit.event.id for hit in open_team(address).ask(Question("word1 word2 retry"), NOW).hits]


def test_pruning_removes_old_months_and_every_row_of_replaced_notes(emptied: str) -> None:
    pusher = open_pusher(emptied, "vault")
    undated = document(3)._replace(started=None, events=tuple(e._replace(at=None) for e in document(3).events))
    held = Held([document(1, said="ancient"), document(2), undated])
    pusher.push(held)
    held.held.update(Held([document(1, events=2)]).held)
    pusher.push(held)
    before = _found(emptied)
    prune_server(emptied)
    assert ClickHouse(emptied).run("SELECT count(), countIf(event LIKE '%ancient%') FROM events WHERE kind >= 0") == [
        [14, 0]
    ]
    assert _found(emptied) == before
    assert prune_server(emptied, datetime(2026, 4, 20, tzinfo=UTC))[1] == 1
    again = pusher.push(held)
    assert (again.expired, again.same) == (1, 2)


def test_setup_is_repeatable_and_creates_policies_for_all_users(clickhouse: tuple[Engine, str]) -> None:
    engine, address = clickhouse
    assert not set_up_server(address)
    assert engine.policies().keys() == {"sessions", "events", "members"}
    assert f"GRANT INSERT ON {DATABASE}.events TO {DATABASE}_member" in engine.statements
    assert not [one for one in engine.statements if "GRANT" in one and ("ALTER" in one or "DELETE" in one)]


def test_three_users_see_and_write_their_projects_only(clickhouse: tuple[Engine, str], emptied: str) -> None:
    """The engine has one user, so `members` changes instead of the user; policies and rights are those of `team setup`."""
    engine, _ = clickhouse
    said = {"apollo": document(1, said="rocket plans"), "zeus": document(2, project="zeus", said="thunder plans")}
    open_pusher(emptied, "vault").push(Held(said.values()))
    users = {"anna": {"apollo": False}, "ben": {"zeus": True}, "owner": {"*": True}, "nobody": {}}
    try:
        for user, grants in users.items():
            engine.unguard()
            engine.query(f"TRUNCATE TABLE {DATABASE}.members", {})
            rows = [("default", *one) for one in grants.items()] + [("somebody", "apollo", True)]
            engine.query(f"INSERT INTO {DATABASE}.members VALUES {', '.join(map(str, rows))}", {})
            engine.guard()
            _check_user(emptied, user, {*grants} if "*" not in grants else {*said}, said)
    finally:
        engine.unguard()
        engine.query(f"TRUNCATE TABLE {DATABASE}.members", {})
        engine.query(f"INSERT INTO {DATABASE}.members VALUES ('default', '*', true)", {})


def _check_user(address: str, user: str, seen: set[str], said: Mapping[str, Document]) -> None:
    asked, server = open_team(address), ClickHouse(address)
    check_sees(asked, seen, said)
    assert set(asked.state().readable) == seen
    assert not asked.state().unbound
    for table in ("sessions", "events"):
        assert {project for (project,) in server.run(f"SELECT DISTINCT project FROM {table}")} == seen
    assert {role for (role,) in server.run("SELECT role FROM members")} <= {"default"}
    writes = {"ben": {"zeus"}, "owner": {"apollo", "zeus"}}.get(user, set())
    for project in said:
        pushed = open_pusher(address, "vault").push(Held([document(7, project=project, path=f"sessions/{user}.md")]))
        assert (pushed.new == 1, bool(pushed.refused)) == (project in writes, project not in writes), (user, project)
        if pushed.new:
            open_pusher(address, "vault").delete("s-00007")
        else:
            with pytest.raises(ServerFailed, match="does not allow this user"):
                server.insert("events", ("no", "project"), [(1, project)], "")
    for statement in ("ALTER TABLE events DELETE WHERE 1", "DROP TABLE sessions", "TRUNCATE TABLE members"):
        with pytest.raises(ServerFailed, match="does not allow this user"):
            server.run(statement)
    with pytest.raises(ServerFailed, match="does not allow this user"):
        server.insert("members", ("role", "project", "writes"), [("default", "*", True)], "")
    if user != "owner":
        with pytest.raises(ServerFailed, match="does not allow this user"):
            prune_server(address)
