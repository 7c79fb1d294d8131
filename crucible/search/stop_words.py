"""English words that say nothing of what is asked for.

Owns the list.  They are left out of a question as long as other words are in it, and never out of a text: a phrase may hold them.
"""

from __future__ import annotations

STOP_WORDS = frozenset(  # a list of a hundred lines is no clearer
    """
    a about above after again against ain all also am an and any anybody anyone anything are aren as at be because been
    before being below between both but by can could couldn d did didn do does doesn doing don down during each ever few
    for from further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn
    it its itself just ll m me might mightn more most must mustn my myself needn no nor not now o of off on once only or
    other our ours ourselves out over own please re s same shall shan she should shouldn so some somebody someone something
    such t than that the their theirs them themselves then there these they this those through to too under until up us ve
    very was wasn we were weren what when where which while who whom whose why will with won would wouldn y you your yours
    yourself yourselves
    """.split()  # noqa: SIM905
)
"""In small letters, as they stand between apostrophes: `don't` is `don` and `t`."""
