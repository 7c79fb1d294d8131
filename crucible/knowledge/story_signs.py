"""What a failure's story says of the tool's call, of chance and the machine, and of others; the call, and what mended it.

Owns these tables.  They are English, with the plainest words of six other languages.
"""

from __future__ import annotations

from crucible.knowledge.signs import Sign, View, signs

__all__ = ["STORIES"]

_CALLING = signs(
    View.STORY,
    (
        "T4",
        "the tool was not called as it has to be",
        (
            r"\bin the foreground|foreground|run_in_background|background (?:task|job|shell)|stays attached"
            r"|wait(?:s|ed) for (?:an?|the) (?:file|key|name|password|answer|input|enter)"
            r"|(?:replaced|expanded|filled in|evaluated|resolved) by (?:bash|zsh|sh|the shell)"
            r"|before \S+ (?:saw|got|read) it|inside (?:of )?(?:the )?double quotes"
            r"|(?:without|missing|forgot|behind|after|needs) (?:the |a )?`?--(?:\W|$)|double dash"
            r"|without a terminal|no terminal|nobody (?:to|who could) (?:answer|type|confirm)|it asked"
            r"|never (?:returns|ends|comes back|exits)|does(?:n't| not) (?:return|end|exit|come back)"
            r"|waits? (?:for (?:input|changes|an? (?:answer|key|password|editor|confirmation)|somebody"
            r"|stdin)|for ever|forever)|wait(?:ed|ing) for (?:input|an answer|a password|confirmation|stdin)"
            r"|interactiv|asks? for (?:a |the )?(?:confirmation|password|input|passphrase|answer)"
            r"|wants an? (?:editor|terminal|answer|tty)|watch mode|pager\b|follows? the (?:log|file)|tail -f"
            r"|--follow|no such (?:option|flag|switch)"
            r"|(?:flag|option|switch|argument|parameter|placeholder|suffix)s?\b.{0,40}(?:of another"
            r"|does(?:n't| not) exist|of (?:gnu|bsd|another)|another program|made up|invented|belongs?"
            r"|comes? (?:before|after|first)|means|instead|swapped|missing|forgot|wrong|is called|before|behind)"
            r"|(?:wrong|made.up|invented|missing|forgot(?:ten)?|left out|mixed up|swapped|invalid|misspelt"
            r"|mistyped|unknown) .{0,15}(?:flag|option|switch|argument|parameter|syntax|order|format"
            r"|quot|escape|separator|delimiter|dash|prefix)|had .{0,20}(?:another|other) (?:program|tool) in mind"
            r"|forgot (?:the )?(?:--?\w|quotes|to quote)|behind the (?:file|path|argument)|&& chain"
            r"|exit(?:s|ed)? (?:with )?(?:code |status )?1 when|ends with 1|non-?zero when"
            r"|gave \S+ (?:as|for|instead|where)|^gave |bsd|gnu\b|cmd\.exe|powershell"
            r"|(?:single|double|un|smart|nested|missing|inner|outer|without|no|the) ?quot(?:e|ed|es|ing)"
            r"|quot(?:es?|ed|ing)\b|apostrophe|backtick|backslash|escap(?:ed|e|ing)\b|here-?doc|glob\b|wildcard"
            r"|dollar|expand(?:ed|s)"
            r"|(?:taken|read|eaten|swallowed|interpreted|parsed|cut|split) (?:up )?by the shell"
            r"|the shell (?:took|read|ate|expanded|split|saw|tried)|shell (?:took|reads)|space in (?:its|the)"
            r"|(?:blanks?|spaces?) in (?:its|the|a)|(?:holds?|contains?|has) (?:a )?(?:blank|space)s?"
            r"|behind the same|in the same -"
        ),
    ),
    (
        "T3.5",
        "the tool was not called as it has to be",
        (
            r"(?:edit|write|read|grep|glob|bash|task|apply_patch|tool|patch|multiedit|webfetch|todowrite"
            r"|notebookedit)(?: tool)?(?:'s)? (?:wants|needs|takes|expects|requires|only|call|cannot"
            r"|can't|does not|doesn't|refuse)|(?:tabs?\b|spaces)|indent|typed (?:with|the)|line numbers?\b"
            r"|(?:absolute|relative) path|\boffset|truncated (?:by|after)"
            r"|(?:two|both|several|parallel) (?:edits|calls|tool calls)|in one call"
            r"|(?:stands?|occurs?|appears?|matched|is there) (?:twice|three times|several times|\d+ times"
            r"|more than once)|not unique|too (?:large|big|long) for (?:one|a|the) (?:read|call|command line)"
            r"|whole file|before (?:the|it was|it had been|having) (?:read|written)"
            r"|order of (?:the )?(?:tools|calls|commands|arguments)|(?:typo|misspel|mistyp)|hunk|cannot stand"
            r"|can't stand|don't work inside|doesn't work inside|dot commands?|meta.?commands?"
            r"|the (?:test|class|file|function|branch|target) is there"
            r"|nothing was (?:searched|done|found|run|matched) at all|cell id|json (?:string|array) instead"
            r"|as a (?:string|list|array) (?:instead|where|although)|without (?:-|--)\w"
            r"|(?:with|add(?:ed)?|using|forgot|needs|instead of|is|wants|takes|means) `?--?[a-z][\w-]*"
        ),
    ),
    (
        "T3",
        "the tool was not called as it has to be",
        (
            r"anführungszeichen|vordergrund|hintergrund|falsche[rnsm]? (?:option|schalter|parameter)|guillemets"
            r"|apostrophe|arrière-plan|premier plan|mauvaise option|comillas|segundo plano|primer plano|aspas|引号"
            r"|后台|前台|参数(?:错|不)|引用符|バックグラウンド|フォアグラウンド|オプション"
        ),
    ),
)

