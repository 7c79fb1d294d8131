"""What messages say that come from the tools and programs that were called, and from a project's own files.

Owns the tables of calls that were wrong and of things that were not where, or not what, they were taken to be.
"""

from __future__ import annotations

from crucible.knowledge.signs import Sign, View, signs

__all__ = ["PROGRAMS"]

_CALLED = signs(
    View.ERROR,
    (
        "T4.5",
        "the tool's own rule for its arguments was broken",
        (
            r"inputvalidationerror|invalid (?:tool )?(?:parameters|input for tool)|required parameter"
            r"|is missing(?: from the)? (?:call|param)|unexpected parameter|replace_all"
            r"|^(?:the )?(?:notebookedit|multiedit|edit|write|read|glob|grep|todowrite|webfetch|websearch|task|apply_patch|str_replace|view_image|[a-z]+_[a-z]+|[a-z]+_[a-z]+_[a-z]+)(?: tool)?(?: call)?(?: failed| error)?: |is required when"
            r"|offset .{0,20}(?:beyond|exceeds|past|greater)|old_string|new_string|exactly the same"
            r"|must be (?:an )?absolute|path must be absolute|has not been read yet|read it first"
            r"|exceeds maximum allowed|use offset and limit|invalid arguments for tool|called with invalid arguments"
            r"|satisfies the expected schema|^params\S* must be (?:an )?(?:object|string|array|number)"
            r"|(?:failed to pars|error pars|could not pars|invalid json in)\w* (?:the )?(?:function "
            r"|tool )?(?:arguments|input)|no such tool|unknown tool"
            r"|tool .{0,40}(?:not found|does not exist|not available)|invalid enum value"
            r"|expected (?:string|number|array|boolean|object), received|multiple matches|found multiple"
            r"|not unique|blocked: sleep|is a directory, not a file|eisdir|maximum (?:timeout|allowed)|is empty\b"
            r"|status must be|todos?\[|params must have|0 occurrences found|too_big|too_small|invalid_type"
            r"|additional ?properties"
        ),
    ),
    (
        "T2.5 C1",
        "the text to be replaced does not stand in the file as it was given",
        (
            r"string to replace not found|could not find (?:the )?(?:string|old)|oldstring not found"
            r"|failed to find (?:expected|context)|hunk #?\d+ failed|patch (?:does not apply|failed)"
            r"|verification failed|no match(?:es)? for|could not find the string"
        ),
    ),
    (
        "T4",
        "a patch was not well formed",
        (
            r"corrupt patch|malformed patch|invalid patch|only garbage was found|patch fragment without"
            r"|invalid hunk|expected update file|\*\*\* begin patch|invalid context"
        ),
    ),
    (
        "T4.5",
        "the program has no such option, or takes its arguments otherwise",
        (
            r"unrecogni[sz]ed (?:argument|option|flag|command|parameter|subcommand|switch)"
            r"|unknown (?:option|flag|argument|switch|shorthand|command|subcommand|parameter|primary"
            r"|long|arguments?|predicate|modifier|encoding|action)|unexpected (?:argument|option)s?\b"
            r"|(?:invalid|illegal|bad|ungültige|falsche) (?:option|switch|argument count|flag|optionskennung)"
            r"|no such (?:option|command|subcommand)|unsupported (?:option|flag)|option requires"
            r"|requires (?:an|a|at least|exactly|one|no|\d)[^\n]{0,25}(?:argument|value|parameter)"
            r"|requires? parameter"
            r"|(?:option|argument|flag|parameter)s?[^\n]{0,30}(?:not (?:recogni|valid|supported|allowed"
            r"|defined)|cannot be (?:used|combined|specified)|is (?:required|ambiguous|missing|not known)"
            r"|mutually exclusive|unbekannt|inconnu|desconocid)|(?:flag provided|but) not defined|kein \S*befehl"
            r"|n'est pas une commande|no es un comando|não é um comando|不是.{0,12}命令|コマンドではありません|-\w not specified"
            r"|omitting directory"
            r"|(?:specify|give|add|needs?|without|try|use) (?:the )?(?:option )?['`]?--?[a-z][\w-]*"
            r"|invalid value .{0,12}for ['`]?-|no input files|must specify"
            r"|is not a (?:git|docker|valid|kubectl|helm|known) command|not a git command|mutually exclusive"
            r"|cannot specify both|conflicting (?:options|arguments|flags)|cannot be used together"
            r"|can't be used (?:with|together)|incompatible options|you must (?:give|specify|supply|provide|pass)"
            r"|must (?:give|specify|supply|provide|pass) (?:at least|one|a|an|either)|at least one of"
            r"|the following required arguments|the following arguments are required|a value is required for"
            r"|expected (?:one|at least one) argument"
            r"|missing (?:operand|(?:file )?operand|required (?:argument|option|flag)|argument|destination"
            r"|filename|an? )|too (?:many|few) (?:arguments|operands|positional)|extra operand|too many command"
            r"|cowardly|must be specified|must (?:come|be given|stand|go) (?:before|after|behind)|is a directory$"
            r"|empty commit message|password is required|extra arguments"
            r"|wrong number of arg(?:ument)?s? (?:passed|given to)|nicht erkannte|unbekannte (?:option|angabe)"
            r"|ungültige option|option ungültig|fehlender operand|zusätzlicher operand|argument.{0,12}fehlt"
            r"|benötigt ein argument|option (?:inconnue|invalide|non reconnue)"
            r"|opérande (?:manquant|supplémentaire)|opci[oó]n (?:no|inv|desc)|opção (?:inv|desc|não)|opcao"
            r"|operando|modo inválido|mode invalide|ungültiger modus|无效选项|不适用的选项|无法识别的选项|未知(?:选项|参数)|缺少(?:操作|参数)"
            r"|無効な(?:オプション|引数)|不正な(?:オプション|引数)|オプション.{0,12}(?:無効|不明|認識)|認識できない|不明なオプション|オペランド"
        ),
    ),
    (
        "T3",
        "the call was answered with how it is to be called",
        (
            r"^\s*usage:|\busage: \S|^aufruf:|^syntax: |^uso: |^utilisation ?:|^用法|使い方|^gebruik"
            r"|try '?\S+ (?:--help|-h)|--help'? (?:for|gibt|pour|para|以)|see (?:'\S+ )?--?help|did you mean '?--"
            r"|similar (?:argument|flag|option) exists|most similar command|--help\b|-h for help|^saisissez "
            r"|^pruebe |^tente "
        ),
    ),
    (
        "T4.5",
        "the shell read the line otherwise than it was meant",
        (
            r"unexpected eof while looking|unexpected end of file"
            r"|(?:syntax error|syntaxfehler|erreur de syntaxe|error de sintaxis|erro de sintaxe|语法错误"
            r"|構文エラー).{0,25}(?:unexpected token|unerwarteten? (?:wort|symbol|token)|near unexpected"
            r"|près du symbole|elemento inesperado|symbole inattendu|token inesperado|未预期|予期しない)|event not found"
            r"|no matches found:|bad substitution|parse error near|ambiguous redirect"
            r"|unmatched (?:'|\"|single|double|quote|\(|\[|`)|unterminated (?:quote|string|address|substitute|`s')"
            r"|not a valid identifier|bad pattern|bad math expression|argument list too long|arg list too long"
            r"|missing terminator|the string is missing|quotes? (?:is|are) (?:missing|special)|nicht geschlossen"
            r"|dateiende beim suchen|eof inesperado|fin de fichier (?:prématurée|inattendue)|一致する|对应的"
            r"|here-document.{0,40}delimited|command substitution|conditional binary operator|too many arguments$"
            r"|(?:\[|test): .{0,40}(?:expected|operator)|is not recognized as (?:an internal|the name of a cmdlet)"
            r"|paths must precede|unquoted pattern|the token .{0,6} is not a valid statement|argument expected"
            r"|integer expression expected|bad interpreter|unary operator|quoting|unbalanced quot|no closing quot"
            r"|eol while scanning"
        ),
    ),
    (
        "T3.5",
        "an expression given to the program was not of its language",
        (
            r"^(?:sed|awk|gawk|mawk|jq|grep|egrep|rg|find|perl|tr|cut|bc|yq|xmllint|fd|ag|ugrep|zgrep): "
            r"|regex parse error|look-around|(?:jq|yq): |compile error"
            r"|invalid (?:regular expression|regex|preceding|range|back|content of|character class|pathspec"
            r"|refspec|reference format|date|duration|size|numeric|time)|unknown regexp|unmatched"
            r"|extra characters after|unterminated|lone surrogate|invalid field selector|bad revision"
            r"|bad object name|invalid jsonpath|error parsing|is not a valid (?:glob|pattern|refspec|date)"
            r"|invalid mode|invalid reference|url (?:rejected|using bad)|bad hostname|malformed|not a valid ref\b"
            r"|unknown revision or path|not a legal|invalid path|invalid url"
        ),
    ),
    (
        "T4.5",
        "the program wanted a terminal or an answer that nobody could give it",
        (
            r"host key verification|authenticity of host|passphrase|not a (?:tty|terminal|typewriter)"
            r"|inappropriate ioctl|is not a tty|eoferror|eof when reading|stdin is not"
            r"|terminal is (?:dumb|required|not)|no tty|requires? a (?:tty|terminal)|without a (?:tty|terminal)"
            r"|raw mode is not supported|interactive|editor unset|problem with the editor"
            r"|there was a problem with the editor|askpass|a terminal is required"
            r"|could not read (?:username|password)|terminal prompts disabled"
            r"|waiting for (?:input|your editor|user)|press (?:any|enter|y)|\[y/n\]|\(y/n\)|are you sure"
            r"|is this ok|user force closed|prompt.{0,20}(?:cancel|non-interactive)|cannot prompt|keine eingabe"
            r"|n'est pas un terminal|kein terminal|終端|终端|端末"
        ),
    ),
    (
        "T2",
        "a command that does not end by itself was waited for",
        (
            r"command timed out after|did not exit within|process did not exit|no output for|still running after"
            r"|(?:local|ready|listening|running|serving|available|started).{0,30}https?://(?:localhost"
            r"|127|0\.0|\[)|watching for (?:file )?changes|press ctrl|waiting for (?:file )?changes|watch usage"
            r"|ready in \d|compiled successfully|starting development server|running on"
        ),
    ),
    (
        "T2",
        "the program did not take its input as it was given",
        (
            r"json ?parse|jsondecodeerror|unexpected (?:character|token).{0,30}(?:json|position|at line 1)"
            r"|expected property name|invalid json|parse error: |invalid character .{0,12}looking for"
            r"|cannot unmarshal|not valid json|badly formed|bad request"
        ),
    ),
)

