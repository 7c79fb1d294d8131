"""Passwords in commands, password files and dialogues: `curl -u`, `mysql -p…`, `net use`, `expect`, `.pgpass`.

`command_passwords.txt` lists the commands and their secret arguments.  `assignments` finds values of descriptive
options such as `--password`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.secrets.randomness import changes
from crucible.core.secrets.rule import EOL, LEAD, SecretForm, SecretRule, table_lines
from crucible.core.secrets.secret_values import is_chance, is_placeholder


class _Argument(NamedTuple):
    """An argument of a command: its position, and its text with quotes."""

    start: int
    end: int
    text: str


class _Notation(NamedTuple):
    """How a command takes a secret: the words before it, the flag, and what separates it from a user name."""

    words: tuple[str, ...]
    flag: str
    shape: str


def command_forms() -> list[SecretForm]:
    """Return the forms of all commands."""
    notations: dict[str, list[_Notation]] = {}
    for line in table_lines("command_passwords"):
        names, *given = (part.strip() for part in line.split("|"))
        for name in (name.replace("~", " ") for name in names.split()):
            notations.setdefault(name, []).extend(map(_notation, given))
    return [
        SecretForm("curl-login" if name == "curl" else "command-password", (f"{name} ",), _Command(name, found).find)
        for name, found in notations.items()
    ]


def _notation(given: str) -> _Notation:
    *words, last = given.split(" after ", maxsplit=1)[0].split(" ")
    words += given.split(" after ")[1:]
    if words and words[-1].startswith(("-", "/")):
        return _Notation(tuple(words[:-1]), words[-1], last)
    if last.startswith(("-", "/")) and last.endswith("V"):
        *before, _ = last.partition("V")
        return _Notation(
            tuple(words),
            before[0].removesuffix("==") if "==" in last else before[0],
            "=V" if "==" in last else "glued",
        )
    return _Notation(tuple(words), "", last)


class _Command:
    """Find the secrets in calls of one command."""

    def __init__(self, name: str, notations: list[_Notation]) -> None:
        self._name, self._notations = name, notations
        leads = [next((word for word in one.words if word != "_"), one.flag) for one in notations]
        self._leads = tuple(f" {lead[:1] if _FLAG.fullmatch(lead) else lead.lower()}" for lead in leads if all(leads))

    def find(self, text: str, start: int, _passed: int) -> tuple[int, list[tuple[int, int]]]:
        if _INSIDE.search(text, max(0, start - 2), start):
            return start + 1, []
        at = start + len(self._name)
        if self._leads and not self._is_led(text, at):
            return start + 1, []  # a word in a sentence
        arguments = list(_arguments(text, at))
        if not arguments:
            return start + 1, []
        places = [
            place
            for notation in self._notations
            for place in _secrets(arguments, notation)
            if is_password_there(text[slice(*place)])
        ]
        return arguments[-1].end, places

    def _is_led(self, text: str, at: int) -> bool:
        """Return whether a notation's first word is on the line, or on the next one if the line is continued."""
        end = text.find("\n", at, at + _FARTHEST)
        if end < 0 or text.endswith(("\\", "\\\r"), at, end):
            end = at + _FARTHEST
        following = text[at - 1 : end].lower()
        return any(lead in following for lead in self._leads)


_FLAG = late_pattern("[-/].")
_INSIDE = late_pattern(r"(?:[A-Za-z0-9_.]|(?<=[A-Za-z0-9])-)(?<!\\[nrt])\Z")
_FARTHEST = 600
_GAP = late_pattern(r"(?:[ \t]|\\\r?\n)+")
_WORD = late_pattern(
    r"(?:\\{0,3}\"(?:[^\"\n\\]|\\(?![\"\\n])|\\\\(?!\\?\")){0,300}\\{0,3}\"|'[^'\n]{0,300}'|[^\s\"'|;&<>`\\]|\\(?![nrt\"'\s]))+"
)


def _arguments(text: str, at: int) -> Iterator[_Argument]:
    """Yield the arguments up to the end of the command."""
    limit = min(len(text), at + _FARTHEST)
    while (gap := _GAP.match(text, at, limit)) and (word := _WORD.match(text, gap.end(), limit)):
        at = word.end()
        yield _Argument(word.start(), at, word.group())


