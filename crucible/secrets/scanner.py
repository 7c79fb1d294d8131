"""Finding secrets in a text, and taking them out.

Owns the pass over a text: which rules are tried where, what of overlapping findings is told, what is left alone.  All rules are
tried only where one of their literals stands, and those are sought in one pass (Aho-Corasick).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from crucible.errors import SecretsError
from crucible.patterns import late_pattern
from crucible.secrets.assignments import find_values, is_value_of, secret_part
from crucible.secrets.commands import command_forms, command_rules
from crucible.secrets.manifests import manifest_forms
from crucible.secrets.names import NAME_LITERALS, Weight
from crucible.secrets.piped import piped_forms
from crucible.secrets.prefixes import prefix_rules
from crucible.secrets.private_keys import key_forms
from crucible.secrets.providers import provider_rules
from crucible.secrets.rules import Form, Rule
from crucible.secrets.runs import Place, find_in_runs
from crucible.secrets.services import service_rules
from crucible.secrets.shapes import DATA_URI, shape_rules
from crucible.secrets.visible import Visible
from crucible.settings import SecretSettings

__all__ = ["Finding", "Redact", "Scanner", "all_forms", "all_rules"]

Redact: TypeAlias = "Callable[[str], tuple[str, Mapping[str, int]]]"
"""A text in; out the text without its secrets, and how many were taken out by rule."""

_MARK = late_pattern(r"\[REDACTED:[a-z0-9][a-z0-9-]{0,79}\]")
_ROUNDS = 8


class Finding(NamedTuple):
    """A secret of `text[start:end]`."""

    rule: str
    start: int
    end: int


class _Hit(NamedTuple):
    rank: int
    rule: str
    start: int
    end: int


_Seen = dict[int, int]
"""By the rank of a rule, up to where it need not be tried again in this text."""

_Try = Callable[[str, int, int, _Seen], Iterator[_Hit]]


class Scanner:
    """What is a secret by the built-in rules and by those of `settings`, ready to look.

    Raises `SecretsError` when it cannot look: nothing may be written then.
    """

    def __init__(self, settings: SecretSettings = SecretSettings()) -> None:  # noqa: B008  it is frozen
        self._custom = [(name, _compiled(regex, name)) for name, regex in settings.rules]
        self._allow = [_compiled(regex, "allow") for regex in settings.allow]
        self._automaton, self._tries = _machine()

    def find(self, text: str) -> list[Finding]:
        """Every secret of `text`, in order, none overlapping another."""
        shown = Visible(text)
        hits = self._hits(shown.text)
        return _places(_joined(hits), shown) if hits else []

    def redact(self, text: str, name: str = "") -> tuple[str, dict[str, int]]:
        """`text` without its secrets, and how many were taken out by rule.  `name` is what the text is the value of."""
        found = self._find_named(text, name) if name else self.find(text)
        if not found:
            return text, {}
        counts: Counter[str] = Counter()
        for _ in range(_ROUNDS):  # what stands beside a secret may come to stand beside a name
            counts.update(finding.rule for finding in found)
            text = _without(text, found)
            found = self._find_named(text, name) if name else self.find(text)
            if not found:
                break
        return text, dict(counts)

    def _find_named(self, text: str, name: str) -> list[Finding]:
        shown = Visible(text)
        hits = self._hits(shown.text)
        start = secret_part(shown.text)
        value = shown.text[start:].rstrip()
        if not _MARK.search(value) and is_value_of(name, value) and self._is_kept_out(value):
            hits.append(_Hit(_LAST, "named-secret", start, start + len(value)))
        return _places(_joined(hits), shown)

    def _hits(self, text: str, depth: int = 0) -> list[_Hit]:
        # One byte a character, so that places are the same; secrets are ASCII, what else there is stands as `?`.
        plain = text if text.isascii() else _ascii(text)
        literals = self._automaton.find_matches_as_indexes(plain.encode("ascii").lower(), overlapping=True)
        look = partial(self._look, depth=depth + 1) if depth < _DEEPEST else None
        hits = [_Hit(_IN_RUNS, *place) for place in find_in_runs(plain, look)]
        if not hits and not literals and not self._custom:  # most texts
            return []
        hits = _apart([*self._all(text, plain, literals)], hits)
        hidden = _hidden(text) if hits else []
        return [
            hit
            for hit in hits
            if not _is_in(hidden, hit.start, hit.end) and self._is_kept_out(text[hit.start : hit.end])
        ]

    def _look(self, text: str, depth: int) -> list[Place]:
        """The secrets in what base64 or hexadecimal digits wrap."""
        return [Place(*found) for found in _joined(self._hits(text, depth))]

    def _all(self, text: str, plain: str, literals: list[tuple[int, int, int]]) -> Iterator[_Hit]:
        passed: dict[int, int] = {}
        seen = _Seen()
        for literal, start, end in literals:
            if start >= passed.get(literal, 0):
                for hit in self._tries[literal](plain, start, end, seen):
                    passed[literal] = max(passed.get(literal, 0), hit.end)
                    yield hit
        for rank, (rule, pattern) in enumerate(self._custom, -len(self._custom)):
            for match in pattern.finditer(text):
                first, last = match.span(1 if pattern.groups and match[1] else 0)
                if last > first:
                    yield _Hit(rank, rule, first, last)

    def _is_kept_out(self, secret: str) -> bool:
        return not any(pattern.search(secret) for pattern in self._allow)


_LAST = 10_000
_IN_RUNS = 9_000
"""The rank of what long runs hold: a rule of its own is surer, a name is not."""
_DEEPEST = 2
"""So often may a secret be wrapped."""
_SIGNS = {"|": "\u2502\u2503\u2551", '"': "\u201c\u201d\u201e", "'": "\u2018\u2019"}
"""What stands for bars of tables and for quotes."""


def _ascii(text: str) -> str:
    for sign, others in _SIGNS.items():
        for other in others:
            text = text.replace(other, sign)
    return text.encode("ascii", "replace").decode("ascii")


def _places(found: list[Finding], shown: Visible) -> list[Finding]:
    return [Finding(finding.rule, *shown.span(finding.start, finding.end)) for finding in found]


def _compiled(regex: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(regex)
    except (re.error, RecursionError, OverflowError) as error:
        raise SecretsError(
            f"nothing was written: the expression {regex!r} of secrets.{name} cannot be used: {error}",
            "mend `[secrets]` in .crucible/config.toml",
        ) from error


@cache
def _machine() -> tuple[Any, list[_Try]]:
    """What finds literals, and what is tried where each is found."""
    rules: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
    for rank, rule in enumerate(all_rules()):
        for literal in rule.literals:
            rules[literal].append((rank, rule))
    forms: dict[str, list[tuple[int, Form]]] = defaultdict(list)
    for rank, form in enumerate(all_forms()):
        for literal in form.literals:
            forms[literal].append((rank, form))
    literals = sorted({*rules, *NAME_LITERALS, *forms})
    tries = [_tries_of(literal, rules.get(literal, []), forms.get(literal, [])) for literal in literals]
    return _automaton([literal.encode("ascii") for literal in literals]), tries


def all_rules() -> list[Rule]:
    """The built-in rules that are expressions, the surest first."""
    return [*provider_rules(), *prefix_rules(), *service_rules(), *shape_rules(), *command_rules()]


def all_forms() -> list[Form]:
    """The built-in rules that are functions."""
    return [*key_forms(), *manifest_forms(), *command_forms(), *piped_forms()]


def _automaton(literals: list[bytes]) -> Any:
    try:
        # Loaded when something is first looked at: most commands look at nothing.
        from ahocorasick_rs import BytesAhoCorasick, Implementation  # noqa: PLC0415

        return BytesAhoCorasick(literals, implementation=Implementation.DFA)
    except Exception as error:  # a library that is broken may fail with anything
        raise SecretsError(
            f"nothing was written: secrets cannot be looked for: {error}",
            "install Crucible again: pip install crucible",
        ) from error


def _tries_of(literal: str, rules: list[tuple[int, Rule]], forms: list[tuple[int, Form]]) -> _Try:
    named = literal in NAME_LITERALS

    def attempt(text: str, start: int, end: int, seen: _Seen) -> Iterator[_Hit]:
        for rank, rule in rules:
            if start >= seen.get(rank, 0):
                yield from _matched(rank, rule, text, start, seen)
        if named:
            yield from _assigned(text, start, end, seen)
        for rank, form in forms:
            if start >= seen.get(_FORMS - rank, 0):
                seen[_FORMS - rank], places = form.find(text, start, seen.get(_FORMS - rank, 0))
                yield from (_Hit(0 if form.surest else _LAST, form.name, *place) for place in places)

    return attempt


def _matched(rank: int, rule: Rule, text: str, start: int, seen: _Seen) -> Iterator[_Hit]:
    if rule.back:
        seen[rank] = start + _STEP
        matches = list(rule.pattern.finditer(text, max(0, start - rule.back), start + 2 * _STEP))
    else:
        match = rule.pattern.match(text, start)
        matches = [match] if match else []
        if rule.whole_run and match is None:
            seen[rank] = _end_of_run(text, start)
    for match in matches:
        first, last = _secret_of(match)
        if last > first and rule.accept(text[first:last]):
            yield _Hit(rank, rule.name, first, last)


_STEP = 400
"""Characters: no secret of a rule that looks back is longer."""

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


_NAMES = -1
"""In `_Seen`: up to where a name was looked at whole."""
_FORMS = -2
"""In `_Seen`: the first of the forms, which go on downwards."""


def _assigned(text: str, start: int, end: int, seen: _Seen) -> Iterator[_Hit]:
    if end <= seen.get(_NAMES, 0):
        return  # another literal of the same name
    seen[_NAMES], values = find_values(text, start, end)
    for value in values:
        yield _Hit(_LAST, f"named-{_RULE_OF[value.weight]}", value.start, value.end)


def _hidden(text: str) -> list[tuple[int, int]]:
    """What is left alone: what was taken out before, and the bytes of pictures."""
    spans = [match.span() for match in _MARK.finditer(text)] if "[REDACTED:" in text else []
    if ";base64," in text:
        spans += [match.span() for match in DATA_URI.finditer(text) if match.end() - match.start() > 64]
    return sorted(spans)


def _is_in(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)


def _apart(hits: list[_Hit], in_runs: list[_Hit]) -> list[_Hit]:
    """The hits with those in runs that touch none of a rule of its own, which knows better where a secret begins."""
    spans = sorted((hit.start, hit.end) for hit in hits if hit.rank < _IN_RUNS)
    ends = list(accumulate((end for _, end in spans), max))
    for hit in in_runs:
        before = bisect_left(spans, (hit.end, 0)) - 1
        if before < 0 or ends[before] <= hit.start:
            hits.append(hit)
    return hits


def _joined(hits: list[_Hit]) -> list[Finding]:
    """Overlapping hits as one, that covers all and has the name of the surest rule."""
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
