"""Shorten a session's text to the excerpts in a case, and find requests and replaced file parts.

Each part of a case before its answer has at most `SIDE` code points.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, islice

from crucible.analysis.tools.tool_calls import CHANGES, Moment
from crucible.commands.learn.case import CUT, CaseTurn, Role, map_texts
from crucible.commands.learn.timeline import Timeline, last_before, turns_of
from crucible.core.patterns import ANSI, late_pattern
from crucible.documents.session.session import Intervention, Outcome, Prose

SIDE = 3200
"""Maximum code points of a part of a case."""
_PROSE, _RESULT, _ARGUMENT, _ERROR = 700, 400, 1600, SIDE // 2
ERROR_WORDS = late_pattern(
    r"(?i)error|exception|fail|fatal|panic|cannot|denied|not found|no such|reset|unknown|undefined|missing|invalid|expected|actual|want|:\d+:"
)
_EXIT = late_pattern(r"\A\s*(?:Error:\s*)?(?:Command failed with )?exit code:? (-?\d+)\.?[ \t]*\n?", re.IGNORECASE)
_WRAPPED = late_pattern(r"</?(?:tool_use_error|error|stderr|stdout)>")
_REMINDER = late_pattern(r"(?s)<system-reminder>.*?(?:</system-reminder>|\Z)")
_NUMBERED = late_pattern(r"(?m)^[ \t]*\d+(?:→|\t)")
_AROUND = 6
"""Number of lines to show before and after changed lines."""
_READS = 20
"""Number of reads of a file to search for a replaced text."""


def shorten_middle(text: str, most: int) -> str:
    """Cut text to `most` code points: two thirds from the start and one third from the end."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-(most // 3) :]
    return f"{head.rstrip()}\n{CUT}\n{tail.lstrip()}"


def message_of(text: str) -> str:
    """Remove terminal colours, the client's wrapper and the exit code from a tool result."""
    bare = ANSI.sub("", text) if "\x1b" in text else text
    return _EXIT.sub("", _WRAPPED.sub("", _REMINDER.sub("", bare)), count=1).strip()


def error_excerpt(text: str) -> str:
    """Reduce the output of a failed command to the last lines that report a problem, each with adjacent lines."""
    if len(text) <= _ERROR:
        return text
    lines = text[-20_000:].split("\n")
    near = {at + step for at, line in enumerate(lines) if ERROR_WORDS.search(line[:400]) for step in (-1, 0, 1)}
    shown = [line[:400] for at, line in enumerate(lines) if at in near] or lines
    sizes = accumulate(len(line) + 1 for line in reversed(shown))
    fits = sum(size <= _ERROR for size in sizes)
    return "\n".join([CUT, *shown[len(shown) - fits :]])


def shorten_turns(moments: Iterable[Moment], most: int = SIDE, longest: int = _ARGUMENT) -> tuple[CaseTurn, ...]:
    """Return the last turns that fit into `most` code points.

    Each turn is shortened; an argument keeps up to `longest` code points.
    """
    kept: list[CaseTurn] = []
    for whole in reversed(turns_of(map(_without_client_text, moments))):
        turn = _shortened(whole, longest)
        most -= _size(turn)
        if most < 0 and kept:
            break
        kept.append(turn)
    while kept and kept[-1].role is Role.TOOL:
        kept.pop()
    return tuple(reversed(kept))


def with_prose_before(timeline: Timeline, moments: Iterable[Moment]) -> list[Moment]:
    """Return the moments in order, each with the agent's prose directly before it."""
    found: dict[int, Moment] = {}
    for moment in moments:
        before = timeline.moments[max(0, moment.at - 1)]
        found |= {before.at: before} if isinstance(before.entry, Prose) else {}
        found[moment.at] = moment
    return list(found.values())


def _without_client_text(moment: Moment) -> Moment:
    """Remove text added by the client from results: excerpts of changed files, and the notice of a rejected call."""
    if moment.outcome is Outcome.REJECTED:
        return moment._replace(result="")
    return moment._replace(result=moment.result.partition("\n")[0][:120]) if moment.changed else moment