def _secrets(arguments: list[_Argument], notation: _Notation) -> Iterator[tuple[int, int]]:
    at = _after_words(arguments, notation.words)
    if at is None:
        return
    if notation.flag:
        yield from _of_flag(arguments[at:], notation)
    elif notation.shape == "*=V":
        yield from (
            _part(argument, "=") for argument in arguments[at:] if "=" in argument.text and argument.text[0] != "-"
        )
    else:
        following = [argument for argument in arguments[at:] if not argument.text.startswith("-")][:1]
        for argument in following:
            if notation.shape == "V":
                if argument is arguments[-1] or not _PLAIN.fullmatch(argument.text):  # otherwise a sentence
                    yield _bare(argument)
            elif "/" in argument.text and not argument.text.startswith("/"):
                yield _part(argument, "/", "@" if notation.shape.endswith("@") else "")


def _after_words(arguments: list[_Argument], words: tuple[str, ...]) -> int | None:
    """Return the index after a notation's words, which must be in this order; options with values may be in between."""
    at, anywhere = 0, False
    for word in words:
        if word == "...":
            anywhere = True
            continue
        while at < len(arguments) and not _is_word(arguments[at].text, word):
            if not anywhere and not arguments[at].text.startswith("-"):
                return None
            at += 1
            has_value = not anywhere and at + 1 < len(arguments) and not _is_word(arguments[at].text, word)
            at += has_value and arguments[at].text[0] != "-"
        at += 1
    return at if at <= len(arguments) else None


def _is_word(argument: str, word: str) -> bool:
    if word == "_":
        return argument[0] != "-"
    if word[0] == "-" != word[1]:  # `-nbB` includes `-b`
        return argument[0] == "-" and set(word) <= set(argument)
    given = argument.strip("\"'").lower()
    return given == word or (word[-1] == "*" and given.startswith(word[:-1]))


def _of_flag(arguments: list[_Argument], notation: _Notation) -> Iterator[tuple[int, int]]:
    flag, shape = notation.flag, notation.shape
    for index, argument in enumerate(arguments):
        if shape == "glued":
            if argument.text.startswith(flag) and len(argument.text) > len(flag):
                yield _bare(argument, len(flag))
            continue
        value = _value_of_flag(arguments, index, flag)
        if value is None:
            continue
        place, skipped = value
        if shape == "V":
            yield _bare(place, skipped)
        elif shape == "pass:V":
            if place.text[skipped:].lstrip("\\\"'").startswith("pass:"):
                yield _part(place, ":", skipped=skipped)
        elif shape[1:2] in place.text[skipped:] and len(shape) == 3:
            yield _part(place, shape[1], skipped=skipped)
        elif shape == "=V" and "=" in place.text[skipped:]:
            yield _part(place, "=", skipped=skipped)


def _value_of_flag(arguments: list[_Argument], index: int, flag: str) -> tuple[_Argument, int] | None:
    """Return the argument that contains a flag's value, and the offset at which the value begins."""
    text = arguments[index].text
    if text.startswith(flag + "="):
        return arguments[index], len(flag) + 1
    bundled = len(flag) == 2 and _BUNDLE.fullmatch(text) and text[-1] == flag[-1]
    if text == flag or bundled:
        following = arguments[index + 1] if index + 1 < len(arguments) else None
        return (following, 0) if following and not following.text.startswith("--") else None
    glued = len(flag) == 2 and flag in {"-u", "-U"} and text.startswith(flag)
    return (arguments[index], 2) if glued else None


_PLAIN = late_pattern("[A-Za-z]?[a-z]*[,.:;]?")
_BUNDLE = late_pattern("-[A-Za-z]{2,6}")
_QUOTES = late_pattern(r"(?P<q>\\{0,3}[\"'])(?P<s>.*)(?P=q)", re.DOTALL)


def _bare(argument: _Argument, skipped: int = 0) -> tuple[int, int]:
    """Return the span of an argument without its quotes and its first `skipped` characters."""
    quoted = _QUOTES.fullmatch(argument.text, skipped)
    if quoted:
        return argument.start + quoted.start("s"), argument.start + quoted.end("s")
    return argument.start + skipped, argument.end


def _part(argument: _Argument, sign: str, until: str = "", skipped: int = 0) -> tuple[int, int]:
    """Return the part of an argument after a separator such as `=`."""
    first, last = _bare(argument, skipped)
    text = argument.text[first - argument.start : last - argument.start]
    at = text.find(sign) + 1
    stop = text.rfind(until) if until else -1
    inner = _Argument(
        first + at, first + (stop if stop > at else len(text)), text[at : stop if stop > at else len(text)]
    )
    return _bare(inner)


# --- in files and dialogues ------------------------------------------------------------------------------------------


