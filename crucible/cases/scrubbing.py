r"""Taking out of a case, once more when it leaves the vault, what is nobody else's: secrets, and what names a person.

Owns the rules for persons: the name in `/home/NAME`, `/Users/NAME` and `C:\Users\NAME` becomes `user` (`home-path`), another home folder
`~` (`home-folder`), an e-mail address `user@example.com` (`email`), but for addresses that are nobody's.  Secrets are `secrets`' own.
Each thing that was taken out is counted by its rule.  A text that was cleaned comes out of it again as it went in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from crucible.cases.model import Call, Case, Turn, Verification
from crucible.cases.texts import mapped
from crucible.patterns import late_pattern
from crucible.secrets.scanner import Redact

if TYPE_CHECKING:
    from re import Match

__all__ = ["Scrubber"]

_NAME = r"[^/\\\s\"'`:*?<>|,;()\[\]{}$%&=]+"
_PATHS = late_pattern(
    r"(?P<unix>(?<![\w.-])/(?:home|Users|export/home)/)(?P<name>" + _NAME + ")"
    r"|(?P<windows>\b[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))"
    r"(?P<full>" + _NAME + r"(?:[ ]" + _NAME + r"){0,3}(?=[\\/])|" + _NAME + ")"
    r"|(?P<flat>\bprojects(?:\\{1,4}|/)-(?:home|Users)-)(?P<part>[^-/\\\s\"'`]+)"
)
_NOBODY = frozenset(
    {"user", "username", "shared", "public", "default", "linuxbrew", "node", "runner", "..", "."}
)
_MAIL = late_pattern(
    r"(?<![A-Za-z0-9._%+-])(?P<local>[A-Za-z0-9._%+-]{1,64})@"
    r"(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,8}(?P<last>[A-Za-z]{2,24}))(?![A-Za-z0-9-]|\.[A-Za-z0-9])"
)
# fmt: off
_NO_MAIL = frozenset({
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "pdf", "css", "js", "mjs", "ts", "tsx", "py", "md", "json", "toml", "yaml", "txt",
})
"""What is the end of a file's name, and of no address."""
# fmt: on
_OPEN = ("example.com", "example.org", "example.net", ".example", ".invalid", ".test", ".local", ".localhost")


class Scrubber:
    """Cleans cases; `counts` has by rule how much was taken out of all so far.  `home` is the folder of whoever exports, or "".

    Without `personal` only secrets are taken out: what stays in the vault has its messages to the letter.
    """

    def __init__(self, redact: Redact, home: str = "", *, personal: bool = True) -> None:
        self._redact = redact
        self._is_personal = personal
        self.counts: Counter[str] = Counter()
        self._home: re.Pattern[str] | None = None
        if len(home.rstrip("/\\")) > 1 and not _PATHS.match(home):
            bare = re.escape(home.rstrip("/\\"))
            self._home = re.compile(rf"(?<![\w.-]){bare}(?![\w.-])")

    def clean(self, case: Case) -> Case:
        """The case without them; its `redactions` have those that were counted here as well."""
        before = self.counts.copy()
        body = mapped(case.body, self.text, self._call)
        cleaned = replace(self.head(case), body=body)
        more = self.counts - before
        return replace(cleaned, redactions=dict(Counter(case.redactions) + more)) if more else cleaned

    def head(self, case: Case) -> Case:
        """The case with all but its body cleaned, and its `redactions` as they were."""
        command = self.text(case.verification.command)
        return replace(
            case,
            place=case.place._replace(phase_name=self.text(case.place.phase_name)),
            verification=Verification(command) if command != case.verification.command else case.verification,
            agent=self.text(case.agent),
            model=self.text(case.model),
            channel=self.text(case.channel),
            project=self.text(case.project),
            tools=tuple(map(self.text, case.tools)),
            tags=tuple(map(self.text, case.tags)),
            problems=tuple(map(self.text, case.problems)),
        )

    def turn(self, turn: Turn) -> Turn:
        """A turn without them, in its text and its calls."""
        return replace(turn, text=self.text(turn.text), calls=tuple(map(self._call, turn.calls)))

    def text(self, text: str) -> str:
        """A text without them."""
        if not text:
            return text
        if not text.isascii():  # half a pair is no character, and no file can hold it
            text = text.encode("utf-8", "replace").decode("utf-8")
        found, counts = self._redact(text)
        if counts:
            self.counts.update(counts)
        return self._impersonal(found) if self._is_personal else found

    def _impersonal(self, text: str) -> str:
        if "home" in text or "Users" in text:
            text = _PATHS.sub(self._path, text)
        if self._home:
            text, count = self._home.subn("~", text)
            self._count("home-folder", count)
        return _MAIL.sub(self._mail, text) if "@" in text else text

    def _path(self, found: Match[str]) -> str:
        name = found["name"] or found["full"] or found["part"]
        if name.casefold() in _NOBODY:
            return found[0]
        self._count("home-path", 1)
        return found[0].removesuffix(name) + "user"

    def _mail(self, found: Match[str]) -> str:
        domain = found["domain"].lower()
        of_program = found["local"] in {"git", "noreply", "no-reply"} or found["last"].lower() in _NO_MAIL
        if of_program or domain.endswith(_OPEN):
            return found[0]
        self._count("email", 1)
        return "user@example.com"

    def _count(self, rule: str, count: int) -> None:
        if count:
            self.counts[rule] += count

    # --- a call's arguments: texts with names, which tell a secret as much as its look does --------------------------

    def _call(self, call: Call) -> Call:
        return replace(call, name=self.text(call.name), arguments=self._values(call.arguments))

    def _values(self, values: Mapping[str, object]) -> dict[str, object]:
        return {self.text(str(key)): self._value(str(key), value) for key, value in values.items()}

    def _value(self, key: str, value: object) -> object:
        if isinstance(value, Mapping):
            return self._values(value)
        if isinstance(value, list | tuple):
            return [self._value(key, one) for one in value]
        if not isinstance(value, str):
            return value
        clean = self.text(value)
        if clean == value and len(value) <= _LONGEST_SECRET and "\n" not in value:
            rule = self._rule_of(key, value)
            clean = f"[REDACTED:{rule}]" if rule else clean
        return clean

    def _rule_of(self, key: str, value: str) -> str:
        """By which rule a value is a secret because of its name; "" for none."""
        _, counts = self._redact(orjson.dumps({self.text(key): value}).decode())
        self.counts.update(counts)
        return next(iter(counts), "")


_LONGEST_SECRET = 4096
