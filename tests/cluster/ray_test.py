"""Tests evo-tune on a real Ray cluster of two nodes on this machine. The test installs Ray from
PyPI in a Python environment of its own. The environment variable EVO_RAY names the folder of this
environment; by default it is the folder `ray` beside the folder of the programs."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

from cluster_case import BIN, LEASE_S, PATIENCE_S, SOURCE, Cluster, children, free_ports, parent_of

ENVIRONMENT = pathlib.Path(os.environ.get("EVO_RAY", BIN.parent / "ray"))
# Options for every `ray start`, without ports: Ray then chooses most ports by itself.
LEAST = ["--block", "--num-cpus=4", "--num-gpus=2", "--object-store-memory=100000000", "--disable-usage-stats"]


def setUpModule():
    if (ENVIRONMENT / "bin/ray").exists():
        return
    steps = [[sys.executable, "-m", "venv", ENVIRONMENT], [ENVIRONMENT / "bin/pip", "install", "-q", "ray[default]"]]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            raise unittest.SkipTest(f"no Ray: {step[-1]}: {done.stderr.strip()[-300:]}")


class RayTest(Cluster):
    needs_root = False
    nodes = (socket.gethostname(),)  # both nodes have this name
    lent = ["--worker-device", "fake:predicted", "--worker-jobs", "2", "--listen", "127.0.0.1:0"]

    def start_cluster(self):
        self.port, self.jobs_port = (first := free_ports(2)), first + 1
        self.environment.update(PATH=f"{ENVIRONMENT}/bin:{os.environ['PATH']}", RAY_ADDRESS=f"127.0.0.1:{self.port}",
                                PYTHONPATH=str(SOURCE / "tools/python"))
        self.workers = ["--workers", f"ray:127.0.0.1:{self.port}", *self.lent]
        self.started = []
        self.addCleanup(self.stop)
        # --temp-dir is a short path, because the paths of Unix sockets have a limit of 107 bytes.
        self.start_node("--head", f"--port={self.port}", f"--temp-dir={self.folder}/r", "--node-ip-address=127.0.0.1",
                        f"--dashboard-port={self.jobs_port}", f"--include-dashboard={self.wants_jobs()}")
        self.wait_for_nodes(1)
        self.start_node(f"--address=127.0.0.1:{self.port}", "--node-ip-address=127.0.0.1")
        self.wait_for_nodes(2)

    def wants_jobs(self):
        return "job" in self.id()

    def start_node(self, *words):
        log = open(self.folder / f"node{len(self.started)}.log", "w")
        self.addCleanup(log.close)
        self.started.append(subprocess.Popen([ENVIRONMENT / "bin/ray", "start", *LEAST, *words], env=self.environment,
                                             stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    def ray(self, text):
        """Runs the Python code `text` in a process that is connected to Ray, and returns its
        output."""
        lines = f"import os, ray; ray.init(address='auto', logging_level='CRITICAL', log_to_driver=False); {text}"
        done = subprocess.run([ENVIRONMENT / "bin/python", "-c", lines], env=self.environment, capture_output=True,
                              text=True)
        return done.stdout.strip() if done.returncode == 0 else done.stderr

    def wait_for_nodes(self, count):
        self.program = self.started[-1]
        self.log = open(self.folder / f"node{len(self.started) - 1}.log")
        self.addCleanup(self.log.close)
        alive = "print(sum(node['Alive'] for node in ray.nodes()))"
        self.expect(lambda: self.ray(alive) == str(count), "the node does not start")

    def stop(self):
        for node in reversed(self.started):
            node.terminate()
        for node in self.started:
            node.wait(PATIENCE_S)

    def expect_no_process(self, but=(), within=LEASE_S):
        """With `but`, Ray still runs and may start processes at any time, so the test expects
        only that no worker of evo-tune and no Ray actor is left."""
        if not but:
            super().expect_no_process()
            return
        def left():
            return [words for words in children().values() if any(
                name in " ".join(words) for name in ("evo-worker", "fake-worker", "ray_workers", "ray::Worker"))]
        end = time.monotonic() + within
        while left() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(left(), [])

    def raylet(self, node):
        def stems(one):
            while one > 1 and one != self.started[node].pid:
                one = parent_of(one)
            return one > 1
        return next(one for one, words in children().items() if words[0].endswith("/raylet") and stems(one))

    def test_a_worker_is_killed(self):
        self.run_through(lambda run: os.kill(self.agents("device")[0], signal.SIGKILL), self.workers)

    def test_an_actor_is_killed(self):
        def harm(run):
            agent = self.agents("device")
            actor = next(parent_of(one) for one in agent if parent_of(one) not in agent)
            os.kill(actor, signal.SIGKILL)
        self.run_through(harm, self.workers)

    def test_a_raylet_is_killed(self):
        self.run_through(lambda run: os.kill(self.raylet(1), signal.SIGKILL), self.workers)

    def test_the_coordinator_is_killed_and_resumes(self):
        self.kill_and_resume(lambda run: run.pid, self.workers, -signal.SIGKILL)

    def test_a_whole_run_is_a_job(self):
        """Submits the whole run to Ray as a job, as docs/cluster.md describes it."""
        self.run_alone()
        words = [str(word) for word in self.command("many.db", ["--workers", "ray:auto", *self.lent])]
        submit = [ENVIRONMENT / "bin/ray", "job", "submit", "--address", f"http://127.0.0.1:{self.jobs_port}",
                  "--working-dir", self.folder / "job", "--", *words]
        (self.folder / "job").mkdir()
        done = subprocess.run(submit, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        joined = self.rows("SELECT 1 FROM event WHERE kind = 'worker joined' AND text LIKE 'device%'")
        self.assertGreaterEqual(len(joined), 3)
        self.expect_same()


if __name__ == "__main__":
    unittest.main()
