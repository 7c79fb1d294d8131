"""Absolute paths in what is told, made short: a history is read on other machines, and by models.

Owns what counts as such a path.  Below the project's folder it is seen from there, else its end is kept, and never whose home it lay in.
Addresses of an API (`GET /users/:id`) are not paths, nor is text after a variable (`${ROOT}/a/b.go`) or `~`, which names no particular home.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from crucible.core.patterns import late_pattern

Shorten = Callable[[str], str]

_TOPS = "home|Users|root|tmp|var|private|opt|etc|usr|mnt|media|srv|proc|run|Volumes|Library|Applications|workspaces?|nix|builds|github|snap"
"""Folders at the top of file systems that no address of an API begins with."""
_END = r"\s\"'`<>|*?,;()\[\]{}"
_OPTION = r"""(?<=[\s"'`(]-[A-Z])|(?<=\A-[A-Z])"""
"""Behind `-I`, which no blank parts from its path."""
_PATH = late_pattern(
    rf"""(?:(?<![\w.~/\\:%@-])|(?<=:)(?=/(?:home|Users|root)/)|{_OPTION})(?:file://)?(?P<path>
      (?:[A-Za-z]:[\\/]|\\\\[\w.-]+[\\/])(?:[^{_END}:]*)    # a drive's, a server's
    | ~[\w.-]+/[^{_END}:]*
    | /(?:{_TOPS})(?=[/{_END}:.]|$)[^{_END}:]*
    | /(?:[^{_END}:/]+/)+[^{_END}:/]*\.[A-Za-z]\w{{0,7}}(?![\w/:{{])
    )""",
    re.VERBOSE,
)
_VERB = late_pattern(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|curl|URL|url|endpoint|route|https?)[ :`\"']*\Z")
_HOME = late_pattern(r"(?:[A-Za-z]:)?/(?:home|Users)/[^/]+(?:/|\Z)|/root(?:/|\Z)|~[^/]+(?:/|\Z)")
_KEPT = 2
"""Parts of a path outside of the project that are kept: the last ones."""


def shortener(roots: Sequence[str] = (), home: str = "") -> Shorten:
    """What shortens the paths in a text; `roots` are the folders of the project, the first first, `home` is the user's."""
    known = [root.replace("\\", "/").rstrip("/") for root in (*roots, home)]
    tops = [root for root in dict.fromkeys(known) if root]
    inside = _inside(tops) if tops else None
    owner = known[-1] if known[-1] not in known[:-1] else ""

    def from_root(found: re.Match[str]) -> str:
        """Nothing before what lies in it; the folder itself goes by its name."""
        root = found["root"].replace("\\", "/")
        if found["rest"]:
            return ""
        return "the home folder" if root == owner else root.rpartition("/")[2]

    def shorten(text: str) -> str:
        if "/" not in text and "\\" not in text:
            return text
        if inside:
            text = inside.sub(from_root, text)
        return _PATH.sub(lambda found: _short(found, text), text)

    return shorten


def _inside(tops: Sequence[str]) -> re.Pattern[str]:
    """What stands before a path in the project; a root of Windows has either kind of slash."""
    names = "|".join(re.escape(top).replace("/", r"[\\/]") for top in sorted(tops, key=len, reverse=True))
    return re.compile(
        rf"(?:(?<![\w.~/\\-])|{_OPTION})(?:file://)?(?P<root>{names})(?:(?P<rest>[\\/])(?=[^\s/\\`'\"])|[\\/]?(?![\w-]|\.\w|[\\/]))"
    )


def _short(found: re.Match[str], text: str) -> str:
    whole, start = found["path"], found.start()
    goes_on = text[max(0, start - 1) : start] in ("}", ")") or _VERB.search(text, max(0, start - 12), start)
    if goes_on and not _HOME.match(whole):
        return found[0]
    path = whole.rstrip(".:!")
    dots = whole[len(path) :]
    path = path.replace("\\", "/").rstrip("/")
    inner = _HOME.sub("", path, count=1) if (home := _HOME.match(f"{path}/")) else path
    if home and not inner.strip("/"):
        return f"the home folder{dots}"
    parts = [part for part in inner.split("/") if part and not part.endswith(":")]
    return ("/".join(parts[-_KEPT:]) or "the root") + dots