_CHANCE = signs(
    View.TOLD,
    (
        "X4",
        "it was chance: the same thing passed another time",
        (
            r"flak|red (?:one|once)|one time in \w+"
            r"|shar(?:ed|es|ing) (?:a|an|the same|one) (?:temp\w*|file|port|database|directory|folder"
            r"|socket|cache)|order of the tests|test order|sometimes|intermittent|sporadic|side by side"
            r"|one after the other|next run|jumped|green in|at random|randomly|now and then|once in"
            r"|one (?:run |time )?in (?:\d|ten|five|twenty|a hundred|three|four|eight|thirty|fifty)"
            r"|\d+ (?:of|out of|in) \d+ runs|every (?:tenth|third|fifth|other|few) (?:run|time)"
            r"|(?:second|next|third|another|other|new|fresh|later) (?:try|attempt|run|time|go|start)\b|tried again"
            r"|(?:ran|run|started|repeated|called|went|passed|worked|succeeded|green|fine|through) (?:it "
            r"|them |the same |through )?(?:again|on (?:the|a) (?:second|re-?run|repeat|next))"
            r"|\b(?:passed|green|passes|worked|works|succeed(?:ed|s)) (?:when|on|at|with(?:out)?|by itself"
            r"|alone|the) |same (?:command|call|commit|test|code|one|thing|build)\b.{0,30}(?:passed|green|worked"
            r"|through|again|in the|after|before)|re-?ran|re-?run\b|retried|repeat(?:ed|ing)\b"
            r"|alone (?:it |they )?(?:takes?|pass|runs?|is|are|works)|by itself|\balone\b|on its own"
            r"|nothing (?:had )?changed between|without (?:any )?change|unchanged|timing|race\b|racy"
            r"|two .{0,30}(?:at once|at the same (?:time|moment)|in parallel|concurrently)"
            r"|(?:at the same (?:time|moment|instant)|concurrently)"
            r"|(?:r[au]n(?:ning)?|started|workers?|tests?|jobs?|builds?|processes|installs?)\b.{0,30}in parallel"
        ),
    ),
    (
        "X4",
        "the machine, not what was done on it, gave out",
        (
            r"\bram\b|was open|in the vm|restarted\b|reopened|dead process|gb(?: of)? (?:memory|ram)|(?<!from )(?<!from the )memory\b"
            r"|virus|antivirus|indexing|backup (?:was|ran)|second \S+ in the background|\bswap|\boom\b|oom.?killer"
            r"|(?<!on )disk\b|/tmp|inode|df -h|tmpfs"
            r"|(?:laptop|machine|host|container|vm|box|runner|computer|daemon|kernel|battery|wifi|docker desktop)\b.{0,35}(?:sleep"
            r"|slept|asleep|suspend|reboot|restart|loaded|overload|busy|swapping|full|slow|crash|hung"
            r"|died|ran out|was out|has only|had only|lost|64 mb|woke|under load|frozen|stalled|hot|thrott)"
            r"|under load|heavy load|\bload\b.{0,15}(?:of|was|average)|(?:other|two|several|parallel) builds"
            r"|all cores|while .{0,40}(?:was|were) (?:running|building|compiling|indexing|being)|left.?over"
            r"|left behind|left (?:its|a|the|over)"
            r"|still (?:running|alive|open|held|there from|listening|holding|up)|was running|orphan|zombie"
            r"|previous run|broken off|leaked|an? (?:earlier|other|previous|former) (?:test )?run"
            r"|cache (?:was|is|had) |incremental|cargo clean|clean build"
            r"|(?:old|earlier|killed|crashed|aborted|interrupted|dead) (?:process|run|session|server"
            r"|instance|git|build|watcher|container|test run|job)"
            r"|(?:earlier|hour ago|yesterday's) (?:server|session|process|run)|had been killed|crash(?:ed|es)?\b"
            r"|hung\b|froze|power (?:cut|loss|failure|outage|went|supply)|killed|pid\b|stuck|lock file"
            r"|(?:rm|remove|delet|clear|clean|prun|empt|freed|free(?:ing)? up|wiped)\w* (?:-\w+ )?(?:the "
            r"|some |old |up )?(?:\S*lock|cache|space|disk|\S*volumes|images|tmp|/tmp|stale|docker system)"
            r"|docker system prune|kill(?:ed|all)? (?:the|it|old|-9|%|\$|\d|`?lsof)"
            r"|fewer (?:jobs|workers|threads|processes|cores)|-j ?\d|max-old-space|ulimit|--(?:max)?workers?"
            r"|more memory|bigger (?:machine|runner)|rebooted|restart(?:ed|ing) (?:the |docker|it|both|daemon)"
        ),
    ),
    (
        "X3",
        "it was chance, or the machine",
        (
            r"manchmal|zufällig|nochmal|noch einmal|zweite[rnm]? (?:versuch|lauf|anlauf)|wiederholt"
            r"|arbeitsspeicher|platte (?:war |ist )?voll|lief noch|läuft noch|abgestürzt|parfois|aléatoire|relancé"
            r"|deuxième (?:essai|tentative|fois)|mémoire|disque (?:est |était )?plein|tournait encore|planté"
            r"|a veces|aleatori|segundo intento|otra vez|de nuevo|memoria|disco lleno"
            r"|seguía (?:en|corriendo|abiert)|às vezes|aleatóri|segunda (?:tentativa|vez)|de novo|memória"
            r"|disco cheio|ainda (?:estava|rodando)|travou|有时|偶尔|偶发|重试|再(?:次|跑|试)|内存|磁盘|还在运行|崩溃|ときどき|時々|たまに|再実行"
            r"|もう一度|メモリ|ディスク|まだ(?:動|起動|実行)|落ち(?:た|て)"
        ),
    ),
)

