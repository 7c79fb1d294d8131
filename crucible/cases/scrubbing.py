r"""Taking out of a case, once more when it leaves the vault, what is nobody else's: secrets, and what names a person.

Owns the rules for persons: the name in `/home/NAME`, `/Users/NAME` and `C:\Users\NAME` becomes `user` (`home-path`), another home folder
`~` (`home-folder`), an e-mail address `user@example.com` (`email`), but for addresses that are nobody's.  Secrets are `secrets`' own.
Each thing that was taken out is counted by its rule.  A text that was cleaned comes out of it again as it went in.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import orjson

from crucible.cases.model import Body, Call, Case, Turn, Verification
from crucible.cases.texts import mapped, names_of
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


_T = TypeVar("_T")
_ONE = ("title", "agent", "model", "channel", "project")
_SEVERAL = ("tools", "tags", "problems")
_ROOM, _ROW = 1_000_000, 200
"""Code points of texts that are remembered, and what remembering one takes besides."""


class _Known(NamedTuple, Generic[_T]):
    """What came of something, and what was taken out of it, by rule."""

    given: _T
    clean: _T
    counts: Mapping[str, int]


class Scrubber:
    """Cleans cases; `counts` has by rule how much was taken out of all so far.  `home` is the folder of whoever exports, or "".

    Without `personal` only secrets are taken out: what stays in the vault has its messages to the letter.
    """

    def __init__(self, redact: Redact, home: str = "", *, personal: bool = True) -> None:
        self._redact = redact
        self._is_personal = personal
        self.counts: Counter[str] = Counter()
        self._folder = ""
        self._home: re.Pattern[str] | None = None
        if len(home.rstrip("/\\")) > 1 and not _PATHS.match(home):
            self._folder = home.rstrip("/\\")
            self._home = re.compile(rf"(?<![\w.-]){re.escape(self._folder)}(?![\w.-])")
        # The cases of a session tell the same again and again.
        self._session = ""
        self._turns: dict[int, _Known[Turn]] = {}
        self._texts: dict[str, _Known[str]] = {}
        self._room = _ROOM

    def clean(self, case: Case) -> Case:
        """The case without them; its `redactions` have those that were counted here as well."""
        if case.place.session != self._session:
            self._session = case.place.session
            self._turns.clear()
        known = self._apart(self._cleaned, case)
        if not known.counts:
            return known.clean
        self.counts.update(known.counts)
        return replace(known.clean, redactions=dict(Counter(case.redactions) + Counter(known.counts)))

    def _cleaned(self, case: Case) -> Case:
        changed = self.head(case)
        body = self._body(case.body)
        if body is not case.body:
            changed["body"] = body
        return replace(case, **changed) if changed else case  # type: ignore[arg-type]  # each part is of its kind

    def head(self, case: Case) -> dict[str, object]:
        """What of a case, its body aside, is other when it is cleaned, by the names of its fields."""
        changed: dict[str, object] = {}
        command = self.text(case.verification.command)
        if command is not case.verification.command:
            changed["verification"] = Verification(command)
        phase = self.text(case.place.phase_name)
        if phase is not case.place.phase_name:
            changed["place"] = case.place._replace(phase_name=phase)
        for name in _ONE:
            given: str = getattr(case, name)
            clean = self.text(given)
            if clean is not given:
                changed[name] = clean
        for name in _SEVERAL:
            several: tuple[str, ...] = getattr(case, name)
            texts = tuple(map(self.text, several))
            if texts != several:
                changed[name] = texts
        return changed

    def _body(self, body: Body) -> Body:
        changed: dict[str, object] = {}
        for name in names_of(type(body)):
            given = getattr(body, name)
            if isinstance(given, tuple):
                parts = tuple(map(self._part, given))
                is_same = all(map(operator.is_, parts, given))
                clean: object = given if is_same else parts
            else:
                clean = self._part(given)
            if clean is not given:
                changed[name] = clean
        return replace(body, **changed) if changed else body  # type: ignore[arg-type]  # each part is of its kind

    def _part(self, value: object) -> object:
        if type(value) is str:  # and no kind of one: those are our own words
            return self.text(value)
        if isinstance(value, Turn):
            known = self._turns.get(id(value))
            if known is None:
                known = self._turns[id(value)] = self._apart(self._whole_turn, value)
            if known.counts:
                self.counts.update(known.counts)
            return known.clean
        return value if value is None or value is True or value is False else self.other(value)

    def other(self, value: _T) -> _T:
        """Any other part of a body without them."""
        return mapped(value, self.text, self._call)

    def _whole_turn(self, turn: Turn) -> Turn:
        clean = self.turn(turn)
        answers = self.text(turn.answers)
        return clean if answers is turn.answers else replace(clean, answers=answers)

    def turn(self, turn: Turn) -> Turn:
        """A turn without them, in its text and its calls; itself where there are none."""
        text, calls = self.text(turn.text), tuple(map(self._call, turn.calls))
        if text is turn.text and all(map(operator.is_, calls, turn.calls)):
            return turn
        return replace(turn, text=text, calls=calls)

    def text(self, text: str) -> str:
        """A text without them; itself where there are none."""
        if not text:
            return text
        known = self._texts.get(text) or self._remembered(text)
        if known.counts:
            self.counts.update(known.counts)
        return text if known.clean is known.given else known.clean

    def _remembered(self, text: str) -> _Known[str]:
        known = self._texts[text] = self._looked(text)
        self._room -= len(text) + _ROW
        if self._room < 0:
            self._texts.clear()
            self._room = _ROOM
        return known

    def _looked(self, text: str) -> _Known[str]:
        whole = text
        if not text.isascii():  # half a pair is no character, and no file can hold it
            whole = text.encode("utf-8", "replace").decode("utf-8")
        found, counts = self._redact(whole)
        if self._is_personal and self._may_be_personal(found):
            known = self._apart(self._impersonal, found)
            found, counts = known.clean, Counter(counts) + Counter(known.counts)
        return _Known(text, text if found == text else found, counts)

    def _apart(self, change: Callable[[_T], _T], given: _T) -> _Known[_T]:
        """What a change gives, with the counts of it alone."""
        outer, self.counts = self.counts, Counter()
        try:
            return _Known(given, change(given), self.counts)
        finally:
            self.counts = outer

    def _may_be_personal(self, text: str) -> bool:
        return "home" in text or "Users" in text or "@" in text or bool(self._folder and self._folder in text)

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
        name, arguments = self.text(call.name), self._values(call.arguments)
        if name is call.name and arguments is call.arguments:
            return call
        return replace(call, name=name, arguments=arguments)

    def _values(self, values: Mapping[str, object]) -> Mapping[str, object]:
        clean = {self.text(str(key)): self._value(str(key), value) for key, value in values.items()}
        is_same = len(clean) == len(values) and all(
            one is two and clean[one] is value
            for (two, value), one in zip(values.items(), clean, strict=True)
        )
        return values if is_same else clean

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
