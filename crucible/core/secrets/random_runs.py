"""Secrets in long runs of letters and digits: tokens of unknown providers, and secrets encoded as base64 or hex.

Ordinary text has few such runs, and the scanner needs no literals to find them.
"""

from __future__ import annotations

import base64
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache

from crucible.core.patterns import late_pattern
from crucible.core.secrets.providers import LONG, is_random, read_prefixes, run_rules
from crucible.core.secrets.randomness import changes
from crucible.core.secrets.rule import ESCAPED, NO_HASH, START, Finding, SecretRule
from crucible.core.secrets.secret_values import is_hash, is_varied

Look = Callable[[str], "list[Finding]"]

_KINDS = bytes(0x61 if sign < 128 and chr(sign).isalnum() else 0x20 for sign in range(256))
_LONG_RUN = b"a" * LONG
_LONG_NAME = 32
_NAME = late_pattern(r"(?>(?:[A-Z]{0,4}(?>[a-z]{2,}))*)[A-Z]{0,4}[0-9]{0,8}|[0-9]+")
"""Words and a number, as in identifiers: `RemovesAllRows12`."""


def find_in_runs(plain: bytes, runs: list[tuple[int, int]], look: Look | None) -> Iterator[Finding]:
    """Yield the secrets in or next to the long runs of an ASCII text; `look` finds secrets in decoded text."""
    passed, text = 0, plain.decode("ascii")
    for start, end in runs:
        if not _NAME.fullmatch(text, start, end):
            first = start + _escaped(text, start)
            yield from _tokens_at(text, first, end)
            if look is not None and end > passed:
                passed, places = _encoded_at(text, max(first, passed), end, look)
                yield from places


def long_runs(plain: bytes) -> list[tuple[int, int]]:
    """Return the spans of long runs in an ASCII text, except letters that may be a name."""
    runs: list[tuple[int, int]] = []
    find = plain.translate(_KINDS).find
    start = find(_LONG_RUN)
    while start >= 0:
        end = find(b" ", start + LONG)
        if end < 0:
            end = len(plain)
        if end - start >= _LONG_NAME or not plain[start:end].isalpha():
            runs.append((start, end))
        start = find(_LONG_RUN, end)
    return runs


def _escaped(text: str, start: int) -> int:
    r"""Return how many characters at the start of a run belong to an escape: `\\n`, `%3D`."""
    before = text[start - 1] if start else ""
    return 1 if before == "\\" and text[start] in "nrtbf" else 2 if before == "%" else 0


# --- tokens ----------------------------------------------------------------------------------------------------------


def _tokens_at(text: str, start: int, end: int) -> Iterator[Finding]:
    before = text[start - 1 : start] if start else ""
    for head, rule in _rules_at(text, start, before):
        match = rule.pattern.match(text, start - len(head))
        if match and rule.accept(match.group()):
            yield Finding(rule.name, *match.span())
            return
    for sign, forms in _FORMS.items():
        if not (text.startswith(sign, end) or sign == before if sign else end - start == _SIDS):
            continue
        for name, pattern in forms.items():
            match = pattern.search(text, max(0, start - _BEFORE), end + _AFTER)
            if match and match.end() > start and is_varied(match[match.lastindex or 0]):
                yield Finding(name, *match.span(match.lastindex or 0))
                return
    vendor = _VENDOR.search(text, max(0, start - _BEFORE), start) if before in {"_", "-"} else None
    if vendor and _is_token(vendor.group(), text[start:end], text[end : end + 5]):
        rest = _REST.match(text, end)
        own = _OWN_PREFIX.search(vendor.group())
        first = vendor.start() + (own.start() if own else 0)
        yield Finding("vendor-token", first, rest.end() if rest else end)


_HEAD_ENDS = frozenset("_-.:")


def _rules_at(text: str, start: int, before: str) -> Iterator[tuple[str, SecretRule]]:
    """Yield the rules whose prefixes may end at a run, with the part of the prefix before the run."""
    by_head, by_end, bare = _heads()
    if text.startswith(bare, start):
        yield from (("", rule) for rule in by_head[""])
    if before in _HEAD_ENDS:
        for head in by_end.get(text[max(0, start - _END) : start], ()):
            if start >= len(head) and text.startswith(head, start - len(head)):
                yield from ((head, rule) for rule in by_head[head])


@cache
def _heads() -> tuple[dict[str, list[SecretRule]], dict[str, list[str]], tuple[str, ...]]:
    """Return the rules by the part of their prefix before a run, the parts by their ending, and the rest.

    The rest are the prefixes that have no such part.
    """
    by_head = run_rules()
    bare = tuple(prefix for _, prefix, _ in read_prefixes() if prefix.isalnum())
    by_end: dict[str, list[str]] = defaultdict(list)
    for head in sorted(by_head, key=len, reverse=True):
        by_end[head[-_END:]].append(head)
    return by_head, by_end, bare


