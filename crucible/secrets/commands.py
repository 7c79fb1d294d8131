"""Passwords that a command, a file of one or a dialogue with one holds: `curl -u`, `mysql -p…`, `net use`, `expect`, `.pgpass`.

Owns the notations of commands.  An option whose name says what it is (`--password`) is `assignments`'.
"""

from __future__ import annotations

import re

from crucible.patterns import late_pattern
from crucible.secrets.between import EOL, LEAD
from crucible.secrets.rules import Rule
from crucible.secrets.values import changes, is_chance, is_placeholder

__all__ = ["command_rules", "is_password_there", "is_strong"]


def command_rules() -> list[Rule]:
    """The rules of all commands."""
    return [
        Rule(
            "curl-login",
            ("-u", "--user", "--proxy-user", " -a ", "--auth"),
            late_pattern(_CURL),
            is_password_there,
            400,
        ),
        Rule(
            "command-password",
            (" -p", " -a ", " -w ", " -u", " -n ", "htpasswd -", "sqlplus "),
            late_pattern(_SHORT_FLAG),
            is_password_there,
            400,
        ),
        Rule(
            "command-password", ("pass:",), late_pattern(r"pass:(?P<s>[^\s'\"`:,;{}<>\\]{4,128})"), is_strong
        ),
        Rule("secure-string", ("convertto-securestring",), late_pattern(_SECURE_STRING), is_password_there),
        Rule(
            "piped-password",
            ("password-stdin", "with-token", "sudo -s", "chpasswd", "secret put", "passphrase-fd"),
            late_pattern(_PIPED),
            is_password_there,
            300,
        ),
        Rule(
            "pgpass",
            (":5432:", ":5433:", ":*:"),
            late_pattern(
                r"(?<![\w.*/@-])[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}:(?P<s>\S{3,128})"
            ),
            is_password_there,
            100,
        ),
        Rule("netrc-login", ("login", "account"), late_pattern(_NETRC), is_password_there),
        Rule(
            "command-password",
            (" /p:", "cmdkey", "net use", "net user", "/pass:", " -pw ", "wpa_passphrase"),
            late_pattern(_WINDOWS),
            is_password_there,
            300,
        ),
        Rule("prompt-answer", ("assword", "assphrase"), late_pattern(_ANSWERED), is_password_there),
    ]


_CURL = r"(?i)(?:curl|wget|https?|xh|httpie|az|nexus|jfrog)\b[^\n]{0,380}?\s(?:-u|--user|--proxy-user|-U|-a|--auth)(?:[ \t=]{0,2})\\*[\"']?(?P<q>[^\s:\"'\\]{0,128}):(?P<s>[^\s\"'\\]{3,256})"
_SHORT_FLAG = (
    r"(?i)\b(?:(?:mysql\w*|mariadb\w*)\b[^\n|]{0,300}?\s-p\\*[\"']?(?P<s>[^\s\"'\\]{3,128})"
    r"|(?:sshpass|redis-cli|mongo\w*|sqlcmd|zip|7z|unzip|ldap\w+|cqlsh|mosquitto_\w+|login)\b[^\n|]{0,300}?\s(?:-p|-a|-w|-P)[ \t]{0,2}\\*[\"']?(?P<t>[^\s\"'\\]{4,128})"
    r"|(?:smbclient|rpcclient|smbget|smbcacls|winexe|wmic|net|nmblookup)\b[^\n|]{0,200}?\s(?:-U|--user=?)[ \t]{0,2}\\*[\"']?[\w./\\@-]{1,64}%(?P<v>[^\s\"'\\]{3,128})|sqlplus[ \t]+[\w.]{1,64}/(?P<w>[^\s@/\"'\\]{3,128})@|lftp[ \t][^\n|]{0,200}?-u[ \t]{0,2}[\w.@-]{1,64},(?P<x>[^\s\"'\\]{3,128})"
    r"|ssh-keygen[^\n|]{0,200}?\s-N[ \t]{0,2}\\*[\"']?(?P<y>[^\s\"'\\]{4,128})"
    r"|htpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*[ \t]+(?:\S+[ \t]+){1,2}\\*[\"']?(?P<u>[^\s\"'\\]{4,128}))"
)
_SECURE_STRING = r"(?i)convertto-securestring[ \t]+(?:-string[ \t]+)?\\*[\"'](?P<s>[^\"'\n\\]{3,256})"
_PIPED = r"(?:echo|printf)[ \t]+(?:-n[ \t]+)?(?:[\"']?%s[\"']?[ \t]+)?\\*[\"']?(?:[\w.-]{1,32}:)?(?P<s>[^\s\"'|\\]{4,256})\\*[\"']?[ \t]*\|[^\n]{0,200}|(?:password-stdin|with-token|chpasswd|sudo -S[^\n<]{0,80}?)[ \t]*<<<[ \t]*\\*[\"']?(?:[\w.-]{1,32}:)?(?P<t>[^\s\"'|\\]{4,256})"
_NETRC = r"(?i)(?:login|account)[ \t]{1,8}\S{1,128}\s{1,16}password[ \t]{1,8}(?P<s>\S{3,256})"

_WINDOWS = (
    r"(?i)(?:\b(?:x?freerdp3?|mstsc|rdesktop)\b[^\n|]{0,250}?\s/p:\\*[\"']?(?P<s>[^\s\"'\\]{3,128})"
    r"|\bcmdkey\b[^\n|]{0,250}?/pass:\\*[\"']?(?P<t>[^\s\"'\\]{3,128})"
    r"|\bnet[ ]+use[ ]+(?:[A-Z*]:?[ ]+)?\S{3,120}[ ]+(?:/user:\S{1,80}[ ]+)?\\*[\"']?(?P<u>(?!/)[^\s\"']{3,128})\\*[\"']?(?=[ ]+/user:|[ ]*(?:\n|\\|\Z|&|/persistent))"
    r"|\bnet[ ]+user[ ]+[\w.-]{1,40}[ ]+\\*[\"']?(?P<v>(?!/)[^\s\"'\\]{3,128})"
    r"|\b(?:plink|pscp|psftp|putty|kitty)(?:\.exe)?\b[^\n|]{0,250}?\s-pw[ ]+\\*[\"']?(?P<w>[^\s\"'\\]{3,128})"
    r"|\bwpa_passphrase[ ]+\S{1,60}[ ]+\\*[\"']?(?P<x>[^\s\"'\\|>]{8,63}))"
)
_ANSWERED = (
    rf"(?i)ass(?:word|phrase)[^\n\w]{{0,16}}(?:(?:{EOL}){LEAD}|[ \t;{{]{{1,8}})(?:\{{[ \t]*)?[\w.]{{0,30}}?send(?:line|_line|_keys|intr|text)?[ \t(]{{1,4}}(?:--[ \t]+)?"
    r"\\*[\"'](?P<s>[^\"'\n\\]{3,128})"
)


def is_password_there(value: str) -> bool:
    """Where a password must stand, anything but a placeholder, a port or a path."""
    return not is_placeholder(value) and not re.fullmatch(r"[\d:.]+|[~./]?/.*", value)


def is_strong(value: str) -> bool:
    """Where another text may stand too, what is no word."""
    return not is_placeholder(value) and (
        is_chance(value) or (any(c.isdigit() for c in value) and changes(value) >= 2)
    )
