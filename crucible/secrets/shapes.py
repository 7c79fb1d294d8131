"""Secrets that tell by the shape around them: private keys, JWTs, `Bearer`, `user:password@host`, `curl -u`, cookies.

Owns those shapes.  A name with a value is `assignments`'.
"""

from __future__ import annotations

import base64
import binascii
import re

from crucible.patterns import late_pattern
from crucible.secrets.rules import Rule
from crucible.secrets.values import changes, holds_login, is_chance, is_dummy, is_placeholder

__all__ = ["DATA_URI", "find_private_key", "shape_rules"]

DATA_URI = late_pattern(r";base64,[A-Za-z0-9+/=_-]*+")
"""The bytes of a picture; nothing in them is a secret."""


def shape_rules() -> list[Rule]:
    """The rules of all shapes, but for the private keys of `find_private_key`."""
    return [
        Rule(
            "jwt",
            ("eyj",),
            late_pattern(
                r"eyJ[A-Za-z0-9_-]{6,4096}+(?:\.eyJ[A-Za-z0-9_-]{4,65536}+(?:\.[A-Za-z0-9_-]*+)?|(?:\.[A-Za-z0-9_-]*+){4})"
            ),
            _is_jwt,
            whole_run=True,
        ),
        Rule(
            "bearer-token",
            ("bearer", "token ", "apikey ", "api-key ", "genie"),
            late_pattern(_BEARER),
            _is_bearer,
        ),
        Rule("basic-auth", ("basic",), late_pattern(_BASIC), _is_basic),
        Rule("credential-uri", ("://", ":\\/\\/", "%3a%2f%2f"), late_pattern(_URI), _is_password),
        Rule("token-uri", ("://",), late_pattern(_URI_OF_ONE), is_chance),
        Rule(
            "jdbc-login",
            ("thin:",),
            late_pattern(r"(?i)thin:[^\s/@:]{1,64}/(?P<s>[^\s@/]{3,128})@"),
            _is_password,
        ),
        Rule(
            "curl-login",
            ("-u", "--user", "--proxy-user", " -a ", "--auth"),
            late_pattern(_CURL),
            _is_password,
            400,
        ),
        Rule(
            "command-password",
            (" -p", " -a ", " -w ", " -u", " -n ", "htpasswd -", "sqlplus "),
            late_pattern(_SHORT_FLAG),
            _is_password,
            400,
        ),
        Rule(
            "command-password", ("pass:",), late_pattern(r"pass:(?P<s>[^\s'\"`:,;{}<>\\]{4,128})"), _is_strong
        ),
        Rule("secure-string", ("convertto-securestring",), late_pattern(_SECURE_STRING), _is_password),
        Rule(
            "piped-password",
            ("password-stdin", "with-token", "sudo -s", "chpasswd", "secret put", "passphrase-fd"),
            late_pattern(_PIPED),
            _is_password,
            300,
        ),
        Rule(
            "pgpass",
            (":5432:", ":5433:", ":*:"),
            late_pattern(r"(?m)^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}:(?P<s>\S{3,128})"),
            _is_password,
            100,
        ),
        Rule(
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
            _is_strong,
        ),
        Rule(
            "sas-signature",
            ("sig=",),
            late_pattern(r"(?i)sig=(?P<s>[A-Za-z0-9%+/]{30,120}={0,2})"),
            is_chance,
        ),
        Rule("aws-signature", ("signature=",), late_pattern(r"(?i)signature=(?P<s>[0-9a-f]{64})"), _always),
        Rule(
            "private-key-base64",
            ("ls0tls1crudjti",),
            late_pattern(r"LS0tLS1CRUdJTi[A-Za-z0-9+/\\n]{40,65536}={0,2}"),
            _is_key_inside,
        ),
        Rule(
            "jwk",
            ('"d"', '"k"', '\\"d\\"', '\\"k\\"'),
            late_pattern(r'\\*"[dk]\\*"\s*:\s*\\*"(?P<s>[A-Za-z0-9_-]{40,1400})\\*"'),
            is_chance,
        ),
        Rule("netrc-login", ("login", "account"), late_pattern(_NETRC), _is_password),
        Rule(
            "sql-password",
            ("identified",),
            late_pattern(
                r"(?i)identified\s{1,8}(?:with\s{1,8}\S{1,40}\s{1,8})?(?:by|as)\s{1,8}(?:password\s{1,8})?\\*['\"](?P<s>[^'\"\n\\]{3,128})"
            ),
            _is_password,
        ),
    ]


