"""The words with which something is settled, as marks, in the languages of the usual teams.

Owns the tables alone; how they add up to a decision is `decided`'s.  A mark that is its own sign of a choice (`settles`, `names`) weighs more than what
comes with one: what was not taken (`against`, `rejects`), why (`why`), that it was weighed (`weighed`), that it holds from now on (`now`).
"""

from __future__ import annotations

from crucible.capture.marks import Mark, mark

__all__ = ["AGENT", "HINTS", "USER"]

# fmt: off
_I = r"\b(?:i|we)(?:'ve| have|'m| am|'re| are|'ll| will|'d)?(?: \w+ly| now| then| just| therefore| both| all| also| here| hereby| thus| hence| going to| be| rather| thus| both){0,3} "
_LETS = r"\b(?:let's|let us)(?: just| then| now)? "
_ICH = r"\b(?:ich|wir|man)(?: \w+){0,2} |"

SETTLES = mark(
    "settles", 2.0,
    _I + r"(?:decid(?:ed|ing|e)\b|chos(?:e|en)\b|choos(?:e|ing)\b|opt(?:ed|ing)? (?:for|to|in favou?r)\b|settl(?:ed|ing|e) (?:on|for|upon)\b|pick(?:ed)?\b(?! up)|picking\b(?! up)|selected\b|went (?:ahead )?with\b|go(?:ing)? (?:ahead )?with\b|go(?:ing)? for\b|prefer(?:red)?\b|adopt(?:ed|ing)?\b|land(?:ed)? on\b"
    r"|commit(?:ted|ting)?(?: (?:myself|ourselves))? to\b|standardi[sz](?:e|ed|ing) on\b|ended up (?:with|using|choosing|picking|going)\b|vote(?:d)? for\b|bet(?:ting)? on\b|made up my mind\b|resolved to\b|side(?:d)? with\b|favou?r(?:ed)?\b|ruled? out\b|ruling out\b|concluded? (?:that|on)\b|agreed? (?:on|to|that)\b|stick(?:ing)? (?:with|to)\b|stay(?:ing)? with\b|am sold on\b|are sold on\b)",
    r"\bi(?:'m| am) sold on\b|\b(?:com(?:e|ing)|came) down (?:on|in favou?r)\b|\b(?:the|that|this|our|my) (?:\w+ )?(?:weighing|debate|question|matter|discussion|comparison|search|hesitation) (?:is|was|has been) (?:done|over|closed|settled|answered|decided|finished)\b|\b(?:consider|call|count) (?:it|this|that|the matter) (?:decided|settled|done|closed|agreed)\b|\bi (?:hereby )?fix (?:the|on)\b|\bnothing (?:beats|else will do|else comes close)\b|\bthe (?:one|thing) (?:i|we) (?:take|want|use|go with|build on)\b|\bis what (?:i|we)(?:'ll| will|'m| am)? \w+|\b(?:i|we) (?:end|ended|wind|wound) up\b|\b(?:is|are|becomes?|be|it's|makes? \w+(?: \w+){0,4}) (?:the|my|our) (?:one|way|choice|candidate|approach|solution|technology|tool|design|format|option|answer|pick)(?: (?:for|to|of|here)|[.,;:]|$)|\b(?:and|so|hence|therefore|thus|then) (?:\w+ly |now |i |we ){0,2}(?:settle[ds]?|decide[ds]?|chose|choose|pick(?:ed)?(?! up)|opt(?:ed)?|went with|go with|adopt(?:ed)?|prefer(?:red)?|select(?:ed)?) (?:on |for |to |with |it |the |a |an )?|\bdecided(?: here| now)?: |^decided (?:on|for|to|in|that)\b|^(?:chose|picked|selected|opted for|settled on|went with|going with|go with|choosing|picking|opting for)\b(?! up)|\bit (?:was|is|has been|gets) (?:hereby |now |therefore |finally )?(?:decided|settled|agreed|resolved)\b|\b(?:is|are|was|were|has been|have been) (?:hereby|herewith) (?:\w+ )?(?:decided|chosen|selected|settled|adopted|fixed|set)\b",
    r"\b(?:that|this|which) (?:settles|decides|clinches|seals) (?:it|the|this|that)\b|\bmy mind is made up\b|\bour minds are made up\b|\block(?:ing|ed) (?:this |it |that )?in\b|\bfinal(?:ly)? (?:answer|decision|choice|call|word)\b|\bdone deal\b",
    r"^(?:entschieden|beschlossen|festgelegt)\b|\b(?:es|dabei) bleibt(?: es)? (?:bei|beim)?\b|\bbleibt es (?:bei|beim)\b|\b(?:es|das) wird\b.{2,60}\bfür\b|\b(?:ich|wir|mich|uns|ist|wurde|wird|hiermit|damit|sind|habe|haben)\b.{0,90}\b(?:entscheide|entschieden|entscheiden|entschied|beschlossen|beschließe|beschließen|festgelegt|ausgewählt)\b|\bentscheide (?:ich )?mich\b|\b(?:ich|wir) (?:\w+ ){0,3}?(?:wähle|wählen|bevorzuge|bevorzugen|setze|setzen|gehe|gehen) (?:\w+ ){0,6}?(?:auf|mit|für|als)?\b(?=.{0,120}\b(?:statt|anstatt|anstelle|nicht|kein|denn|weil)\b)|\b(?:lege|legen) (?:mich|uns) (?:\w+ )?(?:auf|fest)\b|\bfestlegen\b|\bdie wahl (?:fällt|fiel|ist)\b|\bden zuschlag (?:bekommt|erhält|geht)\b|\bzuschlag\b",
    r"\b(?:je|j'ai|nous|on) ?(?:me |m'|nous |se )?(?:\w+ ){0,2}?(?:décide|décidé|décidons|décides|choisis|choisi|choisissons|opte|opté|optons|retiens|retenu|retenons|retient|tranche|tranché|engage|engageons|préfère|préférons|adopte|adoptons|pars sur|part sur|partons sur)\b|\b(?:m'engage|se décide|est retenu|est retenue|est adopté|est décidé|c'est décidé|est tranché)\b|\bva pour\b|\bmon choix\b|\bnotre choix\b|\ble choix (?:se porte|tombe|est)\b|\bon part sur\b|\bpart(?:ons)? sur\b",
    r"\b(?:decid[íoi]|decidimos|hemos decidido|he decidido|elegimos|elijo|elegí|optamos|opto|me quedo con|nos quedamos con|abbiamo deciso|ho deciso|abbiamo scelto|ho scelto|scegliamo|scelgo|optiamo|decidimos|escolhi|escolhemos|optei|we kiezen|ik kies|gekozen voor|besloten|zdecydowa\w+|wybra(?:łem|łam|liśmy)|wybieram\w*)\b|(?:я|мы) (?:решил|выбрал|выбира|остановил)\w*|решено|вирішил\w+|обрали|决定|选择了|选用|采用|最终选|に決め|を採用|を選|に決定|선택했|결정했|채택|로 정했",
)
NAMES = mark(
    "names", 1.5,
    r"\b(?:design|final|architectural?|technical|team|my|our|the|this|clear) (?:\w+ )?(?:decision|choice|verdict|conclusion|resolution|ruling|pick|preference|call|answer|winner|vote|direction|standard|solution)\b.{0,100}?(?: is | are | becomes? | was | falls | fell | goes |:|->|=>)",
    r"^(?:decision|choice|verdict|conclusion|resolution|pick|winner|chosen|selected|settled|agreed|decided|resolved|outcome|final)\b[^:.]{0,80}(?::| - |->)|\bplan of record\b|\b(?:strategy|approach|plan|policy|convention|standard|design|way forward|course|direction|default)\b.{0,60}?\b(?:is settled|is set|is fixed|is clear|stands|becomes|will be|is decided|is now)\b|\btrade-?off\b.{0,80}\baccepted\b|\baccept(?:ing|ed)? (?:the|this|that) trade-?off\b",
    r"\b(?:is|as|be|are|remains|becomes) (?:my|our|the) (?:pick|choice|winner|answer|preference|favou?rite|call|selection|way to go|way forward|one to use|better fit|better choice|right choice|best choice|right call|best fit|right fit|right tool|better option|best option)\b|\b(?:gets|get|has|have) (?:my|our|the) (?:vote|nod|job|contract|go-ahead|green light)\b|\bmake[sz]? the cut\b|\bit is (?:for|then|because|since|given|as|,|\.|-|;|:)|\bit is$|\bit (?:shall|will|is going to|has to|is to|must) be\b|\b(?:shall|is to|are to|will|is going to|are going to) (?:be|use|run|live|sit|rest|become|rely|get|have|go)\b|\bshall be (?:done|built|stored|kept|implemented|handled)\b",
    _LETS + r"(?:make it|say|call it|use|take|go|do|settle|stick|keep|build|have|agree|fix|commit|standardi[sz]e|adopt|choose|pick(?! up))\b.{2,160}?(?:\bbecause\b|\bsince\b|\bover\b|\brather\b|\binstead\b|\bdone with it\b|;|,|\bas\b|\bgiven\b| - |:)|\band be done with it\b|\bgo ahead with\b|\bwins?\b|\b(?:takes|took) the (?:lead|prize|cake|job)\b|\bthe (?:better|best|right|sound|safe|sane|sensible|simplest|cleanest|obvious|natural|winning) (?:\w+ )?(?:approach|option|choice|solution|way|fit|tool|candidate|idea|path|design|call|answer|one)\b|\b(?:the )?(?:latter|former|first|second) (?:is|wins|it is|gets|takes|fits|suits)\b|\bwon\b|\bprevail(?:s|ed)?\b|\bcarries the day\b|\bcomes? out (?:ahead|on top|first)\b|\b(?:tip|tips|tipped|tilt|tilts|tilted|swing|swings|swung) (?:the|it)\b|\bwhat (?:tips|tilts|decides|settles|clinches|swings|sways) \w+|\bbeats\b|\boutweigh|\bthe (?:deciding|decisive|clinching) (?:factor|point|argument|reason)\b",
    r"\bmeine wahl\b|\bunsere wahl\b|\b(?:die|meine|unsere) entscheidung\b.{0,80}(?::| ist | lautet | fällt )|^entscheidung\b[^.]{0,80}:|\bzum einsatz\b|\bden vorzug\b|\bden zuschlag\b|\bist (?:hier )?die (?:bessere|richtige|beste) (?:wahl|lösung)\b|\bpasst (?:hier )?besser\b|\bkommt zum zug\b|\b(?:ab jetzt|ab sofort|künftig|von nun an) (?:gilt|nutzen|verwenden|nehmen|setzen|läuft|wird)\b|\bgewinnt\b|\bdas rennen\b|\bbeschluss\b|\bes (?:wird|bleibt bei|gibt)\b.{2,100}\b(?:statt|nicht|kein\w*|denn|weil)\b|\bmachen wir mit\b|\bsetzen wir auf\b|\b(?:ich|wir) (?:nehmen?|setzen?|verwenden?|nutzen?|bleiben?|bauen?|gehen?) (?:\w+ ){1,8}?(?:statt|anstatt|anstelle|nicht)\b|\b(?:nehmen?|setzen?|verwenden?|nutzen?) (?:ich|wir)\b|\balso\b.{2,100}, (?:nicht|kein)",
    r"\bl'emporte\b|\bgagne\b|\bc'est (?:décidé|tranché|acté|réglé|arrêté)\b|\bsera\b.{2,100}\b(?:et non|pas|plutôt|car)\b|\best (?:le meilleur|la meilleure|le bon|la bonne)\b|\ba la préférence\b|\bce sera\b|\bdécision\b.{0,60} ?:|\bchoix\b.{0,60} ?:|\bdésormais\b.{0,80}\b(?:utilis|repose|pass|se fai|sera)|\bgana\b|\bla elección\b|\bla decisión\b|\bla scelta\b|\bvince\b|\ba escolha\b|\bde keuze\b|\bwybór\b|выбор|решение:|вибір|方案(?:是|定)|結論|결론|決定:",
)
DOES = mark(
    "does", 1.25,
    _I + r"(?:tak(?:e|ing)|took|us(?:e|ed|ing)|stick(?:ing)? (?:with|to)|stay(?:ing)? with|keep(?:ing)?|kept|build(?:ing)? (?:it |this |that )?(?:on|with|upon)|bas(?:e|ing) (?:it |this )?on|stor(?:e|ing)|mak(?:e|ing)|do(?:ing)?|switch(?:ed|ing)? to|mov(?:e|ed|ing) (?:\S+ ){0,5}?to|replac(?:e|ed|ing)|implement(?:ing)?|rely(?:ing)? on|reject(?:ed|ing)?|discard(?:ed|ing)?|drop(?:ped|ping)?|dismiss(?:ed|ing)?|leave|skip(?:ped|ping)?|put(?:ting)?|select|want(?:ed)?|need)\b",
    r"\b(?:nehme|nehmen|setze|setzen|verwende|verwenden|nutze|nutzen|baue|bauen|bleibe|bleiben|mache|machen) (?:ich|wir)\b|\b(?:ich|wir) (?:nehme|setze|verwende|nutze|baue|bleibe|mache)n?\b|\b(?:je|on|nous) (?:prends?|prenons|utilise|utilisons|garde|gardons|passe|passons|fais|faisons|reste|restons)\b|\b(?:usamos|usiamo|prendiamo|używamy)\b|используем|використовуємо|我们用",
)
ACTS = mark(
    "acts", 0.75,
    r"\b(?:use|take|adopt|keep|prefer|choose)\b(?= .{2,80}\b(?:for|over|instead|rather|not|no)\b)|\b(?:is|are|be|gets?) (?:done|built|stored|kept|handled|implemented|solved|based|backed|modelled|served|written) (?:by|with|on|in|as|via|through|using)\b|\b(?:rests?|relies|runs?|builds|sits|lives|stands) on\b|\b(?:uses?|moves? to|switch(?:es)? to|goes? (?:to|with|for)|becomes?|takes?|needs)\b",
    r"\b(?:nehme|nehmen|setze|setzen|verwende|verwenden|nutze|nutzen|baue|bauen|bleibe|bleiben|mache|machen|kommt|läuft|wird|gibt es|gilt)\b|\b(?:prends|prenons|prend|utilise|utilisons|garde|gardons|passe|passons|fais|faisons|reste|restons|repose|sera)\b|\b(?:uso|usamos|usiamo|tomo|tomamos|prendo|prendiamo|gebruik\w*|używam\w*)\b|используем|використ|我们用|使う|사용",
)
REJECTS = mark(
    "rejects", 1.0,
    r"\b(?:rejected|discarded|ruled out|dropped|dismissed|abandoned|declined|eliminated|set aside|turned down|crossed off|struck off|thrown out|left (?:out|behind|aside)|passed over|put aside|vetoed|retired|off the table|not an option|no option|out of the (?:picture|race|question|running)|is (?:out|gone|a no|no good|overkill|too much|too slow|too heavy|dead)|are (?:out|gone|a no|overkill)|lost|loses|lose out|fell (?:short|through|away|out|behind)|falls (?:short|through|away|out|behind)|runner-up|second place|second best|came second|can (?:rest|wait|go)|goes|drops? out|is wasted|be wasted|thing of the past|fails?|failed|cannot (?:cope|say|do|keep up|match|compete)|was (?:the other|another) candidate|the other (?:candidate|option|one|contender)|hits the quota|unused|stays (?:out|unused|in the drawer|aside)|nothing speaks for|speaks against|spoke against|argues against|was considered|were considered|considered and|the alternatives?|would have (?:meant|cost|needed)|no longer needed|not worth|is not needed|forget|forget about|scrap)\b|\bleave \S+(?: \S+){0,5} (?:alone|out|aside|be)\b|\bgoes? (?:overboard|away)\b|\bno need for\b",
    r"\bvom tisch\b|\blassen wir\b|\blasse ich\b|\bscheide[nt]\w* aus\b|\bverworfen\b|\babgelehnt\b|\bspricht\b|\bsprach\b|\bfällt (?:weg|aus|raus|durch)\b|\bfielen? (?:weg|aus|raus|durch)\b|\bausgeschlossen\b|\bverzichte\w*\b|\bunterlieg\w*\b|\bdie alternative\b|\bkommt nicht in ?frage\b|\bnicht nötig\b|\bzweiter?\b",
    r"\bécarté\w*\b|\brejeté\w*\b|\babandonné\w*\b|\bne convien\w+ pas\b|\bexclu\w*\b|\béliminé\w*\b|\blaissé\w* de côté\b|\bl'alternative\b|\btant pis pour\b|\bon oublie\b|\bperd\b|\bdescartad\w*\b|\bscartat\w*\b|\bafgewezen\b|\bodrzuc\w*\b|отказал\w*|отверг\w*|відмов\w*|放弃|不用|却下|제외",
)
AGAINST = mark(
    "against", 0.75,
    r"\b(?:over|rather than|instead of|instead|as opposed to|in place of|versus|vs\.?|against|than|ahead of|better than|replaces|in favou?r of|to the exclusion of|at the expense of)\b|(?:,|;|-|\() ?(?:and |but )?(?:not|no)\b(?! (?:that|because|only|just|longer))|\band (?:no|not)\b|\bno .{2,60}\b(?:please|for)\b|\bdespite\b|\beven though\b",
    r"\b(?:statt|anstatt|anstelle|gegenüber|sondern|lieber als|gegen)\b|(?:,|;) ?(?:und )?(?:nicht|kein\w*)\b|\bund (?:nicht|kein\w*)\b|^kein\w* ",
    r"\b(?:plutôt qu|au lieu d|à la place d|et non\b|contre\b|face à)|(?:,|;) ?(?:et )?(?:pas|non|mais)\b|^pas de\b|\b(?:en lugar de|en vez de|frente a|y no|invece di|al posto di|piuttosto che|em vez de|ao invés de|in plaats van|zamiast)\b|вместо|а не|замість|而不是|代替|ではなく|の代わり|대신|말고",
)
COLON = mark("colon", 0.25, r"\w[^:]{2,}: ?\w|; ?\w|\w - \w")
WHY = mark(
    "why", 0.75,
    r"\b(?:because|since|given that|given|as|due to|so that|in order to|for the reason|the reason|reason(?:ing)?|rationale|owing to|thanks to|otherwise|considering|yet|beyond|never|cannot|can't|only|too|already|would (?:be|have|cost|need|mean|stall|break|take))\b|, for (?!(?:example|instance)\b)\w",
    r"\b(?:denn|weil|da|damit|begründung|grund|sonst|schließlich|nämlich|doch)\b|\b(?:car|parce qu|puisqu|étant donné|afin|raison|sinon|vu qu|comme)\b|\b(?:porque|ya que|puesto que|perché|poiché|siccome|pois|omdat|want|ponieważ|bo)\b|потому что|так как|поскольку|тому що|бо |因为|由于|なぜなら|ので|ため|때문",
)
WEIGHED = mark(
    "weighed", 0.75,
    r"\b(?:weigh(?:ed|ing|s)?|compar(?:ed|ing)|comparison|between .{2,80}? and|out of (?:the )?(?:two|three|both)|of the (?:two|three|candidates|options|alternatives|choices)|having (?:looked|read|weighed|compared|tried|considered|thought|seen|tested)|after (?:reading|weighing|comparing|looking|considering|some|trying|going|testing)|considered|looked at both|on balance|all things considered|all in all|pros and cons|trade-?offs?)\b",
    r"\b(?:abgewogen|abwägung|abwägen|verglichen|vergleich|zwischen .{2,80}? und|von (?:den )?beiden|unterm strich|nach (?:langem|reiflicher|einigem))\b|\b(?:pesé|comparé|comparaison|entre .{2,80}? et|des deux|tout bien considéré|réflexion faite|après (?:avoir|réflexion))\b|\b(?:comparando|entre .{2,80}? y|tra .{2,80}? e|sopesando)\b|между .{2,60} и |сравни|相比|比较|比較|비교",
)
NOW = mark(
    "now", 0.5,
    r"\b(?:now|from now on|from here on(?:wards)?|in the end|eventually|after (?:some|all|a) \w+|henceforth|as of|therefore|hence|thus|hereby|consequently|accordingly|so|then|going forward|for good|once and for all)\b|\b(?:also|daher|deshalb|somit|nun|jetzt|ab jetzt|ab sofort|künftig|damit|dann|demnach)\b|\b(?:donc|désormais|dorénavant|ainsi|alors|maintenant|dès lors)\b|\b(?:así que|por tanto|ahora|quindi|dunque|ora|portanto|agora|dus|nu|więc|teraz)\b|поэтому|теперь|тому|тепер|因此|所以|现在|そのため|よって|따라서|이제",
)
TOPIC = mark("topic", 0.25, r"\b(?:for|about|regarding|concerning|when it comes to|with|as)\b|\b(?:für|bei|beim|zu|zur|zum|was)\b|\b(?:pour|quant|concernant|dans|sur)\b|\b(?:para|per|voor|dla)\b|для|对于|关于|について|에 대해")  # fmt: skip

