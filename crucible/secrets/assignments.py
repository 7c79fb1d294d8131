"""Names with values: `API_KEY=…`, `"password": "…"`, `--token …`, `<secret>…</secret>`, in whatever language.

Owns where a name ends, what stands between it and its value, and where the value ends.  Whether the name is a secret's is
`names`', whether the value is one `values`'.
"""

from __future__ import annotations

import re
from string import ascii_letters
from typing import NamedTuple

from crucible.patterns import late_pattern
from crucible.secrets.names import Weight, weight_of, words_set
from crucible.secrets.values import is_chance, is_hash, is_secret

__all__ = ["Value", "find_value", "is_value_of", "secret_part"]

_LONGEST_NAME = 64
_LONGEST_QUOTED = 64 * 1024
_JUDGED = 512
"""Characters at the beginning of a value that say what it is."""
_MOST_SIGNS = 20
"""So many `=` are in no value."""

_NAME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-"
_SPACED = words_set(
    "api access secret private auth client account encryption signing master bearer refresh shared"
)
_AFTER = late_pattern(r"[A-Za-z0-9_-]{0,48}")
_CLOSE = r"(?:\\{0,8}[\"'`]|%22|&quot;)?(?:[\])]{1,2})?(?:\*\*|__)?"
_BETWEEN = late_pattern(
    r"(?P<close>"
    + _CLOSE
    + r")(?:[ \t](?:provided|supplied|given|used|sent|found|received|rejected|value)\b)?(?:"
    # `token: str = "…"`, `var token string = "…"`
    r"(?P<typed>[ \t]*:?[ \t]*[A-Za-z_&*\[][\w\[\]., |?<>&*']{0,40}[ \t]*=[ \t]*(?=\\{0,8}[\"'`]|[A-Za-z_][\w.]{0,30}\([ \t]*(?:default=)?[\"']))"
    r"|(?P<argument>[ \t]*,[ \t]*(?:\w{1,20}=[^,()\n]{1,40},[ \t]*){0,3}(?:default|value|initial)=(?=\\{0,8}[\"']))"
    r"|(?P<inner>[ \t]*:[ \t]*\{[ \t\n]{0,40}\\{0,8}[\"']?(?:value|Value|default|plain|data)\\{0,8}[\"']?[ \t]*:[ \t]*)"
    r"|(?P<plist></[A-Za-z]{1,20}>\s{0,80}<[A-Za-z]{1,20}>)"
    r"|(?P<default>:-)"
    r"|(?P<or>[ \t]*(?:\|\||\?\?|\bor\b|:=)[ \t]*(?=\\{0,8}[\"'`]))"
    r"|(?P<attribute>[ \t]{1,4}(?:value|Value|content)[ \t]*=[ \t]*(?=\\{0,8}[\"']))"
    r"|(?P<option>[ \t]+(?:--type[ \t]+\S+[ \t]+)?(?:--(?:value|body|secret-string|default)[ \t=]+|-b[ \t]+))"
    r"|(?P<block>[ \t]*:[ \t]*[|>][+-]?\d?[ \t]*\n[ \t]+)"
    r"|(?P<item>[ \t]*:[ \t]*(?:\n|\\{1,8}n)[^\n]{0,40}?[ \t]*- (?=\S))"
    r"|(?P<sep>[ \t]{0,16}(?:={1,3}(?!>)|!==?|[?+:|&]{0,2}=>?|:{1,2}|->|=>)(?:\*\*|__)?[ \t]{0,16}(?:(?:!!?|&)[a-z]\w{0,20}[ \t]+)?)"
    r"|(?P<dots>[ \t]?\.{2,80}:?[ \t]+|[ \t]\?[ \t]+)"
    r"|(?P<comma>[ \t]*,[ \t]*(?=\\{0,8}[\"'`]))"
    r"|(?P<hex>%3[AaDd](?:%20|\+)?)"
    r"|(?P<xml>(?:[ \t][^<>\n]{0,80})?>[ \t]*)"
    r"|(?P<cell>[ \t]+\|[ \t]+)"
    r"|(?P<call>\((?=\\{0,8}[\"'`]))"
    r"|(?P<is>[ \t]{1,4}(?:(?:is|was|to|as|of|equals)(?: now| set to| still)?|(?:has been |was |is |be )?(?:changed|set|reset|updated|rotated) to|for \S{1,40}?(?: is)?)[ \t]*:?[ \t]{1,4})"
    r"|(?P<space>[ \t]{1,40})"
    r")"
)
# `"name": "TOKEN", "value": "…"`, `variable "token" { default = "…" }`, a part of a form
_BESIDE = late_pattern(
    r"(?P<close>" + _CLOSE + r")(?:"
    r"(?P<name>[ \t]*(?:[,{/]|\\{1,8}n|\n)[\s\S]{0,200}?[\s\"'{,](?:(?:Parameter)?[Vv]alue|default|VALUE|defaultValue)\\{0,8}[\"']?[ \t]*[:=][ \t]*)"
    r"|(?P<part>[^\n\\]{0,40}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n){2})"
    r")"
)
_WRAPPER = late_pattern(r"[A-Za-z_][\w.:<>]{0,40}!?\([ \t]{0,4}(?:(?:default|value)=)?(?=\\{0,8}[\"'])")
_NEAR = late_pattern(r"(?<![A-Za-z0-9_./+-])[A-Za-z0-9][^\s\"'`<>(){}\[\],;|\\=]{11,255}")
_OPEN = late_pattern(
    r"(?:[\[(][ \t\n]{0,40})?(?:(?:String::from|SecretStr|SecretString|Secret(?:::new)?|Some|pulumi\.secret|new [A-Z]\w{1,30}|Buffer\.from|std::string|QString|TEXT|_T|bytes|str)\([ \t]*)?(?:[bBrRfFuU@$]{1,2}(?=[\"'`]))?(?P<quote>\\*(?:\"\"\"|'''|[\"'`])|&quot;|&\#34;|%22)"
)
_SCHEME = late_pattern(
    r"(?i)(?:Bearer|Basic|Token|Digest|ApiKey|Api-Key|Negotiate|GenieKey|SSWS|Splunk|Key|Bot|AWS)[ \t]+"
)
_WIDE = late_pattern(r"(?:[^\s\"'`\\]|\\(?![nrtu\"'`\\]))*+")
_TIGHT = late_pattern(r"(?:[^\s\"'`\\,;&|<>(){}\[\]]|\\(?![nrtu\"'`\\]))*+")
_SHELL = late_pattern(r"(?:[^\s\"'`\\;&|<>]|\\(?![nrtu\"'`\\]))*+")
_LINE_START = late_pattern(
    r"(?:\A|\n|\\n|[;|]|&&|[\"'`])[ \t]*[+\-<>|#*]{0,2}[ \t]*(?:(?:export|set|setx|SET|ENV|ARG|env|declare -x|\$env:|-e|--env|--build-arg|-D)[ \t:=]*)?[A-Za-z0-9_.\-/:]*\Z"
)

