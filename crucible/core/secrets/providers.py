"""Tokens of known providers: `ghp_…`, `sk-ant-…`, `AKIA…`, even inside words.

The rules are tables in the style of gitleaks: `provider_tokens.txt` (patterns), `token_prefixes.txt` (a prefix and a
random body) and `service_keys.txt` (keys recognised by a service's name nearby).
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterator

from crucible.core.patterns import late_pattern
from crucible.core.secrets.randomness import changes
from crucible.core.secrets.rule import START, SecretRule, read_table, table_lines
from crucible.core.secrets.secret_values import is_chance, is_dummy, is_varied

_NO_HEX = "(?![0-9a-f]{20,}(?![A-Za-z0-9]))"
"""Rejects a body of only hex digits, which is a hash (`token-<sha1>`); a larger alphabet would show other letters."""

_ALPHABETS = {
    "hex": "[0-9a-f]",
    "HEX": "[0-9a-fA-F]",
    "lower": "[a-z0-9]",
    "upper": "[A-Z0-9]",
    "mixed": "[A-Za-z0-9]",
    "url": "[A-Za-z0-9_-]",
    "base64": "[A-Za-z0-9+/]",
    "dots": "[A-Za-z0-9.]",
    "dotted": "[A-Za-z0-9._=-]",
    "any": "[A-Za-z0-9._+/=-]",
}

LONG = 20
"""Minimum length of a run of letters and digits that is rarely a word."""


def prefix_rules() -> list[SecretRule]:
    """Return the rules for prefixes whose bodies may contain signs; they are tried where the prefix occurs."""
    return [
        SecretRule(name, (prefix.lower(),), _pattern(prefix, body), _is_token)
        for name, prefix, body in read_prefixes()
        if not _is_run(body)
    ]


def run_rules() -> dict[str, list[SecretRule]]:
    """Return the rules for prefixes that are tried at long runs of letters and digits, by the part before the run."""
    rules: dict[str, list[SecretRule]] = defaultdict(list)
    for name, prefix, body in read_prefixes():
        if _is_run(body):
            rules[prefix.rstrip(_MIXED)].append(SecretRule(name, (), _pattern(prefix, body), _is_token))
    return rules


def is_random(body: str) -> bool:
    """Return whether letters and digits look random.  Words contain no digits and change case less often."""
    digits, cases = any(map(str.isdigit, body)), _UPPER.search(body) and _LOWER.search(body)
    if not digits and not cases:
        return False
    return changes(body) >= len(body) * (0.3 if cases else 0.15)


_UPPER, _LOWER = late_pattern("[A-Z]"), late_pattern("[a-z]")
_MIXED = string.ascii_letters + string.digits


def read_prefixes() -> Iterator[tuple[str, str, str]]:
    """Yield each token's name, prefix, and the alphabet and length of its body."""
    for line in table_lines("token_prefixes"):
        name, prefixes, body = (part.strip() for part in line.split("|"))
        for prefix in prefixes.split():
            yield name, prefix, body


def _is_run(body: str) -> bool:
    alphabet, _, length = body.partition(" ")
    return alphabet in {"hex", "HEX", "lower", "upper", "mixed"} and int(length.split("-")[0]) >= LONG


def _pattern(prefix: str, body: str) -> re.Pattern[str]:
    # After a letter or digit, a short prefix would be the end of a word, as in `score_…`.
    return late_pattern(rf"{START}{re.escape(prefix)}{_expression(body)}(?![A-Za-z0-9])")


def _expression(body: str) -> str:
    if body == "uuid":
        return "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    alphabet, _, length = body.partition(" ")
    of_hash = "" if alphabet.lower() == "hex" or int(length.split("-")[0]) < LONG else _NO_HEX
    return f"{of_hash}{_ALPHABETS[alphabet]}{{{length.replace('-', ',')}}}"


def _is_token(token: str) -> bool:
    return is_random(token) and is_varied(token)


_SIGNS = "abcdefghijklmnopqrtuvwxyz0123456789_-"
_OKTA = " ".join([*(f"00{sign}" for sign in _SIGNS), *(f"00s{sign}" for sign in _SIGNS + "s")])
"""Possible starts of an Okta token; `00` alone would match every `0.00s` in a test's output."""


def provider_rules() -> list[SecretRule]:
    """Return the rules for tokens with a distinctive form."""
    return list(read_table("provider_tokens", {"@OKTA@": _OKTA}, is_varied))


_AROUND = (
    r"""[A-Za-z][\w.-]{0,60}\\{0,8}["'`]?[\])]?(?:[ \t]{1,4}(?:(?i:api|access|secret|auth|app|private|personal|account)[ _-]?){0,2}"""
    r"""(?i:key|token|secret|login|pat|sid)s?(?:[ \t](?:is|was))?[ \t]{1,4}|[ \t]{0,8}(?:(?i:api[ _-]?)?(?i:key|token|secret))?[ \t]{0,4}"""
    r"""(?:=>|:{1,2}=?|={1,2}|,|->)[ \t]{0,8})\\{0,8}["'`]?(?P<s>{})(?![A-Za-z0-9_/+=-])"""
)

_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def service_rules() -> list[SecretRule]:
    """Return the rules for keys that are recognised by a service's name nearby."""
    return list(read_table("service_keys", {"@UUID@": _UUID}, _accept, _AROUND))


def _accept(value: str) -> bool:
    return (is_chance(value) or is_random(value)) and not is_dummy(value)
