"""Write the rows and fields in each client's recorded logs to `crucible/clients/known_fields.json`.

Run it after adding a recording.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from crucible.clients.log_files import read_file  # noqa: E402
from crucible.clients.row_shapes import KNOWN_FIELDS, shape_of  # noqa: E402

RECORDINGS = ROOT / "tests" / "data" / "transcripts"


def shapes() -> dict[str, dict[str, list[str]]]:
    """Return the fields of each kind of row, by client."""
    found: dict[str, dict[str, set[str]]] = {}
    for path in sorted(RECORDINGS.glob("*/**/*.jsonl")):
        client = path.relative_to(RECORDINGS).parts[0]
        for record in read_file(path):
            if record.value is not None:
                kind, fields = shape_of(record.value)
                found.setdefault(client, {}).setdefault(kind, set()).update(fields)
    return {client: {kind: sorted(fields) for kind, fields in sorted(kinds.items())} for client, kinds in found.items()}


def text() -> str:
    """Return the file's text."""
    return json.dumps(shapes(), indent=0, sort_keys=True) + "\n"


if __name__ == "__main__":
    KNOWN_FIELDS.write_text(text(), encoding="utf-8")