_OTHERS = signs(
    View.TOLD,
    (
        "E4.5",
        "what failed lies with others",
        (
            r"status ?page|incident|transitive|(?:broken|bad|new|fresh|faulty) release"
            r"|(?:had |was |were )?released (?:this|last|yesterday|today|an hour|over)|patch release|semver"
            r"|regression in|bug in (?:the )?(?:library|upstream|driver|compiler|release|new)|reported upstream"
            r"|upstream (?:issue|bug|maintainers?)|known (?:issue|bug)|revoked|breach|reclaimed|preempted"
            r"|force-pushed by|central\b|returns? html|outage"
            r"|\b(?:provider|vendor|upstream|maintainer|partner|hoster|registry|distribution|platform"
            r"|host(?:er|ing)(?: company| provider)?|company|supplier"
            r"|\w+ (?:service|api|gateway)|carrier|bank|isp|publisher)s?\b.{0,40}(?:fixed|changed|renamed|is"
            r"|was|were|had|has|have|switched|removed|deleted|released|pulled|down|fail|broke|confirm"
            r"|renew|withdr|answer|return|reject|limit|throttl|block|replac|publish|shut|reset|moved)"
            r"|(?:their (?:side|end|api|servers?|services?|status|page|certificate|systems?|back.?end|gateway|fault|support|cdn|proxy|network|data ?cent\w+|sandbox|docs)|theirs|other side|other end|remote side|far end)\b"
            r"|nothing (?:was |had )?(?:changed |to (?:be )?(?:do|done|change) )?(?:on|at|from|with) (?:our"
            r"|this|my) (?:side|end|code)"
            r"|our (?:code|side|request|configuration|lock ?file|image)s?\b.{0,25}(?:unchanged|had not"
            r"|not changed|has not|did not|hadn't|stayed|the same|as before)|rolled out|rotated|without telling"
            r"|new (?:field|format) in|nothing (?:was |had been )?(?:merged|deployed|touched|committed|changed)"
            r"|(?:green|worked|works|ran|running|fine|unchanged|same) for (?:months|weeks|years|a |over|two|three|many)"
            r"|the whole (?:office|company|region)|other (?:countries|customers|regions|projects) |carrier"
            r"|their archive|its (?:archive|runners|servers)|without (?:notice|warning|announc|a word)|unannounced"
            r"|over ?night|worked (?:yesterday|until|for|till|all|this|an hour)"
            r"|until (?:yesterday|this|last|noon|today)"
            r"|since (?:today|this morning|yesterday|monday|tuesday|wednesday|thursday|friday|last night|today"
            r"|noon|midnight)"
            r"|(?:two|three|an|some|few|four|five|six|several|half an|twenty|ten|thirty) (?:hours?|minutes) later"
            r"|an hour later|later (?:it|the same)|the next (?:day|morning)|waited (?:an|until|for them|it out|\d|two|a few|some|ten|five)"
            r"|wait (?:an|until|for them|it out)"
            r"|they (?:fixed|renewed|rolled|confirmed|changed|answered|had|mended|repaired|were|said|restored)"
            r"|came back|was back|is back|recovered|maintenance|unpublish|yanked|withdrawn|sunset"
            r"|shut (?:down|off)|archived|(?:was|were) closed|free layer|switched off|decommission|mirror|fallback"
            r"|other provider|was down|is down|were down|went down|being down|goes down|not reachable|unreachable"
            r"|offline for|could(?:n't| not) (?:be )?reach|told (?:upstream|them|the vendor)"
            r"|support (?:ticket|confirmed|says)|opened a ticket with|adaptive retry|back-?off|with (?:a )?pauses?"
            r"|rate.?limit|quota|throttl|pinned (?:the|to)|went back to \d|third.party|saas|hosted"
            r"|free (?:plan|tier)|our (?:ip|account|key) (?:was|is|had)|vpn|proxy (?:is|was|went)|the internet"
            r"|network (?:was|is|went|of the)|dns\b"
        ),
    ),
    (
        "E3.5",
        "what failed lies with others",
        (
            r"anbieter|störung|ausfall|statusseite|ihrer seite|wartung|seit heute|über nacht|nicht erreichbar"
            r"|ist down|panne|fournisseur|prestataire|en maintenance|injoignable|hors service|depuis ce matin"
            r"|ca[ií]d[oa]|proveedor|devuelve|renvoie|liefert (?:seit|nur|html|jetzt)|mantenimiento"
            r"|página de estado|desde esta mañana|fuera de servicio|fora do ar|fornecedor|provedor|caiu|ne répond"
            r"|manutenção|página de status|desde hoje|服务商|供应商|故障|宕机|维护|限流|对方|第三方|状态页|上游|障害|停止中|メンテナンス|提供元|先方|相手"
            r"|ステータスページ|外部"
        ),
    ),
)

