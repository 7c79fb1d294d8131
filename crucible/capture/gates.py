"""Words without which a mark's turn cannot be found: all are looked for in one pass, which costs a tenth of trying the patterns.

Owns the table, by a mark's name with the number of its turns; each turn's words are joined with `|`, none where the pattern is simply tried.  It is
made from the patterns (`python -m tests.capture.gating`) and a test keeps it true, so it changes nothing of what is found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

__all__ = ["GATES", "Gate", "gate_of", "opened_by"]


class Gate(NamedTuple):
    """A mark's turn by the mark's key and its place among its turns."""

    key: str
    place: int


def gate_of(key: str, place: int) -> Gate | None:
    """The gate of a mark's turn; None where it is always open."""
    gates = GATES.get(key, ())
    return Gate(key, place) if place < len(gates) and gates[place] else None


@lru_cache(maxsize=256)
def opened_by(plain: str) -> frozenset[Gate]:
    """The gates that a sentence in small letters opens; it is asked for each mark again."""
    automaton, opens = _machine()
    # The automaton takes no lone surrogates, of which a note's odd bytes are made.
    plain = plain.encode("utf-8", "replace").decode("utf-8")
    words = {word for word, _, _ in automaton.find_matches_as_indexes(plain, overlapping=True)}
    return frozenset(gate for word in words for gate in opens[word])


@cache
def _machine() -> tuple[AhoCorasick, list[list[Gate]]]:
    """What finds all words in one pass, and the gates that each opens."""
    from ahocorasick_rs import AhoCorasick  # noqa: PLC0415  most commands look at no words

    opens: defaultdict[str, list[Gate]] = defaultdict(list)
    for key, turns in GATES.items():
        for place, joined in enumerate(turns):
            for word in filter(None, joined.split("|")):
                opens[word].append(Gate(key, place))
    return AhoCorasick([*opens]), [*opens.values()]


