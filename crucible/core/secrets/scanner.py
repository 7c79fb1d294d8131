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
from typing import Any, TypeAlias

from crucible.core.errors import SecretsError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.assignments import find_assigned, secret_part
from crucible.core.secrets.command_passwords import command_forms, command_rules, piped_forms
from crucible.core.secrets.providers import prefix_rules, provider_rules, service_rules
from crucible.core.secrets.random_runs import find_in_runs, long_runs
from crucible.core.secrets.rule import OF_NAMES, Finding, Hit, SecretForm, SecretRule
from crucible.core.secrets.secret_names import NAME_LITERALS
from crucible.core.secrets.secret_values import is_value_of, may_name_secret
from crucible.core.secrets.shapes_of_secrets import DATA_URI, key_forms, manifest_forms, shape_rules
from crucible.core.secrets.visible_text import CONTROLS, Visible, plain_of
from crucible.core.settings.settings import SecretSettings

Redact: TypeAlias = "Callable[[str], tuple[str, Mapping[str, int]]]"
"""A function that returns a text without its secrets, and the number removed by each rule."""

_MARK = late_pattern(r"\[REDACTED:[a-z0-9][a-z0-9-]{0,79}\]")
_ROUNDS = 8
_LONGEST, _MOST = 2_000, 2_000_000
"""Maximum length of a string cached as clean, and of all of them: names, short results and edited lines recur."""


_NOTHING: Mapping[str, int] = {}

_Seen = dict[int, int]
"""The end of the text that each rule, by rank, has examined."""

_Try = Callable[[str, int, _Seen], Sequence[Hit]]


class Scanner:
    """Finds secrets by the built-in rules and those in `settings`.

    Raises `SecretsError` if it cannot work; nothing may be written then.
    """

    def __init__(self, settings: SecretSettings = SecretSettings()) -> None:  # noqa: B008  it is frozen
        self._custom = [(name, _compiled(regex, name)) for name, regex in settings.rules]
        self._allow = [_compiled(regex, "allow") for regex in settings.allow]
        self._automaton, self._tries = _machine()
        self.clean: set[str] = set()
        """Short texts without secrets, if nothing names them."""
        self._clean_size = 0

    def find(self, text: str) -> list[Finding]:
        """Find all secrets in `text`, in order and without overlaps."""
        return self._found(text)

    def redact(self, text: str, name: str = "") -> tuple[str, Mapping[str, int]]:
        """Remove the secrets from `text` and count them by rule.  `name` is the name whose value the text is."""
        if name and not may_name_secret(name):
            name = ""
        is_short = len(text) <= _LONGEST
        if is_short and not name and text in self.clean:
            return text, _NOTHING
        found = self._found(text, name)
        if not found:
            if is_short and not name:
                self._add_clean(text)
            return text, _NOTHING
        counts: Counter[str] = Counter()
        for _ in range(_ROUNDS):  # removing a secret may put another one next to a name
            counts.update(finding.rule for finding in found)
            text = _without(text, found)
            found = self._found(text, name)
            if not found:
                break
        return text, counts

    def _add_clean(self, text: str) -> None:
        self._clean_size += len(text)
        if self._clean_size > _MOST:
            self.clean.clear()
            self._clean_size = len(text)
        self.clean.add(text)

    def _found(self, given: str, name: str = "", depth: int = 0) -> list[Finding]:
        """Find the secrets in a text that is the value of `name`, or that was encoded `depth` times."""
        plain = plain_of(given)
        literals = self._literals(plain)
        shown = None
        if literals and min(literals)[0] < len(CONTROLS):
            shown = Visible(given)
            plain = plain_of(shown.text)
            literals = self._literals(plain)
        text = shown.text if shown else given
        hits = self._built_in(plain.decode("ascii"), literals) if literals else []
        if self._custom:
            hits += self._own(text)
        runs = long_runs(plain)
        if runs:
            look = partial(self._found, depth=depth + 1) if depth < _DEEPEST else None
            hits = _with_runs(hits, [Hit(_IN_RUNS, *place) for place in find_in_runs(plain, runs, look)])
        if hits:
            hits = self._kept(text, hits)
        if name:
            hits += self._named(text, name)
        return _joined(hits, shown) if hits else []

    def _literals(self, plain: bytes) -> list[tuple[int, int, int]]:
        """Return each literal in a text, with its span."""
        small = plain.lower()
        found: list[tuple[int, int, int]] = self._automaton.find_matches_as_indexes(small, overlapping=True)
        if small.startswith(b"pass:"):  # other literals for it include the character before
            found.insert(0, (len(self._tries) - 1, 0, len("pass:")))
        return found

    def _kept(self, text: str, hits: list[Hit]) -> list[Hit]:
        skipped = _skipped_spans(text)
        return [
            hit
            for hit in hits
            if not _is_in(skipped, hit.start, hit.end)
            and self._is_not_allowed(text[hit.start : hit.end])
            and not (hit.rank == OF_NAMES and _is_label(text[hit.start : hit.end]))
        ]

    def _named(self, text: str, name: str) -> Iterator[Hit]:
        """Yield the text without its scheme if it is a secret because of its name."""
        start = secret_part(text)
        value = text[start:].rstrip()
        if not _MARK.search(value) and is_value_of(name, value) and self._is_not_allowed(value):
            yield Hit(OF_NAMES, "named-secret", start, start + len(value))

    def _built_in(self, text: str, literals: list[tuple[int, int, int]]) -> list[Hit]:
        passed: dict[int, int] = {}
        seen: _Seen = {}
        hits: list[Hit] = []
        for literal, start, _ in literals:
            if passed and start < passed.get(literal, 0):
                continue
            for attempt in self._tries[literal]:
                found = attempt(text, start, seen)
                if found:
                    passed[literal] = max(passed.get(literal, 0), *(hit.end for hit in found))
                    hits += found
        return hits

    def _own(self, text: str) -> Iterator[Hit]:
        for rank, (rule, pattern) in enumerate(self._custom, -len(self._custom)):
            for match in pattern.finditer(text):
                first, last = match.span(1 if pattern.groups and match[1] else 0)
                if last > first:
                    yield Hit(rank, rule, first, last)

    def _is_not_allowed(self, secret: str) -> bool:
        return not any(pattern.search(secret) for pattern in self._allow)