_CALLS = signs(
    View.CALL,
    (
        "E1.5",
        "",
        (r"^(?:webfetch|websearch|web_search|web_fetch|google_web_search|mcp__|fetch)\b"),
    ),
    (
        "T1.2",
        "",
        (
            r"^(?:todo\w*|edit|multiedit|write|read|grep|glob|apply_patch|notebookedit|replace|str_replace"
            r"|write_file|read_file|todowrite)\b"
        ),
    ),
    (
        "T3",
        "a command that does not end by itself was waited for",
        (
            r"\b(?:npm|pnpm|yarn|bun)(?: run)? (?:dev|start|serve|watch)\b|tail -f|--watch\b|runserver"
            r"|\bnpx (?:vite|vitest|next dev|nodemon)\b ?$|uvicorn|rails s(?:erver)?\b|docker compose up(?! -d)"
            r"|kubectl (?:logs -f|port-forward)|journalctl -f|\bless |\bvim? |\bnano |\btop\b|python3? ?$|psql ?$"
            r"|http-server|hugo server|rebase -i|add -p|manage\.py shell|rails c\b|\b(?:irb|node|mysql|python3? -i|bc|ghci) ?$|\bwatch |cargo watch|logs -f|python3? -m http"
        ),
    ),
    (
        "T3",
        "a test was named otherwise than the runner names it",
        (r"\bpytest\b.*\.py(?:::\w+\.\w|\.\w+|:\w)|-dtest=\S+::|--tests \S+#"),
    ),
    (
        "T2",
        "",
        (r"^\S+ (?:python3?|node|perl|ruby|bash|sh) -[ce]\b"),
    ),
    (
        "T0.8",
        "",
        (r"^\S+ (?:sed|awk|rg|grep|find|jq|xargs|tar|curl|perl|psql|git log|git diff)\b|\|"),
    ),
    (
        "K0.8",
        "",
        (
            r"\b(?:tsc|mypy|pyright|eslint|ruff|golangci|clippy|rubocop|phpstan|ktlint|checkstyle|terraform"
            r"|kubectl apply|helm|alembic|makemigrations|migrate|lint)\b"
        ),
    ),
    (
        "E1",
        "",
        (
            r"\b(?:https?://(?!localhost|127|0\.0|\[)|git (?:clone|fetch|pull|push)|(?:npm|pnpm|yarn) (?:ci"
            r"|install|add|publish)|pip install|docker (?:pull|push)|brew |apt(?:-get)? |cargo (?:update"
            r"|publish)|gh (?:api|run)|aws |gcloud |az |wget |curl https)"
        ),
    ),
    (
        "C0.8",
        "",
        (r"^\S+ (?:cat|ls|cd|make|npm run|git (?:push|checkout|merge|rebase|switch))\b"),
    ),
)

