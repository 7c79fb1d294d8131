"""A stand-in for Claude Code on PATH: it writes a session's rows as that does, and what it was given.

It notes its arguments, standard input, folder and environment as a line of JSON in FAKE_LOG.  FAKE_EXIT is its exit code,
FAKE_QUIET has it write no transcript, FAKE_WAIT names a file that it waits for before it ends.
"""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

from samples.waiting import wait_until


def main() -> None:
    words = sys.argv[1:]
    resumed = words[words.index("--resume") + 1] if "--resume" in words else ""
    said = sys.stdin.read() if "-p" in words else ""
    told = {name: os.environ.get(name) for name in ("CRUCIBLE_RESUMING", "CRU_SESSION", "CRUCIBLE_VAULT", "PWD")}
    with Path(os.environ["FAKE_LOG"]).open("a") as log:
        log.write(json.dumps({"words": words, "said": said, "cwd": os.getcwd(), "pid": os.getpid(), **told}) + "\n")
    if not os.environ.get("FAKE_QUIET"):
        _write(resumed or str(uuid.uuid4()), said or (words[0] if words[:1] and words[0][0] != "-" else "Hello"))
    if waits := os.environ.get("FAKE_WAIT"):
        wait_until(Path(waits).exists)
    sys.exit(int(os.environ.get("FAKE_EXIT", "0")))


def _write(session: str, prompt: str) -> None:
    folder = Path.home() / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", os.getcwd())
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    parent = json.loads(path.read_text().splitlines()[-1])["uuid"] if path.exists() else None
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    head = {
        "sessionId": session,
        "cwd": os.getcwd(),
        "version": "2.1.197",
        "gitBranch": "main",
        "timestamp": now,
        "isSidechain": False,
        "userType": "external",
        "entrypoint": "cli",
    }
    asked, answered = str(uuid.uuid4()), str(uuid.uuid4())
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 0,
    }
    answer = {
        "id": f"msg_{answered}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": [{"type": "text", "text": f"Answer {answered[:4]}."}],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    rows = [
        {
            "type": "user",
            "uuid": asked,
            "parentUuid": parent,
            "message": {"role": "user", "content": prompt},
            **head,
        },
        {
            "type": "assistant",
            "uuid": answered,
            "parentUuid": asked,
            "message": answer,
            "requestId": "r",
            **head,
        },
    ]
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
