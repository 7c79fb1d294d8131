"""Rules for secrets, the tables that list them, and the patterns they share.

A rule is tried only where one of its literals occurs.  All literals are searched in one pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern

ESCAPED = r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u00[0-9a-f]{2})"
NO_HASH = r"(?<!sha\d\d\d[=:-])"
START = rf"(?:(?<![A-Za-z0-9]){NO_HASH}|{ESCAPED})"
"""Where a token may begin: not after a letter or digit, unless that is part of an escape, as in `\\nfc-…`."""
_BOUNDARY = late_pattern(r"\(\?<!\[A-Za-z0-9[^\]]*\]\)")


class Finding(NamedTuple):
    """A secret at `text[start:end]`."""

    rule: str
    start: int
    end: int


class Hit(NamedTuple):
    """What a rule found.  Of overlapping hits, the one with the lowest rank names the secret."""

    rank: int
    rule: str
    start: int
    end: int


OF_NAMES = 10_000
"""Rank of values that are secrets because of their names: the least reliable rules."""


class SecretRule(NamedTuple):
    """One kind of secret, found by a pattern.

    `literals` are in lower case.  `pattern` is matched at a literal or, with `back`, searched from that many characters
    before the literal.  The group `s` is the secret, by default the full match.  With `whole_run`, a failed match rules
    out the rest of the run of letters and digits.  `accept` rejects false positives.
    """

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool]
    back: int = 0
    whole_run: bool = False


class SecretForm(NamedTuple):
    """A kind of secret found by a function, where one of its literals occurs.

    `find` gets a text, the position of the literal, and the end of the part examined so far.  It returns the new end of
    the examined part, and the spans of secrets.  It is not called for literals in the examined part.
    """

    name: str
    literals: tuple[str, ...]
    find: Callable[[str, int, int], tuple[int, list[tuple[int, int]]]]
    surest: bool = False


def _filled(line: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        line = line.replace(placeholder, value)
    return line


@cache
def table_lines(name: str) -> tuple[str, ...]:
    """Return the lines of the data file `NAME.txt` next to this module, without comments."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.txt"), encoding="utf-8") as file:
        return tuple(line for line in file.read().split("\n") if line and line[0] != "#")


def read_table(
    table: str, values: Mapping[str, str], accept: Callable[[str], bool], around: str = "{}"
) -> Iterator[SecretRule]:
    """Yield the rules in a data file with lines `name | literals | pattern`; each pattern is inserted into `around`.

    `name <n` sets `back`, `name -` sets `whole_run`.  `values` replace placeholders such as `@UUID@`.
    """
    for line in table_lines(table):
        head, literals, pattern = _filled(line, values).split(" | ", 2)
        name, _, mark = head.strip().partition(" ")
        back = int(mark[1:]) if mark.startswith("<") else 0
        full = around.replace("{}", pattern.strip())
        if "(?<=" not in full:
            full = _BOUNDARY.sub(lambda found: f"(?:{found[0]}{NO_HASH}|{ESCAPED})", full)
        yield SecretRule(name, tuple(literals.split()), late_pattern(full), accept, back, mark == "-")


EOL = r"(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)"
"""The end of a line, in plain text or in a JSON string."""

LEAD = (
    r"(?:[ \t]{0,12}(?:\d{4}-\d\d-\d\d[T ][\d:.,]{5,18}(?:Z|[+-]\d\d:?\d\d)?|\d{1,6}(?:[:|>)?-]|[ \t])|[+>|\#*-](?![+>|\#*])|//"
    r"|[\w.-]{1,40}[ \t]{1,12}\||[\w./-]{1,60}:\d{1,6}:|\\{1,8}t|(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b:?|\[[\w .:-]{1,30}\]:?)){0,5}[ \t]{0,40}"
)
"""What may precede the text of a line: a line number, a diff or quote mark, a time, a service name."""

_NEXT = rf"(?:[ \t]{{0,40}}{EOL}{LEAD})"
_QUOTE = r"\\{0,8}[\"'`]"