_VERSION = late_pattern(r"v?\d+\.\d")
_SIGN = late_pattern(_CLOSE + r"[ \t]{0,40}(?:[^A-Za-z0-9 \t]|[A-Za-z]{1,20}=|(?:value|content|or|is)\b)")
_STRIKING = frozenset({"item", "comma", "cell", "is", "call", "default", "dots", "argument"})
_PLAIN = frozenset({"sep", "typed", "or"})
_NEARBY = 64
_LEADS = late_pattern(r"[\"'`(=:][ \t]*\Z")
_OF_HASH = late_pattern(
    r"(?i)hash|sha|commit|digest|md5|checksum|rev|uuid|\bid\b|version|\bin\b|\bat\b|branch|tree|blob|,|[-_]id|[#/]|v\d"
)
_RETURN = late_pattern(r"\n[ \t]*return\b")
_NAMERS = ("name", "key", "variable", "header", "env", "id")
_SETTING_AFTER = late_pattern(r";?[ \t]*[A-Za-z_]\w{0,40}=[^=\s]")
_SETTING_BEFORE = late_pattern(r"(?:^|[\s\"'?&;])[A-Za-z_]\w{0,40}=[^\s=,;&()]{1,60}(?:[ \t]|; ?|&)\Z")


class Value(NamedTuple):
    """Where a value stands, how surely it is a text (`quoted`), and the weight of its name."""

    start: int
    end: int
    weight: Weight
    quoted: bool


def is_value_of(name: str, value: str) -> bool:
    """Whether `value`, which is a text of its own, is a secret because of its name."""
    weight = weight_of(name[-_LONGEST_NAME:])
    return weight != Weight.NONE and is_secret(value, weight, quoted=True)


def secret_part(value: str) -> int:
    """How many characters of a value are the scheme of a header: `Bearer `."""
    scheme = _SCHEME.match(value)
    return scheme.end() if scheme else 0


