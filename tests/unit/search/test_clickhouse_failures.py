"""The connection to a ClickHouse server: one-line errors, never with a password, and the commands of a team."""

from __future__ import annotations

import json
import socket

import pytest

from crucible.core.errors import CrucibleError, ServerFailed
from crucible.core.settings.settings import RecallSettings
from crucible.search.background_update import BACKEND_VARIABLE
from crucible.search.clickhouse import http_server
from crucible.search.clickhouse.clickhouse_push import _version_after
from crucible.search.clickhouse.http_server import ClickHouse, literal, place_of_clickhouse
from crucible.search.recall import Question
from crucible.search.team.team_address import chosen_address
from crucible.search.team_servers import open_team
from crucible.vault.notes.vault import Vault
from samples.clickhouse_engine import PASSWORD
from tests.cases import for_each
from tests.journeys.notes import LIMITER, note, write
from tests.running import Cru
from tests.unit.search.team_checks import SECRET, listening
from tests.unit.search.vaults import NOW


def _error_line(address: str, seconds: float = 2.0) -> str:
    with pytest.raises(CrucibleError) as failed:
        open_team(address, seconds=seconds).ask(Question("anything"), NOW)
    assert "\n" not in str(failed.value)
    assert SECRET not in str(failed.value) + failed.value.hint
    assert failed.value.hint
    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    return str(failed.value)


@for_each(
    ("address", "said"),
    [
        (f"clickhouse://me:{SECRET}@127.0.0.1:1/team", "ClickHouse at 127.0.0.1:1 is not running there"),
        (f"clickhouse://me:{SECRET}@no-such-host.invalid", "ClickHouse at no-such-host.invalid:8443 is not found"),
        (f"clickhouse://me:a/{SECRET}@host/team", "recall.backend: "),
        (f"clickhouse://me:1/{SECRET}@host/team", "recall.backend: "),
        (f"clickhouse://me:1?{SECRET}@host/team", "recall.backend: "),
        (f"clickhouse://me:1#{SECRET}@host/team", "recall.backend: "),
        (f"clickhouse://me@host:{SECRET}/team", "recall.backend: "),
        (f"clickhouse://me@host/team?tls={SECRET}", "recall.backend: only the option secure"),
        (f"clickhouse://me@host/{SECRET}", "recall.backend: "),
    ],
)
def test_an_unreachable_server_is_a_one_line_error_without_the_password(address: str, said: str) -> None:
    with pytest.raises(CrucibleError) as failed:
        open_team(address, seconds=2).ask(Question("anything"), NOW)
    shown = str(failed.value) + failed.value.hint
    assert shown.startswith(said)
    assert SECRET not in shown + repr(place_of_clickhouse("clickhouse://h")) + repr(RecallSettings(address))


@for_each(
    ("address", "place"),
    [
        (f"clickhouse://anna:{SECRET}@db.example.org/team", "db.example.org:8443"),
        ("clickhouse://anna@db.example.org/team?secure=false", "db.example.org:8123"),
        ("clickhouses://localhost/team", "localhost:8443"),
        ("clickhouse://localhost/team?secure=true", "localhost:8443"),
        ("clickhouse://[::1]:9000/team", "[::1]:9000"),
        ("clickhouse://127.8.0.1/team", "127.8.0.1:8123"),
        ("clickhouse://anna@127.0.0.1.example.org/team", "127.0.0.1.example.org:8443"),
    ],
)
def test_only_this_machine_is_asked_without_encryption(address: str, place: str) -> None:
    assert str(place_of_clickhouse(address)) == f"ClickHouse at {place}"


def _http(status: int, body: str, *headers: str, missing: int = 0) -> bytes:
    length = f"Content-Length: {len(body) + missing}"
    lines = [f"HTTP/1.1 {status} Said", *headers, length, "Connection: close", "", body]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape")


