"""Word vectors made for tests, in the form of model2vec's folders."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

Arrays = Mapping[str, tuple[str, Sequence[int], bytes]]


def write_vectors(
    folder: Path, vectors: Mapping[str, Sequence[float]], **more: tuple[str, Sequence[int], bytes]
) -> Path:
    """Write a folder with these vectors of words, and more arrays: type, shape and bytes."""
    folder.mkdir(parents=True)
    width = len(next(iter(vectors.values())))
    values = [value for vector in vectors.values() for value in vector]
    matrix = ("F32", [len(vectors), width], struct.pack(f"<{len(values)}f", *values))
    (folder / "model.safetensors").write_bytes(_safetensors({"embeddings": matrix, **more}))
    vocabulary = {word: at for at, word in enumerate(vectors)}
    tokenizer = {
        "version": "1.0",
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": next(iter(vocabulary))},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text("{}")
    return folder


def _safetensors(arrays: Arrays) -> bytes:
    header, data = {}, b""
    for name, (kind, shape, values) in arrays.items():
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    head = json.dumps({"__metadata__": {"format": "np"}, **header}).encode()
    return len(head).to_bytes(8, "little") + head + data
