"""Runs the commands of a Markdown document in an empty folder, and compares their output with the
document.

    walk.py DOCUMENT PROGRAMS    # the Markdown file; the folder of the programs

The script goes through these blocks of the document in order:
  ```cuda NAME      The script writes the block to the file NAME.
  ```diff NAME      The script replaces "-" lines of the file NAME by "+" lines. "…" at the end of a
                    "-" line matches the rest of the line.
  ```console        The block has commands, each behind "$ ", and their outputs. A command that ends
                    with "\\" continues in the next line. In an output, a line "…" matches any
                    number of lines, and "…" at the end of a line matches the rest of the line.
Numbers in outputs are not compared, because times and registers differ between versions.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def blocks(text):
    """Yields the language (cuda, diff or console), the file name and the lines of each block."""
    for match in re.finditer(r"^```(cuda|diff|console)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S):
        yield match.group(1), match.group(2), match.group(3).splitlines()


def comparable(line):
    line = re.sub(r"0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?", "#", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(expected, printed):
    """Whether the printed lines match the expected lines. "…" matches any number of lines."""
    if not expected:
        return not printed
    if expected[0] == "…":
        return any(matches(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and same(expected[0], printed[0]) and matches(expected[1:], printed[1:])


def same(expected, printed):
    if expected.endswith("…"):
        return printed.startswith(expected[:-1].rstrip())
    return expected == printed


def change(file, lines):
    """Applies a diff block to a file: replaces "-" lines by the "+" lines that follow them."""
    content = file.read_text().splitlines()
    at = 0
    for line in lines:
        if line.startswith("-"):
            wanted = line[1:]
            fits = [i for i, old in enumerate(content)
                    if old == wanted or (wanted.endswith("…") and old.startswith(wanted[:-1]))]
            if len(fits) != 1:
                sys.exit(f"{file}: {len(fits)} lines match {wanted!r}, but exactly one must")
            at = fits[0]
            del content[at]
        else:
            content.insert(at, line[1:])
            at += 1
    file.write_text("\n".join(content) + "\n")


def run(lines):
    """Runs each command of a console block. Returns the number of commands whose output differs."""
    wrong = 0
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
    for start, end in zip(starts, starts[1:]):
        command = lines[start][2:]
        while command.endswith("\\"):
            start += 1
            command = command[:-1] + lines[start].strip()
        done = subprocess.run(command, shell=True, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600)
        expected = [comparable(line) for line in lines[start + 1:end] if line.strip()]
        printed = [comparable(line) for line in done.stdout.splitlines() if line.strip()]
        print(f"$ {command}\n{done.stdout}")
        if not matches(expected, printed):
            print("DIFFERS from the document:\n" + "\n".join(lines[start + 1:end]))
            wrong += 1
    return wrong


def folder_of_python_with_numpy():
    for python in (sys.executable, shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL,
                                     check=False).returncode == 0:
            return Path(python).parent
    sys.exit("the walk needs NumPy (Debian: python3-numpy)")


def main():
    document, programs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    python = folder_of_python_with_numpy()
    os.environ["PATH"] = f"{programs}:{python}:{os.environ['PATH']}"
    wrong = 0
    steps = list(blocks(document.read_text()))
    if not any(kind == "console" for kind, _, _ in steps):
        sys.exit(f"{document}: has no ```console block to run")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind, name, lines in steps:
            if kind == "cuda":
                Path(name).write_text("\n".join(lines) + "\n")
            elif kind == "diff":
                change(Path(name), lines)
            else:
                wrong += run(lines)
        os.chdir("/")
    sys.exit(f"{wrong} commands print something else than the document" if wrong else 0)


main()
