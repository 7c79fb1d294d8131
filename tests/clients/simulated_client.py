"""A client without a model: writes the rows of a real session as Claude Code does, and calls our hooks.

simulated_client.py SESSION SEED PROJECT HOOK < go

It runs as a separate process, so that it can be killed.  It prints `started` when its SessionStart hook has returned,
waits for a line, writes its rows, and prints `ended` after a regular end.  As with the real client, the last row of a
turn may come after the Stop hook, and rows of subagents are in files of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.paths import ROOT

sys.path.insert(0, str(ROOT))

from samples.transcripts import REAL, SESSIONS, renamer

Row = dict[str, Any]


class Simulated:
    """One session of it."""

    def __init__(self, session: str, seed: int, project: Path, hook: str) -> None:
        self.random = Random(seed)
        self.session, self.project, self.hook_command = session, project, hook
        name = self.random.choice(SESSIONS)
        (self.source,) = (REAL / name / "projects").glob("*/*.jsonl")
        self.folder = Path.home() / ".claude" / "projects" / "-project"
        self.transcript = self.folder / f"{session}.jsonl"
        fresh = renamer(session)
        self.rename = lambda text: fresh(text.replace(self.source.stem, "@SESSION@")).replace("@SESSION@", session)

    def play(self) -> None:
        self.hook("SessionStart", source="startup")
        _say("started")
        sys.stdin.readline()
        for row in self.rows(self.source):
            if row["type"] == "assistant" and row["message"]["stop_reason"] == "end_turn":
                self.stop(row)
            else:
                self.write(self.transcript, row)
                self.after(row)
        self.hook("SessionEnd", reason="other")
        _say("ended")

    def rows(self, path: Path) -> Iterator[Row]:
        for line in self.rename(path.read_text(encoding="utf-8")).split("\n"):
            if line:
                yield json.loads(line)

    def write(self, path: Path, row: Row) -> None:
        """In two pieces now and then, as a system may write it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        cut = self.random.randrange(len(data)) if self.random.random() < 0.2 else 0
        with path.open("ab", buffering=0) as file:
            for piece in (data[:cut], data[cut:]):
                file.write(piece)

    def after(self, row: Row) -> None:
        """The hooks that the client calls when it has written such a row."""
        content = row.get("message", {}).get("content")
        if row["type"] == "user" and isinstance(content, str):
            self.hook("UserPromptSubmit", prompt=content)
        elif row["type"] == "user":
            for block in content:
                if block["type"] == "tool_result":
                    failed = block.get("is_error")
                    self.hook("PostToolUseFailure" if failed else "PostToolUse", tool_use_id=block["tool_use_id"])
        elif row["type"] == "assistant" and content[0].get("name") == "Agent":
            self.subagent(content[0]["id"])

    def subagent(self, call: str) -> None:
        for meta in self.source.with_suffix("").glob("subagents/*.meta.json"):
            told = self.rename(meta.read_text(encoding="utf-8"))
            if json.loads(told)["toolUseId"] != call:
                continue
            agent = self.rename(meta.name).removesuffix(".meta.json")
            folder = self.transcript.with_suffix("") / "subagents"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{agent}.meta.json").write_text(told, encoding="utf-8")
            pointers = {"agent_id": agent.removeprefix("agent-"), "agent_type": "general-purpose"}
            self.hook("SubagentStart", **pointers)
            for row in self.rows(meta.with_name(meta.name.replace(".meta.json", ".jsonl"))):
                self.write(folder / f"{agent}.jsonl", row)
            self.hook("SubagentStop", **pointers)

    def stop(self, row: Row) -> None:
        said = "".join(block.get("text", "") for block in row["message"]["content"])
        hook = self.start("Stop", last_assistant_message=said)
        if self.random.random() < 0.5:
            hook.wait()
        self.write(self.transcript, row)
        hook.wait()

    def hook(self, event: str, **more: Any) -> None:
        self.start(event, **more).wait()

    def start(self, event: str, **more: Any) -> subprocess.Popen[bytes]:
        payload = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            **more,
        }
        command = ["sh", "-c", f"exec {self.hook_command}"]
        # What a hook says at a start is the client's.
        hook = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert hook.stdin is not None
        try:
            hook.stdin.write(json.dumps(payload).encode())
            hook.stdin.close()
        except BrokenPipeError:
            pass  # it was killed
        return hook


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def main() -> None:
    session, seed, project, hook = sys.argv[1:]
    Simulated(session, int(seed), Path(project), hook).play()


if __name__ == "__main__":
    main()
