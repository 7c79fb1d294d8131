"""What a failure is attributed to, by rules: what the report bears witness of, weighed.

Owns how sure it is, and the words for the cause and for what would have prevented it.  What speaks for a cause is `evidence`'s, how much
it weighs `weights`'.  Nothing is asked, and nothing is read but the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from crucible.knowledge.evidence import Evidence, bounded, evidence
from crucible.knowledge.model import PREVENTABLE, Attribution, Category, FailureReport
from crucible.knowledge.weights import scores
from crucible.note.contain import cut, normal_line
from crucible.patterns import UNSEEN, late_pattern

__all__ = ["LONGEST", "SURE", "attributed", "classify", "readable"]

SURE = 0.6
"""Less confidence than this means “not sure”."""

LONGEST = 400
"""Code points of a cause, and of what would have prevented it."""

_SHARPNESS = 1.2
"""What scores are multiplied by before they become chances: of reports that were not fitted to, what is said with 0.85 is right at least as often."""

_SUREST = 0.98
"""Rules are never surer."""

_SHORT = 160


def classify(report: FailureReport) -> Attribution:
    """Where the failure comes from; `confidence` under `SURE` is a guess, which a report without any sign always is."""
    signs, features = evidence(report)
    return attributed(report, signs, scores(features))


def attributed(
    report: FailureReport, signs: Iterable[Evidence], scored: Mapping[Category, float]
) -> Attribution:
    """The attribution that scores make, told by the strongest sign of its category."""
    best = max(Category, key=lambda one: scored[one])
    spread = sum(math.exp((score - scored[best]) * _SHARPNESS) for score in scored.values())
    telling = max(
        (sign for sign in signs if sign.says), key=lambda sign: sign.weights.get(best, 0.0), default=None
    )
    says = telling.says if telling and telling.weights.get(best, 0.0) > 0 else _OF_NO_SIGN[best]
    prevented = _preventable_with(best, report) if PREVENTABLE[best] else ""
    return Attribution(best, _root_cause(says, report), prevented, round(min(_SUREST, 1 / spread), 2))


def readable(text: str, limit: int) -> str:
    """Foreign text in one line of at most `limit` code points, without what nobody sees."""
    return cut(normal_line(UNSEEN.sub("", text[: 4 * limit + 1000])), limit)


# --- in words --------------------------------------------------------------------------------------------------------

_OF_NO_SIGN: Mapping[Category, str] = {
    Category.REQUIREMENTS_AMBIG: "the wish was understood otherwise than it was meant",
    Category.KNOWLEDGE_GAP: "how this works was not known",
    Category.TOOL_MISUSE: "the tool was not called as it has to be",
    Category.CONTEXT_MISSING: "what was there was not looked at",
    Category.EXECUTION_ERROR: "chance, or the machine",
    Category.EXTERNAL_DEP: "something outside did not work",
}
_TELLING = late_pattern(
    r"error|exception|fatal|fail|denied|not |no |unknown|invalid|cannot|can't|unexpected|killed|timed",
    re.IGNORECASE,
)
_FILE = late_pattern(
    r"(?<![\w/.-])(?:[\w.-]+/)*(?:README|CONTRIBUTING|CHANGELOG|AGENTS|CLAUDE|GEMINI|Makefile|Dockerfile|justfile|\.env[\w.]*|\.nvmrc|[\w-]+"
    r"\.(?:md|toml|json|ya?ml|lock|cfg|ini|txt|rst|py|tsx?|jsx?|go|rs|rb|java|kt|sql|sh|c|h|cpp|cs|php|swift|gradle|xml))\b(?:\.md)?"
)


def _root_cause(says: str, report: FailureReport) -> str:
    """`says`, the line of the message that tells most, and the call."""
    cause = f"{says}: “{_telling_line(report.error)}”"
    if report.call.strip():
        cause += f", at “{readable(report.call, _SHORT // 2)}”"
    if report.happened.strip():
        cause += f" ({readable(report.happened, _SHORT).rstrip('.')})"
    return cut(cause, LONGEST)


def _telling_line(error: str) -> str:
    lines = [line for line in bounded(error).split("\n") if line.strip()]
    told = [line for line in lines if _TELLING.search(line)]
    return readable((told or lines or [""])[0], _SHORT)


def _preventable_with(category: Category, report: FailureReport) -> str:
    """What would have had to be known or looked at."""
    mended = readable(report.resolution, _SHORT * 2)
    if category is Category.CONTEXT_MISSING:
        return _to_look_at(report, mended)
    if category is Category.TOOL_MISUSE:
        program = readable(_called(report), 40) or "the tool"
        how = (
            mended
            or f"its help, read before the call, says what it takes; not “{_telling_line(report.error)}”"
        )
        return f"knowing how {program} is called: {how}"
    return (
        f"knowing: {mended}"
        if mended
        else f"a note of what “{_telling_line(report.error)}” means and what to do instead"
    )


def _called(report: FailureReport) -> str:
    """What was called: of a shell the first program behind `cd` and settings, else the tool, since its words are what it was given."""
    if report.tool and report.tool.casefold() not in _SHELLS:
        return report.tool
    words = [word for word in _BEFORE_IT.sub("", bounded(report.call)).split() if not _SET.match(word)]
    return (words or [report.tool])[0]


_SHELLS = frozenset(
    "bash shell sh zsh powershell exec_command run_shell_command shell_command local_shell execute_command run_command run_in_terminal terminal".split()  # noqa: SIM905
)
_BEFORE_IT = late_pattern(r"^\s*(?:(?:cd|export|source|set)\s[^\n;&]*(?:&&|;|\n)\s*)+")
_SET = late_pattern(r"[A-Za-z_]\w*=")


def _to_look_at(report: FailureReport, mended: str) -> str:
    told = "\n".join(bounded(part) for part in (report.happened, report.context, report.resolution))
    files = list(dict.fromkeys(_FILE.findall(told)))[:3]
    if files:
        return f"having read {readable(', '.join(files), _SHORT)}" + (f": {mended}" if mended else "")
    if mended:
        return f"having looked first: {mended}"
    return "a look at the files, the directory and what was said before, first"
