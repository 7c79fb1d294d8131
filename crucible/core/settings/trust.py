"""Settings and templates of a vault that apply only after the user accepts them with `cru trust`.

All templates need acceptance, as do settings whose `Key` says so.  Acceptance covers a hash of the exact value or
bytes, so any later change must be accepted again.  Every command imports this module, so it imports little.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import TypeAlias, TypeVar

from crucible.core.named_tuples import NamedTuple
from crucible.core.settings.toml_values import Reader, StrPath, Table

TEMPLATES = (
    "attribution.md.j2",
    "briefing.md.j2",
    "findings.md.j2",
    "refine.md.j2",
    "resume.md.j2",
    "step.md.j2",
    "task.md.j2",
    "tasks.md.j2",
)
"""Templates that a vault may replace.  All of them need acceptance."""

_EFFECT = "replace Crucible's instructions to agents"
_LARGEST = 256 * 1024
"""Maximum bytes in a template file.  `crucible.core.templates` has a smaller limit."""
_LARGEST_RECORD = 4 * 1024 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)

_T = TypeVar("_T")


class Ask(NamedTuple):
    """Something that needs acceptance: a setting by its dotted key, or a template by its path in the vault.

    `effect` says what it does, `lines` show its value in ASCII, and `digest` is its hash.  If `fault` is set, it cannot
    be accepted.
    """

    name: str
    effect: str
    lines: tuple[str, ...]
    digest: str
    accepted: bool = False
    fault: str = ""


class TemplateFile(NamedTuple):
    """A vault's own template: its name, its path, and the bytes that were hashed."""

    name: str
    path: str
    data: bytes


Accepts: TypeAlias = Callable[[Ask], bool]


def accepts_nothing(_: Ask) -> bool:
    """Accept nothing, for readers that do not know the user."""
    return False


class VaultTable(Table):
    """A vault's settings file, in which some keys apply only once the user accepts their values."""

    def __init__(self, text: str, path: StrPath, accepts: Accepts) -> None:
        super().__init__(text, path)
        self.asks: list[Ask] = []
        self._accepts = accepts
        self._refused: list[str] = []

    def take(self, dotted: str, default: _T, read: Reader[_T], trust: str = "") -> _T:
        """Return the value of a key.

        With `trust`, it stays unparsed and the default applies until the user accepts it.
        """
        value = self.pop(dotted)
        if value is None:
            return default
        if trust and value not in (default, [], {}):
            ask = _of_setting(dotted, trust, value)
            accepted = self._accepts(ask)
            self.asks.append(ask._replace(accepted=accepted))
            if not accepted:
                return default
        return self.read(dotted, value, read)

    def refuse(self, dotted: str, reason: str) -> None:
        """Add a warning about a key that never applies in a vault, accepted or not."""
        if self.pop(dotted) is not None:
            self._refused.append(f"{self.place(dotted)}: {reason}")

    def warnings(self) -> tuple[str, ...]:
        """Return one line for each unknown or refused key."""
        return (*super().warnings(), *self._refused)


def _of_setting(name: str, effect: str, value: object) -> Ask:
    if isinstance(value, dict):
        lines = tuple(f"{ascii(key)[1:-1]} = {part!a}" for key, part in value.items())
    else:
        lines = tuple(map(ascii, value)) if isinstance(value, list) else (ascii(value),)
    return Ask(name, effect, lines, _digest(name, ascii(value).encode()))


def _digest(name: str, data: bytes) -> str:
    # `hashlib` comes last: it loads OpenSSL, which takes 2 to 6 ms.
    for module in ("_sha2", "_sha256", "hashlib"):
        with suppress(ImportError):
            digest: str = import_module(module).sha256(name.encode() + b"\0" + data).hexdigest()
            break
    return digest


# --- templates -------------------------------------------------------------------------------------------------------


def ignored_names(asks: Iterable[Ask]) -> tuple[str, ...]:
    """Return the names of everything that the user has not accepted."""
    return tuple(ask.name for ask in asks if not ask.accepted)


def ignored_warnings(asks: Iterable[Ask]) -> tuple[str, ...]:
    """Return warnings about ignored asks: one line for all that can be accepted, and one for each that cannot."""
    asks = tuple(asks)
    names = ignored_names(ask for ask in asks if not ask.fault)
    broken = tuple(f"{ask.name}: ignored, {ask.fault}" for ask in asks if ask.fault)
    return (f'ignored until you accept it with "cru trust": {", ".join(names)}', *broken) if names else broken


def read_templates(root: str, accepts: Accepts) -> Iterator[tuple[Ask, TemplateFile]]:
    """Yield the vault's own templates.  `root` must be a real path."""
    for name in TEMPLATES:
        path = os.path.join(root, ".crucible", "templates", name)
        try:
            os.lstat(path)
        except OSError:  # missing or inaccessible
            continue
        ask, data = read_request(root, f".crucible/templates/{name}", _EFFECT, accepts)
        yield ask, TemplateFile(name, path, data)


def read_request(root: str, shown: str, effect: str, accepts: Accepts) -> tuple[Ask, bytes]:
    """Read a file of the vault that needs acceptance, by its path in the vault."""
    path = os.path.join(root, shown)
    # A link out of the vault could put a private file into a prompt.
    if not is_inside(path, root):
        return Ask(shown, effect, (), "", fault="it is outside the vault"), b""
    try:
        data = _bytes_of(path, _LARGEST)
    except OSError as error:
        return Ask(shown, effect, (), "", fault=error.strerror or str(error)), b""
    ask = Ask(shown, effect, (f"{len(data):,} bytes",), _digest(shown, data))
    return ask._replace(accepted=accepts(ask)), data


def _bytes_of(path: StrPath, largest: int) -> bytes:
    with open(os.open(path, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("not a regular file")
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(f"larger than {largest // 1024:,} KB")
    return data


# --- the record ------------------------------------------------------------------------------------------------------


def accepted_in(record: str, root: str) -> Accepts:
    """Return a function that looks up asks of the vault at `root`, a real path.  It reads the record on its first call.

    It accepts nothing if the record cannot be read or is inside the vault.
    """
    known: frozenset[str] | None = None

    def accepts(ask: Ask) -> bool:
        nonlocal known
        if known is None:
            known = frozenset() if is_inside(record, root) else _lines_of(record)
        return not ask.fault and record_line(ask, root) in known

    return accepts if record else accepts_nothing


def record_line(ask: Ask, root: str) -> str:
    """Return a line for the record: hash, name, vault."""
    return f"{ask.digest} {ask.name} {root!a}"


def is_inside(path: str, root: str) -> bool:
    """Return whether the real path of `path` is in the vault at `root`, a real path."""
    return os.path.realpath(path).startswith(os.path.join(root, ""))


def _lines_of(record: str) -> frozenset[str]:
    try:
        return frozenset(_bytes_of(record, _LARGEST_RECORD).decode("ascii").split("\n"))
    except (OSError, ValueError):
        return frozenset()