@for_each(
    ("reply", "said"),
    [
        (_http(200, "<html>"), "is not a ClickHouse server"),
        (_http(502, "<html>"), "is not a ClickHouse server"),
        (_http(200, '{"data": 3}'), "is not a ClickHouse server"),
        (_http(200, '{"data": []}'), "is not a ClickHouse server"),
        (_http(200, '{"data": [["x", "y"]]}'), "is not a ClickHouse server"),
        (_http(200, ""), "is not a ClickHouse server"),
        (_http(302, SECRET, "Location: http://127.0.0.1:1/"), "is not a ClickHouse server"),
        (_http(200, '{"data": [[1', missing=9), "stopped answering"),
        (_http(200, '{"data": [[1', missing=10**15), "stopped answering"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n", "is not a ClickHouse server"),
        (_http(200, f'{{"data": [[1]]\nCode: 159. DB::Exception: {SECRET}'), "is too slow"),
        (
            _http(200, f'{{"data": [[1]], "exception": "Code: 241. DB::Exception: {SECRET}"}}'),
            "has too little memory for this",
        ),
        (_http(200, '{"data": [[1, "26.9.1.1"]]}', "X-ClickHouse-Exception-Code: 202"), "is busy"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "is not a ClickHouse server"),
        (b"", "cannot be reached"),
        (_http(403, f"Code: 516. DB::Exception: {SECRET}"), "refuses this user or the password"),
        (_http(404, SECRET, "X-ClickHouse-Exception-Code: 60"), "is not set up for recall"),
        (_http(500, SECRET, "X-ClickHouse-Exception-Code: 159"), "is too slow"),
        (_http(500, SECRET, "X-ClickHouse-Exception-Code: 241"), "has too little memory for this"),
        (_http(500, SECRET, "X-ClickHouse-Exception-Code: 999"), "refused it (code 999)"),
        (_http(200, '{"data": [[1, "25.8.1.1"]]}'), "is older than ClickHouse 26.2"),
        (_http(200, '{"data": [[0, "26.9.1.1"]]}'), "is not set up for recall"),
        (_http(200, '{"data": [[9, "26.9.1.1"]]}'), "has tables from a newer Crucible"),
        (None, "stopped answering"),
    ],
)
def test_what_another_server_says_is_never_shown(reply: bytes | None, said: str) -> None:
    with listening("clickhouse", reply) as address:
        assert _error_line(address, 0.2).endswith(said)


@for_each("body", [f"Code: 252. DB::Exception: {SECRET}", f"__exception__\r\nCode: 252. DB::Exception: {SECRET}"])
def test_a_block_that_the_server_refuses_after_its_good_status_is_not_stored(body: str) -> None:
    with listening("clickhouse", _http(200, body)) as address, pytest.raises(ServerFailed, match="is busy"):
        ClickHouse(address).insert("events", ["no"], [[1]], "token")


def test_bytes_of_one_row_that_are_not_utf_8_hide_no_other_row() -> None:
    reply = _http(200, '{"data": [["\udcff"], ["plain"]]}')
    with listening("clickhouse", reply) as address:
        assert ClickHouse(address).run("SELECT title FROM sessions") == [["\ufffd"], ["plain"]]


def test_a_note_with_the_greatest_version_does_not_block_the_batch() -> None:
    assert _version_after(2**64 - 1, "digest") == 2**64 - 1


def test_an_endless_answer_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "LARGEST_ANSWER", 1_000)
    with listening("clickhouse", _http(200, " " * 9_999)) as address:
        assert _error_line(address).endswith("is not a ClickHouse server")


def test_a_server_without_tls_is_reported() -> None:
    with listening("clickhouse", b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        assert _error_line(address + "?secure=true").endswith("does not support the requested TLS mode")


@pytest.mark.e2e
def test_a_wrong_password_and_a_lost_connection_are_handled(emptied: str) -> None:
    assert _error_line(emptied.replace("s3cret", SECRET)).endswith("refuses this user or the password")
    server = ClickHouse(emptied)
    server.run("SELECT 1")
    assert server._open
    server._open.sock.shutdown(socket.SHUT_RDWR)
    assert server.run("SELECT currentUser()") == [["default"]]
    with pytest.raises(ServerFailed, match=r"refused it \(code \d+\)"):
        server.run("SELECT FROM")


@pytest.mark.e2e
def test_any_text_is_passed_as_a_parameter(emptied: str) -> None:
    server = ClickHouse(emptied)
    for text in ("", "it's", 'a"b', "\\", "\\'", "a\tb\nc\r\0d", "{x:String}", "設計 🤔", "], ['"):
        assert server.run("SELECT {t:String}, {a:Array(String)}", {"t": text, "a": [text, text]}) == [
            [text, [text] * 2]
        ]
    assert literal("x" * 9_999) == "x" * 1_000
    assert literal("\ud800") == "?"


def test_the_password_comes_from_the_environment() -> None:
    env = {"CLICKHOUSE_PASSWORD": PASSWORD}
    assert chosen_address("clickhouse://anna@host/team", env) == "clickhouse://anna:s3cret%2Fp%40ss%3Aword@host/team"
    assert chosen_address("clickhouse://anna:own@host/team", env) == "clickhouse://anna:own@host/team"
    assert chosen_address("postgresql://anna@host/team", env) == "postgresql://anna@host/team"


@pytest.mark.e2e
def test_all_team_commands_work(emptied: str, vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BACKEND_VARIABLE, emptied)
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-20-other", note("2026-11-20-other"))
    assert cru("team", "setup").stderr == "nothing to do\n"
    pushed = cru("team", "push", "--format", "json")
    assert pushed.exit_code == 0, pushed.stderr
    assert json.loads(pushed.stdout)["new"] == 2

    def found() -> list[str]:
        return [hit["session"] for hit in json.loads(cru("recall", "bucket", "--format", "json").stdout)["hits"]]

    assert set(found()) == {"2026-11-21-limiter"}
    status = cru("team", "status").stdout
    assert "ClickHouse at 127.0.0.1:" in status
    assert "2 sessions" in status
    (vault.root / "sessions" / "2026-11-21-limiter.md").unlink()
    assert json.loads(cru("team", "sync", "--format", "json").stdout)["removed"] == 1
    assert found() == []
    assert "0 notes removed" in cru("team", "prune", "--older-than", "2026-11-20").stderr
    assert "1 note removed" in cru("team", "prune", "--older-than", "2026-12-01").stderr
    assert "1 note: older than what the server keeps" in cru("team", "push").stderr
