# SPDX-License-Identifier: Apache-2.0
"""Checks what compilers and formatters do not: license headers, lengths of files, functions and lines, meaningless
names, and unfinished work."""

import ast
import re
import sys
from pathlib import Path

from problems import report

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("cmake", "core", "docs", "host", "plugins", "python", "reports", "schemas", "tests")
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".sql", ".js", ".cmake", ".toml", ".sh"}
LENGTH = {".c": 400, ".cpp": 400, ".cu": 500, ".py": 400, ".hpp": 200, ".h": 200, ".cuh": 300, ".sql": 400, ".js": 400}
TEST_LENGTH = 500
# Migrations never change. What authors of plugins include is one interface, documented in one place. The event handlers
# of a run share its state.
UNDIVIDED = (
    *("schemas/migrations/", "tests/sql/common/"),
    *("core/abi/kymo_plugin.h", "core/sdk/include/kymo/descriptor.hpp"),
    "host/supervisor/run_executor.cpp",
)
FUNCTION_LENGTH = 80
# Kernels are not divided: their parts share registers. Tests may list many cases.
LONG_FUNCTIONS = re.compile(r".*\.cuh?|(?:.*/)?tests/.*")
BRACES = {".c", ".cpp", ".hpp", ".h", ".js"}
FUNCTION_HEAD = re.compile(r"\)(?:\s*(?:const|noexcept|override|->[\w:<>*& ]+))*$")
NO_CODE = re.compile(r"""R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'[{};]'|//[^\n]*|/\*.*?\*/""", re.DOTALL)
COLUMNS = 120
WRAPPED = {".c", ".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".sql", ".js", ".css", ".md"}
GENERATED = re.compile(r"docs/(?:cli|schema)\.md|docs/examples/[^/]+/.*|tests/golden/.*")
UNBREAKABLE = re.compile(r"\s*(?:\||!\[)")  # Markdown table rows and images, which must be on one line
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "manager", "misc", "data", "info"}
FIELD_TERM = re.compile(
    r"data_?parallel", re.IGNORECASE
)  # an established term, although one of its words alone is meaningless
NOTE_TO_SELF = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
DECLARED = re.compile(r"^\s*(?:class|struct|namespace|enum class|enum)\s+([A-Za-z_]\w*)", re.MULTILINE)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def files():
    yield from (ROOT / name for name in ("CMakeLists.txt", "README.md", "dev", ".ci/run"))
    for folder in FOLDERS:
        yield from sorted(path for path in (ROOT / folder).rglob("*") if path.is_file())


def empty_words(name):
    return EMPTY_WORDS & {word.lower() for word in WORD.findall(FIELD_TERM.sub("", name))}


def too_long(relative, lines):
    """Yields lines with more characters than allowed; formatters do not wrap all lines."""
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and not (relative.endswith(".md") and UNBREAKABLE.match(line)):
            yield f"{relative}:{number}: {len(line)} columns, more than {COLUMNS}"


def functions_of(text):
    """Yields line and length of the functions of a language with braces, but of none within another one."""
    opened = []  # of each open brace: line, and whether it begins a function
    head = ""
    text = NO_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        for part in re.split(r"([{};])", line):
            if part == "{":
                is_within = any(is_function for _, is_function in opened)
                opened.append((number, not is_within and bool(FUNCTION_HEAD.search(head))))
            elif part == "}" and opened:
                begin, is_function = opened.pop()
                if is_function:
                    yield begin, number - begin - 1
            head = "" if part in ("{", "}", ";") else f"{head} {part}".rstrip()


def python_functions_of(text):
    """The same for Python."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno


def problems_of(path):
    """Yields one line for each problem of a file."""
    relative = path.relative_to(ROOT).as_posix()
    if empty_words(path.stem):
        yield f"{relative}: a name with '{empty_words(path.stem).pop()}' does not describe the contents of the file"
    licensed = path.suffix in LICENSED or path.name == "CMakeLists.txt" or relative in ("dev", ".ci/run")
    wrapped = path.suffix in WRAPPED and not GENERATED.fullmatch(relative)
    if not licensed and not wrapped:
        return
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if wrapped:
        yield from too_long(relative, lines)
    if not licensed:
        return
    if not any(LICENCE in line for line in lines[:2] if not line.startswith("#!")):
        yield f"{relative}:1: the first line must contain '{LICENCE}'"
    limit = LENGTH.get(path.suffix)
    if limit and relative.startswith("tests/"):
        limit = max(limit, TEST_LENGTH)
    if limit and len(lines) > limit and not relative.startswith(UNDIVIDED):
        yield f"{relative}: {len(lines)} lines, more than {limit}"
    if path.suffix in BRACES | {".py"} and not LONG_FUNCTIONS.fullmatch(relative):
        for begin, length in functions_of(text) if path.suffix in BRACES else python_functions_of(text):
            if length > FUNCTION_LENGTH:
                yield f"{relative}:{begin}: a function of {length} lines, more than {FUNCTION_LENGTH}"
    for note in NOTE_TO_SELF.finditer(text):
        yield f"{relative}:{text.count(chr(10), 0, note.start()) + 1}: unfinished: {note.group()}"
    if path.suffix in {".cpp", ".hpp", ".h", ".cu", ".cuh"}:
        for name in DECLARED.findall(text):
            if empty_words(name):
                yield f"{relative}: the name {name} does not describe what it is"


def main():
    problems = [problem for path in files() for problem in problems_of(path)]
    return report(problems)


if __name__ == "__main__":
    sys.exit(main())