def _shortened(turn: CaseTurn, longest: int) -> CaseTurn:
    text = (
        shorten_middle(message_of(turn.text), _RESULT)
        if turn.role is Role.TOOL
        else shorten_middle(turn.text, max(_PROSE, longest // 2))
    )
    return replace(turn, text=text, calls=map_texts(turn.calls, lambda given, _: shorten_middle(given, longest)))


def _size(turn: CaseTurn) -> int:
    return len(turn.text) + sum(len(str(call.arguments)) for call in turn.calls)


class Requests:
    """The user's requests in a session, except prompts at the positions `besides`."""

    def __init__(self, timeline: Timeline, besides: Collection[int] = ()) -> None:
        self._timeline = timeline
        self._prompts = [at for at in timeline.prompts if at not in besides]
        self._ignored = {_words_at(timeline, at) for at in timeline.prompts if at in besides}
        self._later: dict[tuple[int, str], str] = {}

    @cached_property
    def _full(self) -> Sequence[int]:
        """The positions of full requests: those that make sense on their own, and slash commands."""
        words = ((at, _words_at(self._timeline, at)) for at in self._prompts)
        return [at for at, text in words if len(text.split()) >= SENTENCE or text.startswith("/")]

    @cached_property
    def _goals(self) -> Sequence[str]:
        """For each number of moments, the goal of the last one, or the nearest earlier goal that is not ignored."""
        goals = (self._timeline.goal_of(one.phase) for one in self._timeline.moments)
        return [*accumulate(goals, lambda last, goal: last if goal in self._ignored else goal, initial="")]

    def at(self, at: int) -> str:
        """Return the request that applies at a moment: the last full request, and the last prompt after it.

        Without a full request, it is the goal of the moment's phase, or the nearest earlier goal that is not ignored. A
        slash command is shown with its expansion.
        """
        full, last = last_before(self._full, at), last_before(self._prompts, at)
        if full >= 0:
            texts = [self._text(one) for one in dict.fromkeys((full, last))]
        else:
            goal = self._goals[max(at, 1)]
            texts = [goal, *filter(None, [self._last_besides(goal, at)])]
        return shorten_middle("\n\n".join(texts), SIDE // 4)

    def _last_besides(self, goal: str, at: int) -> str:
        """Return the last prompt before a moment that a goal does not contain, "" if there is none."""
        place, passed, found = at, [], ""
        while not found and (place := last_before(self._prompts, place)) >= 0:
            if (place, goal) in self._later:
                found = self._later[place, goal]
                break
            passed.append((place, goal))
            text = self._text(place)
            found = "" if text in goal else text
        self._later.update(dict.fromkeys(passed, found))
        return found

    def _text(self, at: int) -> str:
        words, expansion = _words_at(self._timeline, at), self._timeline.moments[at].expansion
        return "\n\n".join(filter(None, (words, shorten_middle(expansion, SIDE // 8))))


def _words_at(timeline: Timeline, at: int) -> str:
    entry = timeline.moments[at].entry
    return entry.words if isinstance(entry, Intervention) else ""


SENTENCE = 6
"""Minimum words of a request that makes sense on its own."""


# --- files ------------------------------------------------------------------------------------------------------------


def files_before(timeline: Timeline, at: int, changes: Iterable[Moment]) -> str:
    """Return the file parts that changes replaced after a moment, each under its file name; "" if no call shows any."""
    left = SIDE
    parts: list[str] = []
    for moment in changes:
        path = next((act.what for act in moment.acts if act.deed in CHANGES), "")
        for old in _replaced(moment.arguments or {}) or _file_before(timeline, at, path):
            part = f"{path}:\n{shorten_middle(_with_context(timeline, at, path, old), _ARGUMENT)}"
            left -= len(part)
            if part not in parts and (left >= 0 or not parts):
                parts.append(part)
    return "\n\n".join(parts)


def _file_before(timeline: Timeline, at: int, path: str) -> list[str]:
    """Return a file's lines as last read or written before a moment, [] if unknown."""
    place = last_before(timeline.touches.get(path, ()), at)
    if place < 0:
        return []
    moment = timeline.moments[place]
    written = (moment.arguments or {}).get("content")
    text = written if isinstance(written, str) else _NUMBERED.sub("", message_of(moment.result))
    return [text] if text.strip() else []


def _replaced(arguments: Mapping[str, object]) -> list[str]:
    """Return the text that an edit replaces, for each edit or each hunk of a patch."""
    found = [one for name, one in arguments.items() if name in ("old_string", "oldString") and isinstance(one, str)]
    for several in (arguments.get("edits"), arguments.get("changes")):
        for each in several if isinstance(several, list) else ():
            found += _replaced(each) if isinstance(each, Mapping) else []
    for patch in (one for one in arguments.values() if isinstance(one, str) and one.startswith("*** Begin Patch")):
        for hunk in re.split(r"(?m)^(?:@@.*|\*\*\* .*)$", patch):
            old = "\n".join(line[1:] for line in hunk.strip("\n").split("\n") if line[:1] in ("-", " "))
            found += [old] if old.strip() else []
    return [one for one in found if one.strip()]


def _with_context(timeline: Timeline, at: int, path: str, old: str) -> str:
    """Return the old text with adjacent lines, as the file was last read before a moment."""
    places = timeline.reads.get(path, ())
    for place in islice(reversed(places[: bisect_left(places, at)]), _READS):
        text = _NUMBERED.sub("", message_of(timeline.moments[place].result))
        before, found, after = text.partition(old)
        if found:
            return "\n".join(
                [
                    *before.split("\n")[-_AROUND:-1],
                    before.split("\n")[-1] + old + after.split("\n")[0],
                    *after.split("\n")[1:_AROUND],
                ]
            )
    return old
