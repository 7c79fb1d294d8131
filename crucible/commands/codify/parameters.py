"""Find what varies between runs of a workflow and becomes `{{parameters}}`: values by form, and text from the user.

A value is a parameter if it looks like an address, id, version or path and the user named it, or if it is the branch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.analysis.tools.tool_calls import SHELLS
from crucible.commands.codify.draft_steps import Names, Node, Parameter, Remark, RemarkKind, Stretch, tidy_name
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session import Session
from crucible.documents.session.titles import UNTITLED, prompt_name

_FORMS = late_pattern(
    r"(?P<pull_request_url>https?://[^\s<>()\"'`]+/(?:pull|pulls|merge_requests)/\d+)"
    r"|(?P<url>https?://[^\s<>()\"'`]*[\w/])"
    r"|(?P<id>\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b)"
    r"|(?P<date>\b\d{4}-\d\d-\d\d\b)"
    r"|(?P<path>(?<![\w.:/<~])(?:~|/(?:Users|home|tmp|var|opt|private))/[\w./+@-]*\w)"
    r"|(?P<ticket>\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b)"
    r"|(?:\bPR|\bpull request|\bMR)[ \t]+#?(?P<pull_request>\d{1,6})\b"
    r"|(?<![\w&])#(?P<issue>\d{1,6})\b"
    r"|\b[Vv]ersion[ \t]+v?(?P<release>\d{1,6}(?:\.\d{1,6})?)(?![\w.]*[\w/])"
    r"|(?<![\w.])v?(?P<version>\d+\.\d+\.\d+(?:[-+][\w.]+)?)(?![\w.]*/)\b"
    r"|\b(?P<commit>(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40})\b"
)
_LOOKED_UP = late_pattern(
    r"\bgh pr [a-z]+ (?P<pull_request>\d{1,6})\b|/(?:pulls|merge_requests)/(?P<number>\d{1,6})\b|\bgh issue [a-z]+ (?P<issue>\d{1,6})\b"
    r"|\bgit (?:-C \S+ )?(?:push|fetch|pull)(?: -\S+)* origin (?P<branch>[\w.-]+(?:/[\w.-]+)+)"
)
_SAME = {"number": "pull_request", "release": "version"}
_NUMBERED = r"#|\b[Vv]ersion v?|\bPR #?|\bpr [a-z]+ |\bissue [a-z]+ |/pulls?/|/issues/|/merge_requests/"
"""Matches text before a number that identifies the number as an id."""
_MEANINGS = {
    "pull_request_url": "the pull request's address",
    "url": "an address named in the request",
    "id": "an id named in the request",
    "date": "a date named in the request",
    "path": "a path outside the project",
    "ticket": "the ticket named in the request",
    "pull_request": "the pull request's number",
    "issue": "the number of an issue or a pull request",
    "version": "a version named in the request",
    "commit": "a commit named in the request",
    "branch": "the branch to work on",
    "base_branch": "another branch named in the request",
}
_USED = frozenset({"id", "date", "path", "commit"})
"""Kinds of values that count only if a call used them, since pasted logs contain many."""
_TRUNKS = frozenset({"main", "master", "develop", "trunk", "HEAD"})
_MOST, _READ = 8, 20_000


def parameters_of(session: Session, nodes: Iterable[Node]) -> tuple[Parameter, ...]:
    """Return the parameters in a session's requests, at most eight, in order of appearance."""
    nodes = [one for node in nodes for one in node.walk()]
    asked = [one.text[:_READ] for node in nodes for one in node.remarks if one.kind is RemarkKind.ASKED]
    asked += [one.text for node in nodes for one in node.remarks if one.kind is RemarkKind.CONSTRAINT]
    done = [act.what for node in nodes for part in node.parts if isinstance(part, Stretch) for act in part.acts]
    names = Names(str.casefold, "_")
    found: dict[str, Parameter] = {}
    for kind, value in _named(session.branch or "", asked, done):
        if value not in found and len(found) < _MOST:
            found[value] = Parameter(names.claim(kind), _MEANINGS[kind], value)
    return tuple(found.values())


def _named(branch: str, asked: Sequence[str], done: Sequence[str]) -> Iterator[tuple[str, str]]:
    for text in asked:
        for kind, value in _formed(_FORMS, text):
            if kind not in _USED or any(value in what for what in done):
                yield kind, value
    if branch not in _TRUNKS and len(branch) > 3 and any(branch in text for text in (*asked, *done)):
        yield "branch", branch
    words = {word.removeprefix("origin/") for text in done if text.startswith("git ") for word in text.split()}
    for word in (word for text in asked for word in text.split()):
        bare = word.strip("`'\".,;:()").removeprefix("origin/")
        if "/" in bare and bare in words and "." not in bare:
            yield "base_branch", bare
    for text in done:
        yield from _formed(_LOOKED_UP, text)


