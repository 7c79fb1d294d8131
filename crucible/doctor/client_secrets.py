"""How many secrets lie in the clients' own logs: kinds and files, never a value.

A note has none of them, but the client's log keeps what was said, and nothing here changes that log.  They are counted as an import counts
what it takes out, so both numbers can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from crucible.doctor.findings import Finding, State, numbered
from crucible.doctor.transcripts import Native
from crucible.errors import TranscriptError
from crucible.secrets.private import PRIVATE
from crucible.settings import SecretSettings
from crucible.transcript.dialects import DIALECTS
from crucible.transcript.redact import redactor_of

__all__ = ["check_client_secrets"]

Show = Callable[[int, int], None]
"""Called with how many sessions were looked at, and how many there are."""
_MEND = "replace them where they are valid, then delete these sessions in the client: `cru` never changes its logs"


def check_client_secrets(
    natives: Iterable[Native], settings: SecretSettings, show: Show
) -> Iterator[Finding]:
    """A finding for each client that has logs; one event is held at a time."""
    readable = [native for native in natives if not native.reason]
    looked = Counter(native.dialect.NAME for native in readable)
    found: dict[str, dict[Path, Counter[str]]] = {}
    for done, native in enumerate(readable):
        show(done, len(readable))
        for path, kinds in _counted(native, settings):
            if kinds:
                found.setdefault(native.dialect.NAME, {}).setdefault(path, Counter()).update(kinds)
    show(len(readable), len(readable))
    for name, sessions in looked.items():
        yield _finding(DIALECTS[name].TITLE, sessions, found.get(name, {}))


def _counted(native: Native, settings: SecretSettings) -> Iterator[tuple[Path, Counter[str]]]:
    """Each file of a session with what is in it, by rule."""
    redact = redactor_of(settings)
    transcript = native.transcript
    for agent in ("", *(file.agent for file in transcript.subagents)):
        kinds: Counter[str] = Counter()
        try:
            for event in native.dialect.read(transcript, agent):
                kinds.update(redact(event)[1])
        except TranscriptError:
            pass  # gone or damaged since it was found, which the look at transcripts tells
        del kinds[PRIVATE]  # what a user marked stays with the client on purpose
        yield transcript.path_of(agent), kinds


def _finding(title: str, sessions: int, files: dict[Path, Counter[str]]) -> Finding:
    total: Counter[str] = Counter()
    for kinds in files.values():
        total.update(kinds)
    of = numbered(sessions, "session")
    if not total:
        return Finding("secrets", State.GOOD, f"no secret in {title}'s own logs ({of})")
    worst = sorted(files.items(), key=lambda each: (-each[1].total(), str(each[0])))
    what = f"{title}'s own logs ({of}) hold {numbered(total.total(), 'secret')} in {numbered(len(files), 'file')}: {_told(total)}"
    items = tuple(f"{path}: {_told(kinds)}" for path, kinds in worst)
    return Finding("secrets", State.NOTE, what, _MEND, items)


def _told(kinds: Counter[str]) -> str:
    """`3 github-token, 1 password`: the most first."""
    return ", ".join(
        f"{count} {rule}" for rule, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
    )
