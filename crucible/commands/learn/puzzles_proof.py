"""What showed, later in a session, that something was right.

Owns which calls count as a proof: a test, a check or a build that passed, else a program that was run and ended well.
"""

from __future__ import annotations

import re

from crucible.analysis.failures.moments import Moment
from crucible.analysis.tools.tool_acts import Deed
from crucible.commands.learn.timeline import Timeline
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.session.session import Outcome

_PROOFS = frozenset({Deed.TEST, Deed.CHECK, Deed.BUILD})
_SHOWS = late_pattern(
    r"(?:git|ls|cat|echo|pwd|mkdir|rm|cd|cp|mv|chmod|touch|which|sleep|export|apt|apt-get|sudo|find|head|tail|wc|date|ps|kill|ln)(?:\s|$)"
    r"|(?:python3? -m )?(?:uv )?(?:pip3?|npm|yarn|pnpm|poetry|cargo|go|brew|uv) (?:install|add|i|ci|get|sync)(?:\s|$)"
)
"""How commands begin that look, or prepare, and show nothing when they end well."""
_NOTHING_RAN = late_pattern(
    r"\b(?:0|no) tests? (?:were )?(?:ran|run|collected|found|passed|executed)\b|\bcollected 0 items\b|\bran 0 tests\b|\brunning 0 tests\b|\[no test files\]",
    re.IGNORECASE,
)
_SOME_RAN = late_pattern(r"\b[1-9]\d* (?:tests?|passed|passing|examples?)\b|^ok\s+\S", re.MULTILINE)
_READ = 4000
_LONGEST = 300


def verification_after(timeline: Timeline, at: int) -> str:
    """The first test, check or build that passed after a moment in its phase, else a program that succeeded there.

    Sub-phases count as one with their phase.  A failure in between ends the search: a pass before it proves nothing.
    """
    whole = timeline.moments[at].phase.partition(".")[0]
    ran = ""
    for moment in timeline.moments[at + 1 :]:
        is_proof = bool(_deeds(moment) & _PROOFS)
        is_over = is_proof and moment.outcome is Outcome.FAILED
        if is_over or moment.phase.partition(".")[0] != whole:
            break
        if moment.outcome is not Outcome.OK:
            continue
        if is_proof and not _is_empty(moment):
            return verified_by(moment)
        runs = (act.what for act in moment.acts if act.deed is Deed.RUN and not is_proof)
        ran = ran or next((_line(one) for one in runs if one and not _SHOWS.match(one)), "")
    return ran


def verified_by(moment: Moment) -> str:
    """A call that passed, as a proof; nothing where no command was run, or a test that ran nothing."""
    is_proof = _deeds(moment) & {*_PROOFS, Deed.RUN} and not _is_empty(moment)
    return _command_of(moment) if is_proof else ""


def _is_empty(moment: Moment) -> bool:
    """Whether a test passed since there was none."""
    if Deed.TEST not in _deeds(moment):
        return False
    text = moment.result[-_READ:]
    return bool(_NOTHING_RAN.search(text)) and not _SOME_RAN.search(text)


def _command_of(moment: Moment) -> str:
    """A call's command in one line: of its acts the one that proves most, else its line."""
    ran = [act.what for act in moment.acts if act.deed is Deed.RUN]
    proofs = [act.what for act in moment.acts if act.deed in _PROOFS] or [
        *(one for one in ran if not _SHOWS.match(one)),
        *ran,
    ]
    line = moment.call.call.partition(" ")[2] if moment.call else ""
    return _line(proofs[0] if proofs and proofs[0] else line.replace("⏎", " "))


def _line(text: str) -> str:
    return cut(normal_line(text), _LONGEST)


def _deeds(moment: Moment) -> set[Deed]:
    return {act.deed for act in moment.acts}