def _is_label(value: str) -> bool:
    """Return whether a value is words in a non-Latin script, as in translation files."""
    return (
        not value.isascii()
        and not any(map(str.isdigit, value))
        and any(char.isalpha() and not char.isascii() for char in value)
    )


_IN_RUNS = 9_000
"""Rank of findings in long runs: after specific rules, before names."""
_DEEPEST = 2
"""Maximum depth of nested encodings."""


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
    """Return the automaton of literals, and what to try at each, and last at a `pass:` that begins the text."""
    tries: dict[str, list[_Try]] = defaultdict(list, {control.decode(): [] for control in CONTROLS})
    for rank, rule in enumerate(all_rules()):
        for literal in rule.literals:
            attempt = _looked_back if rule.back else _matched_once if rule.whole_run else _matched
            tries[literal].append(partial(attempt, rank, rule))
    for literal, place in NAME_LITERALS.items():
        tries[literal].append(partial(find_assigned, *place))
    for rank, form in enumerate(all_forms()):
        for literal in form.literals:
            tries[literal].append(partial(_formed, _FORMS - rank, form))
    automaton = _automaton([literal.encode("ascii") for literal in tries])
    return automaton, [*map(tuple, tries.values()), (partial(find_assigned, 0, 4),)]


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


def _matched(rank: int, rule: SecretRule, text: str, start: int, _seen: _Seen) -> Sequence[Hit]:
    match = rule.pattern.match(text, start)
    return _hit_of(rank, rule, match) if match else ()


def _matched_once(rank: int, rule: SecretRule, text: str, start: int, seen: _Seen) -> Sequence[Hit]:
    """Try a rule once in a run of letters and digits that it does not match."""
    if start < seen.get(rank, 0):
        return ()
    match = rule.pattern.match(text, start)
    if match is None:
        seen[rank] = _end_of_run(text, start)
    return _hit_of(rank, rule, match) if match else ()


def _looked_back(rank: int, rule: SecretRule, text: str, start: int, seen: _Seen) -> Sequence[Hit]:
    if start < seen.get(rank, 0):
        return ()
    seen[rank] = start + _STEP
    matches = rule.pattern.finditer(text, max(0, start - rule.back), start + 2 * _STEP)
    return [hit for match in matches for hit in _hit_of(rank, rule, match)]


def _hit_of(rank: int, rule: SecretRule, match: re.Match[str]) -> Sequence[Hit]:
    first, last = _secret_of(match)
    return [Hit(rank, rule.name, first, last)] if last > first and rule.accept(match.string[first:last]) else ()


def _formed(rank: int, form: SecretForm, text: str, start: int, seen: _Seen) -> Sequence[Hit]:
    looked = seen.get(rank, 0)
    if start < looked:
        return ()
    seen[rank], places = form.find(text, start, looked)
    return [Hit(0 if form.surest else OF_NAMES, form.name, *place) for place in places]


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


_FORMS = -2
"""First key in `_Seen` for forms; their keys count down."""


def _skipped_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans to skip: earlier redactions, and image data."""
    spans = [match.span() for match in _MARK.finditer(text)] if "[REDACTED:" in text else []
    if ";base64," in text:
        spans += [match.span() for match in DATA_URI.finditer(text) if match.end() - match.start() > 64]
    return sorted(spans)


def _is_in(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)


def _with_runs(hits: list[Hit], in_runs: list[Hit]) -> list[Hit]:
    """Add hits in runs that overlap no hit of a specific rule, which locates the start of a secret more precisely."""
    spans = sorted((hit.start, hit.end) for hit in hits if hit.rank < _IN_RUNS)
    ends = list(accumulate((end for _, end in spans), max))
    for hit in in_runs:
        before = bisect_left(spans, (hit.end, 0)) - 1
        if before < 0 or ends[before] <= hit.start:
            hits.append(hit)
    return hits


def _joined(hits: list[Hit], shown: Visible | None) -> list[Finding]:
    """Join overlapping hits into findings named after the most reliable rule, at their place in the original text."""
    joined: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if joined and hit.start < joined[-1].end:
            last = joined[-1]
            surest = min(last, hit)
            joined[-1] = Hit(surest.rank, surest.rule, last.start, max(last.end, hit.end))
        else:
            joined.append(hit)
    span = shown.span if shown else lambda start, end: (start, end)
    return [Finding(hit.rule, *span(hit.start, hit.end)) for hit in joined]


def _without(text: str, found: list[Finding]) -> str:
    parts, at = [], 0
    for finding in found:
        parts += [text[at : finding.start], f"[REDACTED:{finding.rule}]"]
        at = finding.end
    return "".join([*parts, text[at:]])
