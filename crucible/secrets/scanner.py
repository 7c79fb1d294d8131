"""Finding secrets in a text, and taking them out.

Owns the pass over a text: which rules are tried where, what of overlapping findings is told, what is left alone.  All rules are
tried only where one of their literals stands, and those are sought in one pass (Aho-Corasick).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

from crucible.errors import SecretsError
from crucible.patterns import late_pattern
from crucible.secrets.assignments import find_values, is_named, is_value_of, secret_part
from crucible.secrets.commands import command_rules
from crucible.secrets.manifests import MANIFEST_LITERALS, find_manifest
from crucible.secrets.names import NAME_LITERALS, Weight
from crucible.secrets.providers import provider_rules
from crucible.secrets.rules import Rule
from crucible.secrets.services import service_rules
from crucible.secrets.shapes import DATA_URI, find_private_key, shape_rules
from crucible.secrets.visible import Visible
from crucible.settings import SecretSettings

__all__ = ["Finding", "Redact", "Scanner"]

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

_Try = Callable[[str, int, _Seen], Sequence[_Hit]]


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
        hits = self._hits(shown)
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
        hits = self._hits(shown)
        start = secret_part(shown.text)
        value = shown.text[start:].rstrip()
        if not _MARK.search(value) and is_value_of(name, value) and self._is_kept_out(value):
            hits.append(_Hit(_LAST, "named-secret", start, start + len(value)))
        return _places(_joined(hits), shown)

    def _hits(self, shown: Visible) -> list[_Hit]:
        text = shown.text
        literals = self._automaton.find_matches_as_indexes(shown.plain.lower(), overlapping=True)
        if not literals and not self._custom:  # most texts
            return []
        hits = [*self._built_in(shown.plain.decode("ascii"), literals), *self._own(text)]
        hidden = _hidden(text) if hits else []
        return [
            hit
            for hit in hits
            if not _is_in(hidden, hit.start, hit.end) and self._is_kept_out(text[hit.start : hit.end])
        ]

    def _built_in(self, text: str, literals: list[tuple[int, int, int]]) -> Iterator[_Hit]:
        passed: dict[int, int] = {}
        seen = _Seen()
        for literal, start, _ in literals:
            if start < passed.get(literal, 0):
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

    def _is_kept_out(self, secret: str) -> bool:
        return not any(pattern.search(secret) for pattern in self._allow)


_LAST = 10_000


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
def _machine() -> tuple[Any, list[tuple[_Try, ...]]]:
    """What finds literals, and what is tried where each is found."""
    tries: dict[str, list[_Try]] = defaultdict(list)
    for rank, rule in enumerate([*provider_rules(), *service_rules(), *shape_rules(), *command_rules()]):
        for literal in rule.literals:
            tries[literal].append(_try_of(rank, rule))
    for literal, length in NAME_LITERALS.items():
        tries[literal].append(partial(_assigned, length))
    for literal in MANIFEST_LITERALS:
        tries[literal].append(_manifest)
    for literal in ("-----begin", "---- begin"):
        tries[literal].append(_private_key)
    return _automaton([literal.encode("ascii") for literal in tries]), [tuple(t) for t in tries.values()]


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


def _try_of(rank: int, rule: Rule) -> _Try:
    return partial(_looked_back if rule.back else _matched, rank, rule)


def _matched(rank: int, rule: Rule, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    if start < seen.get(rank, 0):
        return ()
    match = rule.pattern.match(text, start)
    if match is None:
        if rule.whole_run:
            seen[rank] = _end_of_run(text, start)
        return ()
    return _hit_of(rank, rule, match)


def _looked_back(rank: int, rule: Rule, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    if start < seen.get(rank, 0):
        return ()
    seen[rank] = start + _STEP
    matches = rule.pattern.finditer(text, max(0, start - rule.back), start + 2 * _STEP)
    return [hit for match in matches for hit in _hit_of(rank, rule, match)]


def _hit_of(rank: int, rule: Rule, match: re.Match[str]) -> Sequence[_Hit]:
    first, last = _secret_of(match)
    return (
        [_Hit(rank, rule.name, first, last)] if last > first and rule.accept(match.string[first:last]) else ()
    )


def _manifest(text: str, start: int, _seen: _Seen) -> Sequence[_Hit]:
    return [_Hit(_LAST, "kubernetes-secret", *place) for place in find_manifest(text, start)]


def _private_key(text: str, start: int, _seen: _Seen) -> Sequence[_Hit]:
    stop = find_private_key(text, start)
    return [_Hit(0, "private-key", start, stop)] if stop > 0 else ()


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


def _assigned(length: int, text: str, start: int, seen: _Seen) -> Sequence[_Hit]:
    end = start + length
    if end <= seen.get(_NAMES, 0) or not is_named(text, start, end):
        return ()  # another literal of the same name, or nothing is given to it
    seen[_NAMES], values = find_values(text, start, end)
    return [_Hit(_LAST, f"named-{_RULE_OF[value.weight]}", value.start, value.end) for value in values]


def _hidden(text: str) -> list[tuple[int, int]]:
    """What is left alone: what was taken out before, and the bytes of pictures."""
    spans = [match.span() for match in _MARK.finditer(text)] if "[REDACTED:" in text else []
    if ";base64," in text:
        spans += [match.span() for match in DATA_URI.finditer(text) if match.end() - match.start() > 64]
    return sorted(spans)


def _is_in(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    return any(first < end and start < last for first, last in spans)


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
