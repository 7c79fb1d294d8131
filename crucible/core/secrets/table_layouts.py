"""Secrets that are not next to their names: in a table column, in a list, on the next line, before the name.

Finds where such a value is.  `secret_names` judges the name, `secret_values` the value.
"""

from __future__ import annotations

import re

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.secrets.rule import EOL, LEAD
from crucible.core.secrets.secret_names import Weight, weight_of
from crucible.core.secrets.secret_values import (
    is_chance,
    is_hash,
    is_random,
    is_secret,
    is_striking,
    is_worded,
    stands_out,
)


class Value(NamedTuple):
    """A value's span, the weight of its name, and whether it is certainly text (`quoted`)."""

    start: int
    end: int
    weight: Weight
    quoted: bool


# --- tables -------------------------------------------------------------------------------------------------------

_LONGEST_ROW = 2000
_ROWS = 400
_BEFORE_CELL = late_pattern(r"(?:[,;|\t]|\\t|\\u25[05]\d|\n|\\n|\A|[ ]{2})[ \t*`\"'\\]{0,12}[A-Za-z0-9_. -]{0,40}\Z")
_AFTER_CELL = late_pattern(r"[ \t*`\"'\\]{0,12}(?P<by>[,;|]|u25[05]\d|\\{0,4}t\b|\t|[ ]{2}|\r?\n|\\{1,8}[rn]|\Z)")
_LINE_END = late_pattern(EOL)
_LOGGED = late_pattern(
    r"(?:>[ ]?)?(?:\d{4}-\d\d-\d\d[T ][\d:.,]{5,18}(?:Z|[+-]\d\d:?\d\d)?[ \t]*)?(?:(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE):?[ \t]+)?(?:\[[^\]\n]{1,40}\]:?[ \t]*)?"
)
_HEADER = late_pattern(r"[^\n=(){}<>\[\]]{3,2000}")
_CELLS = {
    ",": late_pattern(r"(?:[ ]*\\*\"(?>(?:[^\"\\\n]|\"\"|\\(?![\"n]))*)\\*\"[ ]*|[^,\n]*+)(?:,|\Z)"),
    ";": late_pattern(r"(?:[ ]*\\*\"(?>(?:[^\"\\\n]|\"\"|\\(?![\"n]))*)\\*\"[ ]*|[^;\n]*+)(?:;|\Z)"),
    "|": late_pattern(r"(?>[^|\\\n]*(?:(?:\\[|]|\\(?!u250[23]|u2551))[^|\\\n]*)*)(?:\||\\u250[23]|\\u2551|\Z)"),
    "\t": late_pattern(r"(?>(?:[^\t\\\n]|\\(?!t))*)(?:\t|\\{1,4}t|\Z)"),
    "  ": late_pattern(r"[ ]*(?:[^ \n]|[ ](?![ ]))+(?:[ ]+|\Z)"),
}
_RULER = late_pattern(r"(?:[\w.-]{1,40}[ \t]{1,12}\|[ \t])?[-+|:=?#>\s\d]*(?:-{2,}|={2,}|\?{3,})[-+|:=?\s]*")
_TRIMMED = " \t*`\"'\\|,;?"


def find_columns(text: str, first: int, stop: int) -> tuple[int, list[Value]]:
    """Find the secrets in all columns of the table with the header cell `text[first:stop]`, and the table's end."""
    after = _AFTER_CELL.match(text, stop)
    if after is None or not _BEFORE_CELL.search(text, max(0, first - 60), first):
        return stop, []
    begin, end = _start_of_line(text, first), _end_of_line(text, stop)
    begin = _LOGGED.match(text, begin, first).end()  # type: ignore[union-attr]  # it matches nothing too
    line = text[begin:end]
    if end >= len(text) or end - begin > _LONGEST_ROW or not _HEADER.fullmatch(line):
        return end, []
    by = _separator(line, first - begin, after["by"])
    places = _cells(line, by) if by else []
    if len(places) < 2 or (by == "," and not _is_row(line)):
        return end, []
    names = [line[a:b].strip(_TRIMMED) for a, b in places]
    weights = [
        weight_of(name.replace(" ", "_")) if len(name) <= 40 and not {"/", '"'} & set(name) else Weight.NONE
        for name in names
    ]
    columns = [(at, weight) for at, weight in enumerate(weights) if weight]
    return _rows(text, end, by, len(places), columns) if columns else (end, [])