_MENDED = signs(
    View.MENDED,
    (
        "C3",
        "",
        (
            r"^\W*(?:cd |ls |read |git (?:pull|fetch|rebase)|source |cp \.env|nvm use|(?:re-?)?read "
            r"|opened|looked|pnpm (?:i|install)|docker compose up|uv (?:run|sync)|poetry |direnv|export "
            r"|used the (?:existing|one|helper)|removed the second|took the)|&& |\.venv|read (?:it|the file|again)"
            r"|from the (?:root|right|package)|listed"
        ),
    ),
    (
        "X3",
        "",
        (
            r"^\W*(?:again\b|same (?:command|call)|second|re-?r[ua]n|retry|kill|rm (?:-\w+ )?\S*lock"
            r"|restart|rebooted|closed|stopped|none|nothing|freed|cleaned|docker system prune|waited for the)"
        ),
    ),
    (
        "E2.5",
        "",
        (
            r"^\W*(?:wait(?:ed|ing)?\b|later|an hour|next (?:day|morning)|they |pinned|mirror|went back"
            r"|switched (?:to|provider|mirror)|back-?off|fallback|cached)|hours? later|minutes later|over night"
            r"|overnight"
        ),
    ),
    (
        "K1.2",
        "",
        (r"\w\.\w+\(|\w\(.*\)|@[A-Z]?\w+|instead of|::\w|: \w+$|use[A-Z]\w+"),
    ),
    (
        "R2",
        "",
        (
            r"^\W*(?:asked|rollback|rolled back|renamed|reverted|undone|undid|moved it back|changed back"
            r"|restored)\b"
        ),
    ),
)

STORIES: tuple[Sign, ...] = (
    *_CALLING,
    *_CHANCE,
    *_OTHERS,
    *_CALLS,
    *_MENDED,
)
"""All of them; a report may bear several, which are weighed against each other."""
