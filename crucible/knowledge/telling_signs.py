"""What people's words say about a failure: of a wish, of what stood there to be read, of what nobody had said.

Owns the tables for the user's and a reviewer's words and the agent's own telling.  They are English, with the plainest words of six
other languages.
"""

from __future__ import annotations

from crucible.knowledge.signs import Sign, View, signs

__all__ = ["TELLINGS"]

_DOCUMENT = (
    r"(?:"
    r"readme|contributing|agents\.md|claude\.md|gemini\.md|\bdocs?/|\badr\b|\badr[-/]|changelog"
    r"|architecture\.md|makefile|justfile|package\.json|pyproject|lock ?file|pnpm-lock|yarn\.lock|tsconfig"
    r"|\.nvmrc|\.env\b|\.tool-versions|\.python-version|\.editorconfig|schema\.\w+|compose\.ya?ml|conftest"
    r"|handbook|docstring|module comment|comment (?:above|in|at|over)|the notes?\b|wiki|runbook|go\.mod"
    r"|cargo\.toml|\.gitattributes|\.gitignore|config(?:uration)? file|issue tracker|task description"
    r"|session note"
    r")"
)
"""Papers that a project keeps."""

_WISH = signs(
    View.STORY,
    (
        "R4.5",
        "the wish was meant otherwise than it was understood",
        (
            r"\bnot what (?:i|we|they|she|he)\b|\bnot (?:quite )?what (?:was|the user|the customer|i)\b"
            r"|\b(?:i|we|they|she|he|user|customer|client|who(?:ever)?|team|author) (?:had |has |have "
            r"|actually |only |really |just |always )?(?:meant|wanted|asked for|asked you|intended|thought of"
            r"|was thinking of|were thinking of|expected|had in mind|wished|pictured|imagined)\b"
            r"|(?:was|were|is) (?:meant|intended|thought|wanted)\b|\bmeaning (?:the|of)\b"
            r"|\bmeant (?:the|as|to|for|by|per|only|something|another|it|in|was)\b|misunderst"
            r"|misread (?:the (?:wish|request|task|ticket|issue)|it)|misinterpret"
            r"|had (?:something|another|a) .{0,30}in mind|wasn't asking|was after\b|were after\b|never part of"
            r"|for (?:them|him|her|the \S+) (?:is|means|was)|was not the (?:idea|point)"
            r"|rejected the (?:demo|plan|change|draft)|didn't (?:ask|mean|want)|did not (?:ask|mean|want)"
            r"|never asked|thought (?:that|it|this) was (?:clear|obvious)|why (?:did|have) you"
            r"|why is .{0,40}(?:now|gone|different)|\bredo it|could (?:also )?mean|can be read"
            r"|read (?:it|the (?:sentence|wish|ticket|request)) (?:as|differently|otherwise)"
            r"|(?:took|understood|interpreted|read|taken) (?:it|this|that|the \S+|\S+) (?:as|to mean"
            r"|to be|for|literally)|as i understood|understood (?:as|otherwise)"
            r"|(?:two|both|other|another|different|own) (?:reading|interpretation|meaning|sense)s?"
            r"|guessed differently|differently (?:read|understood|meant)"
            r"|reads? (?:it|the \S+) (?:differently|otherwise)"
            r"|\bby [\"'“”„«»‘’»]?\S{2,20}[\"'“”„«»‘’] (?:i|we|they|he|she)\b"
        ),
    ),
    (
        "R4",
        "the wish left open what was needed to fulfil it",
        (
            r"unclear|ambigu|contradict|vague|underspecified"
            r"|conflict(?:ing)? (?:between )?(?:the )?(?:requirement|criteria|wishes|instruction)"
            r"|(?:requirement|spec|ticket|issue|wish|request|criteria|task|sentence|order|brief|story)s? .{0,40}(?:never (?:says?"
            r"|said|told)|(?:does|did)(?:n't| not) (?:say|tell|mention|name|specify)|left (?:it )?open"
            r"|says only|only says|said only|says nothing|silent|leaves (?:it |this )?open)"
            r"|(?:not|never|wasn't|nowhere) (?:specified|stated|settled|agreed|named in the (?:task"
            r"|ticket|wish|request))"
            r"|(?:nobody|never|not|no ?one) (?:ever )?defined|should have meant|nobody (?:had )?(?:said|specified|decided|agreed) (?:which|what|whether|how|where|per|for whom)"
            r"|(?:which|what|whether|how|per what|for whom|where).{0,40}(?:was|were|had been|is) (?:not"
            r"|never|nowhere) (?:said|told|named|specified|clear|stated|decided|given)"
            r"|nothing (?:in the (?:wish|task|ticket|request|issue) )?(?:said|says|told) (?:which|what"
            r"|whether|how|where)"
            r"|(?:ticket|issue|spec|requirement|story|criterion|one|user|customer|sentence|rule|test"
            r"|paragraph)s? \S{0,3} ?(?:asks|wants|demands|requires|says)\b.{3,100}(?:\bother\b|another"
            r"|second|ticket|\bbut\b|while|whereas|however|forbids)|both were (?:given|asked)|acceptance criteri"
            r"|\bac[- ]?\d\b|exclude each other|can(?:not| ?n't) both|both (?:be right|at once|hold)"
            r"|fixing (?:the )?one breaks"
            r"|whether .{3,80} or .{3,80}(?:said|told|stated|specified|clear|named|written)"
            r"|(?:or|which|whether).{0,60}(?:is|was) (?:said|told|stated) nowhere"
            r"|there (?:are|were) two .{0,60}(?:none|neither|not said|differ|wish|meant)"
            r"|two (?:customers|servers|meanings|places|columns|lists|buttons|headers|environments|reports"
            r"|users|targets|pages|kinds)"
            r"|(?:story|spec|task(?! said nothing)|ticket|issue|wish|request|order|brief|sentence|requirement"
            r"|description|pedido|tarea|auftrag|demande|tarefa) (?:only |just |apenas |solo |nur |merely )?(?:says?"
            r"|said|reads?|dizia|decía|sagte|disait)\b"
            r"|want(?:s|ed)? (?:it|the|an?) .{3,60}(?:, the|while|and the|the other|but)"
            r"|(?:legal|back.?end|front.?end|design|finance|sales|support|marketing|business)(?:'s)? (?:department"
            r"|team|people|tests?|and|wants?|expects?|wanted|expected)|was open"
            r"|question (?:was|of) (?:taste|which)|guessed (?:which|what (?:was|they|the user) meant)"
            r"|none was named|neither was named"
        ),
    ),
    (
        "R3",
        "it was the wisher who settled what was to be done",
        (
            r"(?:asked|clarified|cleared up|agreed|settled|decided|checked) (?:with |by |back )?(?:the )?(?:user"
            r"|author|customer|client|product|designer?|finance|stakeholder|po\b|pm\b|owner|manager"
            r"|reporter|support|marketing|sales|legal|editor|maintainer|requester)"
            r"|(?:agreed on|product says|says product|product:)"
            r"|product (?:owner|manager|team)?.{0,20}(?:decided|fixed|said|chose|settled)"
            r"|design(?:er)? (?:decided|wants|said)"
            r"|(?:ticket|spec|sentence|criteri\w+|story|issue|requirement|wording|definition)\b.{0,40}(?:changed"
            r"|rewritten|reworded|clarified|amended|updated|dropped|split|corrected|now says|made precise)"
            r"|(?<!it )asked (?:which|what|whether|first|back|and)"
            r"|(?:lead|owner|team|customer|user|boss) (?:dropped|decided|chose|picked|preferred)|both forms"
            r"|(?:brief|spec|ticket|example|request|issue|wish)s? (?:shows?|has|have|names?|gives?|mentions?"
            r"|lists?|uses?) (?:both|two|either|several|different)|customer (?:picked|chose|decided|prefers)"
            r"|after asking|now asks? (?:first|before|which)|ask(?:ing)? (?:first|when|before|which)"
            r"|confirmed (?:with|by) (?:the )?(?:user|customer|product)|follow-up question|changes requested"
            r"|turned down|closed the pr|rückfrage|nachgefragt|demandé|preguntado|perguntado|确认|確認した"
        ),
    ),
    (
        "R4",
        "the wish was meant otherwise than it was understood",
        (
            r"gemeint|\bmeinte|ich wollte|wollte ich|wir wollten|nicht so,|missverst|falsch verstanden"
            r"|sollte (?:doch |nur |eigentlich )|hätte .{0,40}sollen|ten[ií]a que|deb[ií]a |deber[ií]a|tinha que|deveria|devia|devait|il fallait|sondern|eigentlich|gewünscht|hatte ich|waren? .{0,30}gemeint"
            r"|mir ging es|s'agissait|il s'agit|nur (?:die|der|das|den|in|für|noch)|brauchen wir|quand je dis"
            r"|ce sont|pas les|esperava|reclamou|esperaba|habe ich nicht (?:gesagt|verlangt|gewollt)"
            r"|je (?:voulais|parlais|pensais|ne voulais)|on (?:voulait|parlait)|nous voulions|voulais dire"
            r"|c'est pas ce que|n'est pas ce que|ce n'était pas|malentendu|j'avais demandé|j'entendais|demandais"
            r"|quer[ií]a(?:mos)? (?:que|el|la|los|las|decir|solo|un)|me refer[ií]a|no era (?:eso|lo)|no es lo que"
            r"|quise decir|yo ped[ií]|ped[ií] que|lo que (?:quería|pedí)|eu quer(?:ia|íamos)|que eu queria"
            r"|quis dizer|não era (?:isso|o que|para)|não foi (?:isso|o que)|me referia|eu pedi"
            r"|pedi (?:que|para|só)|só queria|a gente queria|queríamos|volevo|intendevo|不是(?:这个|那个|这样)?(?:意思)|我想"
            r"|(?:你|您)(?:却|导出|删|改|做|理解)|我(?:说|指|要|想要|是说|的意思|让你)|的意思是|是指|指的是|而不是|不是让你|という意味|つもり|ではなく(?:て)?|じゃなくて"
            r"|違います|違う|そうではなく|欲しか|お願いした|意図|言ったのは|頼んだのは|のことです|のことでした"
        ),
    ),
)

