"""Workflow notes as people have them, for the commands to work on."""

from __future__ import annotations

from pathlib import Path

from crucible.vault.notes.vault import Vault

RELEASE = """\
---
type: workflow
sessions:
  - "[[2026-11-20-release]]"
  - "[[2026-11-21-release]]"
---

# Release checklist

How a version goes out.

## Run the tests @ci@2.1 #release !

The **whole** suite.
source → test_results::TestReport

```session-toon
execution[2]{phase,agent,channel,duration_ms,status,tokens_used,session,started,host}:
  RunTheTests,ci@2.0,release,84000,failed,1200,2026-11-20-release,2026-11-20T10:00:00Z,mill
  RunTheTests,ci@2.1,release,80000,success,1100,2026-11-21-release,2026-11-21T10:00:00Z,dale
```

## Write the notes @writer #release

source → release_notes::Markdown

```session-toon
execution[1]{phase,agent,channel,duration_ms,status,tokens_used,session,started}:
  WriteTheNotes,writer,release,5000,success,900,2026-11-21-release,2026-11-21T10:05:00Z
```

### Check the links ?

release_notes → link_report

## Publish @ops #news !

test_results::TestReport, release_notes → receipt

If `test -s receipt` → proceed to Check the links

## Summary

Not a step.
"""

PLAIN = """\
# Simple pipeline

## Load
raw.csv → rows

```session-toon
execution[1]{phase,status,duration_ms}:
 Load,success,12
```

## Clean
rows → clean_rows
"""

BROKEN = """\
---
type: workflow
---

# Broken one

## First
c → a::CSV

## Second
a::JSON → b

```session-toon
execution[1{phase,status}:
  Second,success
```

## Third
b → c

proceed to Nowhere → proceed to Nowhere

If it rains → proceed to Nowhere

## Third again
other → b

```session-toon
execution[1]{phase,status}:
  Fourth,success
```
"""


def put(vault: Vault, path: str, text: str | bytes = RELEASE) -> Path:
    """A note at a path of the vault, as an editor would save it."""
    whole = vault.root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_bytes(text if isinstance(text, bytes) else text.encode())
    return whole
