"""How fast texts are looked through for secrets: prose (Python's manual, and our own, which is about secrets), code, test logs, transcripts, and texts that are made to be hard.

`python -m benchmarks.secrets_speed` prints megabytes a second, and for prose and test logs how that compares with
`zlib.compress(text, 1)` on the same texts; every text is looked at as one, as an event's is.
"""

from __future__ import annotations

import random
import sysconfig
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from pydoc_data.topics import topics

from benchmarks.measuring import Figure
from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings

ROOT = Path(__file__).resolve().parents[1]

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


_PARTS = [
    "order",
    "cart",
    "invoice",
    "ledger",
    "shipment",
    "report",
    "user",
    "admin",
    "tenant",
    "session",
    "token",
    "cache",
    "worker",
    "queue",
    "retry",
    "timeout",
    "stream",
    "buffer",
    "router",
    "page",
    "list",
    "detail",
    "index",
    "filter",
    "parser",
    "branch",
    "hook",
    "config",
    "handler",
    "request",
    "response",
    "login",
]


def _test_logs() -> list[str]:
    """Output of Go's tests, pytest and jest: 99 texts of a few thousand characters."""
    rng = random.Random("test logs")

    def some(count: int, sep: str) -> str:
        return sep.join(rng.choices(_PARTS, k=count))

    def go() -> str:
        name = "Test" + some(3, " ").title().replace(" ", "")
        case = f"{name}/{some(rng.randint(1, 4), '_')}"
        seconds = f"(0.{rng.randint(0, 99):02}s)"
        return f"=== RUN   {name}\n=== RUN   {case}\n--- PASS: {name} {seconds}\n    --- PASS: {case} {seconds}"

    def python() -> str:
        return f"tests/{some(1, '')}/test_{some(1, '')}.py::test_{some(4, '_')} PASSED   [{rng.randint(1, 99):3}%]"

    def jest() -> str:
        return f"  ✓ {some(5, ' ')} ({rng.randint(1, 400)} ms)"

    return ["\n".join(kind() for _ in range(60)) for _ in range(33) for kind in (go, python, jest)]


def _ordinary() -> Iterator[tuple[str, list[str]]]:
    yield "prose", [text for text in topics.values() if text]
    yield "our own docs", _of("docs/*.md", "*.md")
    yield "code", _library()
    yield "test logs", _test_logs()
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
    """Rates of ordinary texts and of hard ones, and the bar: not slower than a quick compression."""
    find = Scanner(SecretSettings()).find
    compared = [
        Figure(
            f"secrets sought in {name} against zlib at level 1",
            _rate(find, texts) / _rate(lambda text: zlib.compress(text.encode(), 1), texts),
            1.0,
            " times",
            at_least=True,
        )
        for name, texts in _ordinary()
        if name in {"prose", "our own docs", "test logs"}
    ]
    figures = [
        Figure(f"secrets sought in {name}", _rate(find, texts), None, " MB/s", detail=f"{len(texts)} texts")
        for name, texts in _ordinary()
    ]
    hard = [
        Figure(f"secrets sought in 1 MB of {name}", _rate(find, [(piece * 10**6)[: 10**6]]), None, " MB/s")
        for name, piece in _HARD.items()
    ]
    return compared + figures + hard


if __name__ == "__main__":
    for figure in measure(Path()):
        print(f"{figure.name}: {figure.value:.2f}{figure.unit} {figure.detail}")
