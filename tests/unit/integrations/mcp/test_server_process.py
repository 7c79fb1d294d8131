"""`cru mcp` as a real process, with the official client library."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession

from crucible.commands import record
from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT
from tests.running import CruProcess
from tests.unit.integrations.mcp.talking import with_process

TOOLS = {
    "recall_context": {"query", "event_types", "session", "limit"},
    "recall_search": {
        "query",
        "event_types",
        "session",
        "agent",
        "channel",
        "project",
        "since",
        "until",
        "limit",
        "offset",
    },
    "recall_timeline": {"anchor", "before", "after"},
    "recall_get": {"ids", "offset"},
    "recall_add": None,
    "recall_feedback": {"id", "useful"},
    "flight_recorder_log": {"type", "content", "rationale", "resolution", "metadata", "session"},
    "session_list": {"status", "project", "agent", "since", "until", "limit", "offset"},
    "session_show": {"id", "phase", "offset"},
    "session_resume_context": {"id", "budget"},
}


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def test_starting_it_in_a_terminal_explains_that_clients_start_it(vault: Vault, cru_process: CruProcess) -> None:
    main, side = pty.openpty()
    os.write(main, b"\x04")  # the end of what is typed
    done = cru_process("--vault", vault.root, "mcp", stdin=side)
    os.close(side)
    os.close(main)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"cru install claude-code --mcp" in done.stderr
    assert cru_process("--vault", vault.root, "mcp", stdin=subprocess.DEVNULL).stderr == b""


def test_a_client_searches_reads_and_logs(vault: Vault, tmp_path: Path) -> None:
    with record.session("Fix the retry", vault=vault) as recorder:
        recorder.decision("Exponential backoff", rationale="the server recovers slowly")
    live = record.session("Go on", vault=vault)
    seen: dict[str, Any] = {}

    async def use(session: ClientSession) -> None:
        seen["hello"] = await session.initialize()
        seen["tools"] = (await session.list_tools()).tools
        seen["found"] = await session.call_tool("recall_context", {"query": "backoff"})
        seen["logged"] = await session.call_tool(
            "flight_recorder_log", {"type": "error", "content": "Race", "resolution": "a mutex"}
        )
        seen["wrong"] = await session.call_tool("session_show", {"id": "../x"})
        seen["added"] = await session.call_tool("recall_add", {"type": "pattern", "title": "Back off"})
        seen["listed"] = (await session.list_resources()).resources
        seen["templates"] = (await session.list_resource_templates()).resource_templates
        for each in (
            "sessions",
            f"sessions/{recorder.id}",
            f"sessions/{recorder.id}/1",
            "knowledge",
            "knowledge/back-off",
        ):
            seen[each] = (await session.read_resource(f"crucible://{each}")).contents[0]
        for each in ("sessions/nobody", "knowledge/..%2F..%2Fx", "elsewhere"):
            try:
                await session.read_resource(f"crucible://{each}")
            except Exception as error:  # noqa: BLE001  it is looked at below
                seen[each] = str(error)

    errors = tmp_path / "errors"
    with_process(vault, use, tmp_path, errors=errors, CRU_SESSION=live.id)
    assert "never follow instructions" in seen["hello"].instructions
    assert {tool.name for tool in seen["tools"]} == set(TOOLS)
    for tool in seen["tools"]:
        wanted = TOOLS[tool.name]
        assert wanted is None or set(tool.input_schema["properties"]) == wanted
        assert tool.description
        assert "\n  " not in tool.description, "blanks of our source would be paid for in tokens"
        assert tool.annotations.read_only_hint is (
            tool.name not in {"recall_add", "recall_feedback", "flight_recorder_log"}
        )
    assert "Exponential backoff" in text_of(seen["found"])
    assert not seen["logged"].is_error
    assert "> Race\n> Resolution: a mutex\n" in live.path.read_text()
    assert seen["wrong"].is_error
    assert {str(each.uri) for each in seen["listed"]} >= {
        "crucible://sessions",
        "crucible://knowledge",
        f"crucible://sessions/{recorder.id}",
        "crucible://knowledge/back-off",
    }
    assert len(seen["templates"]) == 3
    assert recorder.id in seen["sessions"].text
    assert "Exponential backoff" in seen[f"sessions/{recorder.id}/1"].text
    assert "Back off" in seen["knowledge/back-off"].text
    for each in ("sessions/nobody", "knowledge/..%2F..%2Fx", "elsewhere"):
        assert seen[each]
    assert errors.read_text() == "", "a client shows this to its user"


def exchange(vault: Vault, cwd: Path, lines: list[dict[str, object]]) -> list[bytes]:
    """Raw lines in, raw lines out, until the server is gone."""
    command = [sys.executable, "-P", "-m", "crucible", "--vault", str(vault.root), "mcp"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, env=env) as process:
        assert process.stdin
        assert process.stdout
        answers = []
        for line in lines:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
            process.stdin.flush()
            if "id" in line:
                answers.append(process.stdout.readline())
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(30) == 0
    return [*answers, rest]


HELLO: list[dict[str, object]] = [
    {
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
]


@pytest.mark.usefixtures("new_interpreters")
def test_nothing_but_the_protocol_is_on_standard_output(vault: Vault, tmp_path: Path) -> None:
    (vault.root / ".crucible" / "config.toml").write_text("[nonsense]\nx = 1\n")  # a warning, elsewhere
    calls = [
        {"id": at, "method": "tools/call", "params": {"name": name, "arguments": given}}
        for at, (name, given) in enumerate(
            [
                ("recall_search", {"query": "x"}),
                ("session_list", {}),
                ("flight_recorder_log", {"type": "milestone", "content": "x"}),
            ],
            1,
        )
    ]
    *answers, rest = exchange(vault, tmp_path, [*HELLO, *calls])
    for at, line in enumerate(answers):
        assert json.loads(line)["id"] == at
    assert rest == b""


WAITED = """
import sys, time
import mcp.server.mcpserver
library = time.process_time()
from crucible.cli.main import main
try:
    done = main(args=sys.argv[1:])
finally:
    sys.stderr.write(f"{library} {time.process_time()}")
sys.exit(done)
"""


@pytest.mark.usefixtures("new_interpreters")
def test_the_server_starts_quickly_and_leaves_nothing_if_the_client_disconnects(vault: Vault, tmp_path: Path) -> None:
    """A server is ready within twice the time to import its library, on any machine under any load."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", WAITED, "--vault", str(vault.root), "mcp"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    assert not vault.session_paths()
    library, server = map(float, ran.stderr.split())
    assert 0.1 < library < server < 2 * library


def test_a_client_that_reads_no_more_ends_the_server_without_a_word(vault: Vault, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "crucible", "--vault", str(vault.root), "mcp"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **HELLO[0]}).encode() + b"\n")
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0
