"""Session notes as people have them, for the commands to work on."""

from __future__ import annotations

from pathlib import Path

from crucible.vault.notes.vault import Vault

LIMITER = """\
---
type: session
session_id: 2026-11-21-limiter
started: 2026-11-21T20:26:47Z
ended: 2026-11-21T20:36:52Z
status: completed
project: shop
channel: dev
participants:
  - claude-code@2.1.197
  - helper
model: claude-opus-4-8
tokens_used: 1944
tokens_cached: 6000
subagents:
  - session: 2026-11-21-clock
    agent: general-purpose
---

# Add a rate limiter

What it is for.

```tasks
[{"id": "1", "content": "Write the bucket", "status": "completed", "priority": "medium"}]
```

## Write the bucket @claude-code@2.1.197 #dev

started:: 2026-11-21T20:26:47Z
tokens:: 1620

> [!user]
> "Add a rate limiter"

Here is **the plan**.

**Tool calls:**
- `Write limiter.py` → created, 17 lines
- `Bash pytest` → ❌ FAILED

> [!decision]
> Token bucket.
> Rationale: constant memory.

> [!error]
> It failed.
> Resolution: start from now.

### A part of it

Small prose.

---

## Ask the clock #ops

> [!subagent] @general-purpose (claude-opus-4-8)
> mode: link
> [[2026-11-21-clock]]
> Summary: Use monotonic.

## Summary

All done.
"""

CLOCK = """\
---
type: session
session_id: 2026-11-21-clock
started: 2026-11-21T20:30:00Z
status: completed
project: shop
participants:
  - general-purpose
parent: "[[2026-11-21-limiter]]"
---

# Ask the clock

## Look it up

It is monotonic.
"""


def note(session_id: str, body: str = "", **properties: str) -> str:
    """A tidy note with these properties and this body."""
    known = {
        "type": "session",
        "session_id": session_id,
        "started": "2026-11-20T10:00:00Z",
        "status": "completed",
        **properties,
    }
    lines = "".join(f"{key}: {value}\n" for key, value in known.items())
    return f"---\n{lines}---\n\n# {session_id}\n\n{body}"


def write(vault: Vault, name: str, text: str | bytes) -> Path:
    """A note at `sessions/NAME.md`, as an editor would save it."""
    path = vault.root / "sessions" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
