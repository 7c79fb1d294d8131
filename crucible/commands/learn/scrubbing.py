"""Redact secrets and personal data in a case.

In paths, the user name in a home folder becomes `user`; elsewhere, the exporting user's home folder becomes `~`. E-mail
addresses become `user@example.com`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from crucible.commands.learn.case import Case, map_texts
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact

if TYPE_CHECKING:
    from re import Match


_NAME = r"[^/\\\s\"'`:*?<>|,;()\[\]{}$%&=]+"
_START = r"(?:(?<![\w.-])|(?<=\.\.)|(?<=\\[nrt]))"
"""Where a path begins: not inside a word, but after `..` and after a line end that is written as an escape."""
_PATHS = late_pattern(
    r"(?P<unix>" + _START + r"/(?:home|Users|export/home)/)(?P<name>" + _NAME + ")"
    r"|(?P<windows>\b[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))"
    r"(?P<full>" + _NAME + r"(?:[ ]" + _NAME + r"){0,3}(?=[\\/])|" + _NAME + ")"
    r"|(?P<flat>\bprojects(?:\\{1,4}|/)-(?:home|Users)-)(?P<part>[^-/\\\s\"'`]+)"
)
_NOBODY = frozenset(["user", "username", "shared", "public", "default", "linuxbrew", "node", "runner", ".", ".."])
_MAIL = late_pattern(
    r"(?<![A-Za-z0-9._%+-])(?P<local>[A-Za-z0-9._%+-]{1,64})@"
    r"(?P<domain>(?:[A-Za-z0-9-]{1,63}\.){1,8}(?P<last>[A-Za-z]{2,24}))(?![A-Za-z0-9-]|\.[A-Za-z0-9])"
)
_NO_MAIL = frozenset(
    [
        "png",
        "jpg",
        "jpeg",
        "gif",
        "svg",
        "webp",
        "ico",
        "pdf",
        "css",
        "js",
        "mjs",
        "ts",
        "tsx",
        "py",
        "md",
        "json",
        "toml",
        "yaml",
        "txt",
    ]
)
"""File extensions that look like the end of an e-mail address."""
_OPEN = ("example.com", "example.org", "example.net", ".example", ".invalid", ".test", ".local", ".localhost")


_NOT_PLAIN = late_pattern(r"[^A-Za-z0-9._-]+")
_ONE = ("title", "verification", "agent", "model", "channel", "project")
_SEVERAL = ("tools", "tags", "problems")


class Scrubber:
    """Cleans cases and counts redactions by rule; `home` is the user's home folder, or "".

    If `personal` is False, only secrets are redacted, for cases that stay in the vault.
    """

    def __init__(self, redact: Redact, home: str = "", *, personal: bool = True) -> None:
        self._redact = redact
        self._is_personal = personal
        self.counts: Counter[str] = Counter()
        self._clean: set[str] = set()
        self._clean_arguments: set[tuple[str, str]] = set()
        self._home: re.Pattern[str] | None = None
        self._home_folder = folder = home.rstrip("/\\")
        if len(folder) > 1 and not _PATHS.match(home):
            self._home = re.compile(rf"{_START}{re.escape(folder)}(?![\w.-])")

    def clean(self, case: Case) -> Case:
        """Redact all text in a case, and add the redactions to the case's own."""
        before, self.counts = self.counts, Counter()
        changed: dict[str, Any] = {name: self.text(getattr(case, name)) for name in _ONE}
        changed |= {name: tuple(map(self.text, values)) for name in _SEVERAL if (values := getattr(case, name))}
        changed |= {"body": map_texts(case.body, self._argument)}
        if (phase := self.text(case.place.phase_name)) != case.place.phase_name:
            changed |= {"place": case.place._replace(phase_name=phase)}
        changed = {name: value for name, value in changed.items() if value is not getattr(case, name)}
        clean = replace(case, **changed) if changed else case
        taken, self.counts = self.counts, before + self.counts
        return replace(clean, redactions=dict(Counter(case.redactions) + taken)) if taken else clean

    def clean_with_id(self, case: Case) -> Case:
        """Redact a case and its session's id, which is part of the case's id."""
        clean = self.clean(case)
        session = self.text(case.place.session)
        if session == case.place.session:
            return clean
        plain = _NOT_PLAIN.sub("-", self.text(case.id)).strip("-")
        return replace(clean, id=plain, place=clean.place._replace(session=session))

    def text(self, text: str) -> str:
        """Redact text; returns the same object if nothing changed."""
        if text in self._clean:
            return text
        clean = self._redacted(text)
        if clean is text and len(text) <= _SHORT and len(self._clean) < _MOST:
            self._clean.add(text)
        return clean

    def _redacted(self, text: str) -> str:
        valid = text
        if not text.isascii():  # files cannot contain lone surrogates
            valid = text.encode("utf-8", "replace").decode("utf-8")
        found, counts = self._redact(valid) if valid else (valid, {})
        if counts:
            self.counts.update(counts)
        if self._is_personal:
            found = self._impersonal(found)
        return text if found == text else found

    def _impersonal(self, text: str) -> str:
        if "home" in text or "Users" in text:
            text = _PATHS.sub(self._path, text)
        if self._home and self._home_folder in text:
            text = self._home.sub(self._folder, text)
        return _MAIL.sub(self._mail, text) if "@" in text else text

    def _folder(self, _: Match[str]) -> str:
        self.counts["home-folder"] += 1
        return "~"

    def _path(self, found: Match[str]) -> str:
        name = found["name"] or found["full"] or found["part"]
        if name.casefold() in _NOBODY:
            return found[0]
        self.counts["home-path"] += 1
        return found[0].removesuffix(name) + "user"

    def _mail(self, found: Match[str]) -> str:
        domain = found["domain"].lower()
        of_program = found["local"] in {"git", "noreply", "no-reply"} or found["last"].lower() in _NO_MAIL
        if of_program or domain.endswith(_OPEN):
            return found[0]
        self.counts["email"] += 1
        return "user@example.com"

    def _argument(self, text: str, key: str) -> str:
        """Redact text, including text that only the name of its argument identifies as a secret."""
        clean = self.text(text)
        if not key or clean != text or len(text) > _LONGEST_SECRET or "\n" in text:
            return clean
        if (key, text) in self._clean_arguments:
            return text
        name = self.text(key)
        _, counts = self._redact(orjson.dumps({name: text}).decode())
        if counts:
            self.counts.update(counts)
        elif name is key and len(text) <= _SHORT and len(self._clean_arguments) < _MOST:
            self._clean_arguments.add((key, text))
        return next((f"[REDACTED:{rule}]" for rule in counts), clean)


_LONGEST_SECRET = 4096
_SHORT, _MOST = 256, 16_384
"""Maximum length and number of strings cached as clean, since names and paths recur in the cases of a session."""
