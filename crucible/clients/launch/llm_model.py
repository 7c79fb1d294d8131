"""`python -m crucible.clients.launch.llm_model MODEL`: a prompt on standard input, the answer of a model of the `llm` library as JSON.

A process of its own, since the library takes a second to import, knows no time-out, and loads whatever plugins the user
installed: it is bounded and stopped like any other program that is asked.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(name: str, prompt: str) -> dict[str, Any]:
    """What the model says, and the tokens it took where it tells them."""
    import llm  # noqa: PLC0415  an extra, which few installed

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
    """Exit code 1 and one line of complaint when there is no answer."""
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        found = answer(sys.argv[1], prompt)
    except ImportError as error:
        return _complain(f"the llm library cannot be imported ({error}): pip install 'crucible[llm]'")
    except Exception as error:  # noqa: BLE001  whatever a plugin raises, the caller gets a line
        return _complain(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(json.dumps(found).encode())
    return 0


def _complain(line: str) -> int:
    sys.stderr.write(" ".join(line.split()) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