def command_rules() -> list[SecretRule]:
    """Return the rules for secrets outside command lines: password files and answers to prompts."""
    return [
        SecretRule("command-password", ("n pass:", "t pass:", "s pass:", "=pass:"), late_pattern(_OPENSSL), is_strong),
        SecretRule("secure-string", ("convertto-securestring",), late_pattern(_SECURE_STRING), is_password_there),
        SecretRule("pgpass", (":5432:", ":5433:", ":*:"), late_pattern(_PGPASS), is_password_there, 100),
        SecretRule("netrc-login", ("machine ",), late_pattern(r"(?i)machine +\S+\s+" + _NETRC), is_password_there),
        SecretRule("netrc-login", ("login ", "login\t", "account "), late_pattern(_NETRC), is_strong),
        SecretRule("command-password", ("net use ",), late_pattern(_NET_USE), is_password_there),
        SecretRule("prompt-answer", ("assword", "assphrase"), late_pattern(_ANSWERED), is_password_there),
    ]


_SECURE_STRING = r"(?i)convertto-securestring[ \t]+(?:-string[ \t]+)?\\*[\"'](?P<s>[^\"'\n\\]{3,256})"
_PGPASS = r"(?<![\w.*/@-])[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*.-]{1,64}:[\w*.@-]{1,64}:(?P<s>\S{3,128})"
_OPENSSL = r"(?i:[nts] |=)pass:(?P<s>[^\s'\"`:,;{}<>\\]{4,128})"
_NETRC = r"(?i:login|account)[ \t]{1,8}\S{1,128}\s{1,16}password[ \t]{1,8}(?P<s>[^\s(]\S{2,255})"
_NET_USE = r"(?i)net use[ ]+(?:[A-Z*]:?[ ]+)?\S{3,120}[ ]+(?:/user:\S{1,80}[ ]+)?\\*[\"']?(?P<s>(?!/)[^\s\"']{3,128})\\*[\"']?(?=[ ]+/user:|[ ]*(?:\n|\\|\Z|&|/persistent))"
_ANSWERED = (
    rf"(?i)ass(?:word|phrase)[^\n\w]{{0,16}}(?:(?:{EOL}){LEAD}|[ \t;{{]{{1,8}})(?:\{{[ \t]*)?[\w.]{{0,30}}?send(?:line|_line|_keys|intr|text)?[ \t(]{{1,4}}(?:--[ \t]+)?"
    r"\\*[\"'](?P<s>[^\"'\n\\]{3,128})"
)


def is_password_there(value: str) -> bool:
    """Return whether a value found where a password is expected is one: not a placeholder, a port or a path."""
    return not is_placeholder(value) and not re.fullmatch(r"[\d:.]+|[~./]?/.*", value)


def is_strong(value: str) -> bool:
    """Return whether a value is clearly a password, not a word, where other text is also possible."""
    return not is_placeholder(value) and (is_chance(value) or (any(c.isdigit() for c in value) and changes(value) >= 2))


_READERS = (
    "password-stdin", "with-token", "sudo -s", "chpasswd", "secret put", "passphrase-fd", "cryptsetup", "passwd --stdin", "kinit",
    "smbpasswd", "vercel env add", "gh secret set", "secret create", "pass insert", "secrets create", "versions add",
    "pass stdin", "-pass-stdin", "passin stdin", "pass file:-", "login -", "htpasswd -i",
)  # fmt: skip
_ECHO = late_pattern(
    r"(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)*(?:[\"']?%s(?:\\+n)?[\"']?[ \t]+)?\\*[\"']?(?:[\w.-]{1,32}:)?(?P<s>[^\s\"'|\\]{4,256})(?:\\+n)?\\*[\"']?[ \t]*\|"
)
_HERE = late_pattern(r"<<<[ \t]*\\*[\"']?(?:[\w.-]{1,32}:)?(?P<s>[^\s\"'|\\]{4,256})")
_READER = late_pattern("|".join(re.escape(reader) for reader in _READERS))


def piped_forms() -> list[SecretForm]:
    """Return the forms of piped passwords."""
    return [
        SecretForm("piped-password", _READERS, _find_piped),
        SecretForm("piped-password", ("<<<",), _find_here),
    ]


def _find_piped(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """Find what `echo` pipes into a command that reads a password."""
    low = max(passed, start - 300, text.rfind("\n", 0, start))
    at = max(text.rfind("echo ", low, start), text.rfind("printf ", low, start))
    match = _ECHO.match(text, at, start) if at >= 0 else None
    return start + 1, [match.span("s")] if match and is_password_there(match["s"]) else []


def _find_here(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """Find what `<<<` passes to a command that reads a password."""
    low = max(passed, start - 200, text.rfind("\n", 0, start))
    match = _HERE.match(text, start)
    if match is None or not _READER.search(text[low:start].lower()):
        return start + 1, []
    return match.end(), [match.span("s")] if is_password_there(match["s"]) else []