_PROJECT = signs(
    View.ERROR,
    (
        "C3",
        "a file or folder is not where it was taken to be",
        (
            r"no such (?:file|directory)|enoent|does not exist|doesn't exist|file not found|filenotfound"
            r"|cannot find (?:path|the (?:file|path))|can't open file"
            r"|could not (?:open|find|read) (?:file|package\.json|the file|input)|cannot open"
            r"|file or directory not found|cannot access|datei oder verzeichnis nicht gefunden|nicht gefunden"
            r"|ni fichero|no existe|aucun fichier|introuvable|n'existe pas|arquivo ou diretório|não existe"
            r"|inexistente|没有那个文件|找不到|不存在|そのような|見つかりません|存在しません|did you mean \S*/"
            r"|no files? (?:found|matching|match)|path not found|not a directory|could not be found"
            r"|system cannot find"
        ),
    ),
    (
        "C3",
        "a module of the project, or one that its own environment has, was not found",
        (
            r"modulenotfounderror|no module named|cannot find module|can't resolve|could not resolve (?:\"|'|\.|@)"
            r"|module not found|cannot find package|package .{0,60}is not in (?:std|goroot)"
            r"|no required module provides|unresolved (?:import|module|reference)|class ?not ?found"
            r"|noclassdeffound|cannot load such file|loaderror|failed to resolve import"
            r"|package .{0,50} does not exist|could not find (?:module|gem|package)|autoload"
        ),
    ),
    (
        "C3.5",
        "a file had changed since it was read",
        (
            r"modified since|changed (?:since|after|by the user|by another|on disk|externally)|do not edit"
            r"|(?:written|made|overwritten) by (?:a|the) generator|generated (?:file|code)"
            r"|has been (?:unexpectedly )?modified|file has changed|content has changed|is out of date|outdated"
            r"|stale (?:content|read|copy|version)|seit dem lesen|changed on disk"
        ),
    ),
    (
        "C3",
        "the repository was in another state than was taken for granted",
        (
            r"fetch first|is behind|behind '|would be overwritten|non-fast-forward|\[rejected\]|have diverged"
            r"|merge conflict|conflict \(|not a git repository|kein git-repository|pas un dépôt"
            r"|no es un repositorio|não é um repositório|不是.{0,6}git|git.{0,6}リポジトリ|pathspec .{0,60}did not match"
            r"|did not match any file|detached head|unmerged|already exists|existiert bereits|existe déjà"
            r"|ya existe|já existe|已(?:经)?存在|既に存在|already (?:applied|been|defined|a |in progress)"
            r"|nothing to commit|not (?:currently )?on (?:any|a) branch|no upstream|does not have any commits"
            r"|couldn't find remote ref|unknown revision|remote branch .{0,40}not found|uncommitted changes"
            r"|unstaged changes|local changes|protected branch|gh006|not something we can merge"
            r"|no tracking information|submodule"
        ),
    ),
    (
        "C3.5",
        "the name is another one in the project",
        (
            r"undefined (?:name|variable|method|local|column|table|function|constant)|undefined: "
            r"|unknown (?:column|table|field|property|identifier|attribute|service|target|task|job|profile"
            r"|relation)|no such (?:column|table|service|target|host|image|container|key|task|function)"
            r"|(?:column|relation|table|type|function|role|database|schema|index|view|field|service"
            r"|stage|target|profile|fixture|remote|branch|queue|bucket|topic) .{0,50}(?:does not exist"
            r"|doesn't exist|not found|is not defined|unknown|nicht vorhanden|existiert nicht)|undefinedcolumn"
            r"|undefinedtable|has no (?:column|field) named|nameerror|uninitialized constant"
            r"|cannot find (?:name|value|function|type|symbol|method|struct|macro)|use of undeclared|undeclared"
            r"|was not declared|fixture .{0,30}not found|not declared|has no member"
        ),
    ),
    (
        "C3",
        "the project has no such target or script",
        (
            r"missing script|command \"\S+\" not found|kein ziel|keine regel|aucune règle|ninguna regla"
            r"|nenhuma regra|没有规则|no rule to make|don't know how to (?:build|make)"
            r"|(?:task|recipe|target|script|rake task|goal|gulp task|just)\b.{0,40}(?:not found|does not"
            r"|doesn't|no such|unknown)"
            r"|(?:package|crate|project|module|workspace) .{0,40}(?:cannot be found|not found|unknown"
            r"|did not match|does not match)|no such target|unknown lifecycle|justfile does not contain"
            r"|command \"?\S+\"? not found(?: in)?|no workspace|no projects? (?:matched|found)"
            r"|no configuration file"
            r"|no (?:package|project|manifest|cargo\.toml|go\.mod|pom|makefile|dockerfile|buildfile)\b.{0,30}(?:found"
            r"|exist)|could not find `?(?:cargo\.toml|package\.json|pyproject|go\.mod)|go: cannot find main module"
            r"|no makefile|not in a |there is no pom|does not contain a gradle|missing package\.json"
        ),
    ),
    (
        "C2",
        "the program is not on the path of this environment",
        (
            r"command not found|not found$|: not found\b|befehl nicht gefunden|commande introuvable"
            r"|orden no encontrada|comando não encontrado|未找到命令|找不到命令|コマンドが見つかりません|executable file not found"
            r"|spawn \S+ enoent|no such executable|not installed|is not installed|nicht installiert|未安装"
            r"|install(?:iert|é|ado)"
        ),
    ),
    (
        "C3",
        "the environment did not have what the project asks of it",
        (
            r"environment variable|os\.environ|env(?:ironment)? var|\bkeyerror: '[a-z]+_[a-z_]+'"
            r"|variable .{0,40}(?:not set|is not set|unset|undefined|required|missing)|access denied for user"
            r"|missing (?:env|environment|api key|credentials|required environment)|process\.env|\.env\b|not set\b"
            r"|must be set|engine \"|unsupported engine|ebadengine"
            r"|requires (?:python|node|ruby|java|go|php|a different python|rustc)|requires-python"
            r"|version .{0,25}(?:is not|isn't) (?:installed|supported)|expected version"
            r"|incompatible (?:module|version of node)|your (?:ruby|node|python|go) version is|toolchain"
            r"|invalid target release|unsupported class file|no default (?:credentials|region)"
            r"|unable to locate credentials|workspace:|only-allow|use (?:pnpm|yarn|npm|bun) instead|packagemanager"
            r"|defined in a packagemanager|lockfile|frozen|please tell me who you are|unauthorized|\b401\b"
            r"|not (?:logged in|authenticated|signed in)|please (?:log ?in|sign in)|auth login"
            r"|authentication (?:required|failed)|invalid (?:api key|token|credentials)|bad credentials"
            r"|404 page not found|cannot get /|wrong (?:context|cluster|account|project)|current context"
        ),
    ),
    (
        "C2.5",
        "something of the project was made twice",
        (
            r"redeclared|redefin"
            r"|duplicate (?:identifier|declaration|key|definition|class|symbol|migration|column|entry)"
            r"|already (?:declared|exists|registered|mounted|imported)|conflicting migrations"
            r"|multiple (?:head|leaf|definition)|defined twice"
        ),
    ),
)

PROGRAMS: tuple[Sign, ...] = (
    *_CALLED,
    *_PROJECT,
)
"""All of them; a report may bear several, which are weighed against each other."""
