"""The tokens in notes are the sum of each client's own usage rows, read here without any parser of ours."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.paths import TESTS
from tests.running import Cru

SAMPLES = TESTS / "data" / "transcripts"
Counts = tuple[int, int, int]
"""Uncached input with cache writes, cache reads, output."""


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if isinstance(row, dict):
                yield row


def claude_code(folder: Path) -> dict[str, Counts]:
    found = {}
    for row in rows(folder):
        message = row.get("message") or {}
        if row.get("type") == "assistant" and message.get("model") != "<synthetic>":
            use = message["usage"]
            fresh = use["input_tokens"] + use.get("cache_creation_input_tokens", 0)
            found[message["id"]] = fresh, use.get("cache_read_input_tokens", 0), use["output_tokens"]
    return found


def codex(folder: Path) -> dict[str, Counts]:
    found = {}
    for row in rows(folder):
        if row["type"] == "token_usage_record":
            use = row["payload"]["usage"]
            cached = use["cached_input_tokens"]
            # The scripted model of the samples counts its responses anew in each run.
            name = f"{row['payload']['thread_id']} {row['payload']['response_id']}"
            found[name] = use["input_tokens"] - cached, cached, use["output_tokens"]
    return found


def gemini(folder: Path) -> dict[str, Counts]:
    found = {}
    for row in rows(folder):
        changed = row.get("$set") if isinstance(row.get("$set"), dict) else {}
        for message in (row, *(changed or {}).get("messages", ())):
            if use := message.get("tokens"):
                found[message["id"]] = use["input"] - use["cached"], use["cached"], use["output"] + use["thoughts"]
    return found


def opencode(folder: Path) -> dict[str, Counts]:
    found = {}
    with closing(sqlite3.connect(f"file:{next(folder.rglob('opencode.db'))}?mode=ro&immutable=1", uri=True)) as db:
        for name, data in db.execute("SELECT id, data FROM part"):
            part = json.loads(data)
            if part.get("type") == "step-finish":
                use = part["tokens"]
                fresh = use["input"] + use["cache"]["write"]
                found[name] = fresh, use["cache"]["read"], use["output"] + use["reasoning"]
    return found


def copilot(folder: Path) -> dict[str, Counts]:
    uses = {row["id"]: row["data"]["usage"] for row in rows(folder) if row["type"] == "session.usage_record"}
    return {
        name: (use["inputTokens"] - use["cacheReadTokens"], use["cacheReadTokens"], use["outputTokens"])
        for name, use in uses.items()
    }


def pi(folder: Path) -> dict[str, Counts]:
    uses = {row["id"]: row["message"]["usage"] for row in rows(folder) if (row.get("message") or {}).get("usage")}
    return {name: (use["input"] + use["cacheWrite"], use["cacheRead"], use["output"]) for name, use in uses.items()}


READERS: dict[str, Callable[[Path], dict[str, Counts]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
    "pi": pi,
}


@pytest.mark.parametrize("client", READERS)
def test_notes_have_the_tokens_of_the_client_s_own_rows(cru: Cru, client: str) -> None:
    expected = dict.fromkeys(range(3), 0)
    for folder in sorted((SAMPLES / client).iterdir()):
        # A folder of OpenCode may have a session of another folder.
        if folder.is_dir() and folder.name not in {"golden", "resumed" if client == "opencode" else ""}:
            assert cru("import", client, folder).exit_code in (0, 3)
            used = READERS[client](folder).values()
            expected = {at: before + sum(one[at] for one in used) for at, before in expected.items()}
    shown = json.loads(cru("session", "stats", "--cost", "--json").stdout)["total"]
    fresh = shown["input"] + shown["cache_write"] + shown["cache_write_1h"]
    assert [fresh, shown["cache_read"], shown["output"]] == [*expected.values()]
    assert all(expected.values())
