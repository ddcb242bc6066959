"""Packs a database of runs for recorded_test.py, without the PTX, cubin and log of most kernels.

    record_run.py EVO.db OUT.db.gz
"""

import gzip
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

# An artifact is the PTX, cubin and log of a compilation. Keeps the artifacts of winners and of
# generation 0, and deletes all others. In the artifacts that are not of winners, replaces the PTX,
# cubin and log by the shortest of all.
SMALLER = """
DELETE FROM artifact WHERE compilation_id NOT IN (
  SELECT compilation_id FROM candidate WHERE generation = 0 AND compilation_id IS NOT NULL
  UNION SELECT compilation_id FROM candidate JOIN elite_rank ON candidate_id = id WHERE rank = 1);
UPDATE artifact SET log = (SELECT log FROM artifact ORDER BY length(log) LIMIT 1),
  ptx = (SELECT ptx FROM artifact ORDER BY length(ptx) LIMIT 1),
  cubin = (SELECT cubin FROM artifact ORDER BY length(cubin) LIMIT 1)
WHERE compilation_id NOT IN
  (SELECT compilation_id FROM candidate JOIN elite_rank ON candidate_id = id WHERE rank = 1);
"""

source, out = sys.argv[1], Path(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    copy = Path(folder) / "copy.db"
    sql = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    target = sqlite3.connect(copy)
    sql.backup(target)
    target.executescript(SMALLER)
    target.execute("PRAGMA journal_mode = DELETE")
    target.execute("VACUUM")
    target.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    with open(copy, "rb") as plain, open(out, "wb") as packed:
        with gzip.GzipFile("", "wb", 9, packed, mtime=0) as gz:
            shutil.copyfileobj(plain, gz)
print(f"{out}: {out.stat().st_size} bytes")
