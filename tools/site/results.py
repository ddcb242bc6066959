"""Pages of results from the files under docs/results.

    results.py FILE...    # prints the pages as Markdown

A file holds the tables of one device, each with its date, kind of times, machine, command, columns
and rows. The site has a generated page for each file.
"""

import json
import sys
from pathlib import Path

FORMAT = "evo-tune results 1"
KEYS = {"title", "date", "kind", "machine", "command", "columns", "rows", "notes"}


def row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table_page(table):
    unknown = set(table) - KEYS
    missing = KEYS - {"notes"} - set(table)
    if unknown or missing:
        raise ValueError(f"table {table.get('title')!r}: unknown {unknown}, missing {missing}")
    columns, rows = table["columns"], table["rows"]
    for cells in rows:
        if len(cells) != len(columns):
            raise ValueError(f"table {table['title']!r}: {cells} has not {len(columns)} cells")
    lines = [f"## {table['title']}", "", row(columns), "|" + "---|" * len(columns)]
    lines += [row(cells) for cells in rows]
    lines += ["", *(note + "\n" for note in table.get("notes", []))]
    lines += [f"{table['date']}, {table['machine']}; {table['kind']}. Command:", "",
              "```sh", *table["command"].split("; "), "```", ""]
    return lines


def page(file):
    data = json.loads(Path(file).read_text(encoding="utf-8"))
    if data["format"] != FORMAT:
        raise ValueError(f"{file}: format {data['format']!r}; allowed: {FORMAT!r}")
    lines = [f"# Results: {data['device']}", "", data["summary"], ""]
    for table in data["tables"]:
        lines += table_page(table)
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n".join(page(file) for file in sys.argv[1:]))
