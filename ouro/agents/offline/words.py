"""The words that the rules know. What is not listed here is not understood, negations included."""

FILLER = frozenset("a an the must should shall will also please correctly properly always".split())
"""Words that ask for nothing: a sentence means the same without them."""

NUMBERS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}

LANGUAGES = {
    "python": (".py",),
    "markdown": (".md", ".markdown"),
    "go": (".go",),
    "javascript": (".js", ".mjs", ".cjs"),
    "typescript": (".ts", ".tsx"),
    "rust": (".rs",),
    "json": (".json",),
    "yaml": (".yaml", ".yml"),
    "toml": (".toml",),
    "html": (".html", ".htm"),
    "css": (".css",),
    "sql": (".sql",),
    "csv": (".csv",),
}
"""A language -> the endings of its files."""

_PHRASES = {
    "HAS": "has; have; having; contains; contain; containing; holds; hold; holding; defines;"
    " define; defining; provides; provide; providing; includes; include; including; implements;"
    " implement; implementing; declares; declare; declaring; offers; offer; offering; exposes;"
    " expose; exposing; exports; export; exporting; comes with; mentions; mention; mentioning",
    "WITH": "with",
    "EXISTS": "exists; exist; is present; is there; is created; is in place; has been created",
    "THERE": "there is; there exists; there exist; create; add; write",
    "REPO": "repository; repo; project; workspace; tree; working tree; repository root; repo root;"
    " project root; root; root directory; root folder; top level; codebase; root of repository;"
    " root of repo; root of project; root of workspace; project directory; project folder",
    "FILE": "file; files; module; script; source file; text file; test file; test module",
    "EMPTY": "empty",
    "NAMED": "named; called; by name; with name; titled",
    "FUNC": "function; func",
    "RET": "returns; return; returning; gives; give; giving; gives back; yields; yield; yielding;"
    " produces; produce; producing; evaluates to; results in; equals; is equal to; answers with;"
    " hands back; ==; =; ->; =>; →; ⇒",
    "IS": "is",
    "TEXTWORD": "text; string; greeting; message; sentence; value; phrase; words; constant;"
    " literal; string value; literal text; literal string; constant string; constant text;"
    " text constant; greeting text; exact text; exact string",
    "CONTENT": "content; contents; text content",
    "WHOSE": "whose content is; whose contents is; whose text is; with content; with contents;"
    " with exact content; with exact contents",
    "LINE": "line",
    "TAKES": "takes; take; taking; accepts; accept; accepting; receives; receiving",
    "PARAM": "parameter; argument; arg; param; input",
    "CALLING": "calling; call to; call of; invoking; result of; result of calling;"
    " return value of; value of; executing; call",
    "CALLED": "when called with; called with; when given; given; when passed; when invoked with;"
    " invoked with; if called with; for input; for argument",
    "RUNNING": "running; run; execution of; run of; invocation of",
    "TESTS": "test; tests; unit test; unit tests; test case; test cases; pytest test;"
    " pytest tests; passing test; passing tests; automated test; automated tests;"
    " pytest case; pytest cases",
    "TESTFUNCS": "test function; test functions; pytest function; pytest functions",
    "SUITE": "test suite; suite; unit test suite; pytest suite; test-suite; testsuite",
    "PASSES": "pass; passes; is passing; passing; succeed; succeeds; is green; runs green;"
    " runs successfully; run successfully; passes successfully; pass successfully;"
    " completes successfully; finishes successfully; is successful; exits successfully",
    "EXITS": "exits; exit; finishes; ends; exits with; exit with; finishes with; ends with",
    "CODE": "code; status; exit code; exit status; status code",
    "COLLECTS": "collects; collect; finds; discovers; runs; reports",
    "ALL": "all; every; each; whole; entire; complete; full; all of",
    "ATLEAST": "at least; minimum of; no fewer than; no less than; not fewer than;"
    " not less than; ≥; >=",
    "MORETHAN": "more than",
    "ORMORE": "or more",
    "MULTIPLE": "multiple",
    "EXACT": "exactly; precisely",
    "AND": "and; as well as; plus; &",
    "THAT": "that; which; it; they; them; and which; and that",
    "IN": "in; inside; within; from; inside of; is in; is defined in; defined in; live in;"
    " lives in; is located in; located in; is implemented in; implemented in; is found in;"
    " found in",
    "OF": "of",
    "ON": "on; against",
    "USING": "using; under; via; by; by running; when running; when run with; when run under;"
    " run with; when run by; with help of",
    "FOR": "for; cover; covers; exercise; exercises; covering; testing; exercising;"
    " that cover; that covers; that test; that tests;"
    " that exercise; that exercises; which cover; which covers; which test; which tests;"
    " that call; that calls; which call; which calls",
    "ANY": "any; any given",
    "WHERE": "where",
    "SUPPLIED": "passed; supplied; provided",
}

PHRASES: dict[tuple[str, ...], str] = {
    tuple(phrase.split()): keyword
    for keyword, phrases in _PHRASES.items()
    for phrase in phrases.split(";")
}
"""Words, lower case and without filler -> what they mean to the grammar."""

LONGEST_PHRASE = max(map(len, PHRASES))
