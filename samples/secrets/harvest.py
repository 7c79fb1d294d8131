"""Ordinary lines that lie on every machine: the standard library's and this project's own text, read when the tests run.

Owns which files are read and which lines are taken.  Files are taken in the order of their names, lines by a hash of
their text, so that the halves never share one and a machine always gives the same.
"""

from __future__ import annotations

import re
import sysconfig
import zlib
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PLACES = (
    (_ROOT / "crucible", ("*.py",)),
    (_ROOT / "docs", ("*.md",)),
    (_ROOT / "vault-example", ("*.md",)),
    (_ROOT / "tests" / "unit" / "documents" / "session", ("*.py",)),
)
_STANDARD = (
    *("asyncio", "concurrent", "email", "html", "http", "importlib", "json", "logging"),
    *("pathlib.py", "secrets.py", "getpass.py", "hashlib.py", "hmac.py", "smtplib.py"),
    *("sqlite3", "ssl.py", "tokenize.py", "tomllib", "unittest", "urllib", "uuid.py", "xml", "zipfile.py"),
    *(
        "argparse.py",
        "tarfile.py",
        "netrc.py",
        "ftplib.py",
        "imaplib.py",
        "pydoc_data/topics.py",
        "base64.py",
    ),
)
_DOCUMENTED_LOGINS = re.compile(r"geheim|klem|kadidd|eggs|hunter", re.IGNORECASE)
"""Examples of passwords in the standard library's own docstrings: whether these are secrets is a matter of taste."""


def harvested(half: int, count: int) -> list[str]:
    """`count` lines; `half` is 0 or 1."""
    lines = {line for path in _files() for line in _lines(path) if zlib.crc32(line.encode()) % 2 == half}
    chosen = sorted(lines, key=lambda line: (zlib.crc32(b"/" + line.encode()), line))
    return chosen[:count]


def _files() -> Iterator[Path]:
    for folder, patterns in _PLACES:
        found = sorted(path for pattern in patterns for path in folder.rglob(pattern))
        yield from (path for path in found if "secrets" not in path.parts)  # the rules hold what they look for
    standard = Path(sysconfig.get_path("stdlib"))
    for name in _STANDARD:
        path = standard / name
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def _lines(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        if 12 < len(line) < 2000 and not _DOCUMENTED_LOGINS.search(line):
            yield line
