"""Makes the pages of options from the output of the programs' --help.

    options.py PROGRAMS    # the folder of the programs; prints all pages as Markdown

If a program has commands, its page also has the help of each command.
"""

import re
import subprocess
import sys
from pathlib import Path

PROGRAMS = ("evo-init", "evo-tune", "evo-judge", "evo-elite", "evo-report", "evo-export",
            "evo-record", "evo-replay", "evo-predict", "evo-ptx-run")


def help_of(program, *commands):
    done = subprocess.run([program, *commands, "--help"], text=True, capture_output=True,
                          check=True, timeout=30)
    return done.stdout.rstrip()


def commands_in(text):
    section = re.search(r"^Commands:\n((?: .*\n?)+)", text, re.M)
    return re.findall(r"^  ([a-z]+)", section.group(1), re.M) if section else []


def page(folder, name):
    program = str(Path(folder) / name)
    text = help_of(program)
    lines = [f"# {name}", "", "```", text, "```", ""]
    for command in commands_in(text):
        lines += [f"## {name} {command}", "", "```", help_of(program, command), "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n".join(page(sys.argv[1], name) for name in PROGRAMS))
