"""The dataset card: its front matter is valid YAML with any names, and its counts match the rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from crucible.commands.learn.export import CARD_MARK, ExportedFile, Provenance, Tally, metadata_of, render_card, row_of
from crucible.commands.learn.training_rows import Shape
from samples.hostile_texts import hostile_text
from tests.unit.commands.learn.sample_cases import PUZZLE, case_of, made_cases

FILES = [ExportedFile(Path("train.jsonl"), "train", 5, 0), ExportedFile(Path("test.jsonl"), "test", 2, 0)]


MINE = Provenance("MIT", "vault", "train")


def _card(shape: Shape = Shape.MESSAGES, provenance: Provenance = MINE) -> str:
    tally = Tally(redactions=Counter(email=2, jwt=1))
    for case in made_cases():
        tally.add(metadata_of(case, provenance))
    return render_card(shape, tally, FILES, provenance)


def _head(card: str) -> Any:
    return yaml.safe_load(card.split("---\n")[1])


def test_the_front_matter_has_the_fields_of_the_hub() -> None:
    head = _head(_card())
    assert head["license"] == "mit"
    assert head["size_categories"] == ["n<1K"]
    assert head["configs"][0]["data_files"] == [
        {"split": "train", "path": "train.jsonl"},
        {"split": "test", "path": "test.jsonl"},
    ]


@pytest.mark.parametrize("shape", list(Shape))
def test_the_card_describes_the_columns_and_the_training_of_each_shape(shape: Shape) -> None:
    card = _card(shape)
    columns = next(row for case in made_cases() if (row := row_of(case, shape))).keys()
    described = card.partition("## Columns")[2].partition("`metadata`")[0]
    assert all(f"`{column}`" in described for column in columns - {"metadata"})
    assert CARD_MARK in card
    assert shape.value in card
    assert "load_dataset" in card
    assert "LoRA" in card
    assert ("DPOTrainer" in card) == (shape is Shape.PREFERENCE)
    assert "\n\n\n" not in card


def test_counts_and_redactions_are_tables() -> None:
    card = _card()
    for line in ("| `train.jsonl` | 5 |", "| `puzzle` | 2 |", "| `email` | 2 |", "| `codex` | 1 |"):
        assert line in card
    assert "notes of\n3 sessions" in card


def test_without_a_licence_the_card_warns() -> None:
    card = _card(provenance=Provenance())
    assert _head(card)["license"] == "unknown"
    assert "is not known" in card


@given(hostile_text())
def test_no_name_becomes_markup(name: str) -> None:
    clean = name.encode("utf-8", "replace").decode()
    tally = Tally()
    tally.add(metadata_of(case_of(PUZZLE, agent=clean, project=clean), Provenance(clean, clean)))
    card = render_card(Shape.MESSAGES, tally, FILES, Provenance(clean, clean))
    plain = render_card(Shape.MESSAGES, tally, FILES, Provenance("Some Own", "x"))
    assert _head(card)["configs"] == _head(plain)["configs"]
    headings = [line for line in card.split("\n") if line.startswith("#")]
    assert headings == [line for line in plain.split("\n") if line.startswith("#")]
