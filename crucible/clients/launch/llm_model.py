"""Ask a model of the `llm` library: `python -m crucible.clients.launch.llm_model MODEL`, prompt on standard input.

Prints the answer as JSON.  Runs as a separate process because the library takes a second to import, has no time-out,
and loads all of the user's plugins.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from crucible.core.command_lines import install_command


def answer(name: str, prompt: str) -> dict[str, Any]:
    """Return the model's answer and, if the model reports them, the token counts."""
    import llm  # noqa: PLC0415  an optional dependency

    model = llm.get_model(name)
    response = model.prompt(prompt, stream=False)
    text = response.text()
    usage = response.usage()
    return {
        "result": text,
        "model": str(getattr(model, "model_id", name)),
        "usage": {"input_tokens": usage.input, "output_tokens": usage.output},
    }


def main() -> int:
    """Print the answer or a one-line error; return the exit code."""
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        found = answer(sys.argv[1], prompt)
    except ImportError as error:
        return _complain(f"the llm library cannot be imported ({error}). Run: {install_command('llm')}")
    except Exception as error:  # noqa: BLE001  plugins may raise anything, and the caller expects one line
        return _complain(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(json.dumps(found).encode())
    return 0


def _complain(line: str) -> int:
    sys.stderr.write(" ".join(line.split()) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
