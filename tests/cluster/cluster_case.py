"""The common part of the cluster tests: evo-tune tunes on four devices of two nodes, and a test
kills processes of the run. The run must store the same results as a run on one device. Each file
*_test.py starts its nodes in another way, for example by ssh or Slurm. Usage: FILE
FOLDER-OF-PROGRAMS [options of unittest]."""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
SPACE = SOURCE / "tests/planted/search_spaces/wide.json"
PATIENCE_S = 300
LEASE_S = 10  # a worker that has lost its coordinator ends by itself within this time
# A worker that starts just before the run ends never reaches the coordinator, and ends by itself
# within this time (kFirstDial in agent.cpp is 30 s).
FIRST_DIAL_S = 35

# With PR_SET_CHILD_SUBREAPER, the orphaned descendants of this process become its children. So the
# tests find all processes that they have started among the descendants of this process.
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def free_ports(count):
    """Returns the first of `count` consecutive TCP ports that are free. The first port that is
    tried depends on the process id, so that tests that start together seldom try the same ports.
    This port is below 32768, the first port that Linux by default gives to outgoing connections."""
    for first in range(26000 + os.getpid() % 97 * 60, 60000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                one = socket.socket()
                sockets.append(one)
                one.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


def status(process):
    """Returns the state letter and the parent's id of a process; None if the process has ended or
    is a zombie."""
    try:
        words = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return None if words[0] == "Z" else (words[0], int(words[1]))
    except (OSError, IndexError):
        return None


def parent_of(process):
    return status(process)[1]


def children():
    """Maps the id of each descendant of this process to its command line, parents before their
    children. Sorting by id might list a child before its parent, because after the greatest id the
    system continues with small ids."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and (known := status(entry.name)):
            parents[int(entry.name)] = known[1]
    found, front = [], [os.getpid()]
    while front := sorted(one for one, parent in parents.items() if parent in front and one not in found):
        found += front
    words = {}
    for one in found:
        try:
            words[one] = pathlib.Path(f"/proc/{one}/cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
    return words


def kilobytes(process):
    """Returns the resident memory of a process in kB."""
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


def story(database):
    """Reads the decisions of a run from its database: the candidates with their outcomes, and the
    elites."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        return [db.execute(query).fetchall() for query in (
            "SELECT c.generation, c.position, c.config, t.p50_us, r.reason, d.config FROM candidate c"
            " LEFT JOIN timing t ON t.candidate_id = c.id LEFT JOIN rejection r ON r.candidate_id = c.id"
            " LEFT JOIN candidate d ON d.id = c.duplicate_of ORDER BY 1, 2",
            "SELECT e.generation, e.rank, c.config, e.p50_us FROM elite_member e"
            " JOIN candidate c ON c.id = e.candidate_id ORDER BY 1, 2")]


