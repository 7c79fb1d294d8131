"""The figures as tables, and the questions that fail: `make recall-eval`, or `python -m samples.recall_eval.report [--misses]`."""

# ruff: noqa: T201  what is asked for is printed

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from crucible.search.recall import Question
from crucible.vault.notes.vault import Vault
from samples.recall_eval.measuring import NOW, Figures, Outcome, figures_by, put_all
from samples.recall_eval.questions import grade_all, read_questions
from samples.recall_eval.vault import build_vault, documents, open_recall


def measure(vault: Vault, near: str = "") -> list[Outcome]:
    """Every question, asked of this vault; `near` is a folder of word vectors, or ""."""
    return put_all(grade_all(read_questions(), documents(vault)), open_recall(vault, near).ask)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description="Measure how well recall answers.")
    parser.add_argument(
        "--misses", action="store_true", help="show the questions whose answer is not among the first five"
    )
    parser.add_argument("--near", default="", help="a folder of word vectors for near words")
    parser.add_argument("--question", help="ask one question and show each score's parts")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # Nobody's own settings change what is measured.
        os.environ["HOME"] = folder
        os.environ["CRUCIBLE_CONFIG"] = str(Path(folder, "settings.toml"))
        vault = build_vault(Path(folder, "vault"))
        if chosen.question:
            _explain(vault, chosen.question)
            return
        outcomes = measure(vault, chosen.near)
    _tables(outcomes)
    if chosen.misses:
        _misses(outcomes)


def _tables(outcomes: Sequence[Outcome]) -> None:
    keys: tuple[tuple[str, Callable[[Outcome], str]], ...] = (
        ("kind", lambda one: one.graded.asked.kind),
        ("split", lambda one: one.graded.asked.split),
    )
    for name, key in keys:
        for side in ("sessions", "events"):
            print(
                f"\n{side} by {name}\n\n| {name} | questions | R@1 | R@5 | R@10 | MRR | nDCG@10 |\n|---|---|---|---|---|---|---|"
            )
            for row, figures in sorted(figures_by(outcomes, side, key).items(), key=_last_all):
                print(
                    f"| {row} | {figures.questions} | " + " | ".join(f"{100 * one:.1f}" for one in figures.means) + " |"
                )
    print(f"\n{len(outcomes)} questions, {sum(one.empty for one in outcomes)} came back empty")


def _last_all(row: tuple[str, Figures]) -> tuple[bool, str]:
    return row[0] == "all", row[0]


def _misses(outcomes: Sequence[Outcome]) -> None:
    for one in outcomes:
        asked = one.graded.asked
        for side in ("sessions", "events"):
            scored = getattr(one, side)
            if scored and not scored.r5:
                found = one.found_sessions if side == "sessions" else one.found_events
                wanted = [name for name, grade in getattr(one.graded, side).items() if grade > 1]
                print(f"{asked.kind} {asked.split}: {asked.text}\n  {side}: {found[:3]}\n  wanted: {wanted[:3]}")


def _explain(vault: Vault, text: str) -> None:

    answer = open_recall(vault).ask(Question(text, limit=10, context=0), NOW)
    for hit in answer.hits:
        parts = ", ".join(f"{name} {part:.2f}" for name, part in hit.parts.items())
        print(f"{hit.score:6.2f} {hit.event.kind:9} {hit.event.session}: {hit.snippet.text[:90]}  ({parts})")
    for one in answer.sessions:
        parts = ", ".join(f"{name} {part:.2f}" for name, part in one.parts.items())
        print(f"{one.score:6.2f} session   {one.session}  ({parts})")


if __name__ == "__main__":
    main()
