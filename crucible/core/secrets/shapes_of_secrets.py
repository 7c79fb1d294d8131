"""Secrets recognised by their shape: JWTs, `Bearer`, `user:password@host`, cookies, private keys, Kubernetes secrets.

`assignments` finds values assigned to a name.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from crucible.core.patterns import late_pattern
from crucible.core.secrets.command_passwords import is_password_there, is_strong
from crucible.core.secrets.providers import is_random
from crucible.core.secrets.randomness import changes
from crucible.core.secrets.rule import EOL, LEAD, SecretForm, SecretRule
from crucible.core.secrets.secret_values import holds_login, is_chance, is_dummy, is_placeholder

DATA_URI = late_pattern(r";base64,[A-Za-z0-9+/=_-]*+")
"""Image data, which contains no secrets."""


def shape_rules() -> list[SecretRule]:
    """Return the rules of all shapes."""
    return [
        SecretRule(
            "jwt",
            ("eyj", "ewogic", "ewoid"),
            late_pattern(
                r"(?:eyJ|ewo)[A-Za-z0-9_-]{6,4096}+(?:\.(?:eyJ|ewo)[A-Za-z0-9_-]{4,65536}+(?:\.[A-Za-z0-9_-]*+)?|(?:\.[A-Za-z0-9_-]*+){4})"
            ),
            _is_jwt,
            whole_run=True,
        ),
        SecretRule(
            "bearer-token",
            ("bearer", "token ", "apikey ", "api-key ", "genie"),
            late_pattern(_BEARER),
            _is_bearer,
        ),
        SecretRule("authorization-token", ("authorization",), late_pattern(_AUTHORIZATION), _is_own_token),
        SecretRule(
            "app-password",
            (
                "app pass",
                "app_pass",
                "app-pass",
                "apppass",
                "application pass",
                "specific pass",
                "gmail",
                "smtp",
            ),
            late_pattern(_IN_GROUPS),
            _is_varied_seed,
        ),
        SecretRule("basic-auth", ("basic",), late_pattern(_BASIC), holds_login),
        SecretRule("credential-uri", ("://", ":\\/\\/", "%3a%2f%2f"), late_pattern(_URI), is_password_there),
        SecretRule("token-uri", ("://",), late_pattern(_URI_OF_ONE), is_chance),
        SecretRule(
            "jdbc-login",
            ("thin:",),
            late_pattern(r"(?i)thin:[^\s/@:]{1,64}/(?P<s>[^\s@/]{3,128})@"),
            is_password_there,
        ),
        SecretRule(
            "login-call",
            (
                "auth(",
                "auth=(",
                "auth = (",
                "auth=[",
                "login(",
                "credential(",
                "credentials(",
                "authenticate(",
                "auth: [",
            ),
            late_pattern(_LOGIN_CALL),
            is_strong,
        ),
        SecretRule(
            "totp-secret",
            ("otpauth://", "otpauth%3a"),
            late_pattern(
                r"(?i)otpauth(?:://|%3a%2f%2f)[^\s\"'`<>\\]{1,300}?(?:[?&]|%3f|%26)secret(?:=|%3d)(?P<s>[A-Z2-7]{8,256}(?:=|%3d){0,6})"
            ),
            _is_varied_seed,
        ),
        SecretRule(
            "sas-signature",
            ("sig=",),
            late_pattern(r"(?i)sig=(?P<s>[A-Za-z0-9%+/]{30,120}={0,2})"),
            is_chance,
        ),
        SecretRule(
            "url-signature",
            ("signature=", "signature%3d"),
            late_pattern(
                r"(?i)signature(?:=|%3d)(?P<s>[0-9a-f]{40,1024}(?![0-9a-z])|[A-Za-z0-9%+/_~-]{24,1024}={0,2})"
            ),
            _is_signature,
        ),
        SecretRule(
            "totp-secret",
            ("otp", "2fa", "mfa", "authenticator", "setup key", "secret key", "two-factor"),
            late_pattern(
                r"(?i:t?otp|2fa|mfa|authenticator|setup key|secret key|two-factor)[^\n:=]{0,40}?(?:[:=]|\bis\b)[ \t]{0,4}\\*[\"'`]?(?P<s>(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})(?![A-Za-z0-9])"
            ),
            _is_grouped_seed,
        ),
        SecretRule(
            "private-key-base64",
            ("ls0tls1crudjti",),
            late_pattern(r"LS0tLS1CRUdJTi[A-Za-z0-9+/\\n]{40,65536}={0,2}"),
            _is_key_inside,
        ),
        SecretRule(
            "jwk",
            ('"d"', '"k"', '\\"d\\"', '\\"k\\"'),
            late_pattern(r'\\*"[dk]\\*"\s*:\s*\\*"(?P<s>[A-Za-z0-9_-]{40,1400})\\*"'),
            is_chance,
        ),
        SecretRule("sql-password", ("identified",), late_pattern(_IDENTIFIED), is_password_there),
        SecretRule("sql-password", ("identified",), late_pattern("(?i)" + _IDENTIFIED), is_strong),
    ]


_JOINED = r"(?:[ \t]{0,2}\\{0,8}[\"'`](?:[ \t]{0,4}(?:\+|\.{1,2}|&|\|\||<<|<>|~|,|\*)[ \t]{0,4}\\{0,8}[\"'`][ \t]?(?:\\{0,8}[\"'`](?=[ \t]))?){1,2}(?:[bfru](?=[\"']))?)"
"""The gap between two joined strings: `'Basic ' + '…'`."""
_IDENTIFIED = r"IDENTIFIED\s{1,8}(?:WITH\s{1,8}\S{1,40}\s{1,8}(?:BY|AS)|BY)\s{1,8}(?:PASSWORD\s{1,8})?\\*['\"](?P<s>[^'\"\n\\]{3,128})"
"""SQL in upper case; in lower case the words may be part of a sentence."""
_BEARER = (
    r"(?i)(?:bearer(?:_?token|_?auth|auth)?[ \t]?\([ \t]*(?=[\"'])|(?:bearer|token|api-?key|geniekey)(?:"
    + _JOINED
    + r"|(?:\\*[\"'])?(?:[ \t]{1,4}|%20|\+|:[ \t]|(?<![/:]bearer):)))\\*[\"'`]?(?P<s>[A-Za-z0-9._~+/%|:-]{12,4096}+={0,2})"
)
_AUTHORIZATION = r"(?i)authorization\\{0,4}[\"'`]?\]?[ \t]{0,4}(?:[:=,]|=>)[ \t]{0,4}\\{0,4}[\"'`]?(?P<s>[a-z0-9_.~-]{20,256})(?![a-z0-9_.~ (\[/-])"
_IN_GROUPS = (
    r"[A-Za-z][\w.-]{0,20}[^\n:=]{0,30}?(?:[:=]|\bis\b)[ \t]{0,4}\\{0,4}[\"'`]?"
    r"(?P<s>(?:[a-z]{4}[ -]){3}[a-z]{4}|(?:[A-Za-z0-9]{4}[ -]){5}[A-Za-z0-9]{4})(?![A-Za-z0-9 -]|[.,]? [a-z])"
)
_BASIC = r"(?i)basic(?:" + _JOINED + r"|[ \t]{1,4}|%20|\+)\\*[\"'`]?(?P<s>[A-Za-z0-9+/_-]{8,1024}+={0,2})"
_USER = r"(?:[^\s:@/?\#\"'`<>\\|,;()\[\]%{}]|%(?!@NOT@)[0-9a-f]{2}|\$\{[^}\s]{1,64}\}|\{\{[^}\n]{1,64}\}\}){0,128}"
_URI = (
    r"(?i)(?:(?:://|:\\/\\/)"
    + _USER.replace("(?!@NOT@)", "")
    + r":|%3a%2f%2f"
    + _USER.replace("@NOT@", "3a|40|2f")
    + r"(?::|%3a))"
    r"(?!\d{1,5}/)(?P<s>[^\s\"'`<>\\/]{1,512}(?:/[^\s\"'`<>\\/@]{1,64}){0,2})(?:@|%40)(?=[A-Za-z0-9\[_.$\-{(*<%])"
)
_URI_OF_ONE = r"://(?P<s>[A-Za-z0-9_.~%-]{16,512}):?@(?=[A-Za-z0-9\[])"
_LOGIN_CALL = r"(?i)(?:auth|login|credentials?|authenticate)[ \t]{0,2}[=:]?[ \t]{0,2}[(\[][ \t]{0,4}\\*[\"']?[\w.@+-]{1,64}\\*[\"']?[ \t]{0,2},[ \t]{0,4}\\*[\"'](?P<s>[^\"'\n\\]{4,128})\\*[\"']"


def _is_signature(value: str) -> bool:
    return is_chance(value) or not set(value.lower()) - set("0123456789abcdef")


def _is_grouped_seed(value: str) -> bool:
    return any(map(str.isdigit, value)) or value.isupper()


def _is_jwt(token: str) -> bool:
    head = token.partition(".")[0]
    try:
        text = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return len(token) > 60  # truncated, or joined with the text around it
    return text.startswith(b"{") and not is_dummy(token)


_STORED = late_pattern(r"(?:[a-z_-]+:)+[0-9a-f]{7,64}")
"""The rest of a database key: `bearer:user:<md5>`."""


def _is_bearer(token: str) -> bool:
    if is_placeholder(token) or is_dummy(token) or _STORED.fullmatch(token):
        return False
    return is_chance(token) or (len(token) >= 20 and any(c.isdigit() for c in token) and changes(token) >= 4)


def _is_own_token(token: str) -> bool:
    return is_random(token) and not is_dummy(token) and not is_placeholder(token)


def _is_varied_seed(value: str) -> bool:
    return len(set(value)) >= 5 and not is_placeholder(value)


def _is_key_inside(text: str) -> bool:
    head = text[:80].replace("\\n", "")
    return b"PRIVATE" in base64.b64decode(head[: len(head) // 4 * 4] + "====")


def key_forms() -> list[SecretForm]:
    """Return the forms of private keys."""
    return [
        SecretForm("private-key", ("-----begin", "---- begin"), _from_begin, surest=True),
        SecretForm("private-key", ("-----end", "---- end"), _to_end, surest=True),
        SecretForm("private-key", ("private-lines:",), _of_putty, surest=True),
    ]


_GAP = r"(?: |%20|\+|_)"
_KIND = rf"(?:{_GAP}?[A-Z0-9]{{1,12}}){{0,4}}?{_GAP}?PRIVATE{_GAP}KEY(?:{_GAP}BLOCK)?"
_BEGIN = late_pattern(rf"(?i)-{{4,5}} ?BEGIN{_KIND} ?-{{4,5}}")
_END = late_pattern(rf"(?i)-{{4,5}} ?END{_KIND} ?-{{0,5}}")
_BODY = late_pattern(r"[A-Za-z0-9+/=%]{24}")
_LINE = late_pattern(
    r"(?:\\{1,8}[nr]|\\{1,8}u000[ad]|%0[AD]|%5Cn|\n|\r|\A)(?P<lead>[^\n\\]{0,120}?)"
    r"(?P<body>[A-Za-z0-9+/%]{16,}+={0,2}|[A-Za-z0-9+/]{1,64}={1,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Key-\w+):[^\n\\]{0,200}|)(?=[\s\\\"'`]|[ \t\"'+,;)]*(?:\n|\\|\Z)|\Z)"
)
_LONGEST_KEY = 64 * 1024
_LINES = late_pattern(rf"\A|{EOL}")
_OWN_LINE = late_pattern(
    r"(?:[^\n\\]{0,120}?[^A-Za-z0-9+/=\n])?(?P<body>[A-Za-z0-9+/]{40,}={0,2})[\s\"'`,;+\\]*|[^\n\\]{0,40}(?P<short>(?<![A-Za-z0-9])=?[A-Za-z0-9+/]{1,64}={0,2})[\s\"'`,;+\\]*"
)
_FLAT = late_pattern(r"(?:[ ]?=?=?[A-Za-z0-9+/]{20,})+")
_PUTTY = late_pattern(rf"(?i)private-lines:[ ]?\d{{1,4}}[ ]?(?={EOL})")


def _from_begin(text: str, start: int, _passed: int) -> tuple[int, list[tuple[int, int]]]:
    stop = _end_of_key(text, start)
    return (stop, [(start, stop)]) if stop > 0 else (start + 1, [])


def _of_putty(text: str, start: int, _passed: int) -> tuple[int, list[tuple[int, int]]]:
    head = _PUTTY.match(text, start)
    stop = _end_of_cut(text, head.end(), min(len(text), start + _LONGEST_KEY)) if head else -1
    return (stop, [(head.end(), stop)]) if head and stop > 0 else (start + 1, [])


def _to_end(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """Find a key whose beginning is missing: the base64 lines before `-----END`."""
    end = _END.match(text, start)
    if end is None:
        return start + 1, []
    low = max(passed, start - _LONGEST_KEY)
    begin = _first_line(text, low, start)
    return end.end(), [(begin, end.end())] if begin < start else []


def _first_line(text: str, low: int, start: int) -> int:
    """Return where the base64 that ends at `start` begins; `start` if there is none."""
    flat = _FLAT.match(text[low:start][::-1])
    begin = start - flat.end() if flat and flat.end() >= 40 else start
    marks = [mark.span() for mark in _LINES.finditer(text, low, start)]
    stop, first = start, begin
    for count, (mark, after) in enumerate(reversed(marks)):
        line = _OWN_LINE.fullmatch(text[after:stop])
        if line and line["body"]:
            first = after + line.start("body")
        elif line and (count < 3 or after == 0) and _is_end(line["short"]):
            first = after + line.start("short")
        elif stop - after > (_LEAD if count == 0 else 0):
            break
        stop = mark
    return first if _BODY.search(text, first, start) or is_random(text[first:start].strip()) else begin


_LEAD = 40
"""Maximum characters before `-----END` on its line: spaces, a diff mark."""


def _is_end(short: str) -> bool:
    return len(short) >= 4 and (short.endswith("=") or is_random(short.strip("=")) or len(short) % 4 == 0)


def _end_of_key(text: str, start: int) -> int:
    """Return the end of the private key whose `-----BEGIN` is at `start`; -1 if there is none.

    A truncated key ends with its last base64 line.
    """
    begin = _BEGIN.match(text, start)
    if begin is None:
        return -1
    following = text.find("BEGIN", begin.end(), start + _LONGEST_KEY)
    limit = following if following >= 0 else min(len(text), start + _LONGEST_KEY)
    marked = text.find("END", begin.end(), limit)
    while marked >= 0:
        end = _END.search(text, max(begin.end(), marked - 6), min(limit, marked + 80))
        if end:
            return end.end() if _BODY.search(text, begin.end(), end.start()) else -1
        marked = text.find("END", marked + 3, limit)
    return _end_of_cut(text, begin.end(), limit)


def _end_of_cut(text: str, at: int, limit: int) -> int:
    first = at
    end = -1
    inline = re.compile(r"[ \t]*[A-Za-z0-9+/=]{24,}").match(text, at, limit)  # the key is on one line
    if inline:
        at = end = inline.end()
    while line := _LINE.match(text, at, limit):
        if line["body"]:
            end = line.end()
        elif at - max(end, first) > 200:
            break
        at = line.end()
    return end if end > 0 and _BODY.search(text, first, end) else -1


_LITERALS = (
    "kind: secret",
    'kind": "secret"',
    'kind":"secret"',
    'kind\\": \\"secret\\"',
    'kind\\":\\"secret\\"',
)
_FARTHEST = 32 * 1024
_MANIFEST_KIND = late_pattern(r"kind\\{0,4}\"?:[ ]?\\{0,4}\"?Secret(?![A-Za-z])")
_DOCUMENT = late_pattern(rf"(?:{EOL})[^\n\\]{{0,60}}?(?:---[ \t]*(?:{EOL}|\Z)|apiVersion:[ ]|- apiVersion:[ ])")
_BLOCK = late_pattern(rf"(?:\A|{EOL})(?P<lead>{LEAD})(?P<name>(?:stringData|data)):[ \t]*(?={EOL})")
_ENTRY = late_pattern(
    rf"{EOL}(?P<lead>{LEAD})[\w.\"'/-]{{1,253}}:[ \t]*(?:[|>][+-]?{EOL}{LEAD})?(?P<quote>\\*[\"'])?(?P<value>[^\s\"'\\]{{1,65536}}|)"
)
_OBJECT = late_pattern(r"\\{0,4}\"(?P<name>stringData|data)\\{0,4}\"[ \t]*:[ \t]*\{(?P<body>[^{}]{0,65536})\}")
_PAIR = late_pattern(r":\s*(?:\\{1,4}n)?\s*\\{0,4}\"(?P<value>[^\"\\]{1,65536})\\{0,4}\"")
_MANIFEST_LINE = late_pattern(r"[^\n\\]*")
_BASE64 = late_pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def manifest_forms() -> list[SecretForm]:
    """Return the forms of Kubernetes secrets."""
    return [SecretForm("kubernetes-secret", _LITERALS, _find_manifest)]


def _find_manifest(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """Find the values of the manifest with `kind: Secret` at `start`, after the position `passed`."""
    if not _MANIFEST_KIND.match(text, start):
        return passed, []
    low, high = max(passed, start - _FARTHEST), min(len(text), start + _FARTHEST)
    if '"' in text[start : start + 8]:
        closed = text.find("}", high, high + _FARTHEST) + 1
        return max(high, closed), list(_of_json(text, low, max(high, closed)))
    if text.find("ata:", low, high) < 0:
        return high, []
    following = _DOCUMENT.search(text, start, high)
    high = following.start() if following else high
    begins = [match.start() for match in _DOCUMENT.finditer(text, low, start)]
    return high, list(_of_yaml(text, begins[-1] if begins else low, high))


def _of_yaml(text: str, at: int, high: int) -> Iterator[tuple[int, int]]:
    while block := _BLOCK.search(text, at, high):
        at, deep = block.end(), len(block["lead"])
        while (entry := _ENTRY.match(text, at, high)) and len(entry["lead"]) > deep:
            if _is_kept(entry["value"], block["name"]):
                yield entry.span("value")
            at = _line_end(text, entry.end(), high)


def _line_end(text: str, at: int, high: int) -> int:
    line = _MANIFEST_LINE.match(text, at, high)
    return line.end() if line else at


def _of_json(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    for found in _OBJECT.finditer(text, low, high):
        for pair in _PAIR.finditer(text, *found.span("body")):
            if _is_kept(pair["value"], found["name"]):
                yield pair.span("value")


def _is_kept(value: str, block: str) -> bool:
    if len(value) < 4 or is_placeholder(value):
        return False
    return block != "data" or _BASE64.fullmatch(value) is not None