def _is_row(line: str) -> bool:
    """Return whether a line is a table row, not a sentence or a list in code."""
    cells = line.split(",")
    return all(cell.strip(" \r") and cell.strip().count(" ") <= 4 for cell in cells) and "'" not in line


def _separator(line: str, at: int, after: str) -> str:
    """Return the separator between a line's cells: the text after the name, or before it at the end of the line."""
    if after[:3] == "u25":
        return "|"
    if after[:1] in {",", ";", "|", "\t"} or after == "  ":
        by = after[:1] if after != "  " else "  "
        return "|" if by == "  " and "|" in line[:at] + line[at:] else by
    if after.strip("\\").startswith("t"):
        return "\t"
    before = line[:at].rstrip(" \"'`*\\ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
    last = before[-1:] if before[-1:] in {",", ";", "|", "\t"} else ""
    return last or ("  " if "  " in line[:at].lstrip() else "\t" if "\\t" in line[:at] else "")


def _cells(line: str, by: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for match in _CELLS[by].finditer(line):
        if match.end() == match.start() and match.start() == len(line) and spans and by != ",":
            break
        spans.append(match.span())
    return spans


def _rows(text: str, end: int, by: str, width: int, columns: list[tuple[int, Weight]]) -> tuple[int, list[Value]]:
    """Find the values in `columns` of the rows below the line that ends at `end`; `by` separates the `width` cells."""
    found: list[Value] = []
    for _ in range(_ROWS):
        line_end = _LINE_END.match(text, end)
        if line_end is None:
            break
        stop = _end_of_line(text, line_end.end())
        begin = _LOGGED.match(text, line_end.end(), stop).end()  # type: ignore[union-attr]  # as above
        line = text[begin:stop] if stop - begin <= _LONGEST_ROW else ""
        line = line.rstrip('"') if by == "|" else line
        if not _RULER.fullmatch(line):
            places = _cells(line, by) if line.strip() else []
            if len(places) <= columns[-1][0] or abs(len(places) - width) > (by == ","):
                break
            found += [value for at, weight in columns if (value := _in_cell(begin, line, by, places[at], weight))]
        end = stop
    return end, found


def _in_cell(begin: int, line: str, by: str, place: tuple[int, int], weight: Weight) -> Value | None:
    value = line[slice(*place)].rstrip("|,;\t\n " if by != "|" else "| ")
    value = re.sub(r"\\u25[0-9a-f]{2}\Z|\\t\Z", "", value).rstrip()
    inner = value.strip(_TRIMMED if by in {"|", "  "} else " \t\"'`\\")
    if not inner or not _is_in_column(inner, weight):
        return None
    at = begin + place[0] + value.index(inner)
    return Value(at, at + len(inner), weight, quoted=True)


def _is_in_column(value: str, weight: Weight) -> bool:
    return stands_out(value, weight) and (weight > Weight.TOKEN or is_chance(value) or len(value) >= 16)


def _start_of_line(text: str, at: int) -> int:
    low = max(0, at - _LONGEST_ROW)
    begin = max(text.rfind("\n", low, at) + 1, low)
    escaped = text.rfind("\\n", begin, at)
    return escaped + 2 if escaped >= 0 else begin


def _end_of_line(text: str, at: int) -> int:
    """Return the end of the line, or a position just beyond the maximum line length."""
    end = text.find("\n", at, at + _LONGEST_ROW + 2)
    end = end if end >= 0 else min(len(text), at + _LONGEST_ROW + 1)
    escaped = text.find("\\n", at, end)
    if escaped < 0:
        return end - text[at:end].endswith("\r")
    found = _LINE_END.search(text, max(at, escaped - 20), end + 1)
    return found.start() if found else end


# --- lists --------------------------------------------------------------------------------------------------------

_LIST = late_pattern(
    rf"\\*[\"']?(?:[ \t]*:[ \t]*[A-Za-z][\w.\[\]]{{0,29}}(?=[ \t]*=))?[ \t]*(?:(?::|=>?|:=)[ \t]*\(?)?[ \t]*(?:[\[{{]|%w\[|new[ \t]?\w*\[\][ \t]?{{)?(?:{EOL}|(?<=[\[({{]))"
)
_ITEM = late_pattern(
    rf"(?:{EOL})*{LEAD}(?:(?:-|\d{{1,2}}[.)])[ \t]+)?(?:(?:value|key|token|secret|password):[ \t]+)?(?P<quote>\\*[\"'`])?(?P<value>[^\s\"'`,\\\])}}]{{1,512}})(?P=quote)?[ \t]*(?P<comma>,)?[ \t]*(?=(?P<end>{EOL}|\Z|[\])}}])|(?<=,))"
)
_MARKED = late_pattern(rf"(?:{EOL})*{LEAD}(?:-|\d{{1,2}}[.)])[ \t]")
_ITEMS = 400


def find_items(text: str, first: int, stop: int, weight: Weight) -> tuple[int, list[Value]]:
    """Find the secrets in the list after a plural name (`api_keys:`, `passwords = [`), and the end of the list."""
    found: list[Value] = []
    if text[stop - 1 : stop] not in {"s", "S"} or text[stop - 2 : stop - 1] in {"s", "S"}:
        return stop, found  # singular
    opened = _LIST.match(text, stop)
    if opened is None:
        return stop, found
    words = text[first:stop].lower()
    if words.endswith(("passwords", "passphrases", "passwds")):
        weight = Weight.PASSWORD
    at, bracketed = opened.end(), text[opened.end() - 1 : opened.end()] in "[({" or "[" in opened[0]
    for number in range(_ITEMS):
        item = _ITEM.match(text, at)
        if item is None or not (bracketed or _is_item(text, at)):
            break
        if number or bracketed or item["quote"] or "-" in item[0] or "." in item[0]:
            value = item["value"]
            if stands_out(value, weight) and (weight > Weight.TOKEN or is_chance(value)):
                found.append(Value(item.start("value"), item.end("value"), weight, quoted=True))
        at = item.end()
        if text[at : at + 1] in {"]", ")", "}"}:
            break
    return at, found


def _is_item(text: str, at: int) -> bool:
    before = max(0, at - 2)
    return bool(_MARKED.match(text, at)) or bool(_MARKED.match(text, before))


# --- cookies ------------------------------------------------------------------------------------------------------

_COOKIE = late_pattern(
    r"(?P<name>[\w.-]{1,64})(?:=|\\{0,8}[\"']:[ ]?\\{0,8}[\"']|\\{0,8}[\"'],[ ]?\\{0,8}[\"'])(?P<value>[^;\s\"'\\,]{12,4096})"
)
_OF_SESSION = late_pattern("(?i)sess|sid|auth|token|remember|jwt")
_LONGEST_COOKIES = 4096


def find_cookies(text: str, stop: int) -> tuple[int, list[Value]]:
    """Find random values after `Cookie`, all values of session cookies, and the end of the header."""
    end = text.find("\n", stop, stop + _LONGEST_COOKIES)
    end = end if end >= 0 else min(len(text), stop + _LONGEST_COOKIES)
    found = [
        Value(*match.span("value"), Weight.HINT, quoted=True)
        for match in _COOKIE.finditer(text, stop, end)
        if is_random(match["value"]) and (_OF_SESSION.search(match["name"]) or not is_hash(match["value"]))
    ]
    return end, found


# --- the next line ------------------------------------------------------------------------------------------------

_NEXT_ALONE = late_pattern(
    rf"(?:{EOL}{LEAD}){{1,2}}(?P<quote>\\*[\"'`])?(?P<value>[^\s\"'`\\]{{6,512}})(?P=quote)?[ \t]*(?:{EOL}|\Z)"
)
_ENDS = late_pattern(r"[\"'`)\]*_]{0,4}[ \t]*[:?=]?[*_]{0,2}[ \t]*")
_LONGEST_LABEL = 30
_ASKED = late_pattern(
    r"(?:\A|\n|\\n)(?:.{0,60}?[$#%>][ \t]|[ \t]{0,8}>{1,3} )[^\n]{0,160}\Z|(?:\A|\n|\\n|\|)[\w.:\[\]()@~/ -]{0,60}[>$#%][ \t][^\n]{0,160}\Z"
)


def find_answer(text: str, first: int, stop: int, weight: Weight) -> Value | None:
    """Find a value alone on the next line: after a prompt, a heading, or a command that shows it."""
    end = _end_of_line(text, stop)
    ends = _ENDS.fullmatch(text, stop, end) is not None
    asked = _is_asked(text, first)
    if end - stop > _LONGEST_REST or not (asked or (ends and not _is_value(text, first))):
        return None
    found = _NEXT_ALONE.match(text, end)
    if found is None or (ends and stop - first > _LONGEST_LABEL):
        return None
    value, quoted = found["value"], found["quote"] is not None
    if not _is_answer(value, weight, sure=quoted or not ends) or not is_secret(value, weight, quoted=quoted):
        return None
    return Value(found.start("value"), found.end("value"), weight, quoted=True)


_LONGEST_REST = 120


_VALUED = late_pattern(
    r"[A-Za-z_-][\"'`]?(?:=|:[ \t]+)[^\n]{0,80}\Z|[ ]-{1,2}[a-z][^\n]{0,60}[ ]{2,}[^\n]{0,80}\Z|[({]|\w[ ][\"']\Z"
)


def _is_value(text: str, first: int) -> bool:
    """Return whether the name is itself a value or a description: `key: password`, `--password string the password`."""
    return _VALUED.search(text, max(text.rfind("\n", 0, first) + 1, first - 120, 0), first) is not None


def _is_asked(text: str, first: int) -> bool:
    head = text[max(text.rfind("\n", max(0, first - 200), first), first - 200, 0) : first]
    return any(sign in head for sign in "$#%>") and _ASKED.search(head) is not None


def _is_answer(value: str, weight: Weight, *, sure: bool) -> bool:
    if value.endswith(":") or "sha256:" in value:
        return False  # the next key, an image
    if is_hash(value):
        return weight >= Weight.SECRET and value.isalnum()
    if is_chance(value):
        return True
    marked = not value.isalnum() and not set(value) & set(";,|")
    return weight == Weight.PASSWORD and is_striking(value, weight) and (sure or marked)


# --- before the name ----------------------------------------------------------------------------------------------

_LINKS = late_pattern(" (?:as|is|for|was) ")
_OWNERS = r"[A-Za-z-]{1,12}"
_SAID = late_pattern(
    rf"(?:(?P<quote>\\{{0,4}}[\"'`])(?P<text>[^\"'`\n]{{4,200}}?)(?P=quote)|(?P<bare>[^\s\"'`,;()]{{6,200}}))(?:[ ](?:is|was)(?:[ ](?:used|set|given))?)?[ ](?:as|is|was|for)(?:[ ]{_OWNERS}){{0,4}}[ ]\Z"
)
_FIRST_ARGUMENT = late_pattern(
    r"(?:[Aa]ssert\w*|[Ee]quals?|[Ee]xpect\w*|Equal\w*|is|eq|ok)(?:\.\w+)?!?\((?:t,[ ]?)?[ \t]*\\{0,4}(?P<quote>[\"'])(?P<text>[^\"'\n\\]{4,200})\\{0,4}(?P=quote)[ \t]*,[ \t]*[\w.>$@\[\]\"'-]{0,60}\Z"
)


def find_before(text: str, first: int, stop: int, weight: Weight) -> Value | None:
    """Find a value before its name: "use … as the password", `assertEquals("…", x.password)`."""
    links = text[first - 1 : first] == " " and _LINKS.search(text, max(0, first - 32), first)
    if links and _SAID_ENDS.match(text, stop):
        match = _SAID.search(text, max(0, first - 260), first)
        if match and match["bare"] != text[first:stop]:
            return _value_of(match, "text" if match["quote"] else "bare", weight)
    near = text[max(0, first - 70) : first]
    if '",' in near or "'," in near:
        argument = _FIRST_ARGUMENT.search(text, max(0, first - 300), first)
        if argument:
            return _value_of(argument, "text", weight)
    return None


_SAID_ENDS = late_pattern(
    r"[\"'`*]{0,2}(?:[ \t]*(?:[.,;:!?)]|\r?\n|\\|\Z)|[ \t]+(?:for|on|to|and|in|with|of|at|when|now|here|please|you|we|I|is|was|if|until|from|that|this|by|there|today)\b)"
)


def _value_of(match: re.Match[str], group: str, weight: Weight) -> Value | None:
    value = match[group].rstrip(",.;:") if group == "bare" else match[group]
    if not is_striking(value, weight):
        worded = weight == Weight.PASSWORD and is_worded(value)
        if not worded or (group == "bare" and value.count("-") == 1):
            return None
    elif (is_hash(value) and weight < Weight.SECRET) or (
        group == "bare" and weight < Weight.PASSWORD and not is_chance(value)
    ):
        return None
    return Value(match.start(group), match.start(group) + len(value), weight, group == "text")
