"""How well recall finds what was said in LoCoMo's long chats, which are not in this repository: CC BY-NC 4.0.

    make recall-eval LOCOMO=FILE                          LoCoMo's `locomo10.json`
    make recall-eval LOCOMO=FILE RECALL_EVAL="--near F"   with near words from the word vectors in a folder

Each turn is an event, a question of categories 1 to 4 is asked as it is.  The figures are shares of the sessions, or turns, that
answer, in one vault with all chats and in one vault for each chat, with 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import AgentRef, Entry, Intervention, Phase, Prose, Session, Status
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Answer, Question
from crucible.vault.notes.init_vault import init_vault
from samples.recall_eval.real_measuring import interval

_NOW = datetime(2026, 11, 28, tzinfo=UTC)
_DATE = "%I:%M %p on %d %B, %Y"
_UNANSWERABLE = 5
_DEPTH = 10

Chat = Mapping[str, Any]


class _Turn(NamedTuple):
    session: str
    text: str


class _Outcome(NamedTuple):
    """The figures of one question."""

    sessions: float
    mrr: float
    turns: float


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description="Measure how well recall finds what was said in LoCoMo's chats.")
    parser.add_argument("file", type=Path, help="LoCoMo's locomo10.json")
    parser.add_argument("--near", default="", help="a folder of word vectors for near words")
    chosen = parser.parse_args()
    chats = dict(enumerate(json.loads(chosen.file.read_text(encoding="utf-8"))))
    pooled = _outcomes(chats, chosen.near)
    alone = [one for name, chat in chats.items() for one in _outcomes({name: chat}, chosen.near)]
    print("| vault | questions | session R@5 | session MRR | turn R@10 |", "|---|---|---|---|---|", sep="\n")
    for name, found in (("all chats", pooled), ("each chat", alone)):
        print(f"| {name} | {len(found)} | " + " | ".join(map(_cell, zip(*found, strict=True))) + " |")


def _cell(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{100 * fmean(values):.1f} [{100 * low:.0f}, {100 * high:.0f}]"


def _outcomes(chats: Mapping[int, Chat], near: str) -> list[_Outcome]:
    """Ask all questions of some chats in one vault."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch).resolve() / "vault"
        init_vault(root)
        turns = {name: dict(_write(root, name, chat["conversation"])) for name, chat in chats.items()}
        recall = EmbeddedRecall(root, VaultSettings(), near=near)
        return [
            _judge(recall.ask(Question(one["question"], limit=_DEPTH, context=0), _NOW), wanted)
            for name, chat in chats.items()
            for one in chat["qa"]
            if one["category"] != _UNANSWERABLE and (wanted := _wanted(one["evidence"], turns[name]))
        ]


def _write(root: Path, name: int, chat: Mapping[str, Any]) -> Iterator[tuple[str, _Turn]]:
    """Write the sessions of a chat; yield the turns by id."""
    for number in range(1, len(chat)):
        if not (said := chat.get(f"session_{number}")):
            continue
        at = datetime.strptime(chat[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        identity, entries = f"{at:%Y-%m-%d}-chat-{name}-{number}", list[Entry]()
        for turn in said:
            text = " ".join(f"{turn['speaker']}: {turn['text']}".split())
            text += f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            entries.append(Intervention(text) if turn["speaker"] == chat["speaker_a"] else Prose(text))
            yield turn["dia_id"], _Turn(identity, _plain(text))
        phase = Phase("Chat", AgentRef("speaker"), "dev", at, entries=tuple(entries))
        title = f"{chat['speaker_a']} and {chat['speaker_b']}"
        session = Session(identity, at, Status.COMPLETED, title=title, phases=(phase,))
        (root / "sessions" / f"{identity}.md").write_text(render_session(session), encoding="utf-8")


def _wanted(evidence: Sequence[str], turns: Mapping[str, _Turn]) -> list[_Turn]:
    ids = (one for text in evidence for one in re.findall(r"D\d+:\d+", text))
    return [turns[one] for one in ids if one in turns]


def _judge(answer: Answer, wanted: Sequence[_Turn]) -> _Outcome:
    sessions, found = {one.session for one in wanted}, [one.session for one in answer.sessions]
    rank = next((at for at, one in enumerate(found, 1) if one in sessions), 0)
    texts = {_plain(hit.event.text) for hit in answer.hits}
    return _Outcome(
        len(sessions.intersection(found[:5])) / min(5, len(sessions)),
        1 / rank if rank else 0.0,
        fmean(one.text in texts for one in wanted),
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


if __name__ == "__main__":
    main()
