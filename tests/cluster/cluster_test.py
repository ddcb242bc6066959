"""evo-tune over four devices on two nodes of a real Slurm, and of a real sshd, on this machine: parts
of it are killed in the middle, and the run must store what a run on one device stores."""

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
SPACE = HERE.parent / "planted/search_spaces/wide.json"
PATIENCE_S = 120


def free_ports(count):
    """The first of so many free ports in a row."""
    for first in range(26000 + os.getpid() % 3000, 60000, count):
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


def processes(mark):
    """Number and words of every process with this text in its environment; none that has ended."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z" and mark.encode() in (entry / "environ").read_bytes():
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                found[int(entry.name)] = words
        except (OSError, IndexError):
            continue
    return found


def parent_of(process):
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def story(database):
    """All that a run decided."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
        return [db.execute(query).fetchall() for query in (
            "SELECT c.generation, c.position, c.config, t.p50_us, r.reason, d.config FROM candidate c"
            " LEFT JOIN timing t ON t.candidate_id = c.id LEFT JOIN rejection r ON r.candidate_id = c.id"
            " LEFT JOIN candidate d ON d.id = c.duplicate_of ORDER BY 1, 2",
            "SELECT e.generation, e.rank, c.config, e.p50_us FROM elite_member e"
            " JOIN candidate c ON c.id = e.candidate_id ORDER BY 1, 2")]


class Cluster(unittest.TestCase):
    needs = ()

    def setUp(self):
        missing = [name for name in self.needs if shutil.which(name, path="/usr/bin:/usr/sbin") is None]
        if missing or os.geteuid() != 0:
            self.skipTest(f"missing: {', '.join(missing) or 'root'}")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="evo-cluster-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = dict(os.environ, EVO_WORKER=str(BIN / "fake-worker"), EVO_FAKE_COMPILE_MS="150",
                                EVO_CLUSTER_TEST=str(self.folder))
        self.addCleanup(self.expect_no_process)
        self.start_cluster()

    def script(self, name, action):
        subprocess.run([HERE / name, action, self.folder, str(self.port)], env=self.environment, check=True,
                       stdin=subprocess.DEVNULL, timeout=60)

    def expect_no_process(self):
        """A worker that lost its coordinator may take ten seconds."""
        end = time.monotonic() + 15
        while (left := processes(str(self.folder))) and time.monotonic() < end:
            time.sleep(0.1)
        for one in left:
            os.kill(one, signal.SIGKILL)
        self.assertFalse(left)

    def tune(self, database, more, environment=None):
        command = [BIN / "evo-tune", "--space", SPACE, "--strategy", "random", "--generations", "12", "--children", "12",
                   "--window", "12", "--seed", "7", "--check-seed", "5", "--jobs", "1", "--quiet",
                   "--db", self.folder / database, *more]
        # A file: what survives its parent keeps a pipe open.
        self.log = open(self.folder / (database + ".log"), "w+")
        self.addCleanup(self.log.close)
        self.program = subprocess.Popen(command, env=environment or self.environment, stdout=self.log, stderr=self.log,
                                    stdin=subprocess.DEVNULL)
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

    def rows(self, query):
        try:
            with sqlite3.connect(f"file:{self.folder}/many.db?mode=ro", uri=True) as db:
                return [row[0] for row in db.execute(query)]
        except sqlite3.Error:
            return []

    def is_under_way(self):
        """Four devices on two nodes, of which the first is in no event, and some kernels timed."""
        joined = self.rows("SELECT text FROM event WHERE kind = 'worker joined' AND text LIKE 'device%'")
        return len(joined) >= 3 and self.rows("SELECT count(*) FROM timing")[0] > 2

    def agents(self, role):
        """The processes that speak to the coordinator."""
        return [one for one, words in processes(str(self.folder)).items()
                if "--connect" in words and words[0].endswith("evo-worker") and words[1] in (role, "host")]

    def run_through(self, harm, more):
        """The same run on one device, then on the cluster with `harm` in the middle."""
        alone = self.tune("alone.db", ["--device", "fake:predicted"], dict(self.environment, EVO_FAKE_COMPILE_MS="0"))
        self.assertEqual(alone.wait(PATIENCE_S), 0, self.said())
        run = self.tune("many.db", more)
        try:
            self.expect(self.is_under_way, "four devices do not come")
            harm(run)
            self.assertEqual(run.wait(PATIENCE_S), 0, self.said())
        finally:
            run.kill()
            run.wait()
        self.assertEqual(story(self.folder / "alone.db"), story(self.folder / "many.db"))
        self.assertLessEqual(set(self.rows("SELECT host FROM timing")), set(self.nodes))


