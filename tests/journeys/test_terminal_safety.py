"""No command lets a note of a stranger's vault control the terminal that shows it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.conftest import ROOT
from tests.running import Cru

ESC = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b2J\x90q\x9c\u202elive\u2066\x08\x7f"
SESSION = f"""---
type: session
session_id: s
started: 2026-11-21T20:26:47Z
status: paused
project: "a{ESC.replace(chr(92), "")}"
---

# T {ESC} end

Before {ESC} after.

```tasks
[{{"id": "1", "content": "Do {ESC.encode("unicode_escape").decode().replace(chr(92) + "x", chr(92) + "u00")}", "status": "pending", "priority": "medium"}}]
```

> [!findings]- {ESC}
> - outcome: It {ESC} works (reply, 0.5)
>   Details: {ESC}

## Phase {ESC} @agent

> [!decision] {ESC}
> Use {ESC} it.
> **Rationale**: {ESC}
> Alternatives: {ESC}
> By: {ESC}

> [!plan]- approved: {ESC}
> The {ESC} plan.

> [!error] It failed {ESC}
> **Resolution**: {ESC}

```sh
{ESC}
```

[[{ESC}]] ![[gone{ESC}]]
"""
KNOWLEDGE = f"---\ntype: decision\nstatus: active\nscope: project\n---\n\n# Item {ESC}\n\nBecause {ESC}.\n"
HISTORY = f"---\ntype: history\nsession_id: s\n---\n\n# H {ESC}\n\n## Open Questions\n\n- Why {ESC}?\n"
WORKFLOW = f"---\ntype: workflow\n---\n\n# Flow {ESC}\n\n## Step {ESC} @agent\n\nDo {ESC} it.\n"

COMMANDS = [
    "session list", "session show s", "session show s --format markdown", "session show s --format json",
    "session show s t --format markdown", "session show s --phase 1 --format markdown", "session check", "session stats",
    "session brief s", "session resume --context s", "session codify s --dry-run",
    "session learn s", "session learn s --export jsonl --shape tools -o -", "session learn s --export jsonl -o -",
    "recall red", "recall red --format json", "knowledge list", "knowledge show item", "knowledge check", "knowledge stats",
    "history list", "history show s", "history search why", "workflow list", "workflow show flow", "workflow show flow --format markdown",
    "workflow check", "workflow graph flow", "inbox", "task", "task show s.1", "task pick s.1", "briefing", "briefing --short", "session show s --bookmarks",
    "events list", "case list", "doctor", "index show sessions", "session show nothing", "session rename s con", "knowledge capture s --dry-run",
    f"session show {ESC}", f"session show --{ESC}", f"{ESC}", f"task show {ESC}", f"import claude-code {ESC}",
]  # fmt: skip


@pytest.fixture
def hostile(vault: Vault) -> Vault:
    for folder, name, text in (
        ("sessions", "s", SESSION),
        ("sessions", "t", SESSION.replace("session_id: s", "session_id: t")),
        ("sessions", f"odd{ESC}", SESSION),
        ("knowledge", "item", KNOWLEDGE),
        ("knowledge", f"odd{ESC}", KNOWLEDGE),
        ("history", "s", HISTORY),
        ("workflows", "flow", WORKFLOW),
        ("workflows", f"odd{ESC}", WORKFLOW),
    ):
        (vault.root / folder).mkdir(exist_ok=True)
        (vault.root / folder / f"{name}.md").write_bytes(text.encode("utf-8"))
    return vault


def shown(root: Path, line: str) -> str:
    """What the terminal receives on stdout and stderr."""
    main, side = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "100"}
    env |= {"PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "crucible", "--vault", str(root), *line.split(" ")]
    with subprocess.Popen(
        command, cwd=root.parent, env=env, stdin=subprocess.DEVNULL, stdout=side, stderr=side
    ) as process:
        os.close(side)
        parts = []
        with suppress(OSError):  # Linux raises this when the other side is closed and everything is read
            while part := os.read(main, 65_536):
                parts.append(part)
        process.wait(60)
    os.close(main)
    return b"".join(parts).decode("utf-8", "surrogateescape")


def steering(text: str) -> set[str]:
    # The terminal and progress bars write `\r`.
    return {
        char
        for char in text
        if (ord(char) < 32 and char not in "\r\n\t") or 0x7F <= ord(char) < 0xA0 or char in "\u202e\u2066"
    }


@for_each("line", COMMANDS)
def test_nothing_in_a_note_steers_the_terminal(hostile: Vault, line: str) -> None:
    text = shown(hostile.root, line)
    found = steering(text)
    # Escape sequences may come from rich only: bold, colours and hyperlinks.
    assert "Traceback" not in text
    assert "Usage:" not in text, "a command line that is wrong shows nothing of a note"
    assert not found - {"\x1b"}
    assert not any(part for part in text.split("\x1b")[1:] if not part.startswith(("[", "]8;")))
    assert "\x1b[2J" not in text
    assert "\x1b]0" not in text
    assert "\x1b[31mred" not in text


def test_a_terminal_shows_control_characters_as_symbols(hostile: Vault) -> None:
    text = shown(hostile.root, "session show s --format markdown")
    assert "Before ␛]0;owned␇␛[2J␛[31mred<9b>2J<90>q<9c><202e>live<2066>␈␡ after." in text


def test_a_file_or_a_pipe_gets_the_exact_bytes(hostile: Vault) -> None:
    text = (hostile.sessions / "s.md").read_bytes()
    assert Cru(hostile)("session", "show", "s", "--format", "markdown").stdout_bytes == text
    flow = (hostile.root / "workflows" / "flow.md").read_bytes()
    assert Cru(hostile)("workflow", "show", "flow", "--format", "markdown").stdout_bytes == flow
