"""What messages say that come from languages, libraries, frameworks, linters and platforms.

Owns the tables of rules and interfaces that were not known.
"""

from __future__ import annotations

from crucible.knowledge.signs import Sign, View, signs

__all__ = ["LANGUAGES"]

_LANGUAGES = signs(
    View.ERROR,
    (
        "K3.5",
        "what was used is deprecated or was removed",
        (
            r"deprecat|(?:is|was|has been|were) (?:removed|renamed|replaced|moved|dropped)"
            r"|no longer (?:supported|exists|accept|a |exported|part|valid|allowed)"
            r"|(?:isn't|is not|not) supported (?:any ?more|since|in version)|obsolete|legacy|use .{1,40} instead"
            r"|instead of|migrat(?:e|ion) guide|breaking change|removed.kwarg|veraltet|obsolète|obsoleto"
            r"|已(?:弃用|移除|废弃)|非推奨|廃止|since (?:version )?v?\d|switched to|as of (?:version )?v?\d"
        ),
    ),
    (
        "K2.5",
        "the library's interface is another one",
        (
            r"module '?\S+'? has no attribute|cannot import name|has no exported member|does not provide an export"
            r"|is not exported|unexpected keyword argument|got an unexpected|missing \d+ required positional"
            r"|takes \d+ positional|takes (?:no|exactly|at most|from) |is not a function|is not a constructor"
            r"|nosuchmethod|no overload|no method named|no function or associated item|has no attribute"
            r"|undefined method|method .{0,60}(?:not found|undefined)|cannot find symbol|unresolved reference"
            r"|no viable|no matching function|not callable|called (?:after|before|during|outside)|smart cast"
            r"|\bng0?\d{3,4}\b|background thread|was too long|itms-\d+|missing \$|does not support"
            r"|without (?:a )?using|explicit type|unknown (?:tag|filter|parameter in input|field)|templatesyntax"
            r"|should be (?:wrapped|called|used|a|an|one)|must come (?:last|first)|cannot call|can't call"
            r"|is not iterable|abstract(?:method|error)|cannot read propert|wrong number of arguments"
            r"|expects? .{1,30} (?:but|got|found)|invalid value for|not a valid (?:value|type|choice)"
            r"|invalid (?:integer|parameter|value|type|field|enum|argument value|request|selector|syntax for)"
            r"|invalidrequest|illegalargument|validationerror|validation (?:error|failed|exception)|valueerror"
            r"|invalidoperation|unprocessable|\b422\b|invalid_request"
            r"|must be (?:one of|a |an |of |at |greater|less|between|positive|specified|string|in)|required field"
            r"|is not allowed|not allowed (?:here|in|from|to)|field is immutable"
            r"|cannot be (?:cast|changed|updated|null|used|called|shared|sent|dereferenced|assigned"
            r"|converted|made|invoked|inferred)|unsupported (?:argument|operation|type|operand|block|value)"
            r"|notimplemented|no such property"
            r"|unknown (?:prop|attribute|argument \"|directive|rule|key|configuration|type)"
            r"|unrecognized (?:named-value|key|configuration|function)"
        ),
    ),
    (
        "K3.5",
        "a rule of the framework was not kept",
        (
            r"\bhooks? (?:\"|can only|rule)|rules-of-hooks|invalid hook call|hydration|server component"
            r"|client component|use client|cors|content.security.policy|csrf|app ?registry|apps aren't loaded"
            r"|asyncio|event loop|async (?:context|function|generator)|sync_to_async"
            r"|await\b.{0,40}(?:valid|outside|only)|coroutine|lazyinit|lazy ?load|detachedinstance|no session"
            r"|transaction|circular (?:import|dependency|reference)|partially initialized"
            r"|dependency (?:injection|cycle)|unsatisfied dependenc|beancreation|no (?:qualifying )?bean"
            r"|nullinjector|no provider for|expressionchanged|act\(|maximum update depth|too many re-renders"
            r"|each child in a list|objects are not valid as a react child|controlled|unwrapped in act"
            r"|out of (?:context|scope)|outside of (?:application|request|the)|working outside|main thread"
            r"|ui thread|mainactor|actor-isolated|sendable|goroutines are asleep|nil map|not thread.?safe|commonjs"
            r"|es ?module|require\(\) of|err_require_esm|import statement outside|__dirname|strictmode|serializ"
            r"|not serializable|pickle|non-serializable|unmanaged|mixin|decorator|middleware|strong ?parameters"
            r"|forbiddenattributes|mass assignment|n\+1|context manager|widget|composable|viewmodel|lifecycle"
            r"|foreign key constraint|violates|non-null|not null constraint|unique constraint|integrityerror"
            r"|add(?:ing)? a (?:non-nullable|not null)|concurrently cannot|cannot run inside a transaction"
            r"|hermetic|sandbox"
        ),
    ),
    (
        "K3.5",
        "a type or ownership rule of the language was not kept",
        (
            r"error\[e0\d{3}\]"
            r"|\be0(?:277|308|382|499|502|505|506|507|515|521|597|599|716|106|282|283|373|425|432|433)\b|borrow"
            r"|lifetime|moved value|does not implement|trait bound|is not satisfied|mismatched types|type mismatch"
            r"|incompatible types?|is not assignable|not assignable to|implicitly has an? 'any'"
            r"|ts\(?(?:2322|2345|2532|2339|2769|7006|18046|18048|1259|2551)\b|possibly ('?undefined|null|nil)"
            r"|typeerror|\[(?:arg-type|assignment|return-value|union-attr|override|attr-defined|call-arg|index"
            r"|operator|misc|type-arg|no-untyped-def|var-annotated)\]|type error|cannot convert"
            r"|cannot use .{1,60} as|does not conform to|undefined reference|unresolved external|could not match"
            r"|couldn't match|不能赋值|nicht zuweisbar|truth value|offset-naive|not implemented for|no está definid"
            r"|nicht definiert|has not been initiali[sz]ed|lateinit|nullptr|expected type|null pointer|nullpointer"
            r"|nonexhaustive|non-exhaustive|not exhaustive|overflow|syntaxerror|expected .{1,10} but found"
            r"|missing return|unused (?:variable|import|parameter)|declared and not used|imported and not used"
            r"|mutable|immutable|const\b.{0,30}assign|frozen(?:instance| ?error)"
        ),
    ),
    (
        "K3.5",
        "a lint rule or a convention of the project's was not kept",
        (
            r"\(@?(?:[a-z-]+/)?[a-z]+(?:-[a-z]+)+\)"
            r"|\b(?:[efwcbdnsu]|ruf|ann|plr|plw|plc|sim|up|dtz|tid|td|pt|pl|clippy::|ca|cs|sa|ide|st"
            r"|rubocop)\d{2,4}\b|eslint|@typescript-eslint|clippy::|depguard|golangci|staticcheck|rubocop"
            r"|checkstyle|ktlint|detekt|stylelint|pylint|phpstan|psalm|sonar|archunit|import-linter"
            r"|dependency-cruiser|no-restricted|commitlint|subject (?:may|must)|conventional commit|commit.?msg"
            r"|commit message|prohibited|hadolint|shellcheck|sc\d{4}|semgrep|coverage (?:threshold|below)|layer"
            r"|boundary|boundaries|\bnot allowed\b|disallowed|forbidden (?:import|call|api)|do not use|don't use"
            r"|\bprefer \S+|(?:copylocks|vet): |\bcs\d{4}|convention|policy|violation"
        ),
    ),
    (
        "K2.5",
        "a rule of the database or the query language was not kept",
        (
            r"group by|aggregate function|order by clause|ambiguous column|column reference .{0,40}ambiguous"
            r"|error 1\d{3}|syntax error at or near|operator does not exist|cannot be cast|invalid input syntax"
            r"|validationexception|no support for alter|json_|using index|not found in index|irreversible"
            r"|migration|alter table|pending trigger|mapping|mapper_parsing|missingindex|requires an index"
            r"|cannot drop|only_full_group|window function|safe update"
        ),
    ),
    (
        "K2",
        "the platform's rules for rights and settings were not known",
        (
            r"not accessible by integration|accessdenied|not authorized to perform"
            r"|insufficient (?:permission|scope|privilege)"
            r"|permission.{0,30}denied.{0,60}(?:iam|role|policy|resource)|missing (?:scope|permission)"
            r"|workflow is not valid|is invalid:|forbidden: user|admission webhook|podsecurity|pod ?security|iam\b"
            r"|assume ?role|lambda|manifest|plist|entitlement|provisioning|gradle plugin|sdk version|minsdk"
            r"|proguard|abi\b|content-length|payload too large|exceeds (?:the )?(?:maximum|limit)"
        ),
    ),
    (
        "K1",
        "",
        (
            r"traceback|exception|\b(?:should|must|cannot|can't|may not|unsupported|unexpected|forbidden)\b"
            r"|\bat \S+\(\S+:\d+|error:|panic:|--- fail|assertion ?error|assert\b|expected\b"
        ),
    ),
)

LANGUAGES: tuple[Sign, ...] = (*_LANGUAGES,)
"""All of them; a report may bear several, which are weighed against each other."""