_WORDS = signs(
    View.WORDS,
    (
        "R2",
        "a human said that it was to be otherwise",
        (r"."),
    ),
    (
        "R2",
        "a human said that it was to be otherwise",
        (
            r"^\W*(?:(?:user|reviewer|qa|review(?: comment)?|product): ?)?\W*(?:no\b|nope|not |hm+|ehm"
            r"|um+\b|wait|stop|sorry|thanks|thank you|ok(?:ay)?,? but|why|please|actually|oh\b|nice,? but"
            r"|great,? but|that's|this is(?:n't| not)|you |i |nein|non\b|não|no,|不|違|いや|すみません|attends"
            r"|halt|moment|moment|pardon|désolé|perdón|lo siento|desculpa)"
        ),
    ),
    (
        "C4.5 R-2",
        "it had been said or decided before",
        (
            rf"{_DOCUMENT}|as (?:i|we) (?:said|told|wrote|decided|agreed)"
            r"|\b(?:i|we) (?:already |had |have )?(?:told you|said (?:at the|before|earlier|yesterday"
            r"|that already)|decided|agreed)|already (?:have|has|exists?|had|there|decided|told|said|a )"
            r"|last (?:week|session|time|month)|(?:earlier|yesterday)\b|told you|remember|you (?:forgot|yourself)"
            r"|at the beginning|in the (?:first|last) (?:message|session)|duplicat"
            r"|there (?:is|was) (?:already|a helper)|we have (?:a|an) |bereits"
            r"|schon (?:gesagt|entschieden|vorhanden|einmal)|déjà|ya (?:existe|lo|habíamos|tenemos|dije)"
            r"|já (?:existe|temos|tínhamos|decidimos|disse)|已经(?:有|决定|说)|之前(?:说|决定)|もう(?:あり|決め)|前に(?:言|決め)|既に"
        ),
    ),
    (
        "K3.5 R-1",
        "the people here have a rule for it",
        (
            r"\bwe (?:always|never|don't|do not|only|usually)\b"
            r"|(?:in|for) this (?:team|codebase|house|company|repo)"
            r"|\bour (?:convention|style|rule|standard|policy|guideline)|\bhouse (?:style|rule)|convention"
            r"|by policy|around here|here we |best practice|pattern we|the (?:usual|right) way|idiomatic"
            r"|(?:bei uns|wir (?:verwenden|nehmen|machen|schreiben)) |chez nous|nous utilisons"
            r"|aquí (?:siempre|usamos)|aqui (?:sempre|usamos)|我们(?:一直|从不|团队|统一)|うちでは|規約"
        ),
    ),
)