_BEARER = r"(?i)(?:bearer|token|api-?key|geniekey)(?:\\*[\"'])?(?:[ \t]{1,4}|%20|\+|:[ \t]?)\\*[\"'`]?(?P<s>[A-Za-z0-9._~+/%|:-]{12,4096}+={0,2})"
_BASIC = r"(?i)basic(?:[ \t]{1,4}|%20|\+)\\*[\"'`]?(?P<s>[A-Za-z0-9+/_-]{8,1024}+={0,2})"
_URI = (
    r"(?i)(?:://|:\\/\\/|%3a%2f%2f)(?:[^\s:@/?\#\"'`<>\\|,;()\[\]%{}]|%(?!3a|40|2f)[0-9a-f]{2}|\$\{[^}\s]{1,64}\}|\{\{[^}\n]{1,64}\}\}){0,128}(?::|%3a)"
    r"(?!\d{1,5}/)(?P<s>[^\s\"'`<>\\/]{1,512}(?:/[^\s\"'`<>\\/@]{1,64}){0,2})(?:@|%40)(?=[A-Za-z0-9\[_.$\-{(*<%])"
)
_URI_OF_ONE = r"://(?P<s>[A-Za-z0-9_.~%-]{16,512}):?@(?=[A-Za-z0-9\[])"
_CURL = r"(?i)(?:curl|wget|https?|xh|httpie|az|nexus|jfrog)\b[^\n]{0,380}?\s(?:-u|--user|--proxy-user|-U|-a|--auth)(?:[ \t=]{0,2})\\*[\"']?(?P<q>[^\s:\"'\\]{0,128}):(?P<s>[^\s\"'\\]{3,256})"
_SHORT_FLAG = (
    r"(?i)\b(?:(?:mysql\w*|mariadb\w*)\b[^\n|]{0,300}?\s-p(?P<s>[^\s\"'\\]{3,128})"
    r"|(?:sshpass|redis-cli|mongo\w*|sqlcmd|zip|7z|unzip|ldap\w+|cqlsh|mosquitto_\w+|login)\b[^\n|]{0,300}?\s(?:-p|-a|-w|-P)[ \t]{0,2}\\*[\"']?(?P<t>[^\s\"'\\]{4,128})"
    r"|smbclient[^\n|]{0,200}?\s-U[ \t]{0,2}[\w.\\@-]{1,64}%(?P<v>[^\s\"'\\]{3,128})|sqlplus[ \t]+[\w.]{1,64}/(?P<w>[^\s@/\"'\\]{3,128})@|lftp[ \t][^\n|]{0,200}?-u[ \t]{0,2}[\w.@-]{1,64},(?P<x>[^\s\"'\\]{3,128})"
    r"|ssh-keygen[^\n|]{0,200}?\s-N[ \t]{0,2}\\*[\"']?(?P<y>[^\s\"'\\]{4,128})"
    r"|htpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*[ \t]+(?:\S+[ \t]+){1,2}\\*[\"']?(?P<u>[^\s\"'\\]{4,128}))"
)
_SECURE_STRING = r"(?i)convertto-securestring[ \t]+(?:-string[ \t]+)?\\*[\"'](?P<s>[^\"'\n\\]{3,256})"
_PIPED = r"(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s[\"']?[ \t]+)?\\*[\"']?(?:[\w.-]{1,32}:)?(?P<s>[^\s\"'|\\]{4,256})\\*[\"']?[ \t]*\|[^\n]{0,200}|(?:password-stdin|with-token|chpasswd|sudo -S[^\n<]{0,80}?)[ \t]*<<<[ \t]*\\*[\"']?(?:[\w.-]{1,32}:)?(?P<t>[^\s\"'|\\]{4,256})"
_LOGIN_CALL = r"(?i)(?:auth|login|credentials?|authenticate)[ \t]{0,2}[=:]?[ \t]{0,2}[(\[][ \t]{0,4}\\*[\"']?[\w.@+-]{1,64}\\*[\"']?[ \t]{0,2},[ \t]{0,4}\\*[\"'](?P<s>[^\"'\n\\]{4,128})\\*[\"']"
_NETRC = r"(?i)(?:login|account)[ \t]{1,8}\S{1,128}\s{1,16}password[ \t]{1,8}(?P<s>\S{3,256})"


def _always(_: str) -> bool:
    return True


def _is_jwt(token: str) -> bool:
    head = token.partition(".")[0]
    try:
        text = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return len(token) > 60  # cut, or touched by what is around it
    return text.startswith(b"{") and not is_dummy(token)


def _is_bearer(token: str) -> bool:
    if is_placeholder(token) or is_dummy(token):
        return False
    return is_chance(token) or (len(token) >= 20 and any(c.isdigit() for c in token) and changes(token) >= 4)


def _is_basic(token: str) -> bool:
    return holds_login(token)


def _is_password(value: str) -> bool:
    return not is_placeholder(value) and not re.fullmatch(r"[\d:.]+|[~./]?/.*", value)


def _is_strong(value: str) -> bool:
    return not is_placeholder(value) and (
        is_chance(value) or (any(c.isdigit() for c in value) and changes(value) >= 2)
    )


def _is_key_inside(text: str) -> bool:
    head = text[:80].replace("\\n", "")
    return b"PRIVATE" in base64.b64decode(head[: len(head) // 4 * 4] + "====")


# --- private keys --------------------------------------------------------------------------------------------------

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


def find_private_key(text: str, start: int) -> int:
    """Where the private key ends whose `-----BEGIN` stands at `start`; -1 when there is none.

    A key that is cut ends where its lines of base64 do.
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
    inline = re.compile(r"[ \t]*[A-Za-z0-9+/=]{24,}").match(text, at, limit)  # all on one line
    if inline:
        at = end = inline.end()
    while line := _LINE.match(text, at, limit):
        if line["body"]:
            end = line.end()
        elif at - max(end, first) > 200:
            break
        at = line.end()
    return end if end > 0 and _BODY.search(text, first, end) else -1
