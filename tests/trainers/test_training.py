"""Exported data trains: every shape loads, and a tiny model takes a LoRA step on it, on the CPU and offline.

`make learn-e2e` creates the environment and runs this; its packages are not installed elsewhere.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from crucible.commands.learn.export import Export, Exported, export_files
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.selection import parse_splits
from crucible.commands.learn.training_rows import Shape
from tests.unit.commands.learn.sample_cases import made_cases, many_cases

pytestmark = [pytest.mark.learn, pytest.mark.filterwarnings("default")]

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TRANSFORMERS_OFFLINE="1", WANDB_DISABLED="true")

TEMPLATE = """
{%- for tool in tools or [] %}<|system|>{{ tool | tojson }}<|end|>{% endfor %}
{%- for message in messages %}<|{{ message.role }}|>{{ message.content }}
{%- for call in message.tool_calls or [] %}<|call|>{{ call.function.name }} {{ call.function.arguments }}{% endfor %}<|end|>
{%- endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""


def _export(folder: Path, shape: Shape, cases: Any = None) -> Exported:
    export = Export(shape, parse_splits("train=0.7,test=0.3"), licence="mit", source="made")
    return export_files(cases or many_cases(6), export, Scrubber(lambda text: (text, {})), folder)


def _load(folder: Path, files: dict[str, str], **more: Any) -> Any:
    import datasets

    return datasets.load_dataset("json", data_files=files, cache_dir=str(folder / "cache"), **more)


def _files(exported: Exported) -> dict[str, str]:
    return {one.split: str(one.path) for one in exported.files}


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """A byte for a token, and the roles as special ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|call|>"]
    bare = Tokenizer(models.BPE({token: at for at, token in enumerate([*special, *letters])}, []))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=bare, pad_token="<|pad|>", eos_token="<|end|>", additional_special_tokens=special[2:]
    )
    made.chat_template = TEMPLATE
    return made


@pytest.fixture
def model(tokenizer: Any) -> Any:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


def test_versions_are_printed() -> None:
    names = ("datasets", "transformers", "trl", "peft", "torch")
    print("\n" + ", ".join(f"{name} {version(name)}" for name in names))  # noqa: T201


@pytest.mark.parametrize("shape", list(Shape))
def test_every_shape_loads_with_all_its_rows(tmp_path: Path, shape: Shape) -> None:
    exported = _export(tmp_path / "out", shape)
    data = _load(tmp_path, _files(exported))
    assert {name: len(rows) for name, rows in data.items()} == {one.split: one.rows for one in exported.files}
    assert set(data) == {"train", "test"}
    for rows in data.values():
        assert all(row["metadata"]["licence"] == "mit" for row in rows)


@pytest.mark.parametrize("shape", [shape for shape in Shape if shape is not Shape.TOOLS])
def test_a_data_set_loads_with_any_case_first(tmp_path: Path, shape: Shape) -> None:
    """Readers infer types from the first rows, so each case is tried alone in a file before a file of all cases."""
    exports = [_export(tmp_path / case.id, shape, [case]) for case in made_cases()]
    whole = _export(tmp_path / "all", shape)
    for number, one in enumerate(exported for exported in exports if exported.files):
        files = {"first": str(one.files[0].path), **_files(whole)}
        data = _load(tmp_path / str(number), files, chunksize=2_000)
        assert sum(map(len, data.values())) == 1 + whole.tally.rows


@pytest.mark.parametrize("number", range(7))
def test_tools_of_one_export_load_in_any_order(tmp_path: Path, number: int) -> None:
    """Schemas belong to one export; data sets of several exports need not be compatible."""
    cases = made_cases()
    first = [cases[number], *many_cases(6)] if number else many_cases(6)[::-1]
    exported = _export(tmp_path / "out", Shape.TOOLS, first)
    files = _files(exported)
    for order in (files, dict(reversed(files.items()))):
        data = _load(tmp_path / "-".join(order), order, chunksize=2_000)
        assert sum(map(len, data.values())) == exported.tally.rows


def test_the_folder_loads_by_its_card(tmp_path: Path) -> None:
    import datasets

    exported = _export(tmp_path / "out", Shape.MESSAGES)
    data = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(rows) for name, rows in data.items()} == {one.split: one.rows for one in exported.files}


@pytest.mark.parametrize("shape", [Shape.MESSAGES, Shape.TOOLS, Shape.PROMPT_COMPLETION])
def test_a_lora_step_with_sft(tmp_path: Path, shape: Shape, tokenizer: Any, model: Any) -> None:
    from trl import SFTConfig, SFTTrainer

    data = _load(tmp_path, _files(_export(tmp_path / "out", shape)))
    column = "prompt" if shape is Shape.PROMPT_COMPLETION else "messages"
    text = tokenizer.apply_chat_template(data["train"][0][column], tokenize=False)
    assert text.startswith("<|user|>")
    assert "<|assistant|>" in text
    args = SFTConfig(**_arguments(tmp_path))
    trainer = SFTTrainer(model, args=args, train_dataset=data["train"], processing_class=tokenizer, peft_config=_lora())
    _trains(trainer)


def test_a_lora_step_with_dpo(tmp_path: Path, tokenizer: Any, model: Any) -> None:
    from trl import DPOConfig, DPOTrainer

    data = _load(tmp_path, _files(_export(tmp_path / "out", Shape.PREFERENCE)))
    args = DPOConfig(**_arguments(tmp_path))
    trainer = DPOTrainer(model, args=args, train_dataset=data["train"], processing_class=tokenizer, peft_config=_lora())
    _trains(trainer)


def _arguments(folder: Path) -> dict[str, Any]:
    return {
        "output_dir": str(folder / "lora"),
        "max_steps": 1,
        "per_device_train_batch_size": 2,
        "learning_rate": 0.1,
        "max_length": 1024,
        "report_to": "none",
        "use_cpu": True,
        "bf16": False,
        "save_strategy": "no",
        "warmup_steps": 0,
        "gradient_checkpointing": False,
    }


def _lora() -> Any:
    from peft import LoraConfig

    return LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type="CAUSAL_LM")


def _trains(trainer: Any) -> None:
    """One step, with a loss that is a number, changes the adapter."""
    import math

    before = {name: one.detach().clone() for name, one in trainer.model.named_parameters() if one.requires_grad}
    result = trainer.train()
    assert result.global_step == 1
    assert math.isfinite(result.training_loss)
    assert before
    assert any((one.detach() != before[name]).any() for name, one in trainer.model.named_parameters() if name in before)