# fmt: off
GATES: Mapping[str, tuple[str, ...]] = {
    "settles 6": (
        " for|agree|am sold on|are sold on|bet|choos|chose|commit|conclude|decid|ended up |favo|land|made up my mind|opt|pick|prefer|resolved to|rule|ruling out|selected|settl|side|standardi|stay|stick|vote|went |with",
        " down | here| sold on|agreed|answer|approach|candidate|choice|choose|choosing|chose|closed|committing to|decide|design|end|finished|fix |format|go with|going for|going with|is what |nothing |one|opt|over|pick|prefer|resolved|select|settle|settling |solution|staying with|sticking |taking|technology|the |tool|way|went with|wind|wound",
        "done deal|final|lock|my mind is made up|our minds are made up|that|this|which",
        " bleibt| steht| wird|ausgewählt|beschließe|beschlossen|bevorzuge|bleibt es bei|die wahl|entscheide|entschied|entschlossen|festgelegt|gehe|lege|setze|steht fest:|wähle|zuschlag",
        "choisi|décide|décidons|décidé|engage|le choix |mon choix|notre choix|opte|optons|opté|pars sur|part|préfère|préférons|retenons|retenu|retiens|retient|tranche|tranché|va pour",
        "abbiamo deciso|abbiamo scelto|besloten|decid|elegimos|elegí|elijo|escolhemos|escolhi|gekozen voor|ho deciso|ho scelto|ik kies|me quedo con|nos quedamos con|optamos|optei|optiamo|opto|scegliamo|scelgo|we kiezen|wybieram|wybra|zdecydowa|вирішил|выбира|выбрал|обрали|остановил|решено|решил|に決め|に決定|を採用|を選|决定|最终选|选择了|选用|采用|결정했|로 정했|선택했|채택",
    ),
    "names 6": (
        "answer|call|choice|conclusion|decision|direction|pick|preference|ruling|solution|standard|verdict|vote|winner",
        "accept|agreed|becomes|choice|chosen|conclusion|decided|decision|final|is clear|is fixed|is now|is set|outcome|pick|plan of record|resolution|resolved|selected|settled|stands|trade|verdict|will be|winner",
        " leaves |answer|approach|architecture|best fit|bet|call|case|choice|contract|debate|decision|design|discussion|favo|format|go-ahead|green light|has to|is going to|is to|issue|it is|job|make|matter|method|must|nod|one to use|option|pick|plan|preference|proposal|question|race|recommendation|right fit|search|selection|shall|solution|spec|suggestion|technique|tool|topic|vote|way|will|winner",
        "and be done with it|beats|best|better|cake|carries the day|cleanest|clinching|come|deciding|decisive|first|former|go ahead with|job|latter|lead|let|natural|obvious|outweigh|over for|over from|pendulum|prevail|prize|right|safe|sane|second|sensible|simplest|sound|swung|that|the place of|tilt|tip|what |win|won",
        "ab jetzt|ab sofort|also|anstelle|beschluss|bleibt bei|das rennen|den vorzug|den zuschlag|entscheidung|gewinnt|gibt|kommt zum zug|künftig|lösung|machen wir mit|nehme|nicht|nutze|passt |setze|statt|verwende|von nun an|wahl|wird|zum einsatz",
        "a escolha|a la préférence|c'est |choix|de keuze|décision|désormais|est l|gagne|gana|l'emporte|la decisión|la elección|la scelta|sera|vince|wybór|вибір|выбор|решение:|方案|決定:|結論|결론",
    ),
    "does 2": (
        "bas|build|discard|dismiss|do|drop|implement|keep|kept|leave|mak|mov|need|put|reject|rely|replac|select|skip|stay|stick|stor|switch|tak|took|us|want",
        "baue|bleibe|fais|garde|gardons|mache|nehme|nutze|passe|passons|prend|prenons|reste|restons|setze|usamos|usiamo|utilise|utilisons|używamy|verwende|використовуємо|используем|我们用",
    ),
    "acts 2": (
        "adopt|backed|based|become|builds|built|choose|done|goe|handled|implemented|keep|kept|lives|modelled|move|needs|prefer|relies|rest|run|served|sits|solved|stands|stored|switch|take|use|written",
        "baue|bleibe|fais|garde|gardons|gebruik|gibt es|gilt|kommt|läuft|mache|nehme|nutze|passe|passons|prend|prenons|repose|reste|restons|sera|setze|tomamos|tomo|usamos|usiamo|uso|utilise|utilisons|używam|verwende|wird|використ|используем|使う|我们用|사용",
    ),
    "becomes 1": (
        "are to|aura|bekommt|bleibt|będzie|come|devient|from today|geht|get|go|happen|is to|kriegt|läuft|passe|receive|sarà|sera|seront|será|shall|take|utilise|werden|will|wird|work|zal|буде",
    ),
    "rejects 3": (
        " candidate|a no|abandoned|affordable|alternative|are |argues against|be wasted|came second|can |cannot |considered and|crossed off|dead|declined|discarded|dismissed|drop|eliminated|enough|fail|falls |feasible|fell |forbid|forget|goes|gone|help|hits the quota|is pointless|is wasted|leak|leave |left |loses|lost|make|match|needed|no good|no need for|nothing speaks for|off the table|option|out|overboard|overkill|passed over|possible|pursued|put aside|rejected|required|retired|runner-up|scrap|second best|second place|set aside|speaks against|spoke against|stays |struck off|taken|the other |thing of the past|too heavy|too much|too slow|turned down|unused|up to|vetoed|wanted|was considered|way|were considered|worth|would have ",
        "abgelehnt|ausgeschlossen|die alternative|fiele|fällt |kommt nicht in|lasse ich|lassen wir|nicht nötig|scheide|sprach|spricht|unterlieg|verworfen|verzichte|vom tisch|zweite",
        "abandonné|afgewezen|descartad|exclu|l'alternative|laissé|ne convien|odrzuc|on oublie|perd|rejeté|scartat|tant pis pour|écarté|éliminé|відмов|отверг|отказал|不用|却下|放弃|제외",
    ),
    "against 3": (
        "against|ahead of|as opposed to|at the expense of|despite|even though|for|in favo|in place of|instead|no|over|please|replaces|than|to the exclusion of|versus|vs",
        "",
        "al posto di|ao invés de|au lieu d|contre|em vez de|en lugar de|en vez de|face à|frente a|in plaats van|invece di|mais|non|pas|piuttosto che|plutôt qu|y no|zamiast|à la place d|а не|вместо|замість|ではなく|の代わり|代替|而不是|대신|말고",
    ),
    "colon 1": (
        "",
    ),
    "why 2": (
        ", for |already|as|because|beyond|can't|cannot|considering|due to|given|in order to|never|only|otherwise|owing to|rationale|since|so that|thanks to|too|would |yet",
        "afin|begründung|bo|car|comme|da|denn|doch|grund|nämlich|parce qu|perché|poiché|pois|ponieważ|porque|puesto que|puisqu|raison|schließlich|siccome|sinon|sonst|vu qu|want|weil|ya que|étant donné|бо |поскольку|потому что|так как|тому що|ため|なぜなら|ので|因为|由于|때문",
    ),
    "weighed 2": (
        "after |all in all|between |compar|considered|having |looked at both|of the |on balance|out of |pros and cons|trade|weigh",
        "abgewogen|abwägen|abwägung|après |beiden|comparaison|comparando|comparé|des deux|entre |nach |pesé|réflexion faite|sopesando|tout bien considéré|tra |unterm strich|vergleich|verglichen|zwischen |между |сравни|比較|比较|相比|비교",
    ),
    "now 1": (
        "accordingly|after |ainsi|alors|as of|así que|consequently|daher|damit|dann|demnach|deshalb|donc|dorénavant|dunque|dus|dès lors|eventually|for good|from here on|going forward|hence|hereby|in the end|jetzt|künftig|maintenant|now|nu|once and for all|ora|por tanto|portanto|quindi|so|teraz|then|therefore|thus|więc|тепер|тому|そのため|よって|因此|所以|现在|따라서|이제",
    ),
    "topic 1": (
        "about|as|bei|concernant|concerning|dans|dla|for|für|para|per|pour|quant|regarding|sur|voor|when it comes to|with|zu|для|について|关于|对于|에 대해",
    ),
    "settles 5": (
        "are|bleibe|c'est |ce sera|choisis|come|do|fait|garde|get|go|have|it is |keep|let us |let's |live|mach|möchte|nehme|nehmt|nimm|nutze|part|prend|préfère|reste|run|setz|sit|stay|stick|take|the |use|utilise|verwende|veux|will|wähle",
        " say | would|'d|after talking|agreed|agreement|answer|as discussed|call|choice|choose|chose|commit to|decided|decision|discussed |end of |final|for|full stop|going|no discussion|non-negotiable|not negotiable|opt|period.|pick|prefer|selected|settled|spoke |spoken |standardi|staying|stick |sticking|talked |the team |verdict|vote|want|with",
        "from now on|it is|please|then",
        "beschlossen|bevorzuge|bleib|entscheidung|entschieden|gesprochen|ich möchte|ich will|lieber|mach|meine wahl|mit dem team|mit den kollegen|nehmen wir|nehmt|nimm|nutze|setz|vereinbart|verwende|wir nehmen",
        "andiamo con|avec l'équipe|d'accord pour|decidido|deciso|décidé|décision|elige|gebruik|je choisis|je préfère|je veux|liever|mon choix|neem|nous voulons|on choisit|on part sur|on prend|on reste sur|partons sur|preferisco|prefiero|prefiro|prends|prenez|prenons|quero|quiero|tranché|usa|use|usiamo|utilise|użyj|va pour|vamos con|vamos de|voglio|wolę|wybieram|використовуй|вирішил|давай|используй|решил|хочу|にして|にしよう|を使って|决定|用|选|로 가자|써줘|으로 하자",
    ),
    "acts 3": (
        "",
        " with|->|=|build |has to be|have|i want|keep|let us|let's|make |must be|need|ought to be|s going to be|shall be|should be|switch to|take|use|we do|we want|we will|we'll|will be|→",
        "bitte|debe ser|deve essere|deve ser|doit être|fais|faites|il faut|mach|moet|musi|muss|por favor|s'il te plaît|s'il vous plaît|soll|должн|нужно|повин|пожалуйста|してください|必须|请|해 주세요|해줘",
    ),
    "rejects 1": (
        " thing to| times|a mess|a nightmare|a no|a pain|affordable|an option|are |avoid|bite|burn|dimentica|do not |doesn't |don't |drop|eat|enough|esquece|est exclu|forget|get rid of|gone|good|hate|hell|kein|kill|laisse tomber|lass d|leave |needed|never|no |olvida|one more thing|oublie|out|pas d|possible|rejected|required|skip|the other |too|up to|vergeet|vergiss|wanted|waste|will not do|won't |worth|zapomnij|забудь|не надо|не треба|不要用|使わない|别用|말고",
    ),
    "please 1": (
        ": |alsjeblieft|bitte|everyone|it's|per favore|please|pls|por favor|proszę|s'il te pla|svp|that's|we're|you|будь ласка|пожалуйста|ください|请|주세요",
    ),
    "owns 8": (
        "about|backwards|confused|corrected|fast|hasty|here|in error|incorrect|misled|mistaken|mixed up|quick|rash|reversed|sure|the other way|upside down|wrong",
        " back|amend|apology|correct|erratum|let me |recant|rectify|retract|revise|revision|revoke|take|withdraw",
        "bad|blunder|conflated|confused|erred|erroneously|error|falsely|fault|goofed|in what i|incorrectly|jumped to|misattributed|misconception|miscounted|misinterpreted|misjudged|mislabel|misread|misremembered|misspoke|misstated|mistake|misunderstanding|misunderstood|mix-up|mixed |of mine|on my |overlooked|oversight|overstated|prematurely|rushed to|slip|spoke too soon|understated|was too quick|wrongly",
        " of mine|account|analysis|answer|assertion|assumption|belief|claim|comment|conclusion|contradict|correct|deduction|description|diagnosis|disprove|explanation|falsifies|finding|guess|hunch|impression|interpretation|invalidates|line|memory|message|note|observation|overturn|paragraph|point|reading|reasoning|refute|remark|report|sentence|statement|summary|theory|understanding|undoes|upends|view|words",
        " of me| under the |against|amending|amendment|as opposed to|conclusion|contrary to|correcting|correction|different from|disregard|errata|erratum|forget|hold|ignore|it|last|made|match|mea culpa|not |other than|pass|rectification|retracting|retraction|reversing|revising|round|scratch|stand|stood|strike|survive|that|this|unlike|updating|what i ",
        " von mir|anders als|berichtige|berichtigung|da habe ich mich|da lag ich|daneben|darf|das gegenteil|das war |doch nicht so, wie ich|entgegen|falsch|getäuscht|ich ha|irrt|korrektur|korrigiere|mein |meine |muss|möchte|nachtrag|revidiere|richtigstellung|schlecht|stimmt |ungenau|verlesen|verschrieben|vertan|verzählt|voreilig|was ich |widerrufe|will|zu schnell|zurück",
        "au temps pour moi|autant pour moi|c'était une erreur|ce que j'a|confondu|contrairement à ce que j|correction|corrige|erratum|erreur de ma part|erroné|fait erreur|fausse|faux|hâtive|inexact|j'ai |je me suis |je r|ma faute|mal compris|mal lu|mon erreur|ne tient pas|parlé trop vite|prématuré|rectificatif|rectification|rectifie|reprendre|reviens sur|rétracte|tort",
        "corrijo|estaba equivocad|ik had het mis|ik vergiste me|me enganei|me equivoqu|me retracto|meu erro|mi correggo|mi error|mi sono sbagliat|mijn fout|mio errore|mój błąd|pomyliłam|pomyliłem|rectifico|беру |я ошиб|я помил|我之前|我弄错|我错了|更正|私の|訂正|間違えて|정정|제 실수|제가 틀렸",
    ),
    "had said 3": (
        "a moment ago|above|announced|asserted|assumed|before|believed|claimed|concluded|described|earlier|explained|first|former|guessed|implied|initial|just now|last|maintained|noted|original|previous|prior|put down|reported|said|so far|stated|suggested|summari|that|thought|told you|what i |written|wrote",
        "anfangs|behauptete|croyais|dachte|disais|eben|ging|habe|hatte|j'a|meine |nahm|oben|pensais|plus haut|sagte|schrieb|supposais|vorhin|zunächst|zuvor",
        "achava|avevo detto|credevo|creía|dije|eu disse|había dicho|ik dacht|ik zei|myślałem|pensaba|pensavo|powiedziałem|я |と思って|と言いました|之前|刚才|前面|라고 ",
    ),
    "starts 1": (
        ", no|ach|actually|ah non|aspetta|attendez|attends|come to think of it|doch nicht|en fait|espera|halt|hang on|hold on|moment|never mind|not quite|on second thought|oops|scratch that|sorry|stimmt nicht|strike that|wait|подожди|стоп|待って|等一下|等等|잠깐",
    ),
    "flatly 1": (
        "actually|assumption|guess|hunch|round|wait",
    ),
    "wrong 1": (
        "andersherum|andersrum|apolog|aren't|attribut|backward|base|belie|blind|blunder|bévue|caduqu|careless|characteri|collapse|conflat|confondu|confus|construed|contradict|contraire|contrary|contredit|counted|crumble|daneben|debunk|deceived|diagnos|did|disprov|does|démenti|désolé|entgegen|entschuldigung|erred|erreur|erron|exaggerat|excuse|failed to |falls apart|falsch|false|falsif|fausse|faux|fehler|fell apart|fell for|fooled|gegenteil|geirrt|getäuscht|got ahead|guesswork|half |hast|hinfällig|hâti|identif|imprecise|imprécis|in error|inaccura|incorrect|inexact|infirm|informed|inside out|interpret|invalid|inverse|irre|irrig|irrtum|irrtümlich|isn't|judge|jumped|label|leapt|mal |mea culpa|misconception|misle|missdeutet|missverst|mistak|mixed up|moot|mépris|n'est pas |n'était pas |ne tenait pas|ne tient pas|never |nicht |no longer |nonsense|not |négligé|obsolete|only part|opposite|other way |oublié|out the window|outdated|overgenerali|overlook|oversight|oversimplif|overturn|pardon|placed|premature|prématuré|quatsch|rash|read|red herring|refut|remembered|represent|reverse|rubbish|rushed|skimm|slip|sloppy|so much for|spoke|stand corrected|state|stimmt|swapped|taken|target|the mark|too |took|tort|tricked|trifft |tromp|trop vite|trugschluss|umgekehrt|understanding|understood|unfounded|ungenau|unrecht|unrichtig|unsinn|untrue|unzutreffend|upside down|verfrüht|verlesen|vertan|vertauscht|verwechsel|verzeihung|void|voreilig|vorschnell|wasn't|weren't|widerlegt|widerspricht|wild goose|wrong|zu schnell|à l'envers|überholt|übersehen",
    ),
    "undoes 1": (
        "adjust|admit|amend|another|après vérification|au temps pour moi|autant pour moi|back|but no|chang|checked again|clarif|closer|concede|correcti|corrig|dawned|discard|disregard|doch nicht|dois admettre|drop|en fait|en relisant|en réalité|en y regardant|erneutem|errat|forget|further|genauer |genauerem|having |i now see|i see now|ignore|il s'avère|in wahrheit|in wirklichkeit|it dawns|je constate|je me reprends|korrektur|korrigier|looking |mise au point|muss zugeben|must not be |nachgesehen|nachtrag|nehme |noch|not to be |now i see|now that i|näherem|or so i thought|oublie|own up|read|realis|realiz|recant|reconnais|rectif|relecture|rescind|retir|retract|revers|revidier|revien|revis|revoi|revoke|richtig|right|réflexion faite|rétract|scratch|second|set aside|so much for|sondern|stellt sich heraus|straight|streich|strike|tatsächlich|turn|undo|unsay|update my|vergessen sie|vergiss|vérification faite|walk|widerruf|wie sich zeigt|withdraw|y revenant|ziehe |zurück|zweitem|à y regarder",
    ),
    "plainly 1": (
        " back| into | myself|above|crow|earlier|egg on my face|humble|hätte ich nicht |i made |i should|je me |je n'aurais pas dû |je retire ce que|kommando zurück|last|me contredire|mea culpa|mich |mis|my words|nehme |nuancer |previous|prior|record straight|what i |widerspreche mir|widersprechen",
    ),
    "erred 1": (
        " de ma part|amend|at face value|back|botched|check|command|conflated|confused|correct|daneben|drew|durcheinander|enganei-me|equivoq|erred|exaggerated|failed to |falsch|false|fast|fehlinterpretiert|flawed|fooled|garbled|geirrt|generali|getäuscht|goofed|got |guessed|habe ich |hasty|hatte ich |i did|i gave |i had|ich mich |im irrtum|im unrecht|in error|inaccurate|j'a|je m'|je me suis |jumped|kommando zurück|leapt|look|m'a induit en erreur|mi sono |mis|mixed|muddled|notice|off|one thing i |over|premature|quick|rash|read|rectif|retract|reversed|revis|rushed|seen|skimmed|slipped|sure|swapped|under|unfounded|unsinn|untrue|updat|upside down|verdreht|verlesen|verrechnet|verschätzt|vertan|vertauscht|verwechselt|voreilig|vorschnell|wrong|zu schnell|überlesen|übersehen",
    ),
    "told 1": (
        "advertised|affirmais|angenommen|announced|asserted|assertion|assumed|assumption|behauptet|belief|believed|cited|claim|concluded|conclusion|count|croyais|dachte|dargestellt|deduced|deduction|described|description|diagnosis|disais|drew|erklärt|estimate|expected|explained|explanation|figure|gave|gedacht|geglaubt|gemeint|genannt|gesagt|ging|glaubte|guessed|hielt|imagined|implied|inferred|insisted|j'a|label|listed|maintained|meinte|mentioned|model|nahm|named|note|notiert|number|painted|pensais|picture|point|portrayed|posted|presented|presumed|promised|put|quoted|reading|reckoned|remark|reported|sagte|said|schrieb|sold|spoke as|stated|statement|suggested|summari|summary|supposais|supposed|theory|thought that|told|understanding|understood|verdict|vermutet|written that|wrote that",
    ),
    "mine 1": (
        "account|affirm|analys|annoncé|answer|argument|assert|assum|avancé|belie|claim|comment|conclu|constat|croyais|cru|dass ich|deduction|descri|diagnos|disais|dit|expla|explication|finding|gave|guess|hunch|hypothes|hypothèse|impl|impression|insist|interpretation|interprétation|lecture|maintain|meine|mention|message|model|not|paragraph|pensais|phrase|picture|premise|propos|put|reading|reasoning|remark|remarque|report|résumé|said|sentence|soutenu|state|suggest|summar|suppos|theor|thought|told|understanding|verdict|view|was ich|wie ich|words|written|wrote|écrit|écrivais|énoncé",
    ),
    "unsure 1": (
        " you|analysis|answer|assumption|built|can|comma|conclusion|correct|could|diagnosis|expectation|explanation|false |faute de frappe|finding|grammar|guess|hypothesis|i have no|idea|impression|indentation|interpretation|made|may|might|misread|misspell|mistaken|möglich|opinion|orthographe|peut-être|put together|reading|rechtschreib|remember|right|spelling|theory|tippfehler|typo|understanding|unless i|vielleicht|view|whitespace|wording|written|wrong|wrote",
    ),
    "theirs 1": (
        "article|author|browser|comment|doc|log|message|page|paper|post|readme|site|ticket|vendor",
    ),
    "called 2": (
        "advice|approach|best order|blueprint|checklist|class|convention|default|discipline|formula|guideline|habit|heuristic|house style|house way|how to |idiom|insight|kind of |learning|lesson|mantra|method|moral|motto|norm|pattern|playbook|practice|principle|procedure|recipe|reflex|right order|routine|rule|safe order|scheme|standard|staple|strateg|take-away|takeaway|technique|template|trick|way |workflow",
        "ansatz|approche|astuce|convention|costumbre|démarche|erkenntnis|façon de faire|gewohnheit|grundsatz|habitude|handgriff|kniff|konvention|lección|lehre|leitlinie|lekcja|les|lezione|leçon|lição|manière|merksatz|methode|motif|muster|méthode|padrão|patroon|patrón|prassi|pratique|principe|prinzip|przepis|práctica|prática|receita|receta|recette|regel|regla|regola|regra|rezept|ricetta|règle|réflexe|schema|schéma|strategie|stratégie|technik|technique|trick|truco|vorgehen|wzorzec|zasada|паттерн|правило|практик|прием|приём|рецепт|урок|шаблон|やり方|コツ|パターン|做法|原则|套路|定石|惯例|教訓|模式|经验|规律|교훈|방식|원칙|패턴",
    ),
    "always 2": (
        " here|across |again|all of the|always|and the like|anybody who|anyone who|as a |as soon as you|by default|case|change to|elsewhere|every|for all|from now on|further|future|generally|going forward|habitually|if you |in all|in general|module|never |new|no matter wh|of this kind|other|over and over|project|regardless of|routinely|similar|such|the next |these all|time|universally|usually|when|wherever|whoever|work on",
        "allgemein|altijd|bei allen|bei jede|cada vez|chaque fois|da próxima|dans tous les cas|das nächste mal|dorénavant|egal welche|elke keer|em geral|en general|en général|encore|für alle|für jede|generell|grundsätzlich|généralement|immer|in generale|in het algemeen|in zukunft|jedes|jeweils|künftig|la prochaine fois|la prossima volta|la próxima vez|mai|następnym razem|niemals|nunca|nächstes mal|ogni volta|ogólnie|partout|pour tou|quel que soit|quiconque|sempre|siempre|stets|systématiquement|toujours|voortaan|wieder|za każdym razem|zawsze|à chaque|à l'avenir|überall|в общем|в следующий раз|впредь|всегда|завжди|каждый раз|надалі|щоразу|いつも|一般に|一般来说|下次|今后|今後|以后|凡是|总是|次回|毎回|每次|다음에|매번|앞으로|일반적으로|항상",
    ),
    "advised 2": (
        "adopt|also |applies to|apply|bear|best |boils down|came out of|carries over|cleanest|comes out of|copy|crystalli|distilled|do |does well to|easiest|easy as soon|emerged|fell out of|follow|generali|good |has worked|helped|helps|holds for|in common|keep |keeping|learned|learnt|made it easy|make|my default|never |note|ought to|our default|paid off|pay dividends|pays off|proved |proven |re-use|recommend|remember|repeat|reus|safest|same|save|seems to be|serve|share|should|simplest|steal|stick to|stick with|the default|the way to go|there is a |to keep|transferable|worked |works |worth |would do",
        "a fait ses preuves|aanrader|am besten|bewährt|conseill|conviene|dasselbe|de moeite waard|empfehl|empfiehlt|fonctionne bien|funciona bien|funktioniert|funziona bene|garder|gegangen|geklappt|gleiche|halten|hilft|il faut|lohnt|machen|marche bien|merken|mieux vaut|même|on devrait|polecam|raccomand|recomend|recommand|retenir|retenons|reutiliz|riusabile|réutilisable|sollte man|sollten|spart|vale la pena|vaut la peine|vaut le coup|warto|werkt goed|wiederverwend|à refaire|à répéter|à réutiliser|übertragbar|варто|запомн|рекоменд|советую|стоит|おすすめ|べき|価値|值得|应该|建议|推奨|推荐|覚えて|记住|권장|기억|좋다|추천",
    ),
    "worth 2": (
        " best| well to|advise|applies to|battle-tested|become |best |carr|generali|holds for every|how we should|i learned|keep coming back|keep in mind|paid off|pays off|prove|recommend|remember |repeatable|reusable|scales to|should |stick to|that holds for|the lesson|thing to |time-tested|transferable|transfers|we learned|work|worth ",
        " gilt|a fait ses preuves|bewährt|eignet|lohnt|merken|prochaine|se généralise|vaut |verallgemeiner|à adopter|à prendre|übertragen",
    ),
    "strong 2": (
        "anyone|anywhere|en règle générale|partout|pour les prochaines|quand on|team|wann immer|wer|wherever|whoever|wo immer|überall",
        " prática|advice|again|always|any|as a |astuce|bei jede|bewährt hat sich|buena práctica|chaque fois|checklist|colleagues|convention|copy|default|dobra praktyka|each|en général|every|follow|for all|from now on|future|generally|generell|gewohnheit|going forward|good |grundsatz|grundsätzlich|guideline|habit|hat sich bewährt|held|helped|helps|heuristic|holds|idiom|immer|in general|insight|jedes mal|keep|kniff|konvention|later|learning|lehre|lesson|leçon|like this|lohnt |merke|moral|muster|méthode|never|next|norm|note for |note to |of choice|others|pattern|peatable|playbook|practice|pratique|prefer|principe|principle|prinzip|recette|recipe|regel|regola d'oro|remember|reminder|repeat|reuse|rezept|rule|règle|réflexe|self|standard|stets|take along|takeaway|technik|technique|that |this way|tip|toujours|trick|usable|vorgehen|whoever|work|worth |à chaque|à refaire|à retenir|à réutiliser|золотое правило|хорошая практика|ベストプラクティス|最佳实践|经验法则|모범 사례",
    ),
    "shape 1": (
        "",
    ),
    "labelled 1": (
        "about|avec|bei|dans|for|für|in|mit|of|on|para|per|pour|sur|when|with",
    ),
    "believes 4": (
        " i verify| to be true|only |stands or falls|that|worth ",
        "acceptance|assert|assumption|before i |believe|bet|budget|by design|certain that|claim|confident|confirmed|conjecture|contend|contract|conviction|convinced|correct|criteria|criterion|demand|demonstrat|established|evidence|expect|goal|guarantee|hold|hypothes|in principle|invariant|maintain|must |on trial|persuaded|postulat|predict|premise|presum|promise|proof|proposition|prov|reckon|require|right|say|should |shown|sla|slo|statement|supposed to |sure that|suspect|suspicion|target|the point is|the question is whether|the whole point|theory|thesis|to the test|true|verified|wager|want |what ",
        "affirmation|anforderung|annahme|attendu|attente|behaupte|behauptung|belegen|beweis|bewiesen|critère|crois|démonstration|erwarte|erwartung|exigence|hypothèse|kriterium|m'attends|montrer|muss |nachweis|parie|pense|preuve|promesse|prouver|prétends|prévision|prüfen|reste à|si j'ai raison|soll |soutiens|suppose|supposition|these|vermute|vermutung|versprechen|voici le test|wenn |zeigen|zusage",
        "aantonen|bewijzen|demostrar|dimostrare|hipoteza|hipótese|hipótesis|hypothese|ipotesi|probar|provar|suposición|udowodnić|гипотез|гіпотез|довести|доказ|утвержд|仮説|假设|假说|期待|証明|证明|预期|가설|예상|증명",
    ),
    "checks 2": (
        "a run|ascertain|assess|assure|bench|check|confirm|data|dedicated|drill|ensur|establish|evaluat|examin|experiment|figures|find out|let me |let's see|measur|now |numbers|probe|probing|prove it|quantif|rehears|see |show|simulat|stress|test|the run|time it|timing|trial|validat|verif|will tell",
        "compruebo|essai|jetzt der|messe|messung|mesure|mesurons|meten|meço|mido|mierzę|misuro|montre|probe|prüfe|prüfung|test|verifico|vérifie|vérifions|weise|zeige|épreuve|измер|перевір|провер|検証|测试|测量|測定|確認|验证|검증|측정|확인",
    ),
    "states 1": (
        ": |are|can|che|dass|dat|did|do|has|have|here|if|is|now|ob|que|si|that|whether|will|że|чи |что|か|是否",
    ),
    "agrees 1": (
        ": |benchmark|checked|claimed|done|drill|figures|fine|good|green|indeed|measured|measurement|numbers|output|pass|result|run|seen|settled|settles|shown|so|stands|success|test|there it is|there we go|there you have it|true|works out|yes",
    ),
    "proves 5": (
        " know| right | to break |claimed|da la razón|hoped|measured |numbers|predicted|promised|really is |sait|sign|suspected|test result|wissen wir",
        "a fact|achieved|assumed|backed by|bear|bench|beyond doubt|black and white|borne out|came back|came out|case closed|certain|certified|checked|checks out|claim |claimed|cleared|clinche|comes out|comparison|conclusive|confirmation|confirmed|confirms|consequently|corroborat|cost|count on |criterion |data|definitive|delivered|delivers|demonstrated|demonstrates|drill|empirical|equal|establishe|evidence|evident|exceed|expected|experiment|figures|finding:|fulfil|given|green|guaranteed|guess|held|hence|hold|hope|hypothesi|identical|in fact|in practice|incontrovertibl|indeed|indisputabl|irrefutabl|job done on|keeps its promise|kept its promise|la preuve|lives up|lossless|meaning that|measured|measurement|meets|met|must|nail|no doubt|no error|no longer a |now i know|now we know|numbers|observed|on paper|on record now|predicted|promise |promised|proof|prove|q.e.d|qed|reached|rely on |replay|replicated|reproduced|required|requirement |result|run|safe to say|satisfie|settle|should|shown|shows|so much is |speak|substantiat|supposed|survive|suspected|target |test|that means|the figure|theory|there it is|there we have|therefore|thus|trial|true|turned out |turns out |unambiguous|undeniabl|under |validated|validates|verified|verifies|vindicat|we now know|which means|wish|within |without |witnessed",
        "",
        "acquis|also gilt|atteint|atteste|avéré|behauptet|belegen|belegt|bestätigt|beweis|bewiesen|chiffres|comme |confirme|confirmé|constat|cqfd|daher|damit|donc|effectivement|eindeutig|eingehalten|erbracht|erfüllt|erwartet|erwiesen|gemessen|gesichert|gilt also|hält|messwerte|mesure|mesuré|montre|montré|nachgewiesen|preuve|prouve|prouvé|respecté|sans appel|somit|steht fest|stimmt|tatsächlich|tient|trifft zu|untermauer|validé|verifiziert|verlass|vermutet|vérifié|zahlen|zeigen|zeigt|établi",
        "aangetoond|bevestigd|bewezen|comprobado|comprovado|confermato|confirmado|demonstrado|demostrado|dimostrato|potwierdzone|provato|queda claro|udowodnione|verificado|verificato|доведено|доказано|подтвержд|підтвердж|実証|已验证|得到验证|確認でき|証明され|证实|证明了|입증|증명|확인됨",
    ),
    "whether 1": (
        "?|debe|deve|devraient|devrait|doit|doivent|dovrebbe|has to|have to|muss|must|müssen|needs to|ob|ought to|required to|shall|should|si|soll|supposed to|wether|whether",
    ),
    "lacks 14": (
        "",
        "could|fish: unknown|java_home is not set|no such command|unknown command",
        " not installed|executable doesn't exist|not available in this |please install",
        "disk |emfile|enospc|erofs|no space left on device|read-only file|too many open files",
        "cannot allocate memory|code|enomem|exit|killed|memory limit|out of memory|status",
        " is required|are you root|eperm|interactive authentication|must be |not in the sudoers|operation not permitted|sudo: ",
        "blocked|denied|forbidden|prevented|rejected|sandbox",
        "permission denied",
        "booted with systemd|docker daemon|docker.sock|failed to connect to bus|kvm|modprobe|no such device|podman|ulimit",
        "audio|camera|cuda|device|display|emulator|gpu|nvidia|printer|screen|simulator|unable to open |webcam",
        "",
        "could|eai_again|ehostunreach|enetunreach|enotfound|name or service not known|network is unreachable|no route to host|temporary failure ",
        "dial tcp: lookup|failed to resolve|getaddrinfo|network |no internet|no such host|nodename nor servname|proxy authentication required|unknown host|unknownhostexception",
        "407|allow|apparmor|cannot find |cannot fork|cap_|cert_|certificate |cgroup|connection to |could|credential|current-context is not set|exec format error|failed to start|file system |file watchers|fork: retry|fuse: device not found|glibc_|hostname |inappropriate ioctl|inode|kernel too old|make: |missing x server|name resolution|no module named pip|no protocol specified|no space|no tty|no usable sandbox|not a tty|not in |not logged in|not supported on this |onfig|proxy|ptrace|redentials|require|resource |seccomp|self|selinux|socket|system clock|tunnel connection failed|unable to connect to the server|unable to get |unable to locate |unsupported |x509:|xvfb",
    ),
    "here 2": (
        " here|box|computer|container|environment|host|internet|laptop|leav|machine|network|runner|vm|workspace",
        "bac à sable|cet environnement|cette machine|container|esta máquina|este entorno|maschine|questa macchina|rechner|sandbox|sandkasten|umgebung|песочниц|этой машин|サンドボックス|本机|沙箱|이 환경",
    ),
    "chance 6": (
        "broken pipe|connection |econnaborted|econnreset|epipe|etimedout|socket ",
        "429|code|deadline exceeded|error|http|quota exceeded|rate|status|time|too many requests",
        "at capacity|bad|code|error|gateway|http|overloaded|returned|server|service|status|temporarily unavailable",
        "another |blocking waiting for|could not get lock|database is locked|index.lock|process|state lock|text file busy|unable to |waiting for ",
        "browser has been closed|early eof|network |page crashed|remote end hung up|retry|ssl_error_syscall|stream |target closed|tls handshake|try again|unexpected disconnect",
        "address |another |blip|busy|checksum mismatch|chrome not reachable|code|connection |could not |eaddrinuse|eagain|econnrefused|emulator|error|etxtbsy|evicted|exceeded |failed to connect to|flaky|got|hiccup|http|incomplete |lock |maintenance |node |operation |port |preempt|premature |pull rate|quota |recv failure|request limit|resource is locked|resource temporarily|retry |returned|rpc failed|send failure|server |session |slow|socket|spot instance|ssl|status|throttl|time|tls recv|too many |toomanyrequests|transfer closed|under maintenance|unexpected eof while |upstream |usage limit|waiting ",
    ),
    "again 3": (
        "2nd|flak|hiccup|intermittent|next|same |second|spurious|third|transient",
        "a second|a third|again|another|back|blip|dig|doing|fault|glitch|pass|ran|re|run|same |the next|wait|went through ",
        "beim |deuxième |encore une fois|erneut|noch|on its own|otra vez|réessa|sporadisch|wack|went away |à nouveau|もう一度|再试|重试|다시 시도",
    ),
    "story 7": (
        " the weather|cat|dad|das wetter|daughter|dog|el tiempo que hace|es regnet|es schneit|friday|goldfish|hamster|husband|il neige|il pleut|kid|kitten|la météo|ma fille|mein|mes enfants|mi hij|mi perro|mom|mon chat|mon chien|mon fils|monday|mum|neighbo|puppy|saturday|snow|son|sunday|thursday|time flies|tuesday|wednesday|wife",
        "anniversary|barbecue|beer|birthday|breakfast|burger|cake|christmas|coffee|congrat|cookie|dinner|easter|halloween|ice cream|jok|lunch|noodle|party|pizza|pub|restaurant|sushi|thai|xmas",
        "anecdote|favo|football|friday the 13|fun fact|funny|hackathon|haha|lol|mascot|new year|offsite|on holiday|playlist|retro|shirt|soccer|stand|sticker|team |trivia|vacation|weekend|what a story",
        "appointment|call|day off|demo|enjoy|flight|i'm off|kudos|like|love|meeting|movie|out sick|raining|release|review|snow|train|weather |workshop",
        " name| trip| votes|amus|barista|cat|cheers to|coin |congrats|croissant|dog|donut|doughnut|espresso|farewell|good |haiku|happy |here be dragons|hilarious|horoscope|husband|ironic|kid|kitten|leaving |limerick|lottery|moved to |newborn|nostalgi|olympi|once upon|poetic|potluck|puppy|ramen|secret santa|sense of humo|sunny|sunshine|tgif|throwback|tossed a coin|traffic jam|whoever |wife|world cup",
        "ausflug|dienstag|donnerstag|döner|feier|freitag|fußball|geburtstag|glückwunsch|kaffee|krank|kuchen|mittag|mittwoch|montag|nudeln|ostern|samstag|sonntag|urlaub|vorführung|weihnacht|witz|wochenende",
        "almuerzo|anniversaire|apéro|blague|café|chiste|compleanno|cumpleaños|dimanche|déjeuner|dîner|félicitations|fête|gâteau|jeudi|lundi|mardi|mercredi|noël|pranzo|pâques|rétro|samedi|vacaciones|vacances|vendredi|wtorek|день рождения|обед|шутк|ランチ|冗談|午饭|生日|笑话|농담|생일|점심",
    ),
    "could 2": (
        "",
        " have |alternative|angenommen|aurait|aurions|avai|brainstorm|can|choisiss|chose|conceivabl|could|decided|et si|eventuell|for the sake of argument|forse|gesetzt den fall|had|hypothetical|hätte|imaginable|imagine|imaginons|in another world|in hindsight|in theory|just an idea|könnt|may|might|misschien|moglibyśmy|może|möglicherweise|one day|optai|opted|perhaps|peut-être|picked|poderíamos|podría|possibly|potentially|potremmo|pourrait|pourrions|prenai|quizá|sarebbe|seraient|serait|sería|shall|should|some|suppos|tal vez|talvez|theoretically|think|took|un jour|vielleicht|vorstellen|wanted|was wenn|went|were|what if|who knows|womöglich|would|wäre|würde|zouden|étai|éventuellement|возможно|если бы|могли бы|может быть|можливо|もし|也许|可能会|如果当时|만약|아마",
    ),
    "open 1": (
        "agreement|ainda não|answer|arrêt|aucun|aún no|beschlossen|better|can|ce n'est pas un|choi|chosen|clear|commitment|conclusion|consensus|decided|decision|determined|décid|entschieden|evidence|final|gewählt|hardly|idea|indécis|jamais |just |kein|n't|neither|never|ni|no one|nobody|noch |non abbiamo |non ancora|none|not|offen|open question|pas encore|pattern|pending|personne n'|preference|premature to|proof|recommendation|reste ouvert|retenu|rien n'|rule|seen|settled|sin decidir|steht |still |strong|tbd|to decide|todavía no|too early|tranch|up in the air|verdict|view|vorerst|weder|weiß |whether |whichever|winner|ещё не|не решено|не решили|ще не|まだ決|尚未|決まっていない|没有决定|还没|아직|정하지 않",
    ),
    "others 1": (
        "a choisi|according to|advertise|affirme|allegedly|andere|annonce|announce|argue|article|artikel|as per|as the |auteur|autor|autre |back in |behauptet|bibliothek|bibliothèque|blog|chez |chose|cite|citing|claim|competit|compilateur|compiler|concurren|conférence|conseille|d'après l|dated |decided|describe|different|dit|documentation|doku|dort nimmt|elsewhere|empfahl|empfiehlt|explain|famously|for your information|former|fournisseur|framework|fyi|gemäß|habe ich ge|heard|heißt es|hersteller|indique|just so you know|konkurrenz|last|laut|leur |meint|mention|minutes of|neighbo|not |nur zur info|old|opted|optimierer|optimiseur|other|paraît-il|per the |picked|planer|planificateur|pour info|prefer|previous|propose|prétend|quote|quoting|read|recommande|recommend|reported|rumo|sagt|said|say|schreibt|schrieb|secondo |segundo |según|selected|selon|settled|state|steht|suggest|switched|talk|tells|their |use|volgens|vortrag|według|went with|write|wrote|zitiert|zufolge|écrit|згідно|по словам|согласно|によると|によれば|官方文档|根据|따르면",
    ),
    "unknown 1": (
        " understand|abandon|an expert|answer|at a loss|aucune idée|author|baffl|beyond me|bleibt |can not|can't|cannot|cause|clear|clue|colleague|come back to |compris|could not|couldn't|deferr|do not|don't|elude|escalat|escapes me|explained|explanation|fail|file|flag|for another |found|further|give up|giving up|going on|have not |haven't |human|hypothesis|ich lasse es|idea|inconnu|inexpliqué|je ne sais pas|je passe|keine ahnung|known|laisse |later|lead|leave |leaving |left |light|luck|maintainer|mention|moving on|mystery|mystif|mystère|needs |nicht |nobody knows|not now|note|obvious|odd|open|owner|parked|parking|pas clair|person|plus tard|postpon|puzzling|reason|remain|remedy|report|reste |riddle|rätsel|sans explication|set aside|skip|solution|solved|some|später|stays as it is|strange|stumped|theory|trace|trouvé|unbekannt|understood|ungeklärt|unklar|verstehe |weird|weiter mit anderem|weiß |whatever |who knows|whoever|without |невідом|неясно|不清楚|原因不明",
    ),
}
# fmt: on