def _formed(forms: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    for match in forms.finditer(text):
        found = ((kind, value) for kind, value in match.groupdict().items() if value)
        yield from ((_SAME.get(kind, kind), value) for kind, value in found)


def with_parameters(text: str, parameters: Sequence[Parameter]) -> str:
    """Replace values with `{{name}}`, longest first; a bare number only after words such as `PR`."""
    names = {one.value: one.name for one in parameters if one.value in text}
    if not names:
        return text
    values = "|".join(re.escape(value) for value in sorted(names, key=len, reverse=True) if not value.isdigit())
    numbers = "|".join(value for value in names if value.isdigit())
    patterns = [
        rf"(?<![\w{{])(v?)({values})(?![\w}}])" if values else "",
        rf"({_NUMBERED})({numbers})\b" if numbers else "",
    ]
    found = re.compile("|".join(filter(None, patterns)))

    def put(match: re.Match[str]) -> str:
        before, value = [group for group in match.groups() if group is not None]
        return f"{before}{{{{{names[value]}}}}}"

    return found.sub(put, text)


_NAMED = late_pattern(r"(?:\b(?:PR|MR|[Tt]he|[Vv]ersion)[ #]*|#)?\{\{([a-z_]+?)(?:_url)?(?:_\d+)?\}\}")
_TWICE = late_pattern(r"\b(the [a-z ]{2,20})(?: \1)+\b")
_FILLED = late_pattern(r"\{\{([a-z_]+?)(?:_url)?(?:_\d+)?\}\}")


def without_parameters(text: str) -> str:
    """Remove the parameters from text."""
    return _FILLED.sub("", text)


def in_words(text: str) -> str:
    """Replace each parameter with words, such as `the pull request`."""
    named = _NAMED.sub(lambda found: f"the {found[1].replace('_', ' ')}", text)
    return _TWICE.sub(r"\1", named)


_LONGEST_LINE = 120
LONGEST = 200
"""Maximum code points of a request that names a kind of work; longer ones describe the work itself."""
_SPECIFIC = late_pattern(
    r"`[^`]+`|\"[^\"]{3,}\"|(?<!\w)(?!Git(?:Hub|Lab))\w*[a-z0-9][A-Z]|\w_\w|\w\(|\b(?!e\.g|i\.e)\w+\.(?!(?:md|txt|ya?ml|toml|json)\b)[a-z]{1,4}\b"
    r"|\b\d+(?:[-,.:]\d+)*\b|::|=>?"
)
"""Matches names in code and numbered items, which another run would not have."""
_HEADING = late_pattern(r"(?m)^#{1,6} ")
_LOGGED = late_pattern(r"(?m)\w\.\w+:\d+(?::\d+)?\b|^\s*(?:---|[A-Z]\w*Error:|error:|FAIL)|Exit code \d")
_ITEM = late_pattern(r"(?m)^\s*(?:[-*+•]|\d+[.)])\s")
_ENDS = late_pattern(r"[:.!?](?=\s)")
_GIVEN = late_pattern(r"\A(?:\{\{\w+\}\}\s+)+(?=\w)")
_REFUSED = late_pattern(r"refused: (\w+)")


class Input(NamedTuple):
    """A parameter that replaces text from the user."""

    name: str
    meaning: str


REQUEST = Input("request", "the work to do")
_PLAN = Input("plan", "the plan to carry out")
LOG = Input("log", "the output that shows the problem")
_POINTS = Input("points", "the points to work through")
_DETAILS = Input("details", "the rest of the request")
INPUTS = frozenset(one.name for one in (REQUEST, _PLAN, LOG, _POINTS, _DETAILS))


class SplitRequest(NamedTuple):
    """A request: the words that name the kind of work ("" if none), and the parameter for the rest, if any."""

    lead: str
    given: Input | None
    rest: str


def is_specific(text: str) -> bool:
    """True if text names a part of the code or a numbered item."""
    return bool(_SPECIFIC.search(without_parameters(text)))


def split_request(words: str) -> SplitRequest:
    """Split a request into its kind of work and its pasted or detailed text."""
    text = words.strip()
    lead, _, rest = text.partition("\n")
    if len(text) <= LONGEST:
        lead, rest = normal_line(text), ""
    elif len(lead) > LONGEST:
        ends = (found.end() for found in _ENDS.finditer(text[:LONGEST]))
        end = next((end for end in ends if text.count("`", 0, end) % 2 == 0), 0)
        lead, rest = text[:end], text[end:]
    lead, rest = normal_line(lead), rest.strip()
    given = _input_of(rest) if rest else None
    return SplitRequest("" if is_specific(lead) else lead, given, rest)


def _input_of(text: str) -> Input:
    if len(_HEADING.findall(text)) > 1:
        return _PLAN
    if _LOGGED.search(text):
        return LOG
    return _POINTS if len(_ITEM.findall(text)) > 1 else _DETAILS


def reusable_remark(one: Remark, *, is_one_off: bool) -> Remark | None:
    """Return a remark that applies to the step's next run, without reasons that do not apply; else None."""
    if one.kind not in (RemarkKind.CONSTRAINT, RemarkKind.DECIDED, RemarkKind.DID, RemarkKind.LEARNED):
        return one
    if one.kind is RemarkKind.DID or one.kind is RemarkKind.LEARNED:
        return one if one.finding.startswith("environment") else None
    refused = _REFUSED.search(one.why) if one.kind is RemarkKind.CONSTRAINT else None
    if refused:  # a rejected command shows how to work; a rejected edit only shows how this code should be
        is_command = refused[1].casefold() in SHELLS and len(one.text) <= _LONGEST_LINE
        return replace(one, why=one.why.partition(". Then: ")[0]) if is_command else None
    text = one.text.strip('" ')
    if is_one_off or is_specific(text) or "?" in text:
        return None
    return replace(one, why="") if is_specific(one.why) else one


def name_of(lead: str) -> str:
    """Return a step's name from the words of its request, "" if they provide none."""
    name = prompt_name(in_words(_GIVEN.sub("", lead))) if lead else ""
    return tidy_name(name) if name != UNTITLED else ""
