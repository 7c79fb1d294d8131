"""What messages say that come from the network, from services, and from the machine itself.

Owns the tables of what nobody's knowledge could have prevented, mostly.  Messages come in the languages that the usual programs are
translated into.
"""

from __future__ import annotations

from crucible.knowledge.signs import Sign, View, signs

__all__ = ["PLACES"]

_NETWORK = signs(
    View.ERROR,
    (
        "E4",
        "a service throttled the requests",
        (
            r"\b429\b|too ?many ?requests|rate.?limit(?:ed|_error|error| (?:exceeded|reached|hit|error))|(?:reached|exceed(?:ed|s)?|hit)\b.{0,40}rate.?limit|api rate.?limit|resource_exhausted|quota.{0,30}(?:exceed|exhaust)"
            r"|exceeded.{0,40}quota|slow ?down\b|throttl|insufficient_quota|usage limit|secondary rate"
            r"|credit balance|try again later|over its data quota|insufficient\w* ?capacity|capacity|ratelimit"
            r"|past due|billing|out of credits|limit de requ|límite de (?:peticiones|solicitudes)|pull rate"
            r"|too many (?:login|connections from|attempts)|concurrency limit|请求过于频繁|限流|レート制限|リクエスト(?:数|が多)"
            r"|zu viele anfragen"
        ),
    ),
    (
        "E3",
        "a service answered with an error of its own",
        (
            r"(?:\b(?:http|status|code|error|return\w*|respond\w*|answer\w*|got|with)\b[^\n]{0,25}|^\W*"
            r"|\()\b5(?:00|02|03|04|20|21|22|23|24|29|30)\b|\b50[0234] (?:internal|bad gateway|service|gateway)"
            r"|bad gateway|gateway ?time-?out|service (?:is )?(?:temporarily )?unavailable|internal server error"
            r"|overloaded|server_error|api_error|remote error|is returning \S+ for|not our ref"
            r"|upstream (?:connect|request|server)|remote end closed|under maintenance|im wartung|en maintenance"
            r"|维护|メンテナンス|服务(?:不可用|暂时)|サービスは?(?:利用でき|一時)|nicht verfügbar|indisponible|no disponible|indisponível"
        ),
    ),
    (
        "E4",
        "a host's name could not be resolved",
        (
            r"could ?n[o']t resolve (?:host|proxy)|name (?:or service not known|resolution)|enotfound|eai_again"
            r"|getaddrinfo|nodename nor servname|no such host|nameresolutionerror|temporary failure in name"
            r"|dns (?:error|lookup|resol)|err_name_not_resolved|server misbehaving|unknown host"
            r"|unknownhostexception|namensauflösung|résolution (?:du|de) nom|resolver el (?:nombre|host)"
            r"|resolver o (?:nome|host)|无法解析(?:主机|域名)|名前解決|ホスト.{0,10}解決"
        ),
    ),
    (
        "E2.5",
        "a host could not be reached, or broke the connection off",
        (
            r"connection (?:was )?(?:timed? ?out|reset|closed by|aborted|error|broken|terminated)|econnreset"
            r"|etimedout|connect ?time-?out|read ?time-?out|operation timed out after|connection.{0,20}lost"
            r"|lost connection|verbindung.{0,50}verloren|connexion.{0,30}perdue|conexi[oó]n.{0,20}perdid"
            r"|network is unreachable|no route to host|enetunreach|ehostunreach|socket hang up"
            r"|unexpected eof.{0,30}(?:tls|ssl|reading)|err_connection|early eof|rpc failed|remote end hung up"
            r"|connectionerror|apiconnectionerror|max retries exceeded|failed to (?:fetch|download|connect to)"
            r"|could not (?:connect to|download|fetch|retrieve)|i/o timeout|tls handshake timeout"
            r"|failed to establish a new connection|fetch failed|und_err|deadline.?exceeded|network error"
            r"|stream (?:error|closed|disconnected)|incomplete read|proxyerror|temporary failure"
            r"|zeitüberschreitung|verbindung.{0,30}(?:zurückgesetzt|unterbrochen|abgebrochen|fehlgeschlagen)"
            r"|délai.{0,20}(?:dépassé|expiré)|connexion.{0,30}(?:réinitialis|interrompu|impossible|refus)"
            r"|conexi[oó]n.{0,30}(?:restablecid|agotad|interrumpid)|tiempo de espera"
            r"|conex[aã]o.{0,30}(?:redefinida|esgotad|interrompid|expirou)|tempo (?:limite|esgotado)"
            r"|连接(?:超时|被重置|失败)|请求超时|接続.{0,12}(?:タイムアウト|リセット|失敗|切断)"
        ),
    ),
    (
        "E3.5",
        "a certificate of a host outside was not valid",
        (
            r"alternative certificate|self.signed certificate"
            r"|certificate (?:has expired|verify failed|is not valid|expired)|cert_has_expired|err_cert"
            r"|certificate_verify_failed|sslerror|certificat.{0,12}expiré|zertifikat.{0,20}abgelaufen"
            r"|certificado.{0,20}(?:caducad|expirad|vencid)|证书.{0,6}过期|証明書.{0,10}(?:期限|失効)"
        ),
    ),
    (
        "E3.5",
        "what was depended on is no longer offered",
        (
            r"yanked|unpublished"
            r"|has been (?:deleted from|removed from|withdrawn|taken down|shut ?down|discontinued|retired"
            r"|decommissioned|sunset)|no longer (?:available|offered|served|hosted)|410 gone|\bgone\b.{0,20}\b410"
            r"|\b410\b|end.of.life|model.{0,40}(?:deprecated|not found|retired|decommissioned|does not exist)"
            r"|repository.{0,30}(?:archived|disabled|no longer)|does not have a release file|manifest unknown|dmca"
        ),
    ),
    (
        "E2.5",
        "what a server delivers is not what it delivered before",
        (
            r"hash(?:es)? (?:mismatch|sum mismatch|do not match)|checksum mismatch|integrity check(?:sum)? failed"
            r"|eintegrity|digest mismatch|(?:bad|invalid|expired) (?:gpg )?signature|no_pubkey|expkeysig"
            r"|mirror sync|prüfsumme|somme de contrôle"
        ),
    ),
    (
        "E1.5",
        "a release is not to be had",
        (
            r"could not find a version that satisfies|no matching (?:version|distribution)"
            r"|failed to select a version|\be404\b|404 not found|etarget|notarget|failed to resolve:"
            r"|could not resolve dependencies|version .{0,20}not found in registry|no (?:installation )?candidate"
            r"|not in this registry|unable to locate package"
        ),
    ),
    (
        "E1.5",
        "a service did not let us in",
        (
            r"\b403\b|forbidden|bot protection|captcha|cloudflare|blocked by|access to the api|has been suspended"
            r"|account.{0,20}(?:suspended|locked|disabled)|region.{0,30}not (?:supported|available)"
        ),
    ),
    (
        "E1.5",
        "a hosted service failed",
        (
            r"\bservice (?:responded|returned|unavailable|error)|cache service|api error|\bhosted runner"
            r"|system failure|provisioning failed|ne répond (?:plus|pas)|no responde|não responde|antwortet nicht"
            r"|没有响应|応答(?:が|し)|runner.{0,30}(?:lost communication|shutdown signal)|mcp error|remote rejected"
            r"|invalid_client|webhook.{0,30}fail|could not be reached|not reachable|unreachable|nicht erreichbar"
            r"|injoignable|inaccesible|无法访问|アクセスできません"
        ),
    ),
    (
        "E1",
        "",
        (
            r"https?://(?!localhost|127\.|0\.0|\[)[\w-]+\.[\w.-]+"
            r"|\b[\w-]+\.(?:[\w-]+\.)*(?:com|org|net|io|dev|example|cloud|jp|de|fr|es|br|cn|eu)\b(?![/.]?\w)"
        ),
    ),
    (
        "X-3 K1",
        "",
        (r"waiting for (?:expect|locator|element|selector)|tohave|tobe\w+\(|expected: |received: "),
    ),
    (
        "E-3 X1 C2",
        "nothing answered on the own machine",
        (
            r"(?:localhost|127\.0\.0\.1|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal)[^\n]{0,60}"
            r"|(?:unix|docker)[^\n]{0,20}\.sock"
        ),
    ),
    (
        "C2.5 E0.5",
        "a service that has to run first was not running",
        (
            r"econnrefused|connection refused|verbindungsaufbau abgelehnt|connexion refusée|conexión rehusada"
            r"|conexão recusada|拒绝连接|连接被拒绝|接続.{0,8}拒否|is the (?:server|docker daemon) running"
            r"|cannot connect to the docker daemon"
        ),
    ),
)

