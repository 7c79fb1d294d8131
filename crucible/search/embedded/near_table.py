"""Make the table of near words from word vectors on this machine, and the words of a vault's notes.

The vectors are a matrix in a `*.safetensors` file and the `tokenizer.json` that it belongs to, as model2vec and the
package wordllama keep them.  Imported late: needs numpy and tokenizers, the extra `near`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, reason_of
from crucible.core.files import inside, read_bytes
from crucible.core.text import stop_words
from crucible.search.embedded.segments import analyze
from crucible.search.near_words import HEAD
from crucible.search.question_words import with_name_parts, words_in

Matrix = Any
"""An array of numpy, which is optional."""

MOST_NEAR, LEAST = 8, 0.3
"""Maximum number of near words of a word, and their minimum similarity (cosine)."""
MOST_STEMS = 30_000
"""Maximum number of the vault's stems in the table: those in the most notes."""
_ROWS = 1_000
"""Number of stems compared with all of the vault's at a time, which bounds the memory."""
_CHANGED = 0.05
"""The share of the vault's events by which their number must change for the table to be made again."""
_SHORTEST, _LONGEST = 3, 30
"""Minimum and maximum letters of a word in the table."""
_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I8": "|i1", "I32": "<i4", "I64": "<i8"}
_LARGEST_HEADER = 10_000_000


def source_of(folder: Path) -> str:
    """Return text that changes with the vectors in a folder.  Raises `CrucibleError` if there are none."""
    return " ".join(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in _files(folder))


def is_stale(head: Sequence[str], now: Sequence[str]) -> bool:
    """Return whether the table was made of other vectors, or of far fewer or more events."""
    if len(head) != len(now) or head[0] != now[0] or not head[1].isdecimal():
        return True
    return abs(int(now[1]) - int(head[1])) > _CHANGED * int(now[1])


def make_table(root: Path, notes: Iterable[str], folder: Path, head: Sequence[str]) -> Iterator[bytes]:
    """Yield the lines of the table, in order.  `notes` are paths in the vault at `root`."""
    vectors = WordVectors(folder)
    common = _most_common_forms(_words(root, notes))
    forms = _most_common_forms(Counter(vectors.words())) | common
    rows = {HEAD: "\t".join(one.replace("\t", " ").replace("\n", " ") for one in head)}
    for stem, near in vectors.near(forms, dict(list(common.items())[:MOST_STEMS])):
        rows[stem] = "\t".join(f"{one}:{similarity:.2f}" for one, similarity in near.items())
    encoded = {stem.encode(): row for stem, row in rows.items() if row}
    return (b"%s\t%s\n" % (stem, encoded[stem].encode()) for stem in sorted(encoded))


def _words(root: Path, notes: Iterable[str]) -> Counter[str]:
    """Return the words of the vault's notes in lower case, with the number of notes that have them."""
    found: Counter[str] = Counter()
    for note in notes:
        try:
            data, _ = read_bytes(inside(root, root / note))
        except CrucibleError:
            continue
        found.update({word.lower() for word in words_in(with_name_parts(data.decode("utf-8", "replace")))})
    return found


def _most_common_forms(words: Counter[str]) -> dict[str, str]:
    """Return for each stem the word that most notes have, those of the most notes first."""
    fit = [word for word, _ in words.most_common() if _is_fit(word)]
    found: dict[str, str] = {}
    for stem, word in zip(analyze(" ".join(fit)), fit, strict=True):
        found.setdefault(stem, word)
    return found


def _is_fit(word: str) -> bool:
    is_word = _SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()
    return is_word and word not in stop_words("search")


class WordVectors:
    """A vector for each token of a tokenizer; a word has the mean of its tokens' vectors."""

    def __init__(self, folder: Path) -> None:
        """Load the vectors.  Raises `CrucibleError` if they cannot be read, or the extra is not installed."""
        try:
            import numpy as np  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415  an optional dependency
            from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
        except ImportError as error:
            raise CrucibleError(
                f"near words need the extra: {install_command('near')}", "or remove recall.near from your settings"
            ) from error
        matrix_path, tokenizer_path = _files(folder)
        try:
            self._tokenizer = Tokenizer.from_str(tokenizer_path.read_text("utf-8"))
            self._matrix = _read_matrix(np, matrix_path)
        except BaseException as error:  # the library panics on some files, and that is not an `Exception`
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            raise CrucibleError(f"{folder}: word vectors cannot be read: {str(error)[:200]}", _HINT) from error
        self._np = np
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def words(self) -> list[str]:
        """Return the tokens that are words, in lower case."""
        return [token.lstrip("▁Ġ").lower() for token in self._tokenizer.get_vocab()]

    def near(self, forms: Mapping[str, str], common: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, float]]]:
        """Yield each stem with the most similar of the vault's, best first.  Both map stems to the word to compare."""
        stems, names = list(forms), list(common)
        own = self._vectors(list(common.values()))
        for at in range(0, len(stems), _ROWS):
            some = stems[at : at + _ROWS]
            similar = self._vectors([forms[stem] for stem in some]) @ own.T
            for stem, row in zip(some, similar, strict=True):
                places = self._np.flatnonzero(row >= LEAST)
                best = places[self._np.argsort(-row[places], kind="stable")][: MOST_NEAR + 1]
                near = {names[place]: float(row[place]) for place in best if names[place] != stem}
                yield stem, dict(list(near.items())[:MOST_NEAR])

    def _vectors(self, words: Sequence[str]) -> Matrix:
        """Return the vectors of words, each of length 1, or 0 for a word without tokens."""
        np = self._np
        found = np.zeros((len(words), self._matrix.shape[1]), np.float32)
        for at, encoding in enumerate(self._tokenizer.encode_batch(list(words), add_special_tokens=False)):
            if encoding.ids:
                found[at] = self._matrix[encoding.ids].mean(0)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths == 0, 1, lengths)


def _files(folder: Path) -> tuple[Path, Path]:
    """Return the only matrix below a folder, and its tokenizer."""
    matrices = sorted(folder.rglob("*.safetensors"))
    tokenizers = sorted(folder.rglob("*tokenizer*.json"), key=lambda one: (one.name != "tokenizer.json", one))
    if len(matrices) != 1 or not tokenizers:
        raise CrucibleError(f"{folder}: no word vectors: {len(matrices)} matrices, {len(tokenizers)} tokenizers", _HINT)
    return matrices[0], tokenizers[0]


_HINT = "set recall.near in your settings to a folder with one *.safetensors file and its tokenizer.json, or remove it"


def _read_matrix(np: Any, path: Path) -> Matrix:
    """Return the vectors of all tokens.

    The file is a length of eight bytes, a JSON object that describes the arrays, and their values.  model2vec may keep
    a weight for each token, and the row of each token if several share one.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(reason_of(error)) from error
    size = int.from_bytes(data[:8], "little")
    if size > min(len(data), _LARGEST_HEADER):
        raise ValueError("no safetensors file")
    arrays = {}
    for name, one in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            first, end = one["data_offsets"]
            values = np.frombuffer(data[8 + size + first : 8 + size + end], _TYPES[one["dtype"]])
            arrays[name] = values.reshape(one["shape"])
    (matrix,) = (one for one in arrays.values() if one.ndim == 2)
    matrix = matrix.astype(np.float32)
    matrix = matrix[arrays["mapping"]] if "mapping" in arrays else matrix
    return matrix * arrays["weights"].astype(np.float32)[:, None] if "weights" in arrays else matrix
