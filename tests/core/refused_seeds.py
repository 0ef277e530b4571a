"""Seeds that are refused, each with the line and the key that the message must name."""

GOAL = "goal: Greet people\n"
LIST = "acceptance_criteria:\n"
CRITERIA = f"{LIST}  - It greets\n"
SMALL = GOAL + CRITERIA
FIRST = "acceptance_criteria #1"


def criterion(*lines: str) -> str:
    """A seed with one criterion, whose description is in line 3 and whose `lines` follow it."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{GOAL}{LIST}  - description: It greets\n{body}"


def ontology(*lines: str) -> str:
    """A valid seed whose ontology_schema begins in line 4, the first of `lines` in line 5."""
    return f"{SMALL}ontology_schema:\n" + "".join(f"  {line}\n" for line in lines)


# id -> (text, line, key path, a part of what is said)
REFUSED = {
    "no-goal": (CRITERIA, 1, "goal", "is missing"),
    "goal-misspelt": (f"goall: x\n{CRITERIA}", 1, "goal", "is missing"),
    "goal-nothing": (f"goal:\n{CRITERIA}", 1, "goal", "is empty"),
    "goal-blank": (f'goal: "  "\n{CRITERIA}', 1, "goal", "is empty"),
    "goal-yes": (f"goal: yes\n{CRITERIA}", 1, "goal", "yes without quotes is true or false"),
    "goal-number": (f"goal: 42\n{CRITERIA}", 1, "goal", "42 without quotes is a number"),
    "goal-float": (f"goal: 1.5\n{CRITERIA}", 1, "goal", "1.5 without quotes is a number"),
    "goal-list": (f"goal: [x]\n{CRITERIA}", 1, "goal", "must be text, but is a list"),
    "goal-mapping": (f"goal: {{name}}\n{CRITERIA}", 1, "goal", "must be text, but is a mapping"),
    "goal-huge-int": (f"goal: {'9' * 5000}\n{CRITERIA}", 1, "goal", "too long or large"),
    "no-criteria": (GOAL, 1, "acceptance_criteria", "is missing"),
    "criteria-misspelt": (
        f"{GOAL}acceptance_criterias: [x]\n",
        1,
        "acceptance_criteria",
        "is missing",
    ),
    "criteria-nothing": (f"{GOAL}{LIST}", 2, "acceptance_criteria", "is empty"),
    "criteria-empty": (f"{GOAL}acceptance_criteria: []\n", 2, "acceptance_criteria", "is empty"),
    "criteria-text": (
        f"{GOAL}acceptance_criteria: It greets\n",
        2,
        "acceptance_criteria",
        "must be a list, but is text",
    ),
    "criteria-mapping": (
        f"{GOAL}{LIST}  ac1: x\n",
        2,
        "acceptance_criteria",
        "must be a list, but is a mapping",
    ),
    "criterion-number": (
        f"{GOAL}{LIST}  - a\n  - 7\n",
        4,
        "acceptance_criteria #2",
        "7 without quotes",
    ),
    "criterion-blank": (f"{GOAL}{LIST}  - ''\n", 3, FIRST, "is empty"),
    "criterion-null": (f"{GOAL}{LIST}  -\n", 3, FIRST, "is empty"),
    "criterion-list": (f"{GOAL}{LIST}  - - a\n", 3, FIRST, "must be text, but is a list"),
    "criterion-colon": (
        f"{GOAL}{LIST}  - prints: Hello\n",
        3,
        f"{FIRST}.description",
        "is missing",
    ),
    "criterion-no-description": (
        f"{GOAL}{LIST}  - id: a\n",
        3,
        f"{FIRST}.description",
        "is missing",
    ),
    "description-number": (
        f"{GOAL}{LIST}  - id: a\n    description: 1\n",
        4,
        f"{FIRST}.description",
        "1 without quotes",
    ),
    "id-number": (criterion("id: 1"), 4, f"{FIRST}.id", "must be text"),
    "id-blank-inside": (criterion("id: a b"), 4, f"{FIRST}.id", "'a b' cannot be an id"),
    "id-too-long": (criterion(f"id: {'a' * 65}"), 4, f"{FIRST}.id", "cannot be"),
    "id-twice": (
        criterion("id: a") + "  - description: y\n    id: a\n",
        6,
        "acceptance_criteria #2.id",
        "is already that of the criterion in line 4",
    ),
    "assertion-without-command": (
        criterion("output_assertion: x"),
        4,
        f"{FIRST}.output_assertion",
        "no verify_command",
    ),
    "assertion-empty": (
        criterion("verify_command: 'true'", 'output_assertion: ""'),
        5,
        f"{FIRST}.output_assertion",
        "is empty",
    ),
    "command-true": (
        criterion("verify_command: true"),
        4,
        f"{FIRST}.verify_command",
        "true without quotes",
    ),
    "command-list": (
        criterion("verify_command: [pytest, -q]"),
        4,
        f"{FIRST}.verify_command",
        "must be text",
    ),
    "hidden-without-checks": (criterion("hidden: true"), 4, f"{FIRST}.hidden", "no check"),
    "hidden-with-timeout-only": (
        criterion("hidden: true", "timeout: 3"),
        4,
        f"{FIRST}.hidden",
        "no check",
    ),
    "hidden-text": (
        criterion("hidden: 'true'"),
        4,
        f"{FIRST}.hidden",
        "must be true or false, but is text",
    ),
    "artifact-absolute": (
        criterion("expected_artifacts: /etc/passwd"),
        4,
        f"{FIRST}.expected_artifacts",
        "below the repository's top",
    ),
    "artifact-home": (
        criterion("expected_artifacts: '~/x'"),
        4,
        f"{FIRST}.expected_artifacts",
        "below the repository's top",
    ),
    "artifact-drive": (
        criterion("expected_artifacts: 'c:x'"),
        4,
        f"{FIRST}.expected_artifacts",
        "below the repository's top",
    ),
    "artifact-backslash": (
        criterion(r"expected_artifacts: src\main.py"),
        4,
        f"{FIRST}.expected_artifacts",
        "with / between",
    ),
    "artifact-parent": (
        criterion("expected_artifacts:", "  - a", "  - b/../../c"),
        6,
        "acceptance_criteria #1.expected_artifacts #2",
        "inside the repository",
    ),
    "artifact-top": (
        criterion("expected_artifacts: ./."),
        4,
        f"{FIRST}.expected_artifacts",
        "inside the repository",
    ),
    "artifact-in-ouro": (
        criterion("expected_artifacts: ./.OURO/x"),
        4,
        f"{FIRST}.expected_artifacts",
        "lies in .ouro/ or .git/",
    ),
    "artifact-in-git": (
        criterion("expected_artifacts: sub/.git/config"),
        4,
        f"{FIRST}.expected_artifacts",
        "lies in .ouro/ or .git/",
    ),
    "artifact-number": (
        criterion("expected_artifacts: [1]"),
        4,
        "acceptance_criteria #1.expected_artifacts #1",
        "1 without quotes",
    ),
    "artifact-mapping": (
        criterion("expected_artifacts: {a: b}"),
        4,
        f"{FIRST}.expected_artifacts",
        "must be text, but is a mapping",
    ),
    "timeout-zero": (
        criterion("verify_command: ls", "timeout: 0"),
        5,
        f"{FIRST}.timeout",
        "more than 0",
    ),
    "timeout-negative": (
        criterion("verify_command: ls", "timeout: -1.5"),
        5,
        f"{FIRST}.timeout",
        "more than 0",
    ),
    "timeout-years": (
        criterion("verify_command: ls", "timeout: 9999999"),
        5,
        f"{FIRST}.timeout",
        "at most a day",
    ),
    "timeout-text": (
        criterion("verify_command: ls", "timeout: 5s"),
        5,
        f"{FIRST}.timeout",
        "must be a number, but is text",
    ),
    "timeout-true": (
        criterion("verify_command: ls", "timeout: on"),
        5,
        f"{FIRST}.timeout",
        "must be a number",
    ),
    "timeout-infinite": (
        criterion("verify_command: ls", "timeout: .inf"),
        5,
        f"{FIRST}.timeout",
        "no finite number",
    ),
    "constraints-text": (
        f"{SMALL}constraints: fast\n",
        4,
        "constraints",
        "must be a list, but is text",
    ),
    "constraint-no": (f"{SMALL}constraints:\n  - no\n", 5, "constraints #1", "no without quotes"),
    "constraint-colon": (
        f"{SMALL}constraints:\n  - a\n  - Python: 3.11\n",
        6,
        "constraints #2",
        "must be text, but is a mapping",
    ),
    "task-type-number": (f"{SMALL}task_type: 3\n", 4, "task_type", "3 without quotes"),
    "ontology-list": (f"{SMALL}ontology_schema: [a]\n", 4, "ontology_schema", "must be a mapping"),
    "ontology-name-number": (
        ontology("name: 3"),
        5,
        "ontology_schema.name",
        "3 without quotes is a number",
    ),
    "fields-mapping": (
        ontology("fields: {name: text}"),
        5,
        "ontology_schema.fields",
        "must be a list, but is a mapping",
    ),
    "field-text": (
        ontology("fields:", "  - name"),
        6,
        "ontology_schema.fields #1",
        "must be a mapping of keys, but is text",
    ),
    "field-no-name": (
        ontology("fields:", "  - type: text"),
        6,
        "ontology_schema.fields #1.name",
        "is missing",
    ),
    "field-name-blank": (
        ontology("fields:", "  - name: ' '"),
        6,
        "ontology_schema.fields #1.name",
        "is empty",
    ),
    "field-name-long": (
        ontology("fields:", f"  - name: {'a' * 201}"),
        6,
        "ontology_schema.fields #1.name",
        "longer than 200",
    ),
    "field-twice": (
        ontology("fields:", "  - name: userName", "  - {name: User_name}"),
        7,
        "ontology_schema.fields #2",
        "is already that of ontology_schema.fields #1",
    ),
    "field-two-types": (
        ontology("fields:", "  - name: a", "    type: int", "    field_type: text"),
        7,
        "ontology_schema.fields #1.type",
        "means the same as field_type",
    ),
    "field-required-text": (
        ontology("fields:", "  - name: a", "    required: maybe"),
        7,
        "ontology_schema.fields #1.required",
        "must be true or false",
    ),
    "fields-too-many": (
        ontology("fields:", *(f"  - name: f{n}" for n in range(301))),
        5,
        "ontology_schema.fields",
        "has 301 fields",
    ),
    "key-twice": (f"{SMALL}goal: again\n", 4, "", "the key goal stands twice"),
    "key-twice-deep": (
        criterion("description: again"),
        4,
        FIRST,
        "the key description stands twice",
    ),
    "key-number": (f"{SMALL}1: x\n", 4, "", "the key '1' is not text"),
    "key-list": (f"{SMALL}? [a]\n: x\n", 4, "", "stands where a key belongs"),
    "merge-key": (
        f"{SMALL}metadata:\n  <<: {{a: b}}\n",
        5,
        "metadata",
        "merge keys (<<) are not allowed",
    ),
    "python-tag": (
        f"goal: !!python/object/apply:os.system ['ls']\n{CRITERIA}",
        1,
        "goal",
        "the tag !!python/object/apply:os.system is not allowed",
    ),
    "own-tag": (f"{SMALL}metadata: !mine {{}}\n", 4, "metadata", "the tag !mine is not allowed"),
    "nan": (f"{SMALL}metadata: [.nan]\n", 4, "metadata #1", "no finite number"),
    "int-65-bit": (f"{SMALL}metadata: 9223372036854775808\n", 4, "metadata", "too long or large"),
    "control-character": (
        f'goal: "a\\x07b"\n{CRITERIA}',
        1,
        "goal",
        "'\\x07', which is not allowed",
    ),
    "unknown-alias": (f"goal: *x\n{CRITERIA}", 1, "goal", "*x names no anchor"),
    "alias-inside-itself": (f"{SMALL}metadata: &a [*a]\n", 4, "metadata #1", "inside itself"),
    "top-level-list": ("- goal: x\n", 1, "", "must be a mapping of keys, but is a list"),
    "top-level-text": ("just text\n", 1, "", "must be a mapping of keys, but is text"),
    "top-level-nothing": ("---\n", 2, "", "must be a mapping of keys, but is nothing"),
    "empty": ("", 1, "", "the file is empty"),
    "comments-only": ("# goal: x\n\n", 1, "", "the file is empty"),
    "two-documents": (f"{SMALL}---\n{SMALL}", 4, "", "a second document begins"),
    "colon-in-text": ("goal: print: a: b\n", 1, "", "mapping values are not allowed"),
    "tab": (f"{GOAL}{LIST}\t- x\n", 3, "", "is not valid YAML"),
    "open-quote": (f'goal: "x\n{CRITERIA}', 1, "", "is not valid YAML"),
    "open-bracket": (f"{GOAL}constraints: [a, b\n{CRITERIA}", 2, "", "is not valid YAML"),
}
