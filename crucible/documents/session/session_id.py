"""Check session ids, and make ids and slugs from titles.

An id is also a file name, a folder name in the event log and a link target, so it must be valid on every system.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable
from datetime import date

from crucible.core.errors import BadSessionId
from crucible.core.patterns import late_pattern

LONGEST_ID = 128

# `\Z`, since `$` would accept a trailing newline.
_ALLOWED = late_pattern(rf"[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{LONGEST_ID - 1}}}\Z")


def check_session_id(text: str) -> str:
    """Return the id; raises `BadSessionId` if it is invalid."""
    if _ALLOWED.match(text):
        return text
    shown = repr(text if len(text) <= 60 else text[:59] + "…")
    raise BadSessionId(
        f"{shown} is not a session id",
        f"an id has at most {LONGEST_ID} letters, digits, '.', '_' and '-', and does not start with '.'",
    )


_WINDOWS_NAMES = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(10)}
_NOT_FOLDED = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "'": "", "\u2019": ""}
)
"""Latin letters that do not decompose, and apostrophes: `don't` gives `dont`."""


def check_new_id(text: str) -> str:
    """Return an id that a user chose for a new file; raises `BadSessionId` if it is invalid on any system."""
    check_session_id(text)
    if text.endswith(".") or text.partition(".")[0].lower() in _WINDOWS_NAMES:
        raise BadSessionId(f"{text!r} cannot be a file name on Windows", "choose another id")
    return text


def new_session_id(title: str, day: date, taken: Callable[[str], bool]) -> str:
    """Make an id `YYYY-MM-DD-<slug>`, with the suffix `-2`, `-3` … if it is taken."""
    preferred = f"{day.year:04}-{day.month:02}-{day.day:02}-{slugify(title)}"
    if not taken(preferred):
        return preferred
    return next(name for n in itertools.count(2) if not taken(name := f"{preferred}-{n}"))


def slugify(title: str, longest: int = 60) -> str:
    """Make a slug of lowercase ASCII letters, digits and hyphens, cut between words.

    The slug is never empty or a Windows device name.  Accents are removed.  A title without Latin letters becomes
    `session-` and six hex digits of its hash, so that different titles get different slugs.
    """
    folded = unicodedata.normalize("NFKD", title.casefold().translate(_NOT_FOLDED))
    ascii_only = "".join(c for c in folded if not unicodedata.combining(c))
    slug = _cut_words(re.sub(r"[^a-z0-9]+", "-", ascii_only).strip("-"), longest)
    if not slug:
        return _hashed(title)
    return f"{slug}-session" if slug in _WINDOWS_NAMES else slug


def _cut_words(slug: str, longest: int) -> str:
    if len(slug) <= longest:
        return slug
    head, hyphen, _ = slug[: longest + 1].rpartition("-")
    # Cut within a first word that is too long, such as a hash or a URL.
    return head if hyphen and len(head) >= longest // 2 else slug[:longest].rstrip("-")


def _hashed(title: str) -> str:
    words = " ".join(title.split())
    if not any(c.isalnum() for c in words):
        return "session"
    from hashlib import blake2s  # noqa: PLC0415  rarely needed, and slow to load

    return "session-" + blake2s(words.encode("utf-8", "surrogatepass")).hexdigest()[:6]
