"""Secrets that tell by the shape around them: JWTs, `Bearer`, `user:password@host`, `curl -u`, cookies.

Owns those shapes.  A name with a value is `assignments`'.
"""

from __future__ import annotations

import base64
import binascii

from crucible.core.patterns import late_pattern
from crucible.core.secrets.command_passwords import is_password_there, is_strong
from crucible.core.secrets.randomness import changes
from crucible.core.secrets.rule import SecretRule
from crucible.core.secrets.secret_values import holds_login, is_chance, is_dummy, is_placeholder
from crucible.core.secrets.token_prefixes import is_random

DATA_URI = late_pattern(r";base64,[A-Za-z0-9+/=_-]*+")
"""The bytes of a picture; nothing in them is a secret."""


def shape_rules() -> list[SecretRule]:
    """The rules of all shapes."""
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
        SecretRule("basic-auth", ("basic",), late_pattern(_BASIC), _is_basic),
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
"""A text goes on as another: `'Basic ' + '…'`."""
_IDENTIFIED = r"IDENTIFIED\s{1,8}(?:WITH\s{1,8}\S{1,40}\s{1,8}(?:BY|AS)|BY)\s{1,8}(?:PASSWORD\s{1,8})?\\*['\"](?P<s>[^'\"\n\\]{3,128})"
"""SQL; in small letters a sentence may say it."""
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
        return len(token) > 60  # cut, or touched by what is around it
    return text.startswith(b"{") and not is_dummy(token)


_STORED = late_pattern(r"(?:[a-z_-]+:)+[0-9a-f]{7,64}")
"""The key of a store goes on: `bearer:user:<md5>`."""


def _is_bearer(token: str) -> bool:
    if is_placeholder(token) or is_dummy(token) or _STORED.fullmatch(token):
        return False
    return is_chance(token) or (len(token) >= 20 and any(c.isdigit() for c in token) and changes(token) >= 4)


def _is_own_token(token: str) -> bool:
    return is_random(token) and not is_dummy(token) and not is_placeholder(token)


def _is_basic(token: str) -> bool:
    return holds_login(token)


def _is_varied_seed(value: str) -> bool:
    return len(set(value)) >= 5 and not is_placeholder(value)


def _is_key_inside(text: str) -> bool:
    head = text[:80].replace("\\n", "")
    return b"PRIVATE" in base64.b64decode(head[: len(head) // 4 * 4] + "====")