class Cluster(unittest.TestCase):
    needs = ()
    needs_root = True
    alone = None  # the decisions of a run on one device

    def setUp(self):
        missing = [name for name in self.needs if shutil.which(name, path="/usr/bin:/usr/sbin") is None]
        if self.needs_root and os.geteuid() != 0:
            missing.append("root")
        if missing:
            self.skipTest(f"missing: {', '.join(missing)}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="evo-cluster-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = dict(os.environ, EVO_WORKER=str(BIN / "fake-worker"), EVO_FAKE_COMPILE_MS="150",
                                EVO_CLUSTER_TEST=str(self.folder))
        self.addCleanup(self.expect_no_process)
        self.start_cluster()

    def start_cluster(self):
        pass

    def script(self, name, action):
        subprocess.run([HERE / name, action, self.folder, str(self.port)], env=self.environment, check=True,
                       stdin=subprocess.DEVNULL, timeout=60)

    def expect_no_process(self, but=(), within=FIRST_DIAL_S):
        """Expects that all processes of the test except `but` end within `within` seconds."""
        end = time.monotonic() + within
        while (left := {one: words for one, words in children().items() if one not in but}) and time.monotonic() < end:
            time.sleep(0.1)
        for one in left:
            os.kill(one, signal.SIGKILL)
        self.assertFalse(left)

    space = SPACE

    def command(self, database, more):
        return [BIN / "evo-tune", "--space", self.space, "--strategy", "random", "--generations", "12", "--offspring", "12",
                "--max-in-flight", "12", "--seed", "7", "--check-seed", "5", "--jobs", "1", "--quiet",
                "--db", self.folder / database, *more]

    def tune(self, database, more, environment=None, within=()):
        """Starts evo-tune. `within`: a command that runs evo-tune, for example salloc with its
        options."""
        # The log is a file, because a process that survives evo-tune would keep a pipe open.
        self.log = open(self.folder / (database + ".log"), "w+")
        self.addCleanup(self.log.close)
        self.program = subprocess.Popen([*within, *self.command(database, more)], env=environment or self.environment,
                                        stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, cwd=self.folder)
        return self.program

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def expect(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            has_ended = self.program.poll() is not None
            if found := condition():
                return found
            if has_ended:
                break
            time.sleep(0.05)
        self.fail(f"{what}\n{self.said()}")

    def rows(self, query, database="many.db"):
        try:
            with sqlite3.connect(f"file:{self.folder}/{database}?mode=ro", uri=True) as db:
                return [row[0] for row in db.execute(query)]
        except sqlite3.Error:
            return []

    def joined(self, role, database):
        """Returns how many workers of a role have joined the run. The run stores an event for each
        worker except the first device."""
        return len(self.rows(f"SELECT 1 FROM event WHERE kind = 'worker joined' AND text LIKE '{role}%'", database))

    def is_under_way(self, database="many.db"):
        """Returns whether all four devices have joined the run and some kernels are timed."""
        return self.rows("SELECT count(*) FROM timing", database) > [2] and self.joined("device", database) >= 3

    def is_complete(self, database="many.db"):
        """Returns whether the run is under way and its four compilers have joined it, too."""
        return self.is_under_way(database) and self.joined("compile", database) == 4

    def agents(self, role):
        """Returns the ids of the processes `evo-worker ROLE` and `evo-worker host` that connect to
        the run, parents before their children."""
        return [one for one, words in children().items()
                if "--connect" in words and words[0].endswith("evo-worker") and words[1] in (role, "host")]

    def gateway(self):
        return next(one for one, words in children().items() if words[1:2] == ["gateway"])

    def run_alone(self):
        """Makes the run on one device, unless an earlier test has made it, and keeps its decisions
        for all tests."""
        if Cluster.alone is not None:
            return
        alone = self.tune("alone.db", ["--device", "fake:predicted"], dict(self.environment, EVO_FAKE_COMPILE_MS="0"))
        self.assertEqual(alone.wait(PATIENCE_S), 0, self.said())
        Cluster.alone = story(self.folder / "alone.db")

    def expect_same(self, database="many.db"):
        """Expects that a run on the cluster has the results of the run on one device."""
        self.assertGreater(len(Cluster.alone[1]), 0)
        self.assertEqual(Cluster.alone, story(self.folder / database))
        self.assertLessEqual(set(self.rows("SELECT host FROM timing", database)), set(self.nodes))

    def run_through(self, harm, more, within=(), compile_ms=150):
        """Makes the run on one device, then on the cluster, and calls `harm` while all four devices
        work. The run on the cluster must have the results of the run on one device."""
        self.run_alone()
        run = self.tune("many.db", more, dict(self.environment, EVO_FAKE_COMPILE_MS=str(compile_ms)), within)
        try:
            self.expect(self.is_under_way, "the four devices do not join the run")
            harm(run)
            self.assertEqual(run.wait(PATIENCE_S), 0, self.said())
        finally:
            run.kill()
            run.wait()
        self.expect_same()

    def kill_and_resume(self, victim, more, code):
        """Kills the process that `victim` returns. The run must end with exit code `code`, leave no
        process behind, and give the results of the run on one device after --resume."""
        cluster = set(children())
        # Slow compilations keep the run from ending before all workers have joined, so that LEASE_S
        # holds for all of them.
        run = self.tune("many.db", more, dict(self.environment, EVO_FAKE_COMPILE_MS="400"))
        self.expect(self.is_complete, "the four devices and the four compilers do not join the run")
        os.kill(victim(run), signal.SIGKILL)
        self.assertEqual(run.wait(PATIENCE_S), code, self.said())
        self.expect_no_process(cluster, LEASE_S)
        again = self.tune("many.db", more + ["--resume"])
        self.assertEqual(again.wait(PATIENCE_S), 0, self.said())
        self.run_alone()
        self.expect_same()
