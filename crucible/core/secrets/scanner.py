"""Find secrets in text, and remove them.

A rule is tried only where one of its literals occurs; all literals are searched in one pass (Aho-Corasick).
Overlapping findings are joined, and allowed text is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from crucible.core.errors import SecretsError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.assignments import NAMES, find_values, is_value_of, secret_part
from crucible.core.secrets.command_passwords import command_forms, command_rules, piped_forms
from crucible.core.secrets.providers import prefix_rules, provider_rules, service_rules
from crucible.core.secrets.random_runs import RunPlace, find_in_runs
from crucible.core.secrets.rule import SecretForm, SecretRule
from crucible.core.secrets.secret_names import NAME_LITERALS, Weight, is_named
from crucible.core.secrets.shapes_of_secrets import DATA_URI, key_forms, manifest_forms, shape_rules
from crucible.core.secrets.visible_text import CONTROLS, Visible, plain_of
from crucible.core.settings.settings import SecretSettings

Redact: TypeAlias = "Callable[[str], tuple[str, Mapping[str, int]]]"
"""A function that returns a text without its secrets, and the number removed by each rule."""

_MARK = late_pattern(r"\[REDACTED:[a-z0-9][a-z0-9-]{0,79}\]")
_ROUNDS = 8
_SHORT, _MOST = 64, 16_384
"""Maximum length and number of strings cached as clean, since a session's keys and names recur."""


class Finding(NamedTuple):
    """A secret at `text[start:end]`."""

    rule: str
    start: int
    end: int


class _Hit(NamedTuple):
    rank: int
    rule: str
    start: int
    end: int


_Seen = dict[int, int]
"""The end of the text that each rule, by rank, has examined."""

_Try = Callable[[str, int, _Seen], Sequence[_Hit]]


class Scanner:
    """Finds secrets by the built-in rules and those in `settings`.

    Raises `SecretsError` if it cannot work; nothing may be written then.
    """

    def __init__(self, settings: SecretSettings = SecretSettings()) -> None:  # noqa: B008  it is frozen
        self._custom = [(name, _compiled(regex, name)) for name, regex in settings.rules]
        self._allow = [_compiled(regex, "allow") for regex in settings.allow]
        self._automaton, self._tries = _machine()
        self._clean: set[tuple[str, str]] = set()

    def find(self, text: str) -> list[Finding]:
        """Find all secrets in `text`, in order and without overlaps."""
        shown, hits = self._hits(text)
        return _places(_joined(hits), shown) if hits else []

    def redact(self, text: str, name: str = "") -> tuple[str, dict[str, int]]:
        """Remove the secrets from `text` and count them by rule.  `name` is the name whose value the text is."""
        is_short = len(text) <= _SHORT
        if is_short and (name, text) in self._clean:
            return text, {}
        found = self._find_named(text, name) if name else self.find(text)
        if not found:
            if is_short and len(self._clean) < _MOST:
                self._clean.add((name, text))
            return text, {}
        counts: Counter[str] = Counter()
        for _ in range(_ROUNDS):  # removing a secret may put another one next to a name
            counts.update(finding.rule for finding in found)
            text = _without(text, found)
            found = self._find_named(text, name) if name else self.find(text)
            if not found:
                break
        return text, dict(counts)

    def _find_named(self, text: str, name: str) -> list[Finding]:
        shown, hits = self._hits(text)
        start = secret_part(shown.text)
        value = shown.text[start:].rstrip()
        if not _MARK.search(value) and is_value_of(name, value) and self._is_not_allowed(value):
            hits.append(_Hit(_LAST, "named-secret", start, start + len(value)))
        return _places(_joined(hits), shown)

    def _hits(self, given: str, depth: int = 0) -> tuple[Visible, list[_Hit]]:
        plain = plain_of(given)
        literals = self._automaton.find_matches_as_indexes(plain.lower(), overlapping=True)
        hidden = bool(literals) and min(literals)[0] < len(CONTROLS)
        shown = Visible(given, hidden=hidden)
        text = shown.text
        if hidden:
            plain = plain_of(text)
            literals = self._automaton.find_matches_as_indexes(plain.lower(), overlapping=True)
        if plain[:5].lower() == b"pass:":
            literals.insert(0, _PASS_FIRST)
        look = partial(self._look, depth=depth + 1) if depth < _DEEPEST else None
        hits = [_Hit(_IN_RUNS, *place) for place in find_in_runs(plain, look)]
        if not hits and not literals and not self._custom:  # true for most text
            return shown, []
        hits = _with_runs([*self._built_in(plain.decode("ascii"), literals), *self._own(text)], hits)
        kept = _skipped_spans(text) if hits else []
        return shown, [
            hit
            for hit in hits
            if not _is_in(kept, hit.start, hit.end)
            and self._is_not_allowed(text[hit.start : hit.end])
            and not (hit.rank == _LAST and _is_label(text[hit.start : hit.end]))
        ]

    def _look(self, text: str, depth: int) -> list[RunPlace]:
        """Find secrets in text that was encoded as base64 or hex."""
        shown, hits = self._hits(text, depth)
        return [RunPlace(*found) for found in _places(_joined(hits), shown)]

    def _built_in(self, text: str, literals: list[tuple[int, int, int]]) -> Iterator[_Hit]:
        passed: dict[int, int] = {}
        seen = _Seen()
        for literal, start, _ in literals:
            if passed and start < passed.get(literal, 0):
                continue
            for attempt in self._tries[literal]:
                for hit in attempt(text, start, seen):
                    passed[literal] = max(passed.get(literal, 0), hit.end)
                    yield hit

    def _own(self, text: str) -> Iterator[_Hit]:
        for rank, (rule, pattern) in enumerate(self._custom, -len(self._custom)):
            for match in pattern.finditer(text):
                first, last = match.span(1 if pattern.groups and match[1] else 0)
                if last > first:
                    yield _Hit(rank, rule, first, last)

    def _is_not_allowed(self, secret: str) -> bool:
        return not any(pattern.search(secret) for pattern in self._allow)


