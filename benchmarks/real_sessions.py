"""What the detector finds in real sessions, by pattern; with labels, how well that matches them.

    REAL=FOLDER make real                              what is found, by pattern
    REAL=FOLDER LABELS=FILE SCORER=FILE make real      precision and recall too, with 95 % intervals over sessions
    REAL=FOLDER READ="yes or no to an offer" make real fifty findings of a pattern, to be read and counted

FOLDER holds Claude Code's transcripts; SCORER is a Python file with `read_labels`, `Session.read`, `Item` and `compare`.  Real people's words
are printed by READ alone: keep them to yourself.  Without REAL there is nothing to do.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crucible.analysis.findings.detector import Detector
from crucible.analysis.findings.turns import Pattern
from crucible.clients.claude_code import logs as claude_code
from crucible.documents.session.session import Decision, Failure, FindingItem, Grounds

_DRAWS, _READ = 2000, 50


class Found(NamedTuple):
    """A finding with its session's native id; `parts` are its texts."""

    session: str
    kind: str
    pattern: str
    parts: list[str]


def main() -> None:
    """Print what the environment asks for."""
    if not (folder := os.environ.get("REAL")):
        print("no real sessions here (REAL=FOLDER names them)")
        return
    _name_patterns()
    paths = {path.stem: path for path in sorted(Path(folder).rglob("*.jsonl")) if path.parent.name != "subagents"}
    if wanted := os.environ.get("READ"):
        _read(wanted, [each for path in paths.values() for each in _findings(path)])
    elif "LABELS" in os.environ:
        _score(paths)
    else:
        counts = Counter((each.kind, each.pattern) for path in paths.values() for each in _findings(path))
        for (kind, pattern), count in sorted(counts.items()):
            print(f"{kind:12} {pattern:36} {count:5}")


def _name_patterns() -> None:
    """Let each finding's source be the name of its pattern."""

    def on(self: Pattern, *rows: str) -> Grounds:
        return Grounds(self.name, 1.0, tuple(row for row in rows if row))

    Pattern.on = on  # type: ignore[method-assign]


def _findings(path: Path) -> Iterator[Found]:
    detector = Detector()
    told: list[Decision | Failure | FindingItem] = []
    for transcript in claude_code.find(path):
        for event in claude_code.read(transcript, ""):
            if not event.at.agent:
                told.extend(detector.add(event))
    for each in (*told, *detector.noted()):
        pattern = each.grounds.source if each.grounds else ""
        match each:
            case Decision():
                kind, parts = "decision", (each.text, each.rationale, each.alternatives)
            case Failure():
                kind, parts = "failure", (each.text, each.cause, each.resolution)
            case FindingItem():
                kind, parts = each.kind, (each.text, each.details, None)
        yield Found(path.stem, kind, pattern, [part for part in parts if part])


def _read(pattern: str, found: Sequence[Found]) -> None:
    matching = [each for each in found if each.pattern == pattern]
    for each in random.Random(0).sample(matching, min(_READ, len(matching))):
        print(each.session[:8], " || ".join(each.parts), sep="  ")


def _score(paths: dict[str, Path]) -> None:
    scorer = _load(Path(os.environ["SCORER"]))
    labels = [each for each in scorer.read_labels(Path(os.environ["LABELS"])) if each.session in paths]
    names = sorted({each.session for each in labels})
    sessions = {name: scorer.Session.read(paths[name]) for name in names}
    items: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for name in names:
        for each in _findings(paths[name]):
            items[name, each.kind.replace("open_end", "open")].append(scorer.Item(name, each.parts))
    for kind in sorted({kind for _, kind in items}):
        rows = []
        for name in names:
            mine = [each for each in labels if each.session == name and each.kind == kind]
            figures = scorer.compare(items[name, kind], mine, sessions)
            rows.append(
                (
                    figures.right,
                    figures.items,
                    figures.found,
                    figures.labels,
                    figures.found_heavy,
                    figures.heavy,
                )
            )
        print(
            f"{kind:12}",
            *(_interval(rows, part, label) for part, label in ((0, "precision"), (2, "recall"), (4, "of weight 3"))),
        )


def _interval(rows: Sequence[tuple[int, ...]], part: int, name: str) -> str:
    draw = random.Random(1)
    shares = sorted(
        share for _ in range(_DRAWS) if (share := _share([draw.choice(rows) for _ in rows], part)) is not None
    )
    known = _share(rows, part)
    if known is None or not shares:
        return f"{name} -"
    low, high = shares[int(0.025 * len(shares))], shares[int(0.975 * len(shares))]
    return f"{name} {known:.2f} [{low:.2f} {high:.2f}] "


def _share(rows: Sequence[tuple[int, ...]], part: int) -> float | None:
    whole = sum(row[part + 1] for row in rows)
    return sum(row[part] for row in rows) / whole if whole else None


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("scorer", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["scorer"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
