"""Pushing to a server: nothing is lost or duplicated, by one writer or many, even if a push is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.core.errors import ServerFailed, UsageError, VaultError
from crucible.core.settings.settings import SecretSettings, VaultSettings
from crucible.documents.knowledge.item_notes import render_item
from crucible.documents.knowledge.item_rules import EVERYTHING, WeightFacts
from crucible.documents.knowledge.items import Item, ItemType
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.postgres.server_tables import VERSION
from crucible.search.recall import Document, EventKind
from crucible.search.team.terms import columns_of_item
from crucible.search.team.vault_rows import VaultDocuments, identities
from crucible.search.team_servers import open_pusher, open_team, set_up_server
from crucible.vault.notes.vault import Vault
from samples.postgres_server import Running, Team
from samples.pushed_documents import Held, document, documents, everything
from tests.git_repositories import git
from tests.paths import ROOT
from tests.unit.search.vaults import session_of, vault_of, write


def _writer(team: Team, count: int, *seeds: int) -> subprocess.Popen[str]:
    """A process that pushes `count` documents, then again for each further seed, as another copy of the vault."""
    command = [sys.executable, "-m", "samples.pushed_documents", team.address(), str(count), *map(str, seeds)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _counts(team: Team) -> tuple[int, ...]:
    tables = ("sessions", "session_events", "postings WHERE term <> ''")
    return tuple(team.run(f"SELECT count(*) FROM crucible.{table}")[0][0] for table in tables)


def test_unchanged_notes_are_not_pushed_again(team: Team) -> None:
    source = documents(5)
    pusher = open_pusher(team.address(), "vault")
    assert pusher.push(source) == (5, 0, 0, 0, {}, (), (), (), 0)
    before = team.run(everything)
    assert pusher.push(source) == (0, 0, 5, 0, {}, (), (), (), 0)
    assert team.run(everything) == before


def test_a_changed_session_replaces_its_events_exactly(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault")
    pusher.push(Held([document(1, events=9), document(2)]))
    changed = Held([document(1, events=3, said="changed"), document(2)])
    assert pusher.push(changed).replaced == 1
    there = team.run(everything)
    pusher.sync(Held([]), force=True)
    assert _counts(team) == (0, 0, 0)
    pusher.push(changed)
    assert team.run(everything) == there


def test_a_session_that_changes_project_and_month_is_stored_once(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault")
    pusher.push(Held([document(1)]))
    moved = document(45, project="zeus", path="sessions/s-00001.md")
    assert pusher.push(Held([moved])).replaced == 1
    assert team.run("SELECT DISTINCT session_id FROM crucible.session_events") == [("s-00045",)]
    assert _counts(team)[:2] == (1, 6)


def test_a_renamed_note_is_stored_once(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault")
    pusher.push(Held([document(1)]))
    pusher.push(Held([document(1, path="sessions/renamed.md")]))
    assert team.run("SELECT path FROM crucible.sessions") == [("sessions/renamed.md",)]


def test_sync_removes_deleted_notes_of_this_vault_only(team: Team) -> None:
    other = open_pusher(team.address(), "other vault")
    other.push(Held([document(7)]))
    pusher = open_pusher(team.address(), "vault")
    pusher.push(Held([document(1), document(2)]))
    assert pusher.sync(Held([document(2)])).removed == 1
    assert team.run("SELECT session_id FROM crucible.sessions ORDER BY 1") == [("s-00002",), ("s-00007",)]
    assert _counts(team)[1] == 12


def test_sync_keeps_notes_that_another_copy_pushed(team: Team) -> None:
    open_pusher(team.address(), "vault", "anna's").push(Held([document(1)]))
    pushed = open_pusher(team.address(), "vault", "ben's").sync(Held([document(2)]))
    assert (pushed.new, pushed.removed) == (1, 0)
    assert _counts(team)[0] == 2


def test_an_older_copy_does_not_replace_a_later_state(team: Team) -> None:
    open_pusher(team.address(), "vault", "anna's").push(Held([document(1, events=9)]))
    ben = open_pusher(team.address(), "vault", "ben's")
    stale = Held([document(1, events=4)])
    assert ben.push(stale).older == ("sessions/s-00001.md",)
    assert _counts(team)[1] == 9
    assert ben.push(stale, force=True).replaced == 1
    assert ben.push(Held([document(1, events=12)])).replaced == 1


def test_an_empty_vault_removes_nothing_unless_forced(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault")
    pusher.push(Held([document(1)]))
    with pytest.raises(UsageError, match="the vault has no notes"):
        pusher.sync(Held([]))
    assert _counts(team)[0] == 1


def test_deleting_a_session_deletes_its_rows(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault")
    pusher.push(documents(2))
    assert pusher.delete("s-00000") == 1
    assert team.run("SELECT DISTINCT session_id FROM crucible.session_events") == [("s-00001",)]
    assert team.run("SELECT count(DISTINCT h >> 53) FROM crucible.postings, unnest(hits) AS h WHERE term <> ''") == [
        (1,)
    ]


def test_a_killed_push_can_be_repeated(team: Team) -> None:
    open_pusher(team.address(), "vault").push(documents(30))
    whole = team.run(everything)
    open_pusher(team.address(), "vault").sync(Held([]), force=True)
    for seed, until in ((1, 3), (2, 9)):
        with _writer(team, 30, seed) as writer:
            assert writer.stdout
            for line in writer.stdout:
                if int(line.split()[0]) >= until:
                    break
            writer.send_signal(signal.SIGKILL)
    left = open_pusher(team.address(), "vault").push(documents(30))
    assert left.same >= 9
    assert left.new == 30 - left.same
    assert team.run(everything) == whole


def test_eight_concurrent_writers_lose_and_duplicate_nothing(team: Team) -> None:
    count = 40
    with _writer(team, count, *range(8)) as writers:
        writers.communicate(timeout=300)
    assert writers.returncode == 0
    together = team.run(everything)
    assert _counts(team)[:2] == (count, 6 * count)
    assert {row[1] for row in together if row[0] != "sizes"} == {f"s-{number:05d}" for number in range(count)}
    open_pusher(team.address(), "vault", "clone 0").push(documents(count), force=True)
    team.run("DELETE FROM crucible.sessions")
    assert _counts(team) == (0, 0, 0)
    open_pusher(team.address(), "vault").push(documents(count))
    assert team.run(everything) == together


def test_there_is_one_partition_for_each_month_of_sessions(team: Team) -> None:
    undated = document(3)._replace(started=None, events=tuple(e._replace(at=None) for e in document(3).events))
    ahead = document(4)
    later = ahead.started.replace(year=2999) if ahead.started else None
    pusher = open_pusher(team.address(), "vault")
    assert pusher.push(Held([document(1), document(2), undated, ahead._replace(started=later)])).new == 4
    made = {
        name
        for (name,) in team.run(
            "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid WHERE c.relkind = 'r'"
        )
    }
    this = team.run("SELECT to_char(current_date, 'YYYY_MM')")[0][0]
    expected = {"2026_03", "2026_04", "2000_01", this}
    assert made == {f"crucible.{table}_{month}" for month in expected for table in ("session_events", "postings")}


@pytest.mark.parametrize("month", ["1999-12-01", "2026-03-02", "2999-01-01"])
def test_no_partition_is_created_for_an_invalid_month(team: Team, month: str) -> None:
    with pytest.raises(ServerFailed, match="refused it"):
        team.run("SELECT crucible.make_month(%s::date)", [month])


def test_an_event_too_large_for_tsvector_is_stored_completely(team: Team) -> None:
    text = " ".join(f"x{number:0100}" for number in range(12_000)) + " \0 end 😀 \ud800"
    with pytest.raises(ServerFailed, match="ProgramLimitExceeded"):
        team.run("SELECT to_tsvector('pg_catalog.english', %s)", [text[:-10]])
    large = document(1, events=2)
    large = large._replace(events=(large.events[0], large.events[1]._replace(text=text)))
    assert open_pusher(team.address(), "vault").push(Held([large])).new == 1
    (event,) = open_team(team.address()).get([large.events[1].id])
    assert event.text == text.replace("\0", "\ufffd").replace("\ud800", "?")


@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_a_note_with_an_extreme_time_is_pushed(team: Team, at: datetime) -> None:
    at = at.replace(microsecond=0)
    one = document(1, events=2)
    one = one._replace(started=at, events=tuple(event._replace(at=at) for event in one.events))
    assert open_pusher(team.address(), "vault").push(Held([one])).new == 1
    (event, *_) = open_team(team.address()).get([one.events[0].id])
    assert event.at
    assert abs(event.at - at) <= timedelta(days=1)
    item = (EVERYTHING, WeightFacts("pattern", last_used=at, changed=at))
    columns = columns_of_item(item)
    rows = team.run(
        "SELECT bool_and(crucible.is_readable(t)) FROM unnest(%s::timestamptz[]) AS t",
        [[columns["item_last_used"], columns["item_changed"]]],
    )
    assert rows == [(True,)]


def test_every_field_of_an_event_round_trips(team: Team) -> None:
    open_pusher(team.address(), "vault").push(Held([document(1)]))
    expected = document(1).events
    assert open_team(team.address()).get([event.id for event in expected]) == expected


def test_an_unreadable_note_is_reported_and_the_others_are_pushed(team: Team) -> None:
    class Gone(Held):
        def document(self, path: str) -> Document | None:
            return None if "00001" in path else super().document(path)

    pushed = open_pusher(team.address(), "vault").push(Gone([document(1), document(2)]))
    assert (pushed.new, pushed.unread) == (1, ("sessions/s-00001.md",))


def test_only_changes_of_a_vault_are_pushed(team: Team, tmp_path: Path) -> None:
    first, second = (
        session_of("2026-11-02-a", "Why a bucket?", "It is fair"),
        session_of("2026-11-03-b", "Cache?"),
    )
    root = vault_of(tmp_path / "v", first, second)
    source = VaultDocuments(root, VaultSettings())
    pusher = open_pusher(team.address(), "vault")
    assert pusher.sync(source).new == 2
    write(root, session_of("2026-11-02-a", "Why a bucket?", "It is simple"))
    (root / "sessions" / f"{second.id}.md").unlink()
    pushed = pusher.sync(source)
    assert (pushed.new, pushed.replaced, pushed.same, pushed.removed) == (0, 1, 0, 1)
    assert team.run("SELECT payload->>'text' FROM crucible.session_events ORDER BY sequence") == [
        ("Why a bucket?",),
        ("It is simple",),
    ]


def test_secrets_in_notes_are_not_sent(tmp_path: Path) -> None:
    token = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
    noted = session_of("2026-11-02-a", "Why a bucket?", f"The key is {token}", title=f"Key {token}")
    root = vault_of(tmp_path / "v", noted)
    item = Item(ItemType.PATTERN, f"Call with {token}", f"curl -H {token}")
    path = root / "knowledge" / "a.md"
    path.parent.mkdir()
    path.write_text(render_item(item))
    source = VaultDocuments(root, VaultSettings(), ItemShelf(Vault(root, VaultSettings())))
    sent = [source.document(name) for name in source.digests()]
    assert len(sent) == 2
    assert token not in repr(sent)
    assert "Why a bucket?" in repr(sent)
    config = VaultSettings(secrets=SecretSettings(allow=("(",)))
    with pytest.raises(VaultError, match="secrets cannot run"):
        VaultDocuments(root, config).document("sessions/2026-11-02-a.md")


def test_copies_share_the_vault_id_but_not_the_clone_id(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v")
    first = identities(root)
    assert identities(root) == first
    assert len({*first}) == 2
    git(root, "init", "-q")
    git(root, "add", ".")
    kept = git(root, "ls-files")
    assert ".crucible/memory/vault-id" in kept
    assert "clone-id" not in kept
    (root / ".crucible/memory/vault-id").write_text("<<<<<<< HEAD")
    with pytest.raises(VaultError, match="not a vault id"):
        identities(root)


def test_a_knowledge_item_is_pushed_as_an_item(team: Team) -> None:
    event = (
        document(1)
        .events[0]
        ._replace(
            id="k-1",
            session="k-1",
            kind=EventKind.KNOWLEDGE,
            title="Jitter",
            text="Retry with jitter",
        )
    )
    item = document(1)._replace(session="k-1", path="knowledge/k-1.md", events=(event,))
    open_pusher(team.address(), "vault").push(Held([item]))
    state = open_team(team.address()).state()
    assert (state.sessions, state.events) == (0, 1)
    assert open_team(team.address()).get(["k-1"]) == (event,)


# --- tables ---------------------------------------------------------------------------------------------------------


def test_concurrent_set_ups_create_the_tables_once(postgres: Running, team: Team) -> None:
    team.run("DROP SCHEMA crucible CASCADE")
    code = "import sys; from crucible.search.team_servers import set_up_server; print(set_up_server(sys.argv[1]))"
    command = [sys.executable, "-c", code, team.address()]
    clients = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    created = sorted(client.communicate(timeout=120)[0].strip() for client in clients)
    assert created == ["False", "False", "False", "True"]
    assert team.run("SELECT version FROM crucible.migrations") == [(number,) for number in range(1, VERSION + 1)]


def test_tables_of_a_newer_version_are_not_changed(team: Team) -> None:
    team.run("INSERT INTO crucible.migrations (version) VALUES (99)")
    for attempt in (
        lambda: open_pusher(team.address(), "vault").push(documents(1)),
        lambda: open_team(team.address()).get(["x"]),
        lambda: set_up_server(team.address()),
    ):
        with pytest.raises(ServerFailed, match="tables from a newer Crucible"):
            attempt()