_READABLE = signs(
    View.STORY,
    (
        "C1.8",
        "what was needed stood in the project's own papers",
        _DOCUMENT,
    ),
    (
        "C4",
        "what was needed was there and was not looked at",
        (
            r"(?:not|never|without|hadn't|had not|wasn't|weren't|nobody|neither(?: \S+)?|nor|instead of"
            r"|before|should have|didn't|did not) (?:been |was |were |i |having |first |even |a )?(?:read"
            r"|reading|opened?|opening|look(?:ed|ing)?(?: at| into| there| up)?|checked|checking|seen"
            r"|consulted|listed|searched|grepped|fetched|pulled|a look|passed on|handed (?:on|over)"
            r"|told (?:the|to the|it)|mention(?:ed)? to|noticed|scrolled)\b(?! (?:nothing|anything))|unread"
            r"|overlooked|from memory|guessed|assumed|supposed to|took for granted|taken for granted"
            r"|made up the (?:name|path)|invented the (?:name|path)|supposed (?:it|the)"
            r"|as (?:usual|always|elsewhere)"
            r"|[\w/.-]+\.(?:go|tsx?|py|rs|java|rb|md|json|ya?ml|toml|jsx?|cc?|h|cpp|php|kt|swift|exs?"
            r"|cs|sql|sh|txt|xml|gradle|vue|lock|envrc) (?:says?|shows?|tells?|lists?|has|had|holds?"
            r"|defines?|explains?|describes?|names?|calls)|as \S+/\S* (?:shows|says|tells)"
            r"|(?:header|comment|banner|interface|signature|schema|listing|diff|blame|history|comments?) (?:says"
            r"|shows|tells|is|stands|stood|would)\b.{0,30}(?:above|below|edit|called|named|there|so)"
            r"|lines? (?:above|below|earlier|up)"
            r"|(?:it's|it is|its name is|they are|really|actually|in fact) (?:called|named|`|(?:in )?(?:crates"
            r"|packages|src|apps|lib|tools|services)/)"
            r"|has to be (?:built|started|generated|installed|run|fetched|sourced) first|set-?up notes"
            r"|(?:is|was|are) set (?:in|by)|where .{0,20} (?:is|are) set|managed (?:with|by)"
            r"|uses (?:poetry|pnpm|yarn|uv|bun|just|bazel|pytest|vitest|make|docker)|issue text says|inzwischen"
            r"|git log (?:zeigt|shows|says|tells)|a (?:listing|look|glance|grep) would"
            r"|would have (?:shown|told|said)|one line (?:above|below|up|further)"
            r"|stands? (?:in|there|two|three|right|plainly|at)|stood (?:in|there)"
            r"|is (?:listed|written|described|named|explained|documented|set|defined|in the root|right there)\b"
            r"|says (?:so|to|that|in|it|how)|said in the|there is an? |lies? (?:in|under)|lives? in"
            r"|\bis (?:in|under|at|called|named) |are (?:in|under|called)"
            r"|(?:was|were|had been|has been|have been|got) (?:renamed|moved)"
            r"|renamed (?:to|it|in|by|yesterday|last)|moved (?:to|into|out|it|on|by)"
        ),
    ),
    (
        "C4",
        "what had been said or done before was no longer known",
        (
            r"compact(?:ed|ion)"
            r"|context (?:was|had been|window|got) (?:cut|lost|compacted|summari[sz]ed|full|cleared)|summari[sz]ed"
            r"|earlier in (?:the|this) (?:session|conversation)"
            r"|(?:previous|earlier|last|former|first) (?:session|conversation|turn|phase|message|edit"
            r"|step|attempt at)|session (?:before|began|started)|handed over|handover"
            r"|(?:had|was|were) (?:already )?(?:decided|agreed)"
            r"|decided (?:in|on|last|earlier|yesterday|two|three|before)|decision (?:was|stood|is|from)"
            r"|(?:written|built|implemented|made|added|done|fixed|exists?|there|existed)\b.{0,15}already"
            r"|settled on|(?:two|three|some|a few|many) turns (?:ago|before)"
            r"|already (?:written|built|implemented|made|added|done|fixed|existed|exists|there|had|put"
            r"|have|been|in )|a second time|(?:written|made|implemented|did it|created) twice"
            r"|(?:forgot(?:ten)?|lost) (?:that|what|the|it|about)"
        ),
    ),
    (
        "C6.5 R-4",
        "a subagent was not told what it had to know",
        (r"sub-?agent|delegat"),
    ),
    (
        "C3",
        "the place was another one than was thought",
        (
            r"wrong (?:directory|folder|place|branch|repository|repo|checkout|worktree|package|path"
            r"|cwd|cluster|context|environment|database|host|machine|version of)|working directory|\bcwd\b"
            r"|(?:ran|run|started|called|was|am|were) .{0,20}(?:from|in|inside|at|on) (?:of )?(?:the )?(?:wrong"
            r"|root|top|parent|repository|sub|other|main|home|\S+/)|at the (?:top|root)"
            r"|from the (?:root|repository)|inside of|is in (?:packages|apps|src|tools|services|the sub)|monorepo"
            r"|other (?:branch|checkout|worktree)|still on|not (?:activated|sourced|exported|on path)"
            r"|(?:virtual env|venv|conda|environment) (?:was|is|were|had)"
            r"|system'?s? (?:python|node|ruby|java|go)\b|global(?:ly)? installed|in \.venv|\.venv"
        ),
    ),
    (
        "C3.5",
        "somebody or something had changed it in the meantime",
        (
            r"in the meantime|meanwhile|since (?:then|i (?:read|looked)|my (?:read|last)|the read)"
            r"|(?:colleague|user|teammate|somebody|someone|another (?:agent|session)|other agent|formatter"
            r"|prettier|hook|linter|codegen|generator|black|gofmt|ide|editor)\b.{0,35}(?:had |has |changed"
            r"|pushed|edited|renamed|moved|rewrote|reformatted|touched|merged|ran|run over|saved|removed"
            r"|deleted|replaced)"
            r"|had (?:pushed|moved on|changed|been (?:changed|moved|renamed|edited|merged|rebased|reformatted))"
            r"|moved on|old (?:state|version|copy|text|content) of|no longer (?:has|in|holds|looks|stands|there)"
            r"|own (?:unfinished )?(?:work|changes)|unfinished work|git status|behind (?:origin|main|master)"
            r"|not (?:been )?(?:fetched|pulled|rebased)|stale"
        ),
    ),
    (
        "C2.5",
        "what was needed was there and was not looked at",
        (
            r"nicht gelesen|steht in|stand in|war schon|umbenannt|falsche[nsmr]? verzeichnis|liegt (?:in|unter)"
            r"|heisst|heißt|pas lu|se trouve|s'appelle|mauvais (?:dossier|répertoire)|renommé"
            r"|no (?:leí|leído|miré)|está en|se llama|directorio equivocado|renombrad|não (?:li|lido|olhei)"
            r"|está em|fica em|chama-se|diretório errado|renomead|没有(?:看|读|查看)|写在|目录(?:错|不对)|改名|重命名|読んで(?:い)?な|読まず"
            r"|書いてあ|確認せず|確認しな|別のディレクトリ|移動(?:され|した)|名前が変"
        ),
    ),
)

