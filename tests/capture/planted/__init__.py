"""Sessions with planted things worth keeping and noise that is not, and the truth of them.

`generate(random.Random(seed))` gives a `Generated`, `generate_many(seed, count)` as many as wanted; `score` compares a
detector's candidates with the truth; `write` puts a session into a vault.  What counts stands in `truth`.

What is said comes from one of four `books`: `half` 0 and 1, 2, 3, and 4.  The first one's tables (`topics`, `words_*`, `noise_*`, `filler_words`) are split into
halves 0 and 1 by every second row; no `half` at all takes both.  `half=2` is told with a book of its own (`third_*`): other
sentences, registers, domains, tools and folders, Spanish too, written when authors of the detector had read both halves and by
somebody who had not read the detector.  `half=3` (`fourth_*`) is one more such book, made when the results of half 2 were known; it shares stacks, calls,
APIs and half of the failures with `third_*`.  `half=4` (`fifth_*`) is one more, made when those of half 3 were known too; it shares the stacks with `third_*`
and nothing else, and whoever wrote it had read neither the detector nor the wordings of halves 2 and 3.  By now all of them are learnt from.

    python -m tests.capture.planted --seed 1 --count 3 --half 4 --vault DIR
"""

from tests.capture.planted.scoring import Candidate, Found, Score, Scores, is_of, score
from tests.capture.planted.story import generate, generate_many
from tests.capture.planted.truth import NEVER, Band, Generated, Kind, Noise, Planted, Reason
from tests.capture.planted.writing import write

__all__ = ["NEVER", "Band", "Candidate", "Found", "Generated", "Kind", "Noise", "Planted", "Reason", "Score", "Scores", "generate", "generate_many", "is_of", "score", "write"]  # fmt: skip
