"""Count the secrets in the clients' own logs, by kind and file, without their values.

Notes are redacted, but the clients' logs are not, and nothing here changes them.  The count is made as an import makes it,
so the numbers can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from crucible.clients.redact import redactor_of
from crucible.clients.registry import DIALECTS
from crucible.core.errors import TranscriptError
from crucible.core.secrets.private_blocks import PRIVATE
from crucible.core.settings.settings import SecretSettings
from crucible.integrations.doctor.check_results import Finding, State, numbered
from crucible.integrations.doctor.doctor_transcripts__transcripts import Native

__all__ = ["check_client_secrets"]

Show = Callable[[int, int], None]
"""Called with the number of sessions checked so far, and the total."""
_MEND = "revoke these secrets, then delete the sessions in the client; `cru` never changes its logs"


def check_client_secrets(natives: Iterable[Native], settings: SecretSettings, show: Show) -> Iterator[Finding]:
    """Yield one finding per client with logs.  Only one event is in memory at a time."""
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
    """Yield each file of a session with its secrets counted by rule."""
    redact = redactor_of(settings)
    transcript = native.transcript
    for agent in ("", *(file.agent for file in transcript.subagents)):
        kinds: Counter[str] = Counter()
        try:
            for event in native.dialect.read(transcript, agent):
                kinds.update(redact(event)[1])
        except TranscriptError:
            pass  # removed or damaged since it was found; the check of transcripts reports it
        del kinds[PRIVATE]  # the user marked these, and knows that the client keeps them
        yield transcript.path_of(agent), kinds


def _finding(title: str, sessions: int, files: dict[Path, Counter[str]]) -> Finding:
    total: Counter[str] = Counter()
    for kinds in files.values():
        total.update(kinds)
    of = numbered(sessions, "session")
    if not total:
        return Finding("secrets", State.GOOD, f"no secrets in {title}'s own logs ({of})")
    worst = sorted(files.items(), key=lambda each: (-each[1].total(), str(each[0])))
    what = f"{title}'s own logs ({of}) hold {numbered(total.total(), 'secret')} in {numbered(len(files), 'file')}: {_told(total)}"
    items = tuple(f"{path}: {_told(kinds)}" for path, kinds in worst)
    return Finding("secrets", State.NOTE, what, _MEND, items)


def _told(kinds: Counter[str]) -> str:
    """`3 github-token, 1 password`, the most frequent first."""
    return ", ".join(f"{count} {rule}" for rule, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0])))