_END = 3
"""Length of the shortest prefix."""
_BEFORE, _AFTER = 48, 160
_SIDS = 34
"""Length of Twilio ids and Jenkins tokens: two characters and 32 hex digits."""
_FORMS: dict[str, dict[str, re.Pattern[str]]] = {
    ".": {
        "airtable-token": late_pattern(START + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
        "discord-token": late_pattern(
            START + r"(?:[MNO][DTjz][A-Za-z0-9]{2}){5,7}[A-Za-z0-9]{0,3}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{25,45}"
        ),
        "vault-legacy-token": late_pattern(
            r"(?<![A-Za-z0-9$.)\]])[sb]\.(?=[A-Za-z]*\d)[A-Za-z0-9]{24}(?![A-Za-z0-9_.(])"
        ),
        "zhipu-key": late_pattern(r"(?<![A-Za-z0-9./-])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9.-])"),
        "zoho-token": late_pattern(r"(?<![A-Za-z0-9.])1000\.[0-9a-f]{32}\.[0-9a-f]{32}(?![A-Za-z0-9])"),
        # `st.<hex>.<hex>.<hex>`, `VF.DM.<hex>.<…>`: a short head and random parts
        "dotted-token": late_pattern(
            r"(?:(?<![A-Za-z0-9.@])|"
            + ESCAPED
            + r")[A-Za-z]{2,4}(?:\.[A-Z]{2})?(?:\.(?=[A-Za-z]{0,15}\d)[A-Za-z0-9]{16,80}){2,4}(?![A-Za-z0-9(]|\.[A-Za-z0-9]{9})"
        ),
    },
    "-": {
        "mailgun-key": late_pattern(START + r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![A-Za-z0-9-])"),
    },
    "|": {
        "numbered-token": late_pattern(
            r"(?<![A-Za-z0-9|])\d{1,17}\|(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{27,64}(?![A-Za-z0-9_|-])"
        ),
    },
    "_secret_": {
        "stripe-client-secret": late_pattern(
            START + r"(?:pi|seti|src|cs_live|cs_test)_[A-Za-z0-9]{14,64}_secret_[A-Za-z0-9]{20,64}(?![A-Za-z0-9])"
        ),
    },
    "_mmk": {
        "maxmind-key": late_pattern(START + r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])"),
    },
    "": {
        "jenkins-token": late_pattern(r"(?<![A-Za-z0-9./=-])11[0-9a-f]{32}(?![A-Za-z0-9.=-])"),
        "twilio-key": late_pattern(START + r"SK[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
        "twilio-token": late_pattern(START + r"AC[0-9a-f]{32}[\"'`\\,:;\s]{1,8}([0-9a-f]{32})(?![A-Za-z0-9])"),
    },
}
"""Tokens whose prefixes are too common to search for.  They are found by the text before or after a run."""

_VENDOR = late_pattern(
    r"(?:(?<![A-Za-z0-9_.\\-])"
    + NO_HASH
    + "|"
    + ESCAPED
    + r")(?:(?:[a-z][a-z0-9]{0,15}[_-]){1,8}|(?:[A-Z][A-Z0-9]{1,9}[_-]){1,3})\Z"
)
_OWN_PREFIX = late_pattern(r"(?:[A-Za-z0-9]+[_-]){1,3}\Z")
_REST = late_pattern(r"(?:[_-][A-Za-z0-9]{4,64}(?=[_-]|\b))?")
_LETTERS = late_pattern("[A-Za-z]{2}")
_CREDENTIAL = late_pattern(
    r"(?i)(?<![a-z0-9])(?:sk|key|apikey|pat|token|tok|secret|sec|rk|svc|priv|private)(?![a-z0-9])"
)
_SHORT_NAME = late_pattern(r"(?i)(?<![a-z0-9])(?:sk|pat|tok|rk|svc|priv)(?![a-z0-9])")
_FILE = late_pattern(r"\.[a-z]{2,4}")
_KIND_OF_KEY = late_pattern(r"(?i)(?<![a-z0-9])(?:api|live|prod|auth|access|test|oauth)(?![a-z0-9])")
_IDS = late_pattern(
    r"(?i)(?:^|[_-])(?:pk|cs|pub|public|id|ids|uid|sid|nonce|hash|digest|checksum|rev|ref|commit|build|cache|chunk|etag|trace|span|sha\d*|md5|blob|layer|image)[_-]"
)
_HEX = late_pattern(r"[0-9a-f]+|[0-9A-F]+")
_FEWEST = 30
"""Minimum length of a token's body: service ids have 16 to 27 characters after their prefix, tokens 32 or more."""


def _is_token(prefix: str, body: str, after: str) -> bool:
    if (
        after[:1] in {"=", "+", "/"}
        or not _LETTERS.search(prefix)
        or len(body) > 250
        or _IDS.search(prefix)
        or is_hash(prefix + body)
    ):
        return False
    named = _CREDENTIAL.search(prefix) is not None
    if _HEX.fullmatch(body):
        if not _SHORT_NAME.search(prefix) and (prefix[-1] == "-" or _FILE.match(after)):
            return False  # a cache entry: `access-token-<sha256>`, `user_key_<sha1>.json`
        own = re.split("[_-]", prefix)[-3:]
        return named and len(body) in {32, 40, 48, 56, 64} and all(len(part) <= len("secret") for part in own)
    if not named and not any(map(str.isdigit, body)):
        return False
    least = LONG if named else 24 if _KIND_OF_KEY.search(prefix) else _FEWEST
    return len(body) >= least and is_random(body) and is_varied(body) and _is_dense(body)


def _is_dense(body: str) -> bool:
    """Return whether digits or case changes are spread throughout; identifiers have them in one or two places."""
    if changes(body) > _TURNS * len(body):
        return True
    return len(_DIGIT_GROUPS.findall(body)) > max(1, len(body) // _SPARSE)


_TURNS = 0.44
"""Text that changes between kinds of characters at a higher rate is random; camelCase names change less often."""
_SPARSE = 24
"""Minimum length at which random text rarely has only one digit, or one run of digits."""
_DIGIT_GROUPS = late_pattern(r"\d+")


# --- encoded ---------------------------------------------------------------------------------------------------------


def _signs(mask: int) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(sign for value, sign in enumerate(letters) if not value & mask)


# ASCII leaves the eighth bit clear, so three of every four base64 characters come from half of the alphabet.
_QUAD = f"[{_signs(32)}][{_signs(8)}][{_signs(2)}][A-Za-z0-9+/_-]"
_BASE64 = late_pattern(rf"(?:{_QUAD}){{5,}}")
_QUADS = late_pattern(rf"(?:{_QUAD})+")
_TAIL = late_pattern(r"[A-Za-z0-9+/_-]{2,3}(?![A-Za-z0-9])")
_LINE_END = late_pattern(r"(?:\r?\n|\\n)[ \t]{0,8}")
_DIGITS = late_pattern(r"(?:[2-7][0-9a-fA-F]|0[9aAdD]){16,}")
_PRINTED = late_pattern(r"[\t\n\r -~]{12,}")
_HASH = 128
_LINE = 56
"""Minimum length of a line of wrapped base64; full lines have 64 or 76 characters."""


def _encoded_at(text: str, start: int, end: int, look: Look) -> tuple[int, list[Finding]]:
    """Return where the search ended, and the secrets encoded before that point."""
    is_hex = _HEX.fullmatch(text, start, end) is not None
    if is_hex and end - start <= _HASH:  # usually a hash: decode it only from its beginning
        digits = _DIGITS.match(text, start, end) or _DIGITS.match(text, start + 1, end)
    else:
        digits = _DIGITS.search(text, start, end)
    if digits:
        unwrapped = bytes.fromhex(digits.group()[: len(digits.group()) // 2 * 2]).decode("latin-1")
        return end, [
            Finding(name, digits.start() + first * 2, digits.start() + last * 2)
            for name, first, last in look(unwrapped)
        ]
    found = None if is_hex else _BASE64.search(text, start, end)
    for _ in range(4):
        if found is None:
            return end, []
        stop, signs, places = _block(text, found)
        inside = base64.b64decode(
            signs + "=" * (-len(signs) % 4), altchars=b"-_" if "-" in signs or "_" in signs else None
        )
        shown = inside.decode("latin-1")
        if _PRINTED.match(shown):
            return max(stop, end), [_placed(hit, places, stop) for hit in look(shown)]
        if len(signs) > 400:
            return stop, []
        found = _BASE64.search(text, found.start() + 1, end)
    return end, []


def _block(text: str, found: re.Match[str]) -> tuple[int, str, list[tuple[int, int]]]:
    """Return the end of a base64 block, its characters, and each line's offsets in the block and in the text."""
    signs, at = found.group(), found.start()
    places = [(0, at)]
    first = _QUADS.match(text, at)
    if first:
        signs = first.group()
    stop = at + len(signs)
    while len(signs) >= _LINE and (line_end := _LINE_END.match(text, stop)):
        line = _QUADS.match(text, line_end.end())
        if line is None:
            break
        places.append((len(signs), line.start()))
        signs += line.group()
        stop = line.end()
    tail = _TAIL.match(text, stop)
    return (tail.end(), signs + tail.group(), places) if tail else (stop, signs, places)


def _placed(hit: Finding, places: list[tuple[int, int]], stop: int) -> Finding:
    return Finding(
        hit.rule, _outer(hit.start * 4 // 3, places), min(stop, _outer(-(-hit.end * 4 // 3) - 1, places) + 1)
    )


def _outer(at: int, places: list[tuple[int, int]]) -> int:
    sign, place = next(pair for pair in reversed(places) if pair[0] <= at)
    return place + at - sign
