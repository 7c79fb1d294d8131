"""A server that is down, slow or refuses access: a prompt one-line error, never with a password."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, ServerFailed, UsageError
from crucible.search.background_update import BACKEND_VARIABLE
from crucible.search.postgres.address import Server, place_of
from crucible.search.recall import Question
from crucible.search.team.team_address import chosen_address
from crucible.search.team_servers import open_pusher, open_team
from samples.postgres_server import GUARDED, Team
from samples.pushed_documents import Held, document, documents
from tests.cases import for_each
from tests.unit.search.team_checks import SECRET, listening

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def _error_line(address: str, seconds: float = 2.0) -> str:
    with pytest.raises(CrucibleError) as failed:
        open_team(address, seconds=seconds).ask(Question("anything"), NOW)
    shown = (
        f"{failed.value} {failed.value.hint} {failed.value!r} {failed.value.__context__!r} {failed.value.__cause__!r}"
    )
    assert "\n" not in str(failed.value)
    assert SECRET not in str(failed.value) + failed.value.hint
    assert failed.value.hint
    assert failed.value.__suppress_context__ or SECRET not in shown
    return str(failed.value)


@for_each(
    ("address", "said"),
    [
        (f"postgresql://me:{SECRET}@127.0.0.1:1/team", "PostgreSQL at 127.0.0.1:1 is not running there"),
        (f"postgresql://me:{SECRET}@/team?host=/nowhere", "PostgreSQL at /nowhere is not running there"),
        (
            f"postgresql://me:{SECRET}@no-such-host.invalid/team",
            "PostgreSQL at no-such-host.invalid is not found: no such host",
        ),
        (f"postgresql://me:a@{SECRET}@host/team", "recall.backend: the host cannot be parsed"),
        (f"postgresql://me:a/{SECRET}@host/team", "recall.backend: "),
        (f"postgresql://me@host:{SECRET}/team", "recall.backend: the host cannot be parsed"),
        (f"postgresql://me@host/team?{SECRET}", "recall.backend: the address cannot be parsed"),
        (f"postgresql://me:%zz{SECRET}@host/team", "recall.backend: the address cannot be parsed"),
        (f"postgresql://me@127.0.0.1:1/team?sslmode={SECRET}", "PostgreSQL at 127.0.0.1:1"),
    ],
)
def test_an_unreachable_server_is_a_one_line_error_without_the_password(address: str, said: str) -> None:
    assert _error_line(address).startswith(said)


def test_connecting_to_a_silent_server_times_out() -> None:
    with listening("postgresql", None) as address:
        begun = time.monotonic()
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(_error_line, address, 0.5)
            pushed = pool.submit(open_pusher(address, "vault", connecting=0.5).push, documents(1))
            assert asked.result().endswith("does not answer")
            assert "does not answer" in str(pushed.exception())
        assert time.monotonic() - begun < 30


@for_each(
    ("reply", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not a PostgreSQL server"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", ""),
        (b"", "cannot be reached"),
        (b"N" + b"\0garbage" * 9, ""),
    ],
)
@for_each("mode", ["", "?sslmode=disable"])
def test_another_service_is_reported_as_no_postgresql_server(reply: bytes, said: str, mode: str) -> None:
    with listening("postgresql", reply) as address:
        assert _error_line(address + mode).endswith(said)


def test_a_refusal_in_another_language_is_recognized() -> None:
    def packed(kind: bytes, body: bytes) -> bytes:
        return kind + (len(body) + 4).to_bytes(4, "big") + body

    told = (
        b"SFATAL\0VFATAL\0C28P01\0MPasswort-Authentifizierung f\xc3\xbcr Benutzer \xc2\xbbme\xc2\xab fehlgeschlagen\0\0"
    )
    with listening("postgresql", packed(b"E", told)) as address:
        assert _error_line(address + "?sslmode=disable").endswith("rejects the connection")


def test_a_server_that_becomes_silent_times_out(team: Team) -> None:
    server = Server(team.address(), 0.1)
    (backend,) = server.run("SELECT pg_backend_pid()")[0]
    os.kill(backend, signal.SIGSTOP)
    try:
        with pytest.raises(ServerFailed, match="stopped answering"):
            server.run("SELECT 1")
    finally:
        os.kill(backend, signal.SIGCONT)
    assert server.run("SELECT 1") == [(1,)]


@contextmanager
def _locked(team: Team) -> Iterator[None]:
    holder = Server(team.address())
    with holder.connection() as connection, connection.transaction():
        connection.execute("LOCK TABLE crucible.sessions")
        yield


def test_a_slow_statement_times_out(team: Team) -> None:
    asked = open_team(team.address(), seconds=0.2)
    with _locked(team), pytest.raises(ServerFailed, match="is too slow"):
        asked.ask(Question("anything"), NOW)
    assert asked.ask(Question("anything"), NOW).hits == ()


def test_a_push_that_times_out_on_a_lock_is_rolled_back(team: Team) -> None:
    pusher = open_pusher(team.address(), "vault", seconds=0.3)
    pusher.push(Held([document(1)]))
    with _locked(team), pytest.raises(ServerFailed, match="is too slow"):
        pusher.push(documents(3))
    assert team.run("SELECT count(*) FROM crucible.session_events") == [(6,)]
    assert pusher.push(documents(3)).new == 2


def test_a_lost_connection_is_reopened(team: Team) -> None:
    asked = open_team(team.address())
    asked.state()
    team.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        role="admin",
    )
    with pytest.raises(ServerFailed):
        asked.state()
    assert asked.state().role == "owner"


def test_missing_tables_are_reported(team: Team) -> None:
    team.run("DROP SCHEMA crucible CASCADE")
    assert _error_line(team.address()).endswith("is not set up for recall")
    with pytest.raises(ServerFailed, match="is not set up for recall"):
        open_pusher(team.address(), "vault").push(documents(1))


def test_an_unknown_user_or_database_has_our_own_message(team: Team) -> None:
    assert _error_line(team.running.address("nobody-here", team.database)).endswith("does not have this user")
    assert _error_line(team.running.address("anna", "nothing")).endswith("does not have this database")


def test_too_many_connections_are_reported(team: Team) -> None:
    team.run("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0", role="admin")
    try:
        assert _error_line(team.address("crowd")).endswith("has too many connections")
    finally:
        team.run("DROP ROLE crowd", role="admin")


def test_passwords_come_from_pgpass_and_a_wrong_one_is_not_shown(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = team.address(GUARDED)
    assert _error_line(address).endswith("refuses the password")
    assert _error_line(address.replace("@", f":not-{SECRET}@", 1)).endswith("refuses the password")
    team.run(f"ALTER ROLE {GUARDED} PASSWORD '{SECRET}'", role="admin")
    kept = tmp_path / "pgpass"
    kept.write_text(f"localhost:*:*:{GUARDED}:{SECRET}\n{team.running.folder}:*:*:{GUARDED}:{SECRET}\n")
    kept.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(kept))
    server = Server(address)
    assert server.run("SELECT current_user::text") == [(GUARDED,)]
    assert SECRET not in repr(server) + repr(server.place) + str(vars(server).get("_open"))


def test_functions_in_other_schemas_are_never_called(team: Team) -> None:
    """A schema that everyone may write to never comes first in the search path."""
    team.run("CREATE FUNCTION public.sum(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0::bigint'", role="admin")
    team.run("ALTER ROLE owner SET search_path = public, pg_catalog", role="admin")
    try:
        open_pusher(team.address(), "vault").push(Held([document(1)]))
        assert open_team(team.address()).ask(Question("word1 word2 word3"), NOW).notes == ()
        assert Server(team.address()).run("SHOW search_path") == [("pg_catalog",)]
    finally:
        team.run("ALTER ROLE owner RESET search_path", role="admin")


def test_the_environment_overrides_the_setting() -> None:
    address = "postgresql://host/team"
    assert chosen_address("", {}) is None
    assert chosen_address("embedded", {}) is None
    assert chosen_address(address, {}) == address
    assert chosen_address("embedded", {BACKEND_VARIABLE: address}) == address
    assert chosen_address(address, {BACKEND_VARIABLE: "embedded"}) is None


@pytest.mark.parametrize("backend", ["sqlite:///x", "host=x password=" + SECRET, "mysql://u:" + SECRET + "@h/d"])
def test_an_invalid_backend_is_refused_without_repeating_it(backend: str) -> None:
    with pytest.raises(UsageError) as failed:
        chosen_address(backend, {})
    assert backend not in str(failed.value)
    assert SECRET not in str(failed.value) + failed.value.hint


def test_a_place_never_shows_the_password() -> None:
    place = place_of(f"postgresql://me:{SECRET}@db.example.org:5433/team?sslmode=verify-full&password={SECRET}")
    assert place == ("PostgreSQL", "me", "db.example.org:5433", "team")
    assert str(place) == "PostgreSQL at db.example.org:5433"


def test_the_hint_without_the_client_library_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ServerFailed, match="its client library is not installed") as failed:
        open_team("postgresql://host/team")
    assert failed.value.hint == f"Run: {install_command('postgres')}"