def find_value(text: str, start: int, end: int) -> Value | None:
    """The secret that is given to the name of which a literal of `names` stands from `start` to `end`."""
    after = _AFTER.match(text, end)
    stop = after.end() if after else end
    before = text[max(0, start - _LONGEST_NAME) : start]
    first = start - len(before) + len(before.rstrip(_NAME_CHARS))
    if text[first - 1 : first] == "\\" and text[first] in "nrt" and first < start:
        first += 1  # the letter of an escape
    weight = _weight_at(text, first, stop)
    if weight == Weight.NONE:
        return None
    if weight == Weight.HINT and not _SIGN.match(text, stop):
        return None
    between = (_BESIDE.match(text, stop) if _is_named(text, first) else None) or _BETWEEN.match(text, stop)
    found = _value_at(text, first, between, weight) if between else None
    if text[first - 1 : first] in {"/", "@"}:  # a part of a path, or of a package's name
        return found
    return found or (_value_near(text, stop, weight) if weight >= Weight.TOKEN else None)


def _last_word(text: str) -> str:
    return text[len(text.rstrip(ascii_letters)) :].lower()


def _is_named(text: str, first: int) -> bool:
    """What stands there is said to be a name: `name: …`, `"key": "…"`, `variable "…"`."""
    before = text[max(0, first - 40) : first].rstrip(" \t\"'\\:=")
    return before.lower().endswith(_NAMERS)


def _value_near(text: str, stop: int, weight: Weight) -> Value | None:
    """What looks like chance a few words after the name, on its line."""
    limit = min(len(text), stop + _NEARBY)
    line = text.find("\n", stop, limit)
    if line >= 0 and _RETURN.match(text, line):
        line = text.find("\n", line + 1, limit)
    for word in _NEAR.finditer(text, stop, limit if line < 0 else line):
        value = word[0].rstrip(".:!?")
        if len(value) + word.start() >= limit:
            value = _NEAR.match(text, word.start())[0]  # type: ignore[index]  # it did match, and does without a limit
        if (
            _is_striking(value, weight)
            and is_chance(value)
            and _is_meant(value, weight, text[stop : word.start()])
        ):
            return Value(word.start(), word.start() + len(value), weight, quoted=False)
    return None


def _is_meant(value: str, weight: Weight, between: str) -> bool:
    """A hash may be of anything, so it must stand right behind the name, as a text."""
    if not is_hash(value):
        return value.lower() != value and value.upper() != value and any(map(str.isdigit, value))
    near = weight >= Weight.SECRET and value.isalnum() and len(value) >= 32 and 0 < len(between) <= 32
    return (
        near
        and between[0] not in "./"
        and _LEADS.search(between) is not None
        and not _OF_HASH.search(between)
    )


def _weight_at(text: str, first: int, stop: int) -> Weight:
    if text.startswith("-D", first):
        first += 2  # of Java
    before = text[max(0, first - 16) : first]
    if before.endswith("::") and before[-3:-2].isalpha():  # a type of that name
        return Weight.NONE
    spaced = _last_word(before[:-1]) if before.endswith(" ") else ""
    weight = weight_of((spaced + " " if spaced in _SPACED else "") + text[first:stop])
    is_query = weight == Weight.HINT and before[-1:] in {"?", "&"} and text[stop : stop + 1] == "="
    return Weight.TOKEN if is_query else weight


def _value_at(text: str, first: int, between: re.Match[str], weight: Weight) -> Value | None:
    kind = between.lastgroup or ""
    wrapper = _WRAPPER.match(text, between.end()) if kind in _PLAIN else None
    if wrapper:
        kind = "call"
    opened = _OPEN.match(text, wrapper.end() if wrapper else between.end())
    if opened:
        at, stop = opened.end(), _end_of_quoted(text, opened["quote"], opened.end())
    else:
        at = between.end()
        stop = _end_of_bare(text, first, at, kind, between)
    at += secret_part(text[at : at + 16])
    quoted = opened is not None or kind in {"xml", "block", "plist"}
    found = Value(at, stop, weight, quoted)
    if not _fits(text, first, kind, found):
        return None
    return found if opened else found._replace(end=_full_end(text, at, stop))


