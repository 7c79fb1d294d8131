"""Every line from a client gets an answer, unless the client expects none."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

import pytest

from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.conftest import ROOT

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602


class Spoken:
    """A server process, read line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self.process, self.write, self.read = process, process.stdin, process.stdout

    def say(self, line: bytes) -> None:
        self.write.write(line + b"\n")
        self.write.flush()

    def hear(self) -> dict[str, Any]:
        return heard(self.read)

    def ask(self, line: bytes) -> dict[str, Any]:
        self.say(line)
        return self.hear()


def heard(stream: IO[bytes]) -> dict[str, Any]:
    assert select.select([stream], [], [], 30)[0], "no answer: the client would wait forever"
    answer = json.loads(stream.readline())
    assert isinstance(answer, dict)
    return answer


def request(ident: object, method: str = "ping", **more: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, **more}).encode()


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spoken]:
    from crucible.vault.notes.init_vault import init_vault

    root = tmp_path_factory.mktemp("wire") / "vault"
    init_vault(root)
    command = [sys.executable, "-P", "-m", "crucible", "--vault", str(Vault(root).root), "mcp"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    # Without a buffer, so that `select` sees every line.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0) as process:
        spoken = Spoken(process)
        assert "result" in spoken.ask(request(0, "initialize", params=HELLO))
        spoken.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield spoken
        spoken.write.close()
        assert process.wait(30) == 0


ODD: list[object] = [None, True, 1.5, 2.0, [], {}, "\udfff"]
FAULTY = [
    (b"{", None, PARSE),
    (b"\xff\xfe", None, PARSE),
    (b"[" * 100_000, None, PARSE),
    (request(1, params={"a": 1})[:-2], None, PARSE),
    (b"[]", None, REQUEST),
    (b"[" + request(1) + b"]", None, REQUEST),
    (b"5", None, REQUEST),
    (b"{}", None, REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1}', 1, REQUEST),
    (b'{"id": "a", "method": "ping"}', "a", REQUEST),
    (request(3, method=5), 3, REQUEST),  # type: ignore[arg-type]
    (request(4, method="\ud800"), 4, REQUEST),
    *((request(odd), None, REQUEST) for odd in ODD),
    (b'{"jsonrpc": "2.0", "id": 1' + b"0" * 9999 + b', "method": "ping"}', None, PARSE),
    *((request(5, "tools/call", params=odd), 5, PARAMS) for odd in ([1], "x", 5, True, {}, {"name": 5})),
    (request("six", "tools/call"), "six", PARAMS),
    (request(7, "tools/call", params={"name": "recall_context", "arguments": []}), 7, PARAMS),
    (request(8, "tools/call", params={"name": "\ud800", "arguments": {}}), 8, PARAMS),
    (request(9, "tools/call", params={"name": "recall_get", "arguments": {"ids": ["\udc00"]}}), 9, PARAMS),
    (request(10, "tools/call", params={"\ud83d": 1}), 10, PARAMS),
    (request(11, "nothing/here"), 11, METHOD),
]  # fmt: skip


@for_each(("line", "ident", "code"), FAULTY)
def test_an_invalid_request_is_answered_with_its_id(spoken: Spoken, line: bytes, ident: object, code: int) -> None:
    answer = spoken.ask(line)
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", ident, code)
    assert answer["error"]["message"]
    assert spoken.ask(request("next")) == {"jsonrpc": "2.0", "id": "next", "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"", b"  ", b'{"jsonrpc": "2.0", "method": "notifications/nobody/knows"}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}',
        b'{"jsonrpc": "2.0", "id": 5, "result": {}}', b'{"jsonrpc": "2.0", "id": 5, "result": 7}',
        b'{"jsonrpc": "2.0", "id": 5, "error": {}}',
    ],
)  # fmt: skip
def test_a_line_without_a_pending_request_is_not_answered(spoken: Spoken, line: bytes) -> None:
    spoken.say(line)
    assert spoken.ask(request("next"))["id"] == "next"


@pytest.mark.parametrize("ident", [0, -1, 10**400, "", "x" * 100_000, "\u2028 é"])
def test_any_other_id_comes_back_as_it_was(spoken: Spoken, ident: object) -> None:
    assert spoken.ask(request(ident))["id"] == ident


def test_many_faults_are_answered_in_order(spoken: Spoken) -> None:
    for number in range(200):
        spoken.say(request(number, params=[]) if number % 2 else b"{")
    got = [spoken.hear() for _ in range(200)]
    assert [each["id"] for each in got] == [number if number % 2 else None for number in range(200)]
