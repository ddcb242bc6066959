#!/usr/bin/env python3
"""Checks prose: Markdown, and comments of C++, CUDA, CMake, shell and Python.

    .ci/prose.py [--prose FOLDER] FILE...

- A line has at most 100 columns, except tables, code and links.
- No sentence begins with a word of STARTS, unless it is a question: sentences have a subject.
  Headings are no sentences. The rule also holds for strings of C++, which are messages.

--prose also writes the prose of each Markdown file to FOLDER, line by line, without headings and
code, for linters that know no Markdown. Exit code: 1 if a rule is broken.
"""

import argparse
import io
import re
import sys
import tokenize
from pathlib import Path

COLUMNS = 100
STARTS = ("Of", "What", "Whatever", "Who", "Whoever", "Which")
START = re.compile(r"(?:^|[.!?:] )(" + "|".join(STARTS) + r") [^.!?]*(?P<end>[.!?]|$)")
MESSAGE = re.compile(r'"(' + "|".join(STARTS) + r') [^"?]*"')
SHELL = {".sh", ".cmake", ""}
CPP = {".cpp", ".hpp", ".cu", ".cuh", ".h", ".def"}


def markdown(text):
    """Yields the lines of a Markdown file: blank for headings and blocks of code, with CODE in
    place of inline code."""
    fence = False
    for line in text.splitlines():
        if re.match(r"\s*```", line):
            fence = not fence
            yield ""
        else:
            yield "" if fence or line.startswith("#") else re.sub(r"`[^`]*`", "CODE", line)


def cpp_comments(text):
    for line in text.splitlines():
        match = re.search(r"(?:^|\s)//[/!]?<?\s?(.*)", line)
        yield match.group(1) if match else ""


def shell_comments(text):
    for number, line in enumerate(text.splitlines()):
        match = re.match(r"\s*#+ (.*)", line)
        yield match.group(1) if match and number else ""


def python_comments(text):
    lines = [""] * len(text.splitlines())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = token.string.lstrip("# ")
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            for offset, line in enumerate(token.string.strip('"').splitlines()):
                lines[token.start[0] - 1 + offset] = line.strip()
    return lines


def prose_of(file, text):
    if file.suffix == ".md":
        return list(markdown(text))
    if file.suffix in CPP:
        return list(cpp_comments(text))
    if file.suffix == ".py":
        return python_comments(text)
    if file.suffix in SHELL or file.name == "CMakeLists.txt":
        return list(shell_comments(text))
    return []


def paragraphs(lines):
    """Yields (number of the first line, text) for each paragraph and each list item."""
    first, parts = 0, []
    for number, line in enumerate([*lines, ""], 1):
        item = re.sub(r"^\s*(?:[-*>|#]+|\d+\.)\s+", "", line).strip()
        if parts and (not line.strip() or item != line.strip()):
            yield first, " ".join(parts)
            parts = []
        if item:
            first = first if parts else number
            parts.append(item)


def is_wide(line, blank):
    return len(line) > COLUMNS and bool(blank.strip()) and not re.match(r"\s*\||\[.*\]: ", line) \
        and not re.fullmatch(r"\s*\S*\(\S+\)\S*", line)


def findings(file, text):
    lines = prose_of(file, text)
    for number, (line, prose) in enumerate(zip(text.splitlines(), lines), 1):
        if is_wide(line, prose):
            yield number, f"{len(line)} columns; at most {COLUMNS}"
        if file.suffix in CPP and (message := MESSAGE.search(line)):
            yield number, f"a message begins with '{message.group(1)}': {message.group()[:60]}"
    for number, paragraph in paragraphs(lines):
        for match in START.finditer(paragraph):
            if match.group("end") != "?":
                yield number, f"a sentence begins with '{match.group(1)}': {match.group().strip()[:60]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prose", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    failed = False
    for file in options.files:
        text = file.read_text(encoding="utf-8")
        for number, finding in findings(file, text):
            print(f"{file}:{number}: {finding}")
            failed = True
        if options.prose and file.suffix == ".md":
            copy = options.prose / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text("\n".join(prose_of(file, text)) + "\n", encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
