"""Histories, captures, cases, workflows and memories name findings with the id and the summary of their note.

With REAL=FOLDER it checks real transcripts in that folder; `REAL=FOLDER make real` runs this file, too.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.running import Cru

TRANSCRIPTS = Path(__file__).parent / "data" / "transcripts"
REAL = os.environ.get("REAL")
_ID = re.compile(r"\b(?:decision|correction|failure|outcome|open_end|environment|report)-[\w-]+")


@pytest.fixture
def sessions(vault: Vault, cru: Cru) -> list[str]:
    """The ids of all imported sessions."""
    folders = [Path(REAL)] if REAL else sorted((TRANSCRIPTS / "claude-code").glob("*/projects"))
    done = cru("import", "claude-code", *map(str, folders))
    assert done.exit_code in (0, 3), done.output
    return sorted(path.stem for path in (vault.root / "sessions").rglob("*.md"))


def test_whatever_is_named_is_a_finding_with_the_same_id_and_summary(cru: Cru, sessions: list[str]) -> None:
    wrong, named = [], 0
    found = {session: _findings(cru, session) for session in sessions}
    for session, own in found.items():
        for place, finding, text in _named(cru, session):
            named += 1
            # Subagents' findings are named in their parent's history and workflow, too.
            summaries = [each[finding] for each in ([own] if finding in own else found.values()) if finding in each]
            if not summaries:
                wrong.append(f"{session}, {place}: {finding} is no finding")
            elif text is not None and not any(_says(text, each) for each in summaries):
                wrong.append(f"{session}, {place}: {finding} says {text[:80]!r}")
    assert named
    assert not wrong, "\n".join(wrong)


def _findings(cru: Cru, session: str) -> Mapping[str, str]:
    told = json.loads(cru("session", "show", session, "--findings", "--format", "json").stdout)["sessions"][0][
        "findings"
    ]
    ids = [one["id"] for one in told]
    assert len(ids) == len(set(ids))
    return {one["id"]: one["summary"] for one in told}


def _named(cru: Cru, session: str) -> Iterator[tuple[str, str, str | None]]:
    """Where a finding is named, its id, and the text that stands for it, None if only the id is shown."""
    history = json.loads(cru("history", "show", session, "--format", "json").stdout)["histories"][0]
    for section in history.values():
        for line in section if isinstance(section, list) else ():
            if isinstance(line, dict) and _ID.fullmatch(line.get("finding") or "") and "text" in line:
                yield "history", line["finding"], line["text"]
    for candidates in json.loads(cru("knowledge", "capture", "--dry-run", session, "--format", "json").stdout).values():
        for one in candidates if isinstance(candidates, list) else ():
            if one.get("finding"):
                # The title of a candidate may be what was done, or the cause: the finding's summary stands below it then.
                yield "capture", one["finding"], f"{one['summary']}\n{one['detail']}"
    for row in cru("session", "learn", session, "--export", "jsonl", "--output", "-").stdout.splitlines():
        case = json.loads(row)["metadata"]
        if case.get("finding"):
            yield "case", case["finding"], case["title"]
    for line in cru("session", "codify", session, "--output", "-").stdout.splitlines():
        yield from (("workflow", found, None) for found in _ID.findall(line.rpartition("(")[2]))


def _says(text: str, summary: str) -> bool:
    """True if a text holds a summary; paths may have been shortened."""
    words = _words(summary)
    return len(words - _words(text)) <= len(words) // 10


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", re.sub(r"\S*/\S*", " ", text)))