AGENT: tuple[Mark, ...] = (SETTLES, NAMES, DOES, ACTS, REJECTS, AGAINST, WHY, COLON, WEIGHED, NOW, TOPIC)
"""What an agent says when it settles something."""

ASKS = mark(
    "settles", 2.0,
    r"^(?:decided|decision|settled|agreed|chosen)\b|\bdecision(?: \w+){0,5}?(?::| is)|\b(?:i|we|i've|we've|team|us|boss|management|client|customer|ops|design|everyone|everybody)\b(?: \w+){0,3}? (?:decided|settled|agreed|chose|picked|want|wants|prefer|prefers|chosen|selected)\b|\bit(?:'s| is|s) (?:decided|settled|agreed)\b|\b(?:agreement|my (?:call|choice|pick|vote|verdict|preference|answer)|our (?:call|choice|pick|preference)|final (?:answer|word|call)|choose|(?:^|please |let's |i'll |we'll |i )pick(?! up)|go(?:ing)? (?:with|for|ahead with)|went with|opt(?:ed|ing)? for|prefer|stick (?:with|to)|standardi[sz]e on|commit to|i vote|vote for|i(?:'d| would) say (?:we|you|it)|i(?:'d| would) (?:rather|like to|go|take|use|pick|choose)|not negotiable|non-negotiable|no discussion|end of (?:story|discussion)|full stop|period\.|that's final|that is final|it's final|final\b|as discussed|as agreed|talked (?:to|with)|spoke (?:to|with)|spoken (?:to|with)|after talking|discussed (?:it|this) with|the team (?:wants|agreed|prefers|says)|we(?:'re| are) (?:going|sticking|staying))\b",
    r"^(?:(?:ok|okay|alright|fine|right|good|yes|thanks[^.]{0,40}|so|well|then)[,.:]? )*(?:then )?[^,;:.?!]{2,90}? for [^,;:.?!]{2,70}? (?:then|it is|please|from now on)\b|\bok(?:ay)? then [^?]{2,120} for \b",
    r"\b(?:entschieden|entscheidung|beschlossen|abgemacht|ausgemacht|vereinbart|meine wahl|nimm|nehmt|nehmen wir|wir nehmen|mach(?:en)? wir|bleib(?:en)? (?:wir )?bei|setz(?:en)? (?:wir )?auf|lieber|bevorzuge|mit dem team|mit den kollegen|gesprochen|ich möchte|ich will|wir machen|verwende|benutze|nutze)\b",
    r"\b(?:décidé|décision|tranché|mon choix|je choisis|on choisit|prends|prenez|prenons|je veux|nous voulons|on prend|on part sur|partons sur|va pour|je préfère|on reste sur|utilise|utilisez|d'accord pour|avec l'équipe)\b|\b(?:decidido|elige|usa|usemos|prefiero|quiero|vamos con|deciso|usa|usiamo|preferisco|voglio|andiamo con|decidido|use|prefiro|quero|vamos de|gebruik|neem|liever|użyj|wybieram|wolę)\b|решил|давай(?:те)? (?:возьмём|использ)|используй|хочу|вирішил|використовуй|决定|用.{1,20}吧|就用|选|にして|を使って|にしよう|으로 하자|로 가자|써줘",
)
USES = mark(
    "acts", 1.0,
    r"\b(?:use|take|make it|make that|make the|make \w+|have|has to be|have to be|must be|needs? to be|shall be|should be|ought to be|i want|we want|we need|let's|let us|do it with|do [^.?!]{2,60} with|keep|switch to|we'll|we will|we do|build (?:it )?(?:on|with)|it'?s going to be|will be)\b|(?:->|→|=>|=)",
    r"\b(?:muss|soll|sollen|bitte|machen|mach)\b|\b(?:doit être|s'il te plaît|s'il vous plaît|fais|faites|il faut)\b|\b(?:debe ser|por favor|deve essere|deve ser|moet|musi)\b|должн|нужно|пожалуйста|повин|必须|请|してください|해줘|해 주세요",
)
REFUSES = mark(
    "rejects", 1.0,
    r"\b(?:forget|skip|drop|leave out|leave (?:\w+ ){1,5}(?:out|alone)|get rid of|no more|is (?:out|a no|a no-go|too \w+|overkill|gone)|are (?:out|a no|too \w+|overkill)|not an option|out of the question|(?:is|are) (?:a pain|a mess|hell|a nightmare|too|slow|expensive)|(?:eats?|kills?|wastes?|burns?) the|bite[s]? us|won't (?:do|work|fly|cut)|will not do|doesn't (?:work|fit|cut)|one more thing|ruled out|rejected|don't (?:use|want|like|bother with)|do not (?:use|want)|hate|avoid|never)\b|(?:^|[.;] )no \w|\bvergiss\b|\bkein\w*\b|\blass (?:das|die|den)\b|\boublie\b|\blaisse tomber\b|\bpas de\b|\bolvida\b|\bdimentica\b|\besquece\b|\bvergeet\b|\bzapomnij\b|забудь|не надо|не треба|别用|不要用|使わない|말고",
)
USER: tuple[Mark, ...] = (ASKS, USES, REFUSES, AGAINST, WHY, COLON, TOPIC)
"""What a user says when he settles something."""