_MACHINE = signs(
    View.ERROR,
    (
        "X4.5",
        "the machine ran out of memory",
        (
            r"out ?of ?memory|outofmemory|heap (?:out of memory|space|limit)|cannot allocate memory|memoryerror"
            r"|std::bad_alloc|\boom\b|oom.?kill|memory allocation of|enomem|not enough memory"
            r"|virtual memory exhausted|gc overhead|nicht genügend (?:arbeits)?speicher"
            r"|speicher.{0,15}(?:erschöpft|belegen|voll)|mémoire (?:insuffisante|épuisée)|allouer de la mémoire"
            r"|memoria (?:insuficiente|agotada)|asignar memoria|memória insuficiente|alocar memória|内存不足|无法分配内存"
            r"|メモリ(?:不足|を確保|が足り)"
        ),
    ),
    (
        "X4",
        "the process was killed from outside",
        (
            r"^\W*(?:killed|getötet|processus arrêté|tué|terminado|matado|morto|已杀死|已终止|強制終了)\W*\d*\s*$"
            r"|\bkilled\b(?: +\S+)?\s*$|(?:: |\()(?:killed|getötet|tué|matado|terminated)\b"
            r"|signal:? ?(?:9|11|6|4|7|kill|sigkill)\b|sigkill|sigbus|sigsegv|sigabrt|sigill|sighup|killed signal"
            r"|terminated with signal|signal=|sigterm|terminated by (?:another|signal|the)"
            r"|exit(?:ed)?(?: with)?(?: status| code| value)?:? ?\(?(?:137|139|134|135|143|130)\b"
            r"|code (?:137|139|134|135|143|130)\b|\b(?:137|139)\)?$"
        ),
    ),
    (
        "X4",
        "a program crashed",
        (
            r"segmentation fault|core dumped|bus error|speicherzugriffsfehler|erreur de segmentation"
            r"|violación de segmento|falha de segmentação|段错误|セグメンテーション|illegal instruction|access violation"
            r"|internal compiler error|crashed|page crashed|target closed|browser has (?:been closed|disconnected)"
            r"|disappeared unexpectedly"
            r"|(?:worker|process|daemon|server|shell|kernel|agent|runner) (?:\S+ ){0,3}(?:crashed|died"
            r"|exited unexpectedly|terminated unexpectedly|was terminated|has been terminated|stopped unexpectedly"
            r"|appears to have died|quit unexpectedly|failed to exit gracefully)|stack smashing|kernel panic"
            r"|allocation failed|was interrupted|interrupted system call|ipc connect|can't connect to the agent"
            r"|simulator|double free|malloc\(\)|corrupted (?:size|double|top)|abgestürzt|brokenprocesspool"
            r"|workerlosterror|node down|\bkernel died|no longer alive|broken pipe|epipe|unreachable executed"
            r"|the compiler unexpectedly panicked|thread 'rustc' panicked"
            r"|unexpected(?:ly)? (?:exit|terminat|clos|stopp)"
        ),
    ),
    (
        "X4.5",
        "a disk was full or did not work",
        (
            r"no space left|enospc|disk (?:is )?full|disk quota|edquot|kein speicherplatz|speicherplatz mehr"
            r"|kein platz mehr|plus d'espace|espace (?:disque )?insuffisant|aucun espace disponible"
            r"|no queda espacio|espacio (?:insuficiente|en disco)|não há espaço|sem espaço|没有空间|空间不足|磁盘已?满"
            r"|空き(?:領域|容量)|容量不足|read-only file system|input/output error|\beio\b|stale file handle"
            r"|structure needs cleaning|eingabe-/ausgabefehler|database disk image is malformed|disk i/o error"
            r"|winerror (?:5|32)|access is denied.{0,20}os error|failed to remove file|eperm"
            r"|operation not permitted|erofs|not enough space|insufficient (?:disk|storage)"
        ),
    ),
    (
        "X4",
        "the machine had no more handles, processes or watchers to give",
        (
            r"too many open files|emfile|enfile|resource temporarily unavailable|can't start new thread"
            r"|unable to create (?:new )?native thread|ressource.{0,25}nicht verfügbar|zu viele offene"
            r"|trop de fichiers|demasiados (?:archivos|ficheros)|muitos (?:arquivos|ficheiros)|打开的文件过多|プロセスを生成"
            r"|fork: |file watchers|inotify|address pool|ephemeral port|eagain|no more processes|too many clients"
            r"|remaining connection slots|pthread_create"
        ),
    ),
    (
        "X4",
        "something on the machine still held what was needed",
        (
            r"text file busy|device or resource busy|ebusy|enotempty|directory not empty|already in use|etxtbsy"
            r"|resource busy|in use by another|being used by another process|von einem anderen prozess"
            r"|utilisé par un autre processus|utilizado por otro proceso|eaddrinuse|address (?:is )?already in use"
            r"|port.{0,20}(?:is )?(?:already|in use|allocated|taken|occupied|belegt)"
            r"|adresse.{0,25}(?:verwendet|utilisée)|dirección ya|endereço já|地址已|端口.{0,8}占用|ポート.{0,12}使用(?:中|され)"
            r"|index\.lock|\.lock'?: file exists|could not get lock"
            r"|(?:database|table|file|state|cache) (?:is |file |schema )?(?:locked|busy)"
            r"|locked by (?:another|process|pid)|waiting for (?:file )?lock|lock (?:wait )?time-?out"
            r"|(?:acquir|obtain|get)\w*\b.{0,25}\block"
            r"|another (?:git process|instance|process|copy|yarn|npm|terraform)|already running"
            r"|deadlock (?:detected|found)|held by process|could not lock|is locked|resource deadlock|lock file"
            r"|gesperrt|verrouill|已被锁定|ロックされ|使用中"
        ),
    ),
    (
        "X3",
        "a local step took longer than it is given",
        (
            r"exceeded time-?out of|test timed? ?out|timeout of \d+ ?ms exceeded"
            r"|timed out (?:after|waiting|in) ?\d|timed out after|timeout.{0,5}\d+ ?m?s"
            r"|time-?out (?:of|while|waiting|expired)|hook timed out|deadline"
            r"|failed to (?:start|become ready|boot).{0,30}(?:within|in time)"
            r"|did not (?:start|become|respond|exit|finish).{0,30}(?:within|in \d)|zeitlimit|timeoutexpired"
            r"|timeouterror|timeoutexception|not responding|hung\b|watchdog|soft lockup|超时|タイムアウト"
        ),
    ),
    (
        "X3",
        "two things ran at once",
        (
            r"data race|race condition|concurrent (?:modification|update|map)|could not serialize access"
            r"|serialization failure|optimisticlock|staleobject|stale element|flaky|deadlineexceeded|pixel"
            r"|detached from the dom|element is not attached|modified (?:concurrently|by another)"
            r"|concurrentmodification"
        ),
    ),
    (
        "X2.5",
        "the graphics device or its memory gave out",
        (
            r"cuda (?:error|out of memory|driver)|cublas|cudnn|gpu (?:is )?(?:lost|hang)|nvml|mps backend"
            r"|unable to find a (?:free )?device|/dev/shm|shared memory|shm size"
        ),
    ),
    (
        "X2.5",
        "the agent's own machinery was interrupted",
        (
            r"(?:interrupted|suspended|went to sleep|woke|reboot|power|shell (?:process|was|is)|session (?:was )?(?:lost"
            r"|terminated)|tty|pty).{0,60}(?:machine|restart|lost|exited|closed|sleep|reboot|unexpected)"
            r"|machine (?:went|was|is)|clock skew|wakeup|emulator.{0,40}(?:offline|exited|terminated|not)"
            r"|device offline|xvfb|display"
        ),
    ),
    (
        "X2.5",
        "a cache or an artefact on the machine was damaged",
        (
            r"corrupt(?:ed|ion)?\b(?! patch)|bad crc|invalid (?:magic|checksum|cache)"
            r"|checksum.{0,25}(?:cache|local)|truncated|not a zip file|unexpected end of (?:archive|data|zlib)"
            r"|loose object|object file .{0,60}is empty|beschädigt|corrompu|corrupto|损坏|破損"
        ),
    ),
)

PLACES: tuple[Sign, ...] = (
    *_NETWORK,
    *_MACHINE,
)
"""All of them; a report may bear several, which are weighed against each other."""
