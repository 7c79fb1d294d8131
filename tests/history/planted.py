"""Session notes in which decisions, questions and tasks were planted, in many forms, and what a history must tell of each.

Notes are written here by hand, as clients, `cru log` and people write them, not by Crucible.  `python -m tests.history.planted [N]` makes the
history of N sessions (500) in one vault, each twice, and counts what is missing; the tests do the same with a few.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from crucible.history.keeping import load_entry
from crucible.history.making import make_history
from crucible.history.model import Entry, Line
from crucible.note.contain import normal_line
from crucible.settings import VaultSettings
from crucible.vault.store import Vault

__all__ = ["Count", "Planted", "check", "plant"]

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOME = "/home/dev/shop"
_THINGS = ("queue", "cache", "parser", "limiter", "ledger", "importer", "gateway", "mailer", "scheduler",
           "registry", "resolver", "uploader", "webhook", "invoice")  # fmt: skip
_WAYS = ("a token bucket", "Postgres", "SQLite in WAL mode", "one writer thread", "exponential backoff with jitter", "UUIDv7 keys",
         "a feature flag", "`orjson`", "two tables", "a nightly job", "Café-style naming", "並行処理", "signed URLs")  # fmt: skip
_WHYS = ("it needs constant memory", "the old one lost rows, and nobody noticed", "its docs are better: subscriptions and usage billing",
         "half of the callers depend on it", f"it stands in {HOME}/docs/adr/0007-queue.md already", "**speed**", "1 < 2 & 3 > 2")  # fmt: skip


@dataclass(slots=True)
class Planted:
    """A note, and what its history tells: `decisions` with their reasons, questions that are `open` and that are `answered`, `unfinished` tasks."""

    name: str
    text: str = ""
    decisions: list[tuple[str, str]] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.planted = Planted(f"2026-11-{1 + seed % 20:02}-planted-{seed}")
        self.number = 0
        self.is_human = seed % 3 == 1

    def word(self, words: list[str] | tuple[str, ...]) -> str:
        return self.random.choice(words)

    def key(self) -> str:
        """A word that stands nowhere else."""
        self.number += 1
        return f"{self.word(_THINGS)}x{self.number}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share


# --- decisions -------------------------------------------------------------------------------------------------------


def _decision(w: _Writer) -> list[str]:
    text = f"{w.word(['Use', 'We keep', 'Chose', 'Go with', 'No more', 'Drop'])} {w.word(_WAYS)} for the {w.key()}"
    text += w.word(
        ["", ".", f" in {HOME}/src/{w.word(_THINGS)}.py", ", not the other way round", "  [[not a link]]"]
    )
    why = w.word(_WHYS) if w.chance(0.7) else ""
    w.planted.decisions.append((text, why))
    if w.is_human and w.chance(0.5):
        return [f"> [!decision]{w.word(['', '-', '+'])} {text}", *([f"> Rationale: {why}"] if why else [])]
    rows = [text]
    if w.chance(0.2):
        rows = [*text.replace(" for the", "\nfor the").split("\n")]
    if w.chance(0.15):
        rows = [*rows, "", "- and what follows from it"]
    return ["> [!decision]", *(f"> {row}" for row in rows), *([f"> Rationale: {why}"] if why else [])]


def _quoted(rows: list[str]) -> list[str]:
    return [f"> {row}".rstrip() for row in rows]


def _subagent(w: _Writer) -> list[str]:
    return [
        "> [!subagent] @planner",
        "> mode: inline",
        ">",
        *_quoted(_quoted(["Some work.", "", *_decision(w)])),
    ]


# --- questions -------------------------------------------------------------------------------------------------------


def _question(w: _Writer) -> str:
    key = w.key()
    return w.word(
        [
            f"Which retention does the {key} need",
            f"Should the {key} retry failed payments",
            f"Who owns the certificates of the {key}",
            f"Is it fine to rename the {key} in {HOME}/src/api.py",
        ]
    ) + w.word(["?", " ?", "?", "? I would say yes, yet it is yours to decide."])  # fmt: skip


def _asked(w: _Writer) -> list[str]:
    asked, kind = _question(w), w.word(["decision_needed", "approval_required"])
    title = w.word(["", " Before going on", " Database"])
    rows = [f"> [!{kind}]{title}", f"> {asked}"]
    how = w.random.randrange(4)
    if how < 2:  # nobody says anything, and the work goes on
        w.planted.open.append(asked)
        return [*rows, "", "I go on with what needs no answer.", "", *_call(w)]
    w.planted.answered.append(asked)
    if how == 2:
        return [*rows, "", "> [!user]", f'> "{w.word(["Yes.", "the second one", "Ask Ada on Monday"])}"']
    return [*rows, f"> Answer: {w.word(['Yes', 'the first'])}"]


def _failed(w: _Writer) -> list[str]:
    text = f"The {w.key()} test fails: expected {w.random.randrange(9)}, got None"
    if w.chance(0.5):
        w.planted.answered.append(text)
        return ["> [!error]", f"> {text}", "> Resolution: set the default"]
    w.planted.open.append(text)
    return [f"> [!error] {text}"] if w.is_human else ["> [!error]", f"> {text}"]


def _last_words(w: _Writer) -> list[str]:
    if w.chance(0.5):
        return ["All of it is in place now."]
    asked = f"Shall I deploy the {w.key()} now?"
    w.planted.open.append(asked)
    return ["It is ready.", "", w.word([asked, f"**{asked}**"])]


# --- the rest --------------------------------------------------------------------------------------------------------


def _call(w: _Writer) -> list[str]:
    return ["**Tool calls:**", f"- `Edit src/{w.word(_THINGS)}.py` → +{w.random.randrange(1, 40)} -2"]


def _noise(w: _Writer) -> list[str]:
    return w.word(
        [
            "I read the module and its tests; why does the second one pass? Because of the stub.",
            "> [!milestone] The first half stands",
            "> [!observation]\n> The suite takes 40 s.",
            "```md\n> [!decision]\n> Never this one, it stands in a fence\n```",
            "> [!note] A human's own callout\n> Is this a question?",
        ]
    ).split("\n")  # fmt: skip


def _blocked(w: _Writer) -> list[str]:
    what = f"no keys for the {w.key()} yet"
    w.planted.unfinished.append(what)
    return ["So far it works.", w.word([f"Blocked: {what}", f"**Blocked:** {what}", f"- Blocked by: {what}"])]


def _tasks(w: _Writer) -> list[str]:
    items: list[str] = []
    for number in range(1, w.random.randrange(0, 7) + 1):
        status = w.word(["pending", "in_progress", "completed", "blocked", "cancelled", "waiting for Ada"])
        content = f"Mend the {w.key()} {w.word(['', '| and its table', 'in `src/`', f'under {HOME}/docs/plan.md'])}".strip()
        needs = f', "depends_on": ["{w.random.randrange(1, 8)}"]' if w.chance(0.4) else ""
        told = f'"{number}"' if w.chance(0.8) else str(number)
        items.append(f'  {{"id": {told}, "content": "{content}", "status": "{status}"{needs}}}')
        if status not in ("completed", "cancelled"):
            w.planted.unfinished.append(content)
    return ["```tasks", "[", ",\n".join(items), "]", "```"] if items else []


_FORMS = (_decision, _decision, _asked, _failed, _noise, _call, _subagent, _blocked)


def _phase(w: _Writer, number: int) -> Iterator[list[str]]:
    started = NOW - timedelta(hours=20) + timedelta(minutes=7 * number)
    yield [f"## {w.word(['Research', 'Build', 'Mend', 'Review'])} {number} @coder@1"]
    yield [f"started:: {started:%Y-%m-%dT%H:%M:%SZ}"] if not w.is_human or w.chance(0.5) else []
    for _ in range(w.random.randrange(1, 6)):
        yield w.random.choice(_FORMS)(w)
        yield ["I go on."]
    if w.chance(0.3):
        yield ["### A part of it"]
        yield _decision(w)


def plant(seed: int) -> Planted:
    """The session of a seed, always the same one."""
    w = _Writer(seed)
    head = [
        *(
            "---",
            "type: session",
            f"session_id: {w.planted.name}",
            "started: 2026-11-21T16:00:00Z",
            "status: completed",
        ),
        *("project: shop", "participants:", "  - coder@1", "---", "", f"# Planted {seed}"),
    ]
    blocks = [head, ["What it is for."], *([_decision(w)] if w.chance(0.3) else []), _tasks(w)]
    for number in range(1, w.random.randrange(1, 9) + 1):
        blocks += _phase(w, number)
    blocks.append(_last_words(w))
    gap = "\n\n\n" if w.is_human and w.chance(0.3) else "\n\n"
    text = gap.join("\n".join(rows) for rows in blocks if rows) + "\n"
    w.planted.text = text.replace("\n", "\r\n") if w.is_human and w.chance(0.3) else text
    return w.planted


# --- what of it is told ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Count:
    """What was planted, what of it is `missing` (decisions, reasons, open questions, tasks, a human's line), what was told as open though it was
    `answered`, and texts that hold an absolute path.
    """

    planted: int = 0
    missing: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def take(self, planted: Planted, entry: Entry) -> None:
        """Hold an entry against what was planted."""
        wanted = [
            *((entry.decisions, _short(text)) for text, _ in planted.decisions),
            *((entry.questions, _short(text)) for text in planted.open),
            *((entry.further, _short(text)) for text in planted.unfinished),
        ]
        self.planted += len(wanted)
        self.missing += [f"{planted.name}: {text}" for lines, text in wanted if not _holds(lines, text)]
        whys = [(text, why) for text, why in planted.decisions if why]
        told = {(line.text, line.why) for line in entry.decisions}
        self.missing += [
            f"{planted.name}: {why}"
            for text, why in whys
            if not any(_short(text) in _plain(one) and _short(why) in _plain(reason) for one, reason in told)
        ]
        self.answered += [text for text in planted.answered if _holds(entry.questions, _short(text))]
        lines = (*entry.done, *entry.decisions, *entry.questions, *entry.further)
        self.paths += [line.text for line in lines if "/home/" in f"{line.text} {line.why}"]


def _short(text: str) -> str:
    return (
        _plain(text).replace(f"{HOME}/docs", "shop/docs").replace(f"{HOME}/", "").replace("shop/docs", "docs")
    )


def _plain(text: str) -> str:
    return " ".join(normal_line(text).split())


def _holds(lines: tuple[Line, ...], text: str) -> bool:
    return any(text in _plain(line.text) for line in lines)


def check(vault: Vault, seed: int, count: Count) -> None:
    """Write a session, make its history, have a human edit that, and make it again."""
    planted = plant(seed)
    note = vault.create(planted.name, planted.text.encode())
    made = make_history(vault, note, now=NOW, redact=_as_it_is, roots=(HOME,))
    count.take(planted, _entry(vault, made.path))
    text = made.path.read_text(encoding="utf-8").replace(
        "## Open Questions\n", "## Open Questions\n\n- Mine, from Ada\n"
    )
    made.path.write_text(text, encoding="utf-8")
    again = make_history(vault, vault.read(note.path), now=NOW, redact=_as_it_is, roots=(HOME,))
    entry = _entry(vault, again.path)
    if Line("Mine, from Ada") not in entry.questions:
        count.missing.append(f"{planted.name}: a human's line")
    count.take(planted, entry)


def _as_it_is(text: str) -> tuple[str, dict[str, int]]:
    return text, {}


def _entry(vault: Vault, path: Path) -> Entry:
    entry = load_entry(vault, path).entry
    assert entry
    return entry


def main() -> int:
    """Count and tell; 1 when something is missing."""
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / ".crucible").mkdir()
        vault = Vault(Path(folder), VaultSettings(fsync=False))
        for seed in range(sessions):
            check(vault, seed, count)
    head = f"{sessions} sessions, {count.planted} planted: {len(count.missing)} missing, {len(count.paths)} with paths"
    rows = [f"{head}, {len(count.answered)} told as open though answered"]
    rows += [f"  {text}" for text in (*count.missing[:20], *count.paths[:20], *count.answered[:20])]
    sys.stdout.write("\n".join(rows) + "\n")
    return 1 if count.missing or count.paths else 0


if __name__ == "__main__":
    sys.exit(main())
