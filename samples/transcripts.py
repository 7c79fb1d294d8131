"""Transcripts to measure with: the two real sessions many times over, and one as large as wanted.

Owns what is the same in every run: ids follow from the number of a copy, sizes of results from a seeded generator.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

SESSIONS = ("limiter", "retry")
REAL = Path(__file__).resolve().parents[1] / "tests" / "data" / "transcripts" / "claude-code"

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ID = re.compile(rf"{_UUID}|\b(?:msg|toolu)_\w+|\ba[0-9a-f]{{16}}\b")
_SPACE = uuid.UUID(int=0)


def copy_sessions(folder: Path, copies: int, projects: int = 1) -> int:
    """Lay `copies` of each real session out as the client does, spread over projects; how many transcripts that makes.

    Session, message, tool and agent ids are fresh in each copy and agree within it, subagents' files included.
    """
    for number in range(copies):
        for name in SESSIONS:
            _copy(REAL / name / "projects", folder, number, projects)
    return len(SESSIONS) * copies


def _copy(root: Path, folder: Path, number: int, projects: int) -> None:
    rename = renamer(f"{number} {root.parent.name}")
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        slug, *rest = path.relative_to(root).parts
        project = slug if projects == 1 else f"{slug}-{number % projects}"
        target = folder / project / rename("/".join(rest))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rename(path.read_text(encoding="utf-8")), encoding="utf-8")


def renamer(copy: str) -> Callable[[str], str]:
    """New ids for one copy of one session, of the same shape as the old ones."""

    def fresh(found: re.Match[str]) -> str:
        old = found[0]
        new = uuid.uuid5(_SPACE, f"{copy} {old}")
        if old[0] == "a" and "-" not in old:
            return f"a{new.hex[:16]}"
        prefix, underscore, _ = old.partition("_")
        return f"{prefix}_{new.hex[:24]}" if underscore else str(new)

    return lambda text: _ID.sub(fresh, text)


def write_many(folder: Path, *, copies: int = 50, large: int = 40, size: int = 2_000_000) -> Path:
    """Lay out the real sessions `copies` times, and `large` sessions of `size` bytes beside them: 86 MB by default."""
    copy_sessions(folder, copies)
    text = write_large(folder / "-home-dev-project" / "large.jsonl", size).read_text(encoding="utf-8")
    (folder / "-home-dev-project" / "large.jsonl").unlink()
    for number in range(large):
        rename = renamer(f"large {number}")
        path = folder / "-home-dev-project" / f"{rename(LARGE_ID)}.jsonl"
        path.write_text(rename(text), encoding="utf-8")
    return folder


# --- a large one -----------------------------------------------------------------------------------------------------

LARGE_ID = "11111111-2222-4333-8444-555555555555"
_SOURCE = (
    "class Limiter:\n    def __init__(self, rate: float, burst: int) -> None:\n        self.rate = rate\n"
    '        self.last = time.monotonic()\n\n    def allow(self, key: str) -> bool:\n        # "per user", not global\n'
    "        return self._buckets[key].take() if key in self._buckets else True\n\n"
)
_WORDS = (
    "I read the limiter, its tests and the callers in the web layer. The bucket is filled lazily, so the clock matters "
    "more than the lock; `time.monotonic()` is what it needs. Next I change the callers and run the tests again. "
)


def write_large(path: Path, size: int) -> Path:
    """A session of about `size` bytes: a prompt every 25 calls; nine tenths of the bytes are tool results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in _large_rows():
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
            if file.tell() >= size:
                break
        file.write(json.dumps(_row(0, "assistant", [{"type": "text", "text": "Done."}], stop="end_turn")) + "\n")
    return path


def _large_rows() -> Iterator[dict[str, Any]]:
    random = Random(1)
    number = 0
    while True:
        if number % 25 == 0:
            yield _row(
                number,
                "user",
                f"Now part {number // 25 + 1}: make the limiter count per user in this layer too",
            )
        call, name = f"toolu_{number:08}", f"/home/dev/project/part_{number}.py"
        words = _WORDS * random.randint(1, 4)
        use = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": name}}
        yield _row(number, "assistant", [{"type": "text", "text": words}])
        yield _row(number, "assistant", [use], stop="tool_use")
        # Most results are short, a few are huge: as in real sessions.
        content = _SOURCE * max(1, int(random.paretovariate(1.2) * 8) % 2000)
        file = {"filePath": name, "content": content, "numLines": content.count("\n")}
        result = {"type": "tool_result", "tool_use_id": call, "content": content}
        yield _row(number, "user", [result], toolUseResult={"type": "text", "file": file})
        number += 1


def _row(number: int, kind: str, content: object, stop: str | None = None, **more: object) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 9, "output_tokens": 80, "cache_read_input_tokens": 9000}
        message |= {"id": f"msg_{number:08}", "model": "claude-opus-4-8", "stop_reason": stop, "usage": usage}
    time = f"2026-11-21T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    return {
        "type": kind,
        "uuid": str(uuid.uuid5(_SPACE, f"{number} {kind} {stop} {type(content).__name__}")),
        "timestamp": time,
        "message": message,
        "cwd": "/home/dev/project",
        "sessionId": LARGE_ID,
        "version": "2.1.197",
        "gitBranch": "main",
        **more,
    }