HINTS = (
    "land", "shall", "will be", "is to", "answer", "from here", "now on", "in the end", "the one", "fix", "past", "done", "side", "best", "better", "latter", "former", "win", "use", "take", "do ", "get", "becom", "make", "beyond", "because", "since", "as ", "for ", "because", " - ", ";", ":", "décis", "sera", "bleib", "kommt", "vorzug", "pass", "car ", "denn", "weil",
    "decid", "decis", "chose", "choos", "choice", "opt", "settl", "pick", "select", "with", "prefer", "favo", "adopt", "commit", "lock", "verdict", "rule", "ruling", "reject", "discard", "drop", "dismiss", "abandon",
    "instead", "rather", "over", "beats", "wins", "won", "it is", "plan of record", "strategy", "convention", "trade", "standard", "switch", "agreed", "final", "out", "lost", "lose", "runner", "considered", "alternative",
    "scale", "tilt", "hence", "therefore", "versus", "let's", "let us", "not", " no ", "conclu", "entsch", "beschl", "festgelegt", "lege", "statt", "wahl", "wähl", "nehm", "zuschlag", "gewinnt", "gilt", "setz", "nicht", "kein",
    "décid", "choi", "retien", "retenu", "tranch", "engage", "préf", "part sur", "partons", "va pour", "plutôt", "au lieu", "emporte", "écart", "ce sera", "désormais", "pas ", "decid", "elegi", "elijo", "scelt", "escolh", "kies", "kozen", "wyb", "zdecyd",
    "реш", "выб", "остан", "вместо", "вирі", "обрал", "замість", "决定", "选", "采用", "而不", "決", "採用", "ではなく", "代わり", "선택", "결정", "채택", "대신",
)
# fmt: on
"""Words one of which stands in whatever settles something."""