class LaunchTest(Cluster):
    nodes = ("n1", "n2")

    def start_cluster(self):
        self.workers = ["--listen", "127.0.0.1:0", "--worker-jobs", "2"]
        for node in self.nodes:
            self.workers += ["--launch", f"EVO_HOST_NAME={node} {{worker}}"]
        self.devices = ["--worker-device", "fake:predicted,fake:predicted"]

    def test_a_host_is_lost(self):
        self.run_through(lambda run: os.kill(self.agents("host")[0], signal.SIGKILL), self.workers + self.devices)

    def test_another_model_is_refused(self):
        def harm(run):
            text = self.expect(lambda: self.rows("SELECT text FROM event WHERE kind = 'worker refused'"), "taken")[0]
            self.assertRegex(text, r"fake GPU \((measured|predicted)\), and this run is on fake GPU \((m|p)")
        run = self.tune("many.db", self.workers + ["--worker-device", "fake:measured,fake:predicted"])
        harm(run)
        self.assertEqual(run.wait(PATIENCE_S), 0, self.said())

    def test_no_device_comes(self):
        run = self.tune("many.db", self.workers + ["--worker-device", "fake:none", "--worker-jobs", "0"])
        self.assertEqual(run.wait(PATIENCE_S), 3, self.said())
        self.assertRegex(self.said(), "worker refused: device worker on n1: .*fake:none")


class SlurmTest(Cluster):
    needs = ("slurmctld", "slurmd", "munged", "srun", "salloc")
    port_count = 4
    nodes = ("n1", "n2")
    workers = ["--workers", "slurm:-k -N2 --exclusive --gpus-per-node=2", "--worker-device", "fake:predicted",
               "--worker-jobs", "2", "--listen", "127.0.0.1:0"]

    def start_cluster(self):
        self.port = free_ports(self.port_count)
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.addCleanup(self.script, "slurm.sh", "stop")
        self.script("slurm.sh", "start")

    def steps(self, name):
        text = subprocess.run(["squeue", "-s", "-h", "-o", "%i %j"], env=self.environment, check=True,
                              capture_output=True, text=True).stdout
        return [line.split()[0] for line in text.splitlines() if line.split()[1] == name]

    def test_a_task_is_killed(self):
        self.run_through(lambda run: os.kill(self.agents("device")[0], signal.SIGKILL), self.workers)

    def test_a_step_is_cancelled(self):
        def harm(run):
            step = self.expect(lambda: self.steps("evo-compile"), "no step compiles")[0]
            subprocess.run(["scancel", step], env=self.environment, check=True)
        self.run_through(harm, self.workers)

    def test_slurmstepd_is_killed(self):
        def harm(run):
            tasks = self.agents("device")
            stepd = {parent_of(task) for task in tasks} - set(tasks)
            names = {one: pathlib.Path(f"/proc/{one}/comm").read_text().strip() for one in stepd}
            os.kill(next(one for one, name in names.items() if name == "slurmstepd"), signal.SIGKILL)
        self.run_through(harm, self.workers)

    def test_slurmd_is_killed(self):
        self.run_through(
            lambda run: os.kill(int((self.folder / "slurmd-n2.pid").read_text()), signal.SIGKILL), self.workers)

    def test_the_coordinator_is_killed_and_resumes(self):
        run = self.tune("many.db", self.workers)
        self.expect(self.is_under_way, "four devices do not come")
        run.kill()
        run.wait()
        end = time.monotonic() + 10
        while self.agents("device") + self.agents("compile") and time.monotonic() < end:
            time.sleep(0.1)
        self.assertFalse(self.agents("device") + self.agents("compile"), "workers outlive their coordinator")
        again = self.tune("many.db", self.workers + ["--resume"])
        self.assertEqual(again.wait(PATIENCE_S), 0, self.said())
        alone = self.tune("alone.db", ["--device", "fake:predicted"])
        self.assertEqual(alone.wait(PATIENCE_S), 0, self.said())
        self.assertEqual(story(self.folder / "alone.db"), story(self.folder / "many.db"))

    def test_nobody_is_left(self):
        run = self.tune("many.db", self.workers + ["--worker-wait", "1"])
        self.expect(self.is_under_way, "four devices do not come")
        for one in self.agents("device"):
            os.kill(one, signal.SIGKILL)
        self.assertEqual(run.wait(PATIENCE_S), 130, self.said())
        self.assertIn("no device left", self.said())


class SshTest(Cluster):
    needs = ("sshd", "ssh", "ssh-keygen")
    port_count = 2
    nodes = ("node1", "node2")

    def start_cluster(self):
        self.port = free_ports(self.port_count)
        self.addCleanup(self.script, "sshd.sh", "stop")
        self.script("sshd.sh", "start")
        (self.folder / "hosts.txt").write_text("".join(
            f"{node} device=fake:predicted,fake:predicted jobs=2 program={self.folder}/{node}"
            f"{f' tunnel={self.port + 1}' if node == 'node2' else ''}\n" for node in self.nodes))
        for node in self.nodes:  # both are this machine
            program = self.folder / node
            program.write_text(f"#!/bin/sh\nEVO_HOST_NAME={node} exec {BIN}/evo-worker \"$@\"\n")
            program.chmod(0o755)
        self.environment["EVO_SSH"] = f"ssh -F {self.folder}/config"
        self.workers = ["--workers", f"ssh:{self.folder}/hosts.txt", "--listen", "127.0.0.1:0"]

    def test_a_connection_is_cut(self):
        def harm(run):
            client = next(one for one, words in processes(str(self.folder)).items() if words[0] == "ssh")
            os.kill(client, signal.SIGKILL)
        self.run_through(harm, self.workers)

    def test_a_host_is_lost(self):
        self.run_through(lambda run: os.kill(self.agents("host")[0], signal.SIGKILL), self.workers)


if __name__ == "__main__":
    unittest.main()