_KNOWING = signs(
    View.STORY,
    (
        "K4.5 C-2",
        "it was known to people and written nowhere",
        (
            r"(?:written|stands?|stood|told|said|documented|found|noted|described|explained|mentioned) (?:down )?nowhere"
            r"|nowhere (?:written|documented|told|said|noted|to be (?:read|found)|in the (?:repo|project"
            r"|docs|code))|nobody (?:had |has |ever )?(?:told|wrote|mentioned|written)"
            r"|(?:isn't|is not|wasn't|was not|not|never|un) ?(?:yet )?(?:documented|written (?:down"
            r"|anywhere)|in the docs|noted)|undocumented"
            r"|(?:readme|docs?|documentation) (?:is|are|was|were|says?) (?:silent|nothing)"
            r"|everybody (?:in the team )?(?:knows|here)|only the (?:seniors|old|team)|tribal|unwritten"
            r"|(?:senior|colleague|architect|lead)(?: engineer)?s? (?:explained|told|said)"
            r"|(?:not|nowhere|never|wasn't) (?:mentioned|explained|told) (?:anywhere|in the|to me)|nobody's|(?:in|lives? in|only in) (?:\w+ )?(?:their|people's|his|her|everybody's) heads?|write it down"
            r"|(?:line|section|note|paragraph|chapter|entry|sentence|rule|page|adr) (?:was )?(?:added )?(?:in"
            r"|to|for|about) (?:the )?(?:docs?|contributing|readme|agents|claude|wiki|handbook|guide)"
            r"|(?:added|wrote|put|went|goes) (?:it |this |a \S+ |that |the rule )?(?:in|into|to|down"
            r"|up)\b.{0,20}(?:docs?/|contributing|readme|agents\.md|claude\.md|wiki|handbook|guide)"
            r"|now (?:documented|written|stands|in (?:docs|agents|claude|the))"
            r"|written down (?:now|since|afterwards)|first time|in no (?:file|doc\w*)|ask anyone|found in no"
            r"|new to me|nirgends|nulle part|en ningún|em lugar nenhum|没有文档|どこにも"
        ),
    ),
    (
        "K3.5",
        "how the library, framework or platform works was not known",
        (
            r"(?:did(?:n't| not)|had(?:n't| not)) kn[eo]wn?|(?:not|un)known to|not aware|unaware|turn(?:s|ed) out"
            r"|learn(?:ed|t)|new rule"
            r"|(?:as|like) (?:in|the) (?:version|v\d|react|vue|rails|django|python|java|node|go|c\+\+"
            r"|a tutorial|tutorial|other|most|many|older)|tutorial|stack ?overflow|idiom"
            r"|the (?:old|older|usual|former|classic|common|way version) (?:way|one|idiom|api|style"
            r"|syntax|signature|form|name|spelling)"
            r"|(?:wrote|written|used|took|did|built|coded|typed) .{0,40}(?:the (?:old|usual|classic"
            r"|common|way)|as in|like in|like (?:in|for|with)|as (?:for|with|one|it was|usual|always)"
            r"|for (?:version|v?\d))"
            r"|in (?:version |v)?\d+(?:\.\d+|\.x)?\b(?! ?(?:s\b|ms|minutes|seconds|files|runs|tries|packages|of))"
            r"|(?:since|from|until|before|after|as of|in) (?:version )?v?\d+\.\d+"
            r"|(?:version|since|python|react|rails|django|spring|vue|angular|node|java|pandas|numpy"
            r"|pydantic|sqlalchemy|next|express|eslint|kotlin|swift|rust|terraform|kubernetes|webpack"
            r"|vite|tailwind|laravel|symfony|php|ruby|typescript|gradle|bootstrap|dotnet|\.net) \d+\b|deprecated"
            r"|removed (?:in|from|with|since)|renamed (?:in|it to|since)|replaced (?:by|with) .{0,20}(?:in|since)"
            r"|unlike|'s (?:spelling|syntax|idiom|api|way|name for)|spelling|isolation"
            r"|(?:called|used|wrote|did|passed|set|accessed|defined|treated|handled) (?:it |them |this "
            r"|\S+ ){0,3}(?:the way|as if|like an? |instead of|in on|after|before|within|inside|on the server"
            r"|by value)|works? (?:on|in|for|with) .{0,25}only"
            r"|(?:is|are|it's) (?:set|created|initiali[sz]ed|available|loaded|called|evaluated|typed"
            r"|resolved|mounted) (?:in|by|at|on|after|before|when|only|lazily|once)|\d's (?:syntax|way|api)|utcnow"
            r"|gone since|\bgone in|by value|since \w+ \d"
            r"|(?:framework|library|compiler|api|orm|language|driver|provider|protocol|runtime|platform"
            r"|standard|type checker|linter) (?:wants|expects|needs|requires|takes|does|forbids|has"
            r"|allows|refuses|only|never|always|counts)"
            r"|cannot (?:be )?(?:changed|altered|used|called|shared|nested|mixed)"
            r"|can't (?:be )?(?:changed|altered|used|called|shared|nested|mixed)|convention"
            r"|the (?:team|house|project)'?s? (?:rule|style|way|pattern|wrapper|own)|what the rest of the"
            r"|semantics|immutable|by default|has to be|have to be|must (?:be|not|have|come|never)"
            r"|is needed (?:for|when|before)|needs (?:an?|to) |only (?:in|works|for|when|allowed|inside|from)"
            r"|is called .{0,20}(?:now|today|in v)"
        ),
    ),
    (
        "K1.2",
        "how the library, framework or platform works was not known",
        (
            r"upgrad|migrat|port(?:ing|ed) (?:to|the|from)|bump"
            r"|new (?:component|view|endpoint|migration|model|page|script|rule|module|handler|job|hook|test)\b"
            r"|first run|turned .{0,25}into|passed .{0,30}(?:into|to|by)|mapped"
            r"|called .{0,30}(?:in|inside|from|outside|before|after)|used .{0,30}(?:in|inside|for|with|as)\b"
            r"|wrote (?:the|an?|it)|added (?:a|an|the) "
        ),
    ),
    (
        "K3",
        "how the library, framework or platform works was not known",
        (
            r"wusste|kannte|seit version|ab version|konvention|veraltet|ne (?:savais|connaissais)"
            r"|depuis la version|obsolète|convention|no (?:sabía|conocía)|desde la versión|obsolet"
            r"|não (?:sabia|conhecia)|desde a versão|不知道|从.{0,12}(?:版本|开始)|弃用|版本.{0,10}(?:移除|改)|知らな"
            r"|バージョン.{0,12}(?:から|で)|廃止|非推奨"
        ),
    ),
)

TELLINGS: tuple[Sign, ...] = (
    *_WISH,
    *_WORDS,
    *_READABLE,
    *_KNOWING,
)
"""All of them; a report may bear several, which are weighed against each other."""