def _fits(text: str, first: int, kind: str, found: Value) -> bool:
    at, stop, weight, quoted = found
    value = text[at : min(stop, at + _JUDGED)]
    if text[stop : stop + 1] in {"(", "[", "{"} and not quoted:
        return False
    if kind == "comma" and weight == Weight.HINT:
        return False
    if kind in _STRIKING or (kind == "space" and not _is_flag(text, first)):
        if kind == "call" and at - first < 5:
            return False  # `pw("…")` in minified code
        if kind in {"space", "is"} and text[first : first + 5].rstrip(" :`'\"").lower() == "pass":
            return False  # a verb
        return _is_striking(value, weight)
    text_only = (
        quoted
        or kind in {"name", "part", "inner", "option"}
        or _is_env(text, first, at)
        or _is_setting(text, first, at, stop)
    )
    return is_secret(value, weight, quoted=text_only)


def _is_striking(value: str, weight: Weight) -> bool:
    """Where a name and a word stand side by side by chance too, the word must not be one."""
    if (
        not is_secret(value, weight, quoted=False)
        or len(value) < 6
        or (value.isalpha() and not is_chance(value))
    ):
        return False
    if is_chance(value):
        return True
    if "/" in value or _VERSION.match(value):
        return False
    kinds = sum(
        (
            any(map(str.isdigit, value)),
            any(map(str.isupper, value)),
            any(map(str.islower, value)),
            not value.isalnum(),
        )
    )
    return kinds >= (2 if any(map(str.isdigit, value)) else 3)


def _is_flag(text: str, first: int) -> bool:
    name = text[first : first + 2]
    return (
        name[:1] == "-"
        or text[max(0, first - 4) : first] == "ENV "
        or text[max(0, first - 5) : first] == "setx "
    )


def _is_env(text: str, first: int, at: int) -> bool:
    """`NAME=value` as a shell or an `.env` has it: a name in capitals, no space around `=`."""
    name = text[first : at - 1]
    return (
        text[at - 1 : at] == "="
        and name == name.upper()
        and _LINE_START.search(text, max(0, first - 40), first) is not None
    )


def _is_setting(text: str, first: int, at: int, stop: int) -> bool:
    """`name=value` among others of its kind: a query, a connection string, a line of a log."""
    if text[at - 1 : at] != "=":
        return False
    if text[first - 1 : first] == text[stop : stop + 1] in {'"', "'"}:
        return True
    if text[max(0, first - 1) : first] in {"?", "&", ";", "#"} or text[stop : stop + 1] == "&":
        return True
    return (
        _SETTING_AFTER.match(text, stop) is not None
        or _SETTING_BEFORE.search(text, max(0, first - 80), first) is not None
    )


def _end_of_quoted(text: str, quote: str, at: int) -> int:
    """Where a quoted text ends: at the same quote, or, cut, with its line."""
    mark = quote.lstrip("\\")
    longest = at + _LONGEST_QUOTED
    end = text.find(quote, at, longest)
    while end > at and quote == mark and len(mark) == 1 and _is_escaped(text, end):
        end = text.find(quote, end + 1, longest)
    limit = min(longest, len(text)) if end < 0 else end
    line = text.find("\n", at, limit)
    return limit if line < 0 or len(mark) == 3 else line


def _is_escaped(text: str, at: int) -> bool:
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1


def _end_of_bare(text: str, first: int, at: int, kind: str, between: re.Match[str]) -> int:
    if kind == "block":
        return _match_end(_WIDE, text, at)
    if kind in {"xml", "plist"}:
        end = text.find("<", at, at + 4096)
        return end if end >= 0 else at
    if kind in {"space", "option"}:
        return _match_end(_SHELL, text, at)
    if kind in {"name", "part"}:
        return _match_end(_WIDE, text, at)
    if text.count("=", at, _match_end(_TIGHT, text, at)) > _MOST_SIGNS:
        return at
    own_line = _LINE_START.search(text, max(0, first - 40), first) is not None
    if own_line and kind == "sep" and not between["close"]:
        end = _match_end(_WIDE, text, at)
        return (
            at + len(text[at:end].rstrip(",;:"))
            if _looks_whole(text[at:end])
            else _match_end(_TIGHT, text, at)
        )
    end = _match_end(_TIGHT, text, at)
    return end - text[at:end].endswith(":")  # `if token == last:`


def _looks_whole(value: str) -> bool:
    """A value that runs to the next space, not a piece of code, of a query or of minified text."""
    return re.search(r"[&;,]\w+=|[({\[]|^[\w.]*\)", value) is None


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at, at + _JUDGED)
    return found.end() if found else at


def _full_end(text: str, at: int, stop: int) -> int:
    """Where a bare value ends of which only the beginning was looked at."""
    return _match_whole(text, stop) if stop - at >= _JUDGED else stop


def _match_whole(text: str, at: int) -> int:
    found = _TIGHT.match(text, at)
    return found.end() if found else at
