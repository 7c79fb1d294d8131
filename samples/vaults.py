"""Generated vaults: as many sessions as wanted, about four kilobytes each, the same for the same seed.

The notes are composed here, not by the package, so that what is measured is read as a stranger wrote it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.vault.notes.init_vault import init_vault

AGENTS = ("claude-code@2.1.197", "codex@0.51.0", "opencode@1.0.80", "gemini-cli@0.14.0", "reviewer")
_MODELS = ("claude-opus-4-8", "claude-sonnet-4-8", "gpt-6-codex", "gemini-3-pro")
_CHANNELS = ("dev", "review", "ops", "docs")
_STATUS = ("completed",) * 7 + ("failed",) * 2 + ("paused",)
_PROJECTS = ("shop", "ledger", "site", "compiler", "infra")
_WORDS = (  # noqa: SIM905  a list of thirty lines is no clearer
    "limiter bucket retry cache schema queue worker token session index parser render config deploy rollback "
    "metric alert login upload search export import backup restore cluster shard replica stream"
).split()
_FIRST = datetime(2024, 12, 1, tzinfo=UTC)
_SPAN = timedelta(days=720)
_SENTENCES = (
    "I read the module, its three tests and the two places that call it; none of them passes a key.",
    "A sliding log would be exact, but it needs memory for every request that ever came in.",
    "The lock stays around both lines, since `setdefault` alone is not enough when two threads meet.",
    "All tests pass now, two of them new, and the public signature is what it was before.",
    "What is left is the page that shows the numbers, which reads the old table until tomorrow.",
    "The clock goes backwards when the machine is set, so `last` comes from `time.monotonic()` now.",
)


def generated_vault(root: Path, count: int, *, seed: int = 0, months: bool = False) -> Path:
    """A vault of `count` sessions at `root`; in one folder, or with `months` in one a month."""
    init_vault(root, obsidian=False)
    sessions = root / "sessions"
    sessions.mkdir(exist_ok=True)
    made = {sessions}
    for name, text in session_texts(count, seed):
        folder = sessions / name[:7] if months else sessions
        if folder not in made:
            folder.mkdir()
            made.add(folder)
        (folder / f"{name}.md").write_bytes(text.encode())
    return root


def session_texts(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Ids and whole notes, spread evenly over two years."""
    dice = random.Random(seed)
    for number in range(count):
        started = _FIRST + _SPAN * number / count + timedelta(seconds=dice.randrange(600))
        yield _session(dice, number, started)


def _session(dice: random.Random, number: int, started: datetime) -> tuple[str, str]:
    words = dice.sample(_WORDS, 3)
    name = f"{started:%Y-%m-%d}-{'-'.join(words)}-{number:06d}"
    status, agent, channel = dice.choice(_STATUS), dice.choice(AGENTS), dice.choice(_CHANNELS)
    ended = started + timedelta(seconds=dice.randrange(60, 7200))
    head = [
        "---",
        "type: session",
        f"session_id: {name}",
        f'started: "{_stamp(started)}"',
        *([f'ended: "{_stamp(ended)}"'] if status in ("completed", "failed") else []),
        f"status: {status}",
        f"project: {dice.choice(_PROJECTS)}",
        "branch: main",
        f"channel: {channel}",
        "participants:",
        f"  - {agent}",
        f"model: {dice.choice(_MODELS)}",
        f"tokens_used: {dice.randrange(500, 90_000)}",
        f"tokens_cached: {dice.randrange(5_000, 900_000)}",
        "sources:",
        f"  - claude-code:{dice.getrandbits(128):032x}",
        "tags:",
        "  - session",
        "---",
        "",
        f"# {words[0].title()} the {words[1]} for the {words[2]}",
        "",
    ]
    phases = [_phase(dice, part, started, agent, channel) for part in range(4)]
    return name, "\n".join(head) + "\n" + "\n---\n\n".join(phases)


def _phase(dice: random.Random, part: int, started: datetime, agent: str, channel: str) -> str:
    words = dice.sample(_WORDS, 4)
    begun = started + timedelta(minutes=7 * part)
    lines = [
        f"## {words[0].title()} the {words[1]} @{agent} #{channel}",
        "",
        f"started:: {_stamp(begun)}",
        f"ended:: {_stamp(begun + timedelta(minutes=6))}",
        f"tokens:: {dice.randrange(100, 20_000)}",
        "",
        "> [!user]",
        f'> "Now the {words[2]}, the same as for the {words[3]}"',
        "",
        " ".join(dice.sample(_SENTENCES, 4)),
        "",
        "**Tool calls:**",
        f"- `Read src/{words[1]}.py` → {dice.randrange(20, 400)} lines",
        f"- `Edit src/{words[1]}.py` → +{dice.randrange(1, 40)} -{dice.randrange(1, 20)}",
        f"- `Bash pytest tests/test_{words[1]}.py -q` → "
        + dice.choice(("23 passed in 1.42s", "❌ FAILED test_third - AssertionError")),
        "",
        "> [!decision]",
        f"> One {words[2]} for each {words[3]}, not a global one.",
        "> Rationale: a busy customer must not starve the others.",
        "",
    ]
    if dice.random() < 0.3:
        lines += [
            "> [!error]",
            f"> The {words[1]} failed because `last` starts at 0.",
            *(["> Resolution: start from `time.monotonic()`."] if dice.random() < 0.7 else []),
            "",
        ]
    lines += [f"{' '.join(dice.sample(_SENTENCES, 2))} See [[{words[2]}-notes]].", ""]
    return "\n".join(lines)


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
