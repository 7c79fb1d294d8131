"""Secrets assigned to a name: `API_KEY=…`, `"password": "…"`, `--token …`, `<secret>…</secret>`, in any language.

Finds where a name ends and where its value begins.  `secret_names` judges the name, `secret_values` the value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters, digits

from crucible.core.patterns import late_pattern
from crucible.core.secrets.rule import BESIDE, BETWEEN, CLOSE, EOL, LEAD, OF_NAMES, OPEN, SCHEME, WRAPPER, Hit
from crucible.core.secrets.secret_names import (
    LONGEST_NAME,
    Weight,
    is_login,
    is_named,
    is_pass,
    is_piped,
    is_verb,
    weight_of,
    words_set,
)
from crucible.core.secrets.secret_values import (
    is_hash,
    is_phrase,
    is_plain_word,
    is_random,
    is_secret,
    is_striking,
    is_worded,
)
from crucible.core.secrets.table_layouts import Value, find_answer, find_before, find_columns, find_cookies, find_items
from crucible.core.secrets.value_ends import JUDGED, end_of_bare, end_of_quoted, full_end, inside_quotes, is_key

_SHORT_NAME = 48
"""Maximum length of a name after a literal, and so of one that is found whole from each of its literals."""

_AFTER = ascii_letters + digits + "_-"
_NAME_CHARS = _AFTER + ".$"
_SPACED = words_set("api access secret private auth client account encryption signing master bearer refresh shared")
_NEAR = late_pattern(r"(?<![A-Za-z0-9_./+-])[A-Za-z0-9][^\s\"'`<>(){}\[\],;|\\=]{11,255}")

_SIGN = late_pattern(CLOSE + r"[ \t]{0,40}(?:[^A-Za-z0-9 \t]|[A-Za-z]{1,20}=|(?:value|content|or|is)\b)")
_STRIKING = frozenset({"comma", "cell", "is", "call", "default", "dots", "argument"})
_PLAIN = frozenset({"sep", "typed", "or"})
_NEARBY = 64
_HAS_DIGIT = late_pattern("[0-9]")
_LEADS = late_pattern(r"[\"'`(=:][ \t]*\Z")
_OF_HASH = late_pattern(
    r"(?i)hash|sha|commit|digest|md5|checksum|rev|uuid|\bid\b|version|\bin\b|\bat\b|branch|tree|blob|,|[-_]id|[#/]|v\d"
)
_RETURN = late_pattern(r"\n[ \t]*return\b")
_SETTING_AFTER = late_pattern(r";?[ \t]*[A-Za-z_]\w{0,40}=[^=\s]")
_SETTING_BEFORE = late_pattern(r"(?:^|[\s\"'?&;])[A-Za-z_]\w{0,40}=[^\s=,;&()]{1,60}(?:[ \t]|; ?|&)\Z")


def secret_part(value: str) -> int:
    """Return the length of an authentication scheme, such as `Bearer `, at the start of a value."""
    scheme = SCHEME.match(value)
    return scheme.end() if scheme else 0


def find_assigned(begin: int, length: int, text: str, start: int, seen: dict[int, int]) -> Sequence[Hit]:
    """Find the secrets assigned to the name that contains the literal at `start`.

    `begin` and `length` are the span of the part of the literal that belongs to the name.  `seen` records how far
    names, tables and lists have already been examined.
    """
    end = start + length
    if end <= seen.get(_NAMES, 0):
        return ()  # another literal in the same name
    start += begin
    before = text[start - LONGEST_NAME if start > LONGEST_NAME else 0 : start]
    after = text[end : end + _SHORT_NAME]
    first = start - len(before) + len(before.rstrip(_NAME_CHARS))
    stop = end + len(after) - len(after.lstrip(_AFTER))
    if first < start and text[first] in "nrt" and text[first - 1 : first] == "\\":
        first += 1  # the letter of an escape
    if stop - first <= _SHORT_NAME and not weight_of(text[first:stop]) and not _is_extended(text, first):
        return ()  # true for most names; the other literals in this one find the same
    if not is_named(text, start, end):
        return ()  # a name without a value
    seen[_NAMES] = stop
    weight = _weight_at(text, first, stop)
    if weight == Weight.NONE or (weight == Weight.HINT and not _SIGN.match(text, stop)):
        return ()
    values = _values_of(text, first, stop, weight, seen)
    return [Hit(OF_NAMES, f"named-{_RULE_OF[value.weight]}", value.start, value.end) for value in values]


_RULE_OF = {Weight.PASSWORD: "password", Weight.SECRET: "secret", Weight.TOKEN: "token", Weight.HINT: "key"}


def _is_extended(text: str, first: int) -> bool:
    """Return whether the name at `first` may weigh more than its own words: a word before it counts, or `-D` does not."""
    return text.startswith("-D", first) or (
        text[first - 1 : first] == " " and _last_word(text[max(0, first - 16) : first - 1]) in _SPACED
    )


def _values_of(text: str, first: int, stop: int, weight: Weight, seen: dict[int, int]) -> list[Value]:
    found: list[Value] = []
    if first >= seen.get(_COOKIES, 0) and text[max(0, stop - 7) : stop].lower().endswith(("cookie", "cookies")):
        seen[_COOKIES], values = find_cookies(text, stop)
        found += values
    if first >= seen.get(_TABLES, 0) and _AT_CELL_END.match(text, stop):
        seen[_TABLES], values = find_columns(text, first, stop)
        found += values
    if first >= seen.get(_LISTS, 0) and text[stop - 1] in "sS":
        seen[_LISTS], values = find_items(text, first, stop, weight)
        found += values
    return found + _near_values(text, first, stop, weight)


_NAMES = -1
_TABLES, _LISTS, _COOKIES = 20_000, 20_001, 20_002
"""Keys in `seen`, distinct from those of rules and forms."""
_AT_CELL_END = late_pattern(r"[*`\"'\\]{0,8}(?:[,;|\t\n\r]| [ |\\]|\\|\Z)")
_SIGHT_BEFORE, _SIGHT = 320, 1000
"""Characters before and after a name in which a value must begin; it may end outside."""


def _near_values(text: str, first: int, stop: int, weight: Weight) -> list[Value]:
    """Return the values of a name, judged by the text around it.

    Cached, since the same lines occur again and again.
    """
    low, high = max(0, first - _SIGHT_BEFORE), stop + _SIGHT
    sight = text[low:high]
    found = _seen_values(sight, first - low, stop - low, weight)
    if found and high < len(text) and any(value.end >= len(sight) - 2 for value in found):
        return list(_seen_values.__wrapped__(text, first, stop, weight))
    return [Value(low + at, low + end, heavy, quoted) for at, end, heavy, quoted in found]


@lru_cache(maxsize=4096)
def _seen_values(text: str, first: int, stop: int, weight: Weight) -> tuple[Value, ...]:
    found = [_value_after(text, first, stop, weight)]
    if weight >= Weight.TOKEN:
        found.append(find_before(text, first, stop, weight))
        found.append(find_answer(text, first, stop, weight) if found == [None, None] else None)
    return tuple(value for value in found if value)


def _value_after(text: str, first: int, stop: int, weight: Weight) -> Value | None:
    between = (BESIDE.match(text, stop) if _is_named(text, first) else None) or BETWEEN.match(text, stop)
    found = _value_at(text, first, between, weight) if between else None
    if text[first - 1 : first] in {"/", "@"}:  # part of a path, or of a package name
        return found
    return found or (_value_near(text, stop, weight) if weight >= Weight.TOKEN else None)


def _last_word(text: str) -> str:
    return text[len(text.rstrip(ascii_letters)) :].lower()


def _is_named(text: str, first: int) -> bool:
    """Return whether the text introduces a name: `name: …`, `"key": "…"`, `variable "…"`."""
    before = text[max(0, first - 40) : first].rstrip(" \t\"'\\:=")
    return before.lower().endswith(("name", "key", "variable", "header", "env", "id"))


def _value_near(text: str, stop: int, weight: Weight) -> Value | None:
    """Find a random-looking value on the same line, a few words after the name and after a separator."""
    limit = min(len(text), stop + _NEARBY)
    if not _HAS_DIGIT.search(text, stop, limit):
        return None  # every value accepted here contains a digit
    line = text.find("\n", stop, limit)
    if line >= 0 and _RETURN.match(text, line):
        line = text.find("\n", line + 1, limit)
    for word in _NEAR.finditer(text, stop, limit if line < 0 else line):
        value = word[0].rstrip(".:!?")
        if len(value) + word.start() >= limit:
            value = _NEAR.match(text, word.start())[0]  # type: ignore[index]  # it did match, and does without a limit
        between = text[stop : word.start()]
        if (
            _LED.search(between)
            and text[word.end() : word.end() + 1] not in {"(", "["}
            and is_striking(value, weight)
            and is_random(value)
            and _is_meant(value, weight, between)
        ):
            return Value(word.start(), word.start() + len(value), weight, quoted=False)
    return None


_LED = late_pattern(r"[\"'`(\[{=,][ \t]?\Z|(?:[/:]|>|[A-Z_])[ \t]\Z|\A [a-z]+ \Z|\A,\Z")


def _is_meant(value: str, weight: Weight, between: str) -> bool:
    """Return whether a value belongs to the name: it has digits and both cases, or is a hash that directly follows."""
    if not is_hash(value):
        return value.lower() != value and value.upper() != value and any(map(str.isdigit, value))
    near = weight >= Weight.SECRET and value.isalnum() and len(value) >= 32 and 0 < len(between) <= 32
    return near and (
        between == ","
        or (between[0] not in "./" and _LEADS.search(between) is not None and not _OF_HASH.search(between))
    )


def _weight_at(text: str, first: int, stop: int) -> Weight:
    if is_piped(text, first, stop):
        return Weight.NONE
    if text.startswith("-D", first):
        first += 2  # Java's option `-D`
    before, name = text[max(0, first - 1) : first], text[first:stop]
    if is_verb(name) and not is_pass(text, first, stop):
        return Weight.NONE
    if before == " ":
        spaced = _last_word(text[max(0, first - 16) : first - 1])
        return weight_of(f"{spaced} {name}" if spaced in _SPACED else name)
    if before == ":" and text[first - 2] == ":" and text[max(0, first - 3)].isalpha():  # a type with that name
        return Weight.NONE
    if before == ":" and "arn:" in text[max(0, first - 80) : first]:
        return Weight.NONE
    weight = weight_of(name)
    is_query = weight == Weight.HINT and before in {"?", "&"} and text[stop : stop + 1] == "="
    return Weight.TOKEN if is_query else weight


def _value_at(text: str, first: int, between: re.Match[str], weight: Weight) -> Value | None:
    kind = between.lastgroup or ""
    if kind == "typed" and between["close"]:
        return None  # the next attribute: `type="password" id="…"`
    if kind == "xml" and not _IN_TAG.search(text, max(0, first - 120), first):
        return None
    wrapper = WRAPPER.match(text, between.end()) if kind in _PLAIN else None
    if wrapper:
        kind = "call"
    opened = OPEN.match(text, wrapper.end() if wrapper else between.end())
    if opened:
        at, stop = inside_quotes(text, opened.end(), end_of_quoted(text, opened["quote"], opened.end()))
    else:
        at = between.end()
        phrase = _phrase_at(text, first, at, kind) if weight == Weight.PASSWORD else None
        if phrase:
            return phrase
        stop = end_of_bare(text, first, at, kind, between)
    at += secret_part(text[at : at + 16])
    login = _LOGIN.match(text, at, stop) if is_login(text[first : between.start()]) else None
    if login:
        at, weight, kind = login.end(), Weight.PASSWORD, "login"
    quoted = opened is not None or kind in {"xml", "block", "plist", "login"}
    found = Value(at, stop, weight, quoted)
    if not _fits(text, first, kind, found):
        return None
    return found if opened else found._replace(end=full_end(text, at, stop))


_IN_TAG = late_pattern(r"(?:<|&lt;)[A-Za-z][\w:.-]{0,60}(?:[ \t][^<>\n]{0,100})?\Z|<[\w:.-]{0,60}\Z")
_LOGIN = late_pattern(r"[\w.@+-]{1,64}:(?=[^\s:/]{4})")


def _phrase_at(text: str, first: int, at: int, kind: str) -> Value | None:
    """Find a phrase of words that ends with the line: `passphrase: …`."""
    found = _WORDS_ON.match(text, at) if kind in {"sep", "is", "block"} else None
    if found is None or not is_phrase(found["s"]):
        return None
    if not _PHRASED.search(text, first, at) and not _ALONE_BEFORE.search(text, max(0, first - 80), first):
        return None
    return Value(*found.span("s"), Weight.PASSWORD, quoted=True)


_WORDS_ON = late_pattern(rf"(?P<s>[a-z]{{3,12}}(?: [a-z]{{3,12}}){{3,23}})(?=[ \t]*(?:[.,;)\"'`]|{EOL}|\Z))")
_PHRASED = late_pattern(r"(?i)phrase|mnemonic")


def _fits(text: str, first: int, kind: str, found: Value) -> bool:
    at, stop, weight, quoted = found
    value = text[at : min(stop, at + JUDGED)]
    if (text[stop : stop + 1] in {"(", "[", "{"} and not quoted) or text.startswith(value, first):
        return False
    if kind in {"dumped", "login"} and is_plain_word(value):
        return True
    if kind == "comma" and weight == Weight.HINT:
        return False
    if kind == "sep" and text[at - 1] == ":" and is_key(text, first, stop):
        return False
    if " " not in value and text[first : first + 16].lower().startswith("mnemonic"):
        return False  # a single word is more likely a hint
    if kind in _STRIKING or (kind == "space" and not _is_flag(text, first)):
        return _stands_out(text, first, kind, found)
    if kind == "method" and value.isalpha() and not (is_plain_word(value) or is_worded(value)):
        return False
    if kind == "below" and (" " in value or _KEY_ENDS.match(text, stop)):
        return False  # a sentence about the password, or the next key
    if weight == Weight.PASSWORD and not quoted and _is_word_given(text, first, kind, found):
        return True
    text_only = (
        quoted
        or kind in {"name", "part", "inner", "option"}
        or _is_env(text, first, at)
        or _is_setting(text, first, at, stop)
    )
    if is_secret(value, weight, quoted=text_only):
        return True
    # Only a quoted value can be a label: `"password": "Kennwort"` is one; `PWD=Sunshine` is not.
    return text_only and not quoted and weight == Weight.PASSWORD and is_plain_word(value)


def _stands_out(text: str, first: int, kind: str, found: Value) -> bool:
    """Return whether a value looks like a secret, not an ordinary word: it may be next to the name by chance."""
    at, stop, weight, quoted = found
    value = text[at : min(stop, at + JUDGED)]
    if kind == "call" and (at - first < 5 or (value.isupper() and "token(" in text[first:at].lower())):
        return False  # `pw("…")` in minified code, `token("NUMBER", …)` in a parser
    if kind == "space" and _NAMED_THING.match(value):
        return False
    if is_striking(value, weight):
        return True
    if weight < Weight.PASSWORD or not is_worded(value):
        return False
    if kind == "comma":
        called = text[first - 2 : first - 1] == "(" or text[first - 3 : first - 1] == "(\\"
        return called or ")" in text[stop : stop + 4] or (value.islower() and value.count("-") > 1)
    return quoted or kind == "cell" or (kind == "is" and (value.count("-") != 1 or "(" in value))


_KEY_ENDS = late_pattern(r"\\{0,8}[\"'`][ \t]*:")
_NAMED_THING = late_pattern(r"[@#(<\[]|\S*\d\.\d|[0-9a-f]{7,40}\]\Z")
"""A name, number or version with which a sentence can continue: `the password @ada@2.1.0`, `[fix/password 617b3d3]`."""


def _is_word_given(text: str, first: int, kind: str, found: Value) -> bool:
    """Return whether a word is a password: alone on its line, or after a flag or command that sets it."""
    value = text[found.start : min(found.end, found.start + JUDGED)]
    if kind == "space":
        given = _is_set(text, first) or (text[first : first + 2] == "--" and _ENDS.match(text, found.end))
        return is_worded(value) or (bool(given) and is_plain_word(value))
    if kind == "sep" and text[first : first + 2] == "--":
        return is_worded(value) or is_plain_word(value)
    if kind != "sep" or not (is_plain_word(value) or is_worded(value)):
        return False
    if not _ALONE_BEFORE.search(text, max(0, first - 80), first) or not _ALONE_AFTER.match(text, found.end):
        return False
    sign = text[found.start - 1 : found.start]
    if sign == "=":
        return True
    if ":" in text[found.start - 3 : found.start]:
        return not _IN_OBJECT.search(text, max(0, first - 80), first) and not _OBJECT_ENDS.match(text, found.end)
    return _SECTION.search(text, max(0, first - _SIGHT_BEFORE), first) is not None


_ENDS = late_pattern(r"\\?[\"'`]?[ \t]*(?:\r?\n|\\|\Z|[|&;)]|[ \t]-)")


def _is_set(text: str, first: int) -> bool:
    """Return whether the name follows a command that sets a variable."""
    return _SETTER.search(text, max(0, first - 24), first) is not None


_SETTER = late_pattern(r"(?:(?:\A|\s)(?:ENV|setx|setenv|SetEnv|set -[a-zA-Z]{1,3}))[ \t]{1,4}[\w.]{0,40}\Z")
_ALONE_BEFORE = late_pattern(rf"(?:\A|{EOL}){LEAD}(?:[Mm]ot )?[\w.-]{{0,40}}\Z")
_ALONE_AFTER = late_pattern(rf"[ \t]*(?:\#[^\n]{{0,120}})?(?:{EOL}|\Z)")
_IN_OBJECT = late_pattern(rf"[,{{(\[;][ \t]*{EOL}{LEAD}[\w.-]{{0,40}}\Z")
_OBJECT_ENDS = late_pattern(rf"[ \t]*{EOL}{LEAD}[)}}\]]")
_SECTION = late_pattern(
    r"(?:\A|\n)[^\n]{0,40}?\[[\w .:-]{1,40}\][ \t]*\r?\n(?:[^\n(){}]{0,80}\n){0,8}[^\n(){}]{0,80}\Z"
)


def _is_flag(text: str, first: int) -> bool:
    name = text[first : first + 2]
    return (
        name[:1] == "-"
        or text[max(0, first - 4) : first] == "ENV "
        or text[max(0, first - 5) : first] == "setx "
        or _is_set(text, first)
    )


def _is_env(text: str, first: int, at: int) -> bool:
    """Return whether this is `NAME=value` as in a shell or `.env`: an upper-case name, and no space around `=`."""
    name = text[first : at - 1]
    return text[at - 1 : at] == "=" and name == name.upper() and text[first - 1 : first] not in {"(", ",", "."}


def _is_setting(text: str, first: int, at: int, stop: int) -> bool:
    """Return whether this is one of several `name=value` pairs, as in a query, a connection string or a log line."""
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