def _is_label(value: str) -> bool:
    """Return whether a value is words in a non-Latin script, as in translation files."""
    return (
        not value.isascii()
        and not any(map(str.isdigit, value))
        and any(char.isalpha() and not char.isascii() for char in value)
    )


_LAST = 10_000
_PASS_FIRST = (-1, 0, 5)
"""The literal for `pass:` at the start of the text: other literals for it include the character before."""
_IN_RUNS = 9_000
"""Rank of findings in long runs: after specific rules, before names."""
_DEEPEST = 2
"""Maximum depth of nested encodings."""


def _places(found: list[Finding], shown: Visible) -> list[Finding]:
    return [Finding(finding.rule, *shown.span(finding.start, finding.end)) for finding in found]


def _compiled(regex: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(regex)
    except (re.error, RecursionError, OverflowError) as error:
        raise SecretsError(
            f"nothing was written: the expression {regex!r} of secrets.{name} cannot be used: {error}",
            "fix [secrets] in .crucible/config.toml",
        ) from error


@cache
def _machine() -> tuple[Any, list[tuple[_Try, ...]]]:
    """Return the automaton of literals, and what to try at each."""
    tries: dict[str, list[_Try]] = defaultdict(list, {control.decode(): [] for control in CONTROLS})
    for rank, rule in enumerate(all_rules()):
        for literal in rule.literals:
            tries[literal].append(partial(_looked_back if rule.back else _matched, rank, rule))
    for literal, place in NAME_LITERALS.items():
        tries[literal].append(partial(_assigned, *place))
    for rank, form in enumerate(all_forms()):
        for literal in form.literals:
            tries[literal].append(partial(_formed, _FORMS - rank, form))
    automaton = _automaton([literal.encode("ascii") for literal in tries])
    return automaton, [*map(tuple, tries.values()), (partial(_assigned, 0, 4),)]


def all_rules() -> list[SecretRule]:
    """Return the built-in rules that use patterns, the most reliable first."""
    return [*provider_rules(), *prefix_rules(), *service_rules(), *shape_rules(), *command_rules()]


def all_forms() -> list[SecretForm]:
    """Return the built-in rules that use functions."""
    return [*key_forms(), *manifest_forms(), *command_forms(), *piped_forms()]


def _automaton(literals: list[bytes]) -> Any:
    try:
        # Loaded on first use: most commands scan nothing.
        from ahocorasick_rs import BytesAhoCorasick, Implementation  # noqa: PLC0415

        return BytesAhoCorasick(literals, implementation=Implementation.DFA)
    except Exception as error:  # a broken library may raise anything
        raise SecretsError(
            f"nothing was written: the scan for secrets cannot run: {error}",
            "Reinstall Crucible with its dependencies.",
        ) from error


def _matched(rank: int, rule: SecretRule, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    if start < seen.get(rank, 0):
        return ()
    match = rule.pattern.match(text, start)
    if match is None:
        if rule.whole_run:
            seen[rank] = _end_of_run(text, start)
        return ()
    return _hit_of(rank, rule, match)


def _looked_back(rank: int, rule: SecretRule, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    if start < seen.get(rank, 0):
        return ()
    seen[rank] = start + _STEP
    matches = rule.pattern.finditer(text, max(0, start - rule.back), start + 2 * _STEP)
    return [hit for match in matches for hit in _hit_of(rank, rule, match)]


def _hit_of(rank: int, rule: SecretRule, match: re.Match[str]) -> Sequence[_Hit]:
    first, last = _secret_of(match)
    return [_Hit(rank, rule.name, first, last)] if last > first and rule.accept(match.string[first:last]) else ()


def _formed(rank: int, form: SecretForm, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    looked = seen.get(rank, 0)
    if start < looked:
        return ()
    seen[rank], places = form.find(text, start, looked)
    return [_Hit(0 if form.surest else _LAST, form.name, *place) for place in places]


_STEP = 400
"""Maximum characters in a secret found by a rule that searches backwards."""

_RUN = late_pattern(r"[A-Za-z0-9_=-]*+")


def _end_of_run(text: str, start: int) -> int:
    run = _RUN.match(text, start)
    return run.end() if run else start


def _secret_of(match: re.Match[str]) -> tuple[int, int]:
    for name in "stuvwxy":
        if name in match.re.groupindex and match[name]:
            return match.span(name)
    return match.span()


_RULE_OF = {Weight.PASSWORD: "password", Weight.SECRET: "secret", Weight.TOKEN: "token", Weight.HINT: "key"}


_FORMS = -2
"""First key in `_Seen` for forms; their keys count down."""


def _assigned(begin: int, length: int, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    start, end = start + begin, start + length
    if end <= seen.get(NAMES, 0) or not is_named(text, start, end):
        return ()  # another literal in the same name, or a name without a value
    values = find_values(text, start, end, seen)
    return [_Hit(_LAST, f"named-{_RULE_OF[value.weight]}", value.start, value.end) for value in values]


def _skipped_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans to skip: earlier redactions, and image data."""
    spans = [match.span() for match in _MARK.finditer(text)] if "[REDACTED:" in text else []
    if ";base64," in text:
        spans += [match.span() for match in DATA_URI.finditer(text) if match.end() - match.start() > 64]
    return sorted(spans)


def _is_in(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)


def _with_runs(hits: list[_Hit], in_runs: list[_Hit]) -> list[_Hit]:
    """Add hits in runs that overlap no hit of a specific rule, which locates the start of a secret more precisely."""
    spans = sorted((hit.start, hit.end) for hit in hits if hit.rank < _IN_RUNS)
    ends = list(accumulate((end for _, end in spans), max))
    for hit in in_runs:
        before = bisect_left(spans, (hit.end, 0)) - 1
        if before < 0 or ends[before] <= hit.start:
            hits.append(hit)
    return hits


def _joined(hits: list[_Hit]) -> list[Finding]:
    """Join overlapping hits into findings named after the most reliable rule."""
    joined: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if joined and hit.start < joined[-1].end:
            last = joined[-1]
            surest = min(last, hit)
            joined[-1] = _Hit(surest.rank, surest.rule, last.start, max(last.end, hit.end))
        else:
            joined.append(hit)
    return [Finding(hit.rule, hit.start, hit.end) for hit in joined]


def _without(text: str, found: list[Finding]) -> str:
    parts, at = [], 0
    for finding in found:
        parts += [text[at : finding.start], f"[REDACTED:{finding.rule}]"]
        at = finding.end
    return "".join([*parts, text[at:]])
