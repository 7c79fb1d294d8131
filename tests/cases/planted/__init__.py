"""Sessions with planted failures, corrections, decisions and delegations, and the truth of them.

`generate(random.Random(seed))` gives a `Generated`, `generate_many(seed, count)` as many as wanted; `score` compares cases
with the truth; `write` puts a session into a vault.  What counts as a case stands in `truth`.

    python -m tests.cases.planted --seed 1 --count 3 --vault DIR
"""

from tests.cases.planted.scoring import Score, is_of, score
from tests.cases.planted.story import generate, generate_many
from tests.cases.planted.truth import Generated, Noise, Planted
from tests.cases.planted.writing import write

__all__ = ["Generated", "Noise", "Planted", "Score", "generate", "generate_many", "is_of", "score", "write"]