CLOSE = r"(?:\\{0,8}[\"'`]|%22|&quot;)?(?:[\])]{1,2})?(?:\*\*|__)?"
BETWEEN = late_pattern(
    r"(?P<close>" + CLOSE + r")(?:[ \t](?:provided|supplied|given|used|sent|found|received|rejected|value)\b)?(?:"
    # `token: str = "…"`, `var token string = "…"`
    r"(?P<typed>[ \t]*:?[ \t]*[A-Za-z_&*\[][\w\[\]., |?<>&*']{0,40}[ \t]*=[ \t]*(?=\\{0,8}[\"'`]|[A-Za-z_][\w.]{0,30}\([ \t]*(?:default=)?[\"']))"
    r"|(?P<dumped>[ \t]*=>\s{1,12}string(?:\(\d{1,5}\))?[ \t]+(?=\\{0,8}[\"']))"
    r"|(?P<argument>[ \t]*,[ \t]*(?:\w{1,20}=[^,()\n]{1,40},[ \t]*){0,3}(?:default|value|initial)=(?=\\{0,8}[\"']))"
    rf"|(?P<inner>[ \t]*[:=][ \t]*\{{(?:{_NEXT}|[ \t])?(?:{_QUOTE}?\w{{1,20}}{_QUOTE}?[ \t]*[:=][ \t]*{_QUOTE}?[\w.-]{{0,30}}{_QUOTE}?,?(?:{_NEXT}|[ \t])?){{0,3}}{_QUOTE}?(?:value|Value|default|plain|data){_QUOTE}?[ \t]*[:=][ \t]*)"
    rf"|(?P<plist></[A-Za-z]{{1,20}}>{_NEXT}{{0,2}}[ \t]{{0,80}}<[A-Za-z]{{1,20}}>)"
    # A call on a field with that name: `expect(a.password).toBe("…")`, `find("password").send_keys("…")`
    r"|(?P<method>(?:\(\))?[\"'`\])/i]{0,6}(?:\.(?:clear|first|click|focus|last|to|not|be|should|is|have|and|get)(?:\(\))?){0,3}"
    r"(?:\.(?:toBe|toEqual|toStrictEqual|toMatch|toContain|toHaveValue|equals?|eql?|isEqualTo|is|Be|Equal|eq|send_keys|sendKeys|type|typeText|type_text"
    r"|fill|fill_in|fillIn|setValue|set_value|set|val|pressSequentially|press_sequentially|enterText|enter_text|input|send|replaceText)\(|[ \t]+(?:should[ \t]+)?(?:==|eq|eql)[ \t]|\.(?:to|should)[ \t]+(?:eq|eql|equal|be)[ \t(]|\.should[ \t]==[ \t])[ \t]*(?=\\{0,8}[\"'`]))"
    r"|(?P<with>[ \t]*,[ \t]*with:[ \t]*(?=\\{0,8}[\"']))"
    r"|(?P<default>:-)"
    r"|(?P<or>[ \t]*(?:\|\||\?\?|:=)[ \t]*(?=\\{0,8}[\"'`])|[ \t]*\bor[ \t]+(?=\\{0,8}[\"']))"
    r"|(?P<attribute>[ \t]{1,4}(?:value|Value|content)[ \t]*=[ \t]*(?=\\{0,8}[\"']))"
    r"|(?P<option>[ \t]+(?:--type[ \t]+\S+[ \t]+)?(?:--(?:value|body|secret-string|default)[ \t=]+|-b[ \t]+))"
    rf"|(?P<block>[ \t]*:[ \t]*[|>][+-]?\d?{_NEXT})"
    rf"|(?P<below>[ \t]*(?::[ \t]*[\w.\[\], |]{{1,40}})?[ \t]*(?::|:?=)[ \t]*\(?{_NEXT}(?={_QUOTE}))"
    r"|(?P<sep>[ \t]{0,16}(?:={1,3}(?!>)|!==?|[?+:|&]{0,2}=>?|:{1,2}|->|=>)(?:\*\*|__)?[ \t]{0,16}(?:(?:!!?|&)[a-z]\w{0,20}[ \t]+)?)"
    r"|(?P<dots>[ \t]?\.{2,80}:?[ \t]+|[ \t]\?[ \t]+)"
    r"|(?P<comma>[\])/\"'i]{0,5}[ \t]*,[ \t]*(?=\\{0,8}[\"'`]))"
    r"|(?P<hex>%3[AaDd](?:%20|\+)?)"
    r"|(?P<xml>(?:[ \t][^<>\n]{0,80})?>[ \t]*)"
    r"|(?P<cell>[ \t]+(?:\||\\u250[23]|\\u2551)[ \t]+)"
    r"|(?P<call>\((?=\\{0,8}[\"'`]))"
    r"|(?P<is>[ \t]{1,4}(?:(?:is|was|to|equals|est|es|ist|lautet)(?: now| set to| still)?|(?:has been |was |is |be )?(?:changed|set|reset|updated|rotated) to|for(?: [^\s:]{1,40}| \S{1,60}){1,3}?(?: is|(?=:)))[ \t]*:?[ \t]{1,4})"
    r"|(?P<space>[ \t]{1,40})"
    r")"
)
# `"name": "TOKEN", "value": "…"`, `variable "token" { default = "…" }`, a part in a multipart form
BESIDE = late_pattern(
    r"(?P<close>" + CLOSE + r")(?:"
    r"(?P<name>[ \t]*(?:[,{/]|\\{1,8}n|\n)[\s\S]{0,200}?[\s\"'{,](?:(?:Parameter)?[Vv]alue|default|VALUE|defaultValue)\\{0,8}[\"']?[ \t]*[:=][ \t]*)"
    r"|(?P<part>[^\n\\]{0,40}(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n){2})"
    r")"
)
WRAPPER = late_pattern(r"[A-Za-z_][\w.:<>]{0,40}!?\([ \t]{0,4}(?:(?:default|value)=)?(?=\\{0,8}[\"'])")
OPEN = late_pattern(
    r"(?:[\[(][ \t\n]{0,40})?(?:(?:String::from|SecretStr|SecretString|Secret(?:::new)?|Some|pulumi\.secret|new [A-Z]\w{1,30}|Buffer\.from|std::string|QString|TEXT|_T|bytes|str)\([ \t]*)?(?:[bBrRfFuU@$]{1,2}(?=[\"'`]))?(?P<quote>\\*(?:\"\"\"|'''|[\"'`])|&quot;|&\#34;|%22)"
)
SCHEME = late_pattern(
    r"(?i)(?:Bearer|Basic|Token|Digest|ApiKey|Api-Key|Negotiate|GenieKey|SSWS|Splunk|Key|Bot|AWS)[ \t]+"
)
