#!/usr/bin/env python3
"""Stores the measurements of compare_pytorch.py with the runs of the compared kernels.

    vendor_times.py --db evo.db result.json

compare_pytorch.py --json wrote result.json, on this or another machine. Each library or PyTorch
backend that was timed in turn with a kernel becomes a row of the table vendor_time
(docs/database.md). A row replaces an earlier row of the same run, name and input type.
Comparisons with a kernel whose outputs were wrong, and libraries without a time, get no row. Either
all rows are stored or none. Exit codes: 0 all rows are stored, 2 bad usage or files.
"""

import argparse
import json
import pathlib
import re
import sqlite3
import sys
import urllib.parse

APPLICATION_ID = 0x65766F74
HEADER = pathlib.Path(__file__).resolve().parents[2] / "db" / "database_file.hpp"
SCHEMA_VERSION = int(re.search(r"kSchemaVersion = (\d+)", HEADER.read_text(encoding="utf-8"))[1])


def require_run(database, result, device):
    """Raises ValueError unless the database has the candidate that was compared, on the shape and
    device of the comparison."""
    source = result["evo_tune"]
    found = database.execute(
        "SELECT p.key, r.shape, d.name FROM candidate c JOIN run r ON r.id = c.run_id"
        " JOIN problem p ON p.id = r.problem_id JOIN device d ON d.id = r.device_id"
        " WHERE c.id = ? AND r.id = ?", (source["candidate"], source["run"])).fetchone()
    name = f"candidate {source['candidate']} of run {source['run']}"
    if found is None or found[0] != source["problem_key"]:
        raise ValueError(f"does not contain {name}, which {result['manifest']} was exported from")
    expected = (result["shape"]["name"], device)
    if found[1:] != expected:
        raise ValueError(f"{name} has shape {found[1]} on {found[2]}; "
                         f"the compared candidate has shape {expected[0]} on {expected[1]}")


def store(path, results):
    """Stores `results`, as compare_pytorch.py writes them. Returns the number of stored rows.
    Raises ValueError if the file is no database of this schema version or lacks a compared
    candidate, KeyError if `results` lacks an entry, sqlite3.Error if the database cannot be
    written."""
    uri = f"file:{urllib.parse.quote(str(path))}?mode=rw"
    database = sqlite3.connect(uri, uri=True, timeout=300)
    count = 0
    try:
        with database:  # one transaction
            database.execute("PRAGMA foreign_keys = ON")
            application, = database.execute("PRAGMA application_id").fetchone()
            version, = database.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION_ID or version != SCHEMA_VERSION:
                raise ValueError(f"is no database of evo-tune with schema version {SCHEMA_VERSION}")
            for result in results["results"]:
                require_run(database, result, results["device"])
                for row in result["rows"]:
                    if row["name"] == "evo-tune" or "p50_us" not in row or not result["right"]:
                        continue
                    low, high = row["ratio_interval_95"]
                    database.execute(
                        "INSERT OR REPLACE INTO vendor_time (run_id, name, starts_from, p50_us,"
                        " candidate_id, ratio, ratio_low, ratio_high) VALUES (?,?,?,?,?,?,?,?)",
                        (result["evo_tune"]["run"], f"{row['library']} {row['name']}",
                         row["start"], row["p50_us"], result["evo_tune"]["candidate"],
                         row["ratio"], low, high))
                    count += 1
    finally:
        database.close()
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path, help="written by compare_pytorch.py --json")
    parser.add_argument("--db", type=pathlib.Path, default="evo.db", help="the runs' database")
    options = parser.parse_args()
    try:
        results = json.loads(options.results.read_text())
        print(f"{store(options.db, results)} times stored in {options.db}")
    except KeyError as error:
        print(f"vendor_times.py: {options.results}: lacks {error}", file=sys.stderr)
        return 2
    except (OSError, ValueError, sqlite3.Error) as error:
        where = options.results if isinstance(error, (OSError, json.JSONDecodeError)) else options.db
        print(f"vendor_times.py: {where}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
