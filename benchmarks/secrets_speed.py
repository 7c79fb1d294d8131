"""How fast texts are looked through for secrets: prose, code, transcripts, and texts that are made to be hard.

`python benchmarks/secrets_speed.py` prints megabytes a second; every text is looked at as one, as an event's is.
"""

from __future__ import annotations

import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.measuring import Figure  # noqa: E402  the path is needed first
from crucible.secrets import Scanner  # noqa: E402
from crucible.settings import SecretSettings  # noqa: E402

__all__ = ["measure"]

_HARD = {
    "one letter": "a",
    "quotes": '"',
    "equal signs": "=",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODk",
    "`-----BEGIN`": "-----BEGIN RSA PRIVATE KEY-----",
    "`eyJ`": "eyJ",
}


def _of(*patterns: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def _library() -> list[str]:
    folder = Path(sysconfig.get_path("stdlib"))
    return [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.py"))]


def _ordinary() -> Iterator[tuple[str, list[str]]]:
    yield "prose", _of("docs/*.md", "*.md")
    yield "code", _library()
    yield "transcripts", _of("tests/data/transcripts/**/*.jsonl")


def _rate(find: Callable[[str], object], texts: list[str]) -> float:
    size = sum(map(len, texts)) / 1e6
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        for text in texts:
            find(text)
        best = min(best, time.process_time() - begin)
    return size / best


def measure(_scratch: Path) -> list[Figure]:
    """Rates of ordinary texts and of hard ones; no bar is promised."""
    find = Scanner(SecretSettings()).find
    figures = [
        Figure(f"secrets sought in {name}", _rate(find, texts), None, " MB/s", detail=f"{len(texts)} texts")
        for name, texts in _ordinary()
    ]
    hard = [
        Figure(f"secrets sought in 1 MB of {name}", _rate(find, [(piece * 10**6)[: 10**6]]), None, " MB/s")
        for name, piece in _HARD.items()
    ]
    return figures + hard


if __name__ == "__main__":
    for figure in measure(Path()):
        print(f"{figure.name}: {figure.value:.1f}{figure.unit} {figure.detail}")
