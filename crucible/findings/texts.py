"""Find a question, a plan, a list of options or a summary in a text by its layout, and shorten it to one line of the speaker's words."""

from __future__ import annotations

import re

from crucible.note.contain import normal
from crucible.patterns import late_pattern

__all__ = [
    "asks",
    "bullets",
    "last_line",
    "line",
    "options",
    "paragraphs",
    "plan_text",
    "plan_title",
    "proposal",
    "question",
    "summary",
    "trimmed",
]

_HEAD, _TAIL = 9000, 5000
"""Code points that are kept from the start and the end of a text."""

_FENCED = late_pattern(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_HEADING = late_pattern(r"^[ \t]*#{1,6} ", re.MULTILINE)
_GAP = late_pattern(r"\n[ \t]*\n")
_LAYOUT = late_pattern(r"[|>]|-{3,}|={3,}|\*{3,}")
_ITEM = late_pattern(r"(?P<indent>[ \t]*)(?P<mark>[-*•+]|\d{1,2}[.)]|#{1,4})[ \t]+(?P<text>\S.*)")
_MOST_ITEMS = 14


def trimmed(text: str) -> str:
    """A text without its middle if it is too long to keep."""
    return (
        text.strip()
        if len(text) <= _HEAD + _TAIL
        else f"{text[:_HEAD].strip()}\n\n…\n\n{text[-_TAIL:].strip()}"
    )


def unfenced(text: str) -> str:
    """A text without its code blocks."""
    return _FENCED.sub("\n", text) if "```" in text or "~~~" in text else text


def line(text: str, limit: int) -> str:
    """A text as one line of at most `limit` code points, without code blocks and emphasis, cut between words."""
    said = unfenced(normal(text[: 4 * limit + 1000])).replace("**", "").replace("`", "")
    said = " ".join((_HEADING.sub("", said) if "#" in said else said).split())
    if len(said) <= limit:
        return said
    return said[: limit - 1].rpartition(" ")[0].rstrip(" ,;:") + " …"


def paragraphs(text: str) -> list[str]:
    """The paragraphs of running text and lists: no code blocks, tables, quotes or rules."""
    parts = (part.strip() for part in _GAP.split(unfenced(text)))
    return [part for part in parts if part and not _LAYOUT.match(part)]


def last_line(text: str) -> str:
    """The last line, without the marks at its end."""
    return text.rstrip().rpartition("\n")[2].strip().rstrip(" *`_)")


def asks(text: str) -> bool:
    """True if a text ends in a question."""
    return last_line(text).endswith(("?", "\uff1f"))


def question(text: str, limit: int) -> str:
    """The question at the end of a text, with the paragraph before it if it is short."""
    parts = paragraphs(text)
    if not parts:
        return ""
    told = parts[-1] if len(parts[-1]) >= 160 or len(parts) == 1 else f"{parts[-2]}\n{parts[-1]}"
    whole = line(told, 4 * limit)
    return whole if len(whole) <= limit else "… " + whole[2 - limit :].partition(" ")[2]


def proposal(text: str, limit: int) -> str:
    """What a text offers: its first paragraph, and the question at its end."""
    parts = paragraphs(text)
    whole = line("\n".join(parts), 4 * limit) if parts else ""
    if len(whole) <= limit:
        return whole
    lead = line(parts[0], limit // 3)
    asked = question(text, limit - len(lead) - 3)
    return asked if lead[:40] in asked else f"{lead} … {asked.removeprefix('… ')}"


# --- lists -----------------------------------------------------------------------------------------------------------

_OPTIONS = tuple(
    late_pattern(pattern, re.MULTILINE)
    for pattern in (
        r"^[ \t]*(?:#+[ \t]*|[-*][ \t]+)?\**(?:Option|Approach|Variant|Alternative)[ \t]+(?P<mark>[A-F]|\d)\b",
        r"^[ \t]*(?:#+[ \t]*|[-*][ \t]+)?\**\(?(?P<mark>[A-F])[.):]\**[ \t]",
        r"^[ \t]*(?:#+[ \t]*)?\**(?P<mark>\d)[.)]\**[ \t]",
    )
)


def options(text: str) -> dict[str, str]:
    """The options that a text lists, by letter or number; empty if there are fewer than two."""
    for pattern in _OPTIONS:
        found = list(pattern.finditer(text))
        if len(found) >= 2:
            ends = [*(each.start() for each in found[1:]), len(text)]
            parts = (
                _GAP.split(text[each.start() : end].strip())[0] for each, end in zip(found, ends, strict=True)
            )
            return {each["mark"]: line(part, 300) for each, part in zip(found, parts, strict=True)}
    return {}


def bullets(text: str) -> list[str]:
    """The top-level items of a text, each as one line with its sub-items; a heading with a text below it is an item too."""
    found: list[list[str]] = []
    heading = ""
    for each in filter(str.strip, unfenced(text).split("\n")):
        item = _ITEM.match(each)
        if item and "#" in item["mark"]:
            heading = item["text"]
        elif item and (len(item["indent"]) <= 1 or not found):
            found.append([item["text"]])
            heading = ""
        elif item:
            found[-1].append(item["text"])
        elif heading and not _LAYOUT.match(each):
            found.append([f"{heading}:", each.strip()])
            heading = ""
    return [told for parts in found[:_MOST_ITEMS] if (told := line(" ".join(parts), 260))]


def summary(text: str, limit: int) -> str:
    """A closing text in short: its first paragraph, then as many of its list items as fit."""
    parts = paragraphs(text)
    leads = [part for part in parts if not _ITEM.match(part)]
    lead = line(leads[0] if leads else parts[0] if parts else text, limit // 2)
    items = bullets(text)
    if not items:
        return line("\n".join(parts), limit)
    told = lead.rstrip(":")
    for item in items:
        if item[:40] not in told and len(told) + len(item) + 3 <= limit:
            told += f" · {item}"
    return told


# --- plans -----------------------------------------------------------------------------------------------------------

_TITLE = late_pattern(
    r"^#{1,3}[ \t]+(?:(?:Implementation )?Plan[ \t]*[:\u2013\u2014-][ \t]*)?(\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)


def plan_title(plan: str) -> str:
    """The title of a plan."""
    found = _TITLE.search(plan[:2000])
    return line(found[1] if found else plan.strip().partition("\n")[0], 160)


def plan_text(plan: str) -> str:
    """The first longer paragraph below a plan's title."""
    parts = ("\n".join(x for x in part.split("\n") if not x.startswith("#")) for part in paragraphs(plan))
    return next((told for part in parts if len(told := line(part, 400)) > 60), "")
