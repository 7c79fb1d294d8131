"""Tests that are written to fail first: their failure is no failure.

Owns the words by which an agent says so, before the test or right after it; who says that a failure is reproduced does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crucible.acts.model import Deed
from crucible.acts.needled import Needled
from crucible.cases.attempts import Attempt
from crucible.cases.timeline import Moment
from crucible.patterns import late_pattern
from crucible.session.model import Prose

__all__ = ["is_first_red"]

_REPRODUCES = Needled(
    late_pattern(r"\breproduc(?:e|es|ing|tion)\b|\bsee (?:it|this|that) fail\b", re.IGNORECASE),
    "reproduc",
    "see it fail",
    "see this fail",
    "see that fail",
)
_WANTS_RED = Needled(
    late_pattern(
        r"\b(?:tests?|red)[ -]first\b|\bTDD\b|\btest[- ]driven\b|\bfailing test\b|\bred\b[^.\n]{0,20}\b(?:at first|then green)\b"
        r"|\b(?:must|should|has to|have to|ought to|needs to|will|expected to|supposed to|going to|expect \w+ to)\b(?: \w+){0,2} (?:fail|be red)\b"
        r"|\btests?\b[^.\n]{0,20}\bbefore (?:the|any|writing|touching) (?:\w+ )?(?:code|implementation|fix|change|function)",
        re.IGNORECASE,
    ),
    "first",
    "tdd",
    "driven",
    "fail",
    "then green",
    "be red",
    "before",
)
_WAS_RED = late_pattern(
    r"(?:\w+[,:]? ){0,4}?(?:red|fails?|failing|failed)\b[^.\n]{0,40}\bas (?:it (?:should|must)|expected|planned|intended|wanted|desired|hoped)"
    r"|(?:good|great|fine|right|perfect)[,:.]? (?:it(?:['’]s| is)? |the test (?:is )?)?(?:red|fails|failing)\b|red[,.:]|expected failure",
    re.IGNORECASE,
)
_TESTISH = late_pattern(r"(?:^|[\W_])(?:tests?|specs?)(?:[\W_]|$)|Tests?\b", re.MULTILINE)


def is_first_red(moments: Sequence[Moment], attempt: Attempt) -> bool:
    """Whether a test failed as it was to, by what is said right before it, or in the answer to it."""
    if not _is_test(attempt):
        return False
    before = moments[max(0, attempt.at - 4) : attempt.at]
    words = [one.entry.text for one in before if isinstance(one.entry, Prose)]
    after = next((one.entry for one in moments[attempt.at + 1 : attempt.at + 2]), None)
    answer = after.text if isinstance(after, Prose) else ""
    for said in reversed(words):  # the nearest words count
        if _REPRODUCES.search(said):
            return False
        if _WANTS_RED.search(said):
            return True
    return bool(_WAS_RED.match(answer))


def _is_test(attempt: Attempt) -> bool:
    return any(act.deed is Deed.TEST for act in attempt.moment.acts) or bool(_TESTISH.search(attempt.script))
