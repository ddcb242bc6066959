"""Measures the processor time that evo-tune and its gateway spend on a candidate. The run has two
hosts on this machine, each with four compilers and two devices. The compilers and devices are fakes
that take no time. The run checks, times and stores every kernel.

coordinator_cost.py FOLDER-OF-PROGRAMS [candidates]"""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from cluster_case import BIN, SPACE, children


def ticks(process):
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def space_of_distinct_kernels(folder):
    shutil.copytree(SPACE.parent.parent, folder / "project")
    file = folder / "project/search_spaces/wide.json"
    space = json.loads(file.read_text())
    space["parameters"][3]["macro"] = "OTHER"  # unlike UNUSED_ALIAS, this macro changes the code
    file.write_text(json.dumps(space))
    return file


def main():
    candidates = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = [BIN / "evo-tune", "--space", space_of_distinct_kernels(folder), "--strategy", "random",
                   "--generations", "4", "--offspring", str(candidates // 4), "--max-in-flight", "100", "--jobs", "1", "--quiet", "--db",
                   folder / "evo.db", "--listen", "127.0.0.1:0", "--worker-jobs", "4", "--worker-device",
                   "fake:predicted,fake:predicted"]
        for node in ("n1", "n2"):
            command += ["--launch", f"EVO_HOST_NAME={node} {{worker}}"]
        run = subprocess.Popen(command, env=dict(os.environ, EVO_WORKER=str(BIN / "fake-worker")),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        spent, gateway = {}, None
        while run.poll() is None:
            try:
                gateway = gateway or next((one for one, words in children().items() if words[1:2] == ["gateway"]), None)
                spent.update({one: ticks(one) for one in (run.pid, gateway) if one})
            except OSError:
                pass
            time.sleep(0.05)
        with sqlite3.connect(folder / "evo.db") as db:
            timed = db.execute("SELECT count(*) FROM timing").fetchone()[0]
        scale = 1000 / os.sysconf("SC_CLK_TCK") / timed
        print(f"{timed} kernels: evo-tune {spent[run.pid] * scale:.2f} ms a candidate, its gateway "
              f"{spent[gateway] * scale:.2f} ms")


if __name__ == "__main__":
    main()
