"""Patterns: a way of doing that is said to be worth doing again.

Owns the marks of it: what such a way is called, that it holds in general, that it is advised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.capture.decided import EXPLAINS, Told
from crucible.capture.marks import Mark, mark, weigh
from crucible.capture.never import is_chance
from crucible.capture.sentences import Sentence
from crucible.capture.unsettled import is_void
from crucible.patterns import late_pattern

__all__ = ["patterns_in"]

_LEAST = 1.5
# fmt: off
_CALLED = mark(
    "called", 1.0,
    r"\b(?:patterns?|rules? of thumb|techniques?|idioms?|recipes?|conventions?|habits?|practices?|approach(?:es)?|strateg(?:y|ies)|methods?|lessons?|takeaways?|take-aways?|tricks?|heuristics?|guidelines?|principles?|playbook|template|blueprint|routines?|rules?|discipline|mantra|motto|golden rule|checklist|norm|formula|procedures?|workflow|scheme|house way|house style|way (?:to|of|with|we|forward)|class(?:es)? of (?:bug|error|problem|mistake|issue)s?|kind of (?:bug|error|problem)s?|safe order|right order|best order|(?:good|sensible|safe|our|my) (?:default|standard)|reflex|staple|how to (?:handle|do|deal|treat|approach|write|test|work|build|add|change|migrate|name|go about)|advice|learning|insight|moral)\b",
    r"\b(?:muster|faustregel|rezept\w*|regel|regeln|vorgehen|vorgehensweise|technik|gewohnheit|lehre|konvention|prinzip|grundsatz|leitlinie|strategie|methode|handgriff|kniff|trick|merksatz|erkenntnis|daumenregel|ansatz)\b|\b(?:règle|recette|méthode|leçon|habitude|motif|astuce|pratique|technique|convention|principe|stratégie|schéma|réflexe|façon de faire|démarche|approche|manière)\b|\b(?:patrón|regla|receta|lección|práctica|costumbre|truco|schema|regola|ricetta|lezione|prassi|padrão|regra|receita|lição|prática|patroon|vuistregel|les|wzorzec|zasada|przepis|lekcja)\b|шаблон|правило|приём|прием|рецепт|урок|паттерн|практик|模式|套路|经验|规律|惯例|做法|原则|パターン|やり方|定石|教訓|コツ|원칙|패턴|방식|교훈",
)
_ALWAYS = mark(
    "always", 1.0,
    r"(?:^|[:,;] |\band )never \w+|\b(?:always|every ?time|(?:second|third|fourth|fifth|tenth|nth) time|each time|every (?:single )?(?:time|one|case|place|change|new|module|service|project|endpoint)|whenever|wherever|in general|generally|generally speaking|as a (?:rule|matter of course|general)|in (?:every|all|each|any) (?:cases?|modules?|projects?|such)|in all of these|across (?:all|the|every|modules|projects|services|teams)|any (?:future|time|other|new|further|such|similar|case of|work on|change to)|next time|the next (?:time|person|one|team|developer|engineer)|(?:in (?:the )?|for (?:the )?|for any |for all )futures?|from now on|going forward|over and over|again and again|time and again|(?:ever|touch|deal|meet|need|use|do)\b.{1,60}\bagain|no matter (?:which|what|where|who)|regardless of|anyone who|anybody who|whoever|if you (?:ever|need|have|deal|touch|meet)|as soon as you|when(?:ever)? we|by default|usually|universally|elsewhere|everywhere|other (?:modules|projects|places|teams|services)|and the like|of this kind|all of (?:these|them)|these all|for all|not (?:just|only) here|in all|across the board|routinely|habitually|as a habit|every \w+ (?:we|i|you|that)|other (?:modules|services|projects|places|tables|lists|screens))\b",
    r"\b(?:immer|stets|jedes ?mal|jeweils|künftig|zukünftig|in zukunft|generell|grundsätzlich|allgemein|im allgemeinen|überall|bei jede[mrn]|bei allen|für alle|für jede[nrs]?|wann immer|das nächste mal|nächstes mal|wieder|immer wieder|wer (?:auch )?immer|egal welche\w*|niemals)\b|\b(?:toujours|chaque fois|à chaque|en général|généralement|désormais|à l'avenir|dorénavant|partout|jamais|systématiquement|la prochaine fois|quel que soit|pour (?:tout|toute|tous|toutes)|dans tous les cas|quiconque|encore)\b|\b(?:siempre|cada vez|en general|nunca|la próxima vez|sempre|ogni volta|in generale|mai|la prossima volta|cada vez que|em geral|da próxima|altijd|elke keer|in het algemeen|voortaan|zawsze|za każdym razem|ogólnie|następnym razem)\b|всегда|каждый раз|впредь|в общем|в следующий раз|завжди|щоразу|надалі|总是|每次|以后|今后|凡是|一般来说|下次|毎回|いつも|今後|一般に|次回|항상|매번|앞으로|일반적으로|다음에",
)
_ADVISED = mark(
    "advised", 1.0,
    r"\b(?:worth (?:\w+ing|a |having|the|it|our)|keep (?:this|that|it|these) in mind|to keep(?: in mind| for)?|keeping|(?:bear|note|remember)(?:ing)? (?:this|that|it|for|in mind|to)|to remember|recommend(?:ed|able)?|pays off|paid off|pay dividends|proved (?:itself|useful|good|right|its worth)|proven (?:itself|useful|good)|has worked|worked (?:well|out|nicely|twice|every|each|again|here and)|works (?:well|best|out|every|each|reliably|nicely)|serv(?:es|ed) us well|sav(?:es|ed) (?:us|me|time|the day|hours)|copy this|can (?:copy|reuse|re-use|follow|steal|repeat|apply)|reus(?:e|able)|re-use|repeat(?:able)?|the default|my default|our default|(?:we|you|one|i|everyone|strategy|approach|rule|way|order)(?: \w+){0,6}? (?:should|ought to|do well to|does well to|would do)|stick to|stick with|adopt(?:ed|ing)? (?:this|it)|the way to go|good (?:way|idea|practice|habit|rule|fit|default)|best (?:practice|way|done|to)|safest|easiest|simplest|cleanest|made it easy|makes? (?:it|this|that|them|these) (?:easy|easier|safe|simple)|helps|never (?:fails|failed|let)|easy as soon|transferable|generali[sz]es?|carries over|applies to|holds for|also (?:fits|works|applies)|emerged|crystalli[sz]ed|came out of|comes out of|fell out of|distilled|learned|learnt|in common|have in common|there is a (?=\w+ ?(?:here|to|behind|that))|this helped|helped|that helped|in common|share[sd]?|boils down|seems to be|i follow|do (?:this|it|that|so|the same|likewise)|same)\b",
    r"\b(?:bewährt|lohnt|merken|zu merken|empfehl\w*|empfiehlt|sollten wir|sollte man|sollten|am besten|gut (?:gegangen|funktioniert|geklappt)|funktioniert (?:gut|immer)|hilft|spart|erspart|übertragbar|wiederverwend\w*|dasselbe|gleiche|beibehalten|so (?:machen|halten)|festhalten)\b|\b(?:à retenir|à refaire|à garder|à répéter|à réutiliser|vaut la peine|vaut le coup|recommand\w*|conseill\w*|mieux vaut|il faut|on devrait|a fait ses preuves|fonctionne bien|marche bien|réutilisable|retenons|retenir|garder|même)\b|\b(?:vale la pena|recomend\w*|conviene|funciona bien|reutiliz\w*|raccomand\w*|funziona bene|riusabile|aanrader|de moeite waard|werkt goed|warto|polecam)\b|стоит|рекоменд|запомн|советую|варто|рекомендую|值得|建议|推荐|记住|应该|覚えて|おすすめ|べき|価値|推奨|좋다|권장|기억|추천",
)
_WORTH = mark(
    "worth", 1.5,
    r"\b(?:remember (?:this|that|it) (?:for|when|next)|(?:has |have )?prove[nd] (?:useful|itself|its worth|good|handy|reliable|right)|(?<!be )proven (?:approach|way|recipe|method|pattern|technique|here|in|for|over)|pays off|paid off|generali[sz]es|carr(?:y|ies) over|transferable|transfers|worth \w+|keep in mind|(?:do|does) well to|something to (?:reuse|keep|remember|repeat|copy)|thing to (?:take|keep|remember|carry)|advise|become (?:a|our|the|my)|go(?:es)? best|works? best|done best|best (?:handled|done|treated|solved|approached|served|written|tested)|recommend(?:ed)?|reusable|repeatable|time-tested|battle-tested|what i learned|what we learned|i learned|we learned|the lesson|should (?:treat|handle|do|approach) .{2,40}(?:future|always|each|every|from now)|keep coming back|how we should|that holds for|holds for every|scales to|applies to|stick to)\b",
    r"\b(?:bewährt\w*|eignet|merken|lohnt|übertragen|verallgemeiner\w*)\b.{0,80}:|\b(?:für|bei) (?:alle|jede)\w* .{2,80} gilt\b|\b(?:a fait ses preuves|à prendre|prochaines? fois|se généralise|à adopter|vaut (?:la peine|pour))\b",
)
_STRONG = mark(
    "strong", 2.0,
    r"^(?:wherever|anywhere|anyone|whoever|teams? (?:touching|working|dealing))\b.{10,}|^(?:wann immer|wo immer|überall|wer)\b.{10,}[,:]|^(?:partout|en règle générale|pour les prochaines|quand on)\b.{6,}[,:]",
    r"^(?:always|never|whenever|every time|each time|generally|in general|as a (?:general )?rule|for any|for every|with any|with every|for all|from now on|next time|in (?:the )?future|going forward)\b(?! (?:code|quoted)).{8,}|^(?:the |a |an |one |my |our |this |another |useful |good |general |same |safe |handy |small )*(?:pattern|rule|recipe|technique|idiom|lesson|guideline|principle|trick|habit|practice|heuristic|takeaway|playbook|checklist|tip|insight|learning|moral|reminder|advice|note for (?:the )?(?:future|next|later|others))\b[^:.]{0,90}: |\brules? of thumb\b|\bgood (?:habit|practice|rule|pattern|discipline|idea)\b|\bwhat works\b|\b(?:works?|worked|helps|helped|holds|held) (?:for all|every time|each time|everywhere|time and again|again and again)\b|\bi(?:'d| would) (?:use|do|repeat|apply|reuse|follow|take|recommend)\b.{0,40}\b(?:again|every|each|always|any|anywhere|everywhere)\b|\b(?:approach|method|way|order|technique|trick|pattern|strategy|recipe|rule|habit) (?:to (?:remember|keep|follow|copy|reuse|repeat|prefer|take along)|of choice|that (?:works|worked|helps|generali[sz]es|pays|always|never|holds|keeps|carries|scales|transfers|i would|we should|saved))\b|\b(?:note|notes|reminder|advice|tip|hint) (?:for|to) (?:the |my |our |any |whoever )?(?:future|next|later|others|self|anyone|whoever|colleagues)\b|\bdo (?:it|this|so) (?:like this|this way|that way) (?:everywhere|always|each|every|in)\b|\bworth (?:doing|keeping|repeating|remembering|reusing|copying|noting|stealing|adopting|generali[sz]ing|turning into|writing down|a rule)\b|\bkeep (?:this|that|it) in mind for\b|\bany future\b|\b(?:make|made) (?:this|it|that) (?:the|our|my|a) (?:default|habit|rule|standard|convention|practice|norm)\b|\blessons? (?:learned|learnt|for|from)\b|\b(?:key |my |the |one |main )takeaways?\b|\bbest practices?\b|\bgolden rule\b|\bfor (?:the )?next time\b|\bnote to (?:self|future)|\bthe next (?:person|one|developer|team|engineer|time)\b|\b(?:repeatable|reusable) (?:for|in|across|pattern|recipe|way|step)|\bbewährt hat sich\b|\bhat sich bewährt\b|\bfaustregel\b|\bmerke\b|^(?:immer|stets|grundsätzlich|generell|jedes mal|bei jede[mr])\b|^(?:das |die |der |als |eine? |gute |unsere? |meine? |allgemeine |einfache )*(?:muster|regel|rezept|technik|lehre|prinzip|grundsatz|konvention|gewohnheit|faustregel|kniff|trick|vorgehen)\b[^:.]{0,90}:|\bmerke ich mir\b|\blohnt (?:es )?sich\b.{0,20}\bimmer\b|^(?:toujours|en général|chaque fois|à chaque)\b|^(?:la |le |une? |notre |ma |bonne |l')*(?:règle|recette|méthode|astuce|technique|leçon|pratique|habitude|principe|réflexe)\b[^:.]{0,90} ?:|\brègle à\b|\bà refaire\b|\bà retenir\b|\bà réutiliser\b|\bbonne pratique\b|\bregola d'oro\b|\bbuena práctica\b|\bboas? prática|\bvuistregel\b|\bdobra praktyka\b|хорошая практика|золотое правило|最佳实践|经验法则|ベストプラクティス|모범 사례",
)
_SHAPE = mark("shape", 0.5, r"\w[^:]{2,}: \w|; \w| - \w|, (?:then|first|always|never) |^(?:for|with|when|whenever|in|on|to|if|how) |\bis to \w|\bfirst\b|[：；]")
_LABELLED = late_pattern(
    r"^(?!.{0,60}\b(?:approach|plan|strategy|method|steps?|procedure|status|summary|files?|changes?|claim|proof|proven|confirmed|verified|demonstrated|assumption|hypothesis|expectation|criterion|result|decided|decision|choice|hier|soweit|annahme|ansatz|étapes)\b)[^:]{8,90}\b(?:for|with|about|on|when|in|of|für|bei|mit|pour|dans|avec|sur|para|con|per)\b[^:]{2,60}: ?\w+(?:\W+\w+){2}"
)
"""A way of doing behind what it is for: `something to reuse for caches: copy on entry`."""
_MARKS: tuple[Mark, ...] = (_CALLED, _ALWAYS, _ADVISED, _WORTH, _STRONG, _SHAPE)
# fmt: on


def patterns_in(sentences: Sequence[Sentence]) -> Iterator[Told]:
    """The ways of doing that an agent's words say are worth doing again; of neighbours in a paragraph, the first."""
    taken = (-1, -9)
    for place, one in enumerate(sentences):
        after = sentences[place + 1] if place + 1 < len(sentences) else None
        behind = after if after and after.paragraph == one.paragraph else None
        found = pattern_marks(one)
        if (
            sum(found.values()) < _LEAST
            or is_chance(one.plain)
            or EXPLAINS.match(one.plain)
            or is_void(one, [behind] if behind else [])
        ):
            continue
        is_sure = (
            bool({"strong", "worth"} & {*found})
            or {"called", "always"} <= {*found}
            or {"called", "advised", "shape"} <= {*found}
        )
        is_new = taken[0] != one.paragraph or one.at - taken[1] > 1
        taken = (one.paragraph, one.at)
        if is_new:
            yield Told(one, 0.75, behind.text if behind else "", is_sure)


def pattern_marks(one: Sentence) -> dict[str, float]:
    """The marks by which a sentence says that something is a way worth doing again; none where they do not say it together."""
    if len(one.plain) < 20:
        return {}
    found = weigh(one.plain, _MARKS)
    has = {*found}
    says = (
        "strong" in has
        or {"called", "advised"} <= has
        or {"called", "always"} <= has
        or {"always", "advised"} <= has
        or ("worth" in has and bool({"shape", "called", "always"} & has))
        or (bool({"called", "always", "advised"} & has) and bool(_LABELLED.match(one.plain)))
    )
    return found if says else {}
