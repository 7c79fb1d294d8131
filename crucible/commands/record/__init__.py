"""Record a session while the work happens, for agents that keep no transcript.

    from crucible import record

    with record.session("Fix the retry bug", vault="~/notes", agent="my-agent@1.0", model="some-model") as s:
        s.phase("Research")
        s.tool("pytest", "-q", result="3 passed")
        s.decision("Back off exponentially", rationale="the server recovers slowly")
        with s.subagent("researcher", model="small-model", task="Find out who else does it") as child:
            child.phase("Search")

`session` creates a note, `open` attaches to an existing one, `resume` makes a session active again. Each returns a
`Recorder`, whose methods return after the text is on disk. All calls are safe across threads and processes.

Secrets are redacted first (if that fails, nothing is written), then the note is written, then the event log.
"""

from __future__ import annotations

from crucible.commands.record.note_writer import SessionEnded
from crucible.commands.record.recorder import Recorder
from crucible.commands.record.start import open_session as open  # noqa: A004  callers write `record.open`
from crucible.commands.record.start import resume, session
from crucible.commands.record.subagent import InlineWork

__all__ = ["InlineWork", "Recorder", "SessionEnded", "open", "resume", "session"]
