"""Kills evo-tune, its gateway and its workers at random times in runs on two hosts. Stored data
must stay, and each run must end with the results of an undisturbed run. The environment variable
EVO_KILLS is the number of kills (12 by default), and EVO_KILLS_SEED the seed of the random
times."""

import collections
import os
import random
import signal
import sqlite3
import subprocess
import time
import unittest

from cluster_case import BIN, PATIENCE_S, Cluster, children, free_ports, parent_of, story

WINDOW = 12


class KillsTest(Cluster):
    needs_root = False
    nodes = ("n1", "n2")
    parts = ("coordinator", "gateway", "host", "device agent", "compile agent", "device process", "compile process")

    def start_cluster(self):
        self.kills = int(os.environ.get("EVO_KILLS", "12"))
        self.random = random.Random(int(os.environ.get("EVO_KILLS_SEED", "1")))
        self.address = f"127.0.0.1:{free_ports(1)}"
        self.environment.update(EVO_WORKER_KEY="5e" * 32, EVO_FAKE_COMPILE_MS="40")
        self.hosts = {}
        self.joined = []  # replacements of killed workers
        self.done = collections.Counter()
        self.addCleanup(self.end_hosts)

    def end_hosts(self):
        for one in [*self.hosts.values(), *self.joined]:
            one.kill()
            one.wait()

    def tend_hosts(self):
        """Starts the worker of each host if it does not run."""
        self.joined = [one for one in self.joined if one.poll() is None]
        for node in self.nodes:
            if node in self.hosts and self.hosts[node].poll() is None:
                continue
            self.hosts[node] = self.lend(node, "host", "--device", "fake:predicted,fake:predicted", "--jobs", "2")

    def lend(self, node, *words):
        return subprocess.Popen([BIN / "evo-worker", *words, "--connect", self.address], stderr=subprocess.DEVNULL,
                                env=dict(self.environment, EVO_HOST_NAME=node), stdin=subprocess.DEVNULL)

    def victims(self, part):
        if part == "coordinator":
            return [self.program.pid]
        if part == "host":
            return [host.pid for host in self.hosts.values()]
        words = children()
        if part == "gateway":
            return [one for one in words if words[one][1:2] == ["gateway"]]
        role, kind = part.split()
        hosts = {one.pid for one in [*self.hosts.values(), *self.joined]}
        agents = [one for one in words if parent_of_running(one) in hosts]
        works = {parent_of_running(one): one for one in words if words[one][0].endswith("fake-worker")
                 and words[one][1] == role and parent_of_running(one) in agents}
        return list(works.keys() if kind == "agent" else works.values())

    def count(self, database):
        return (self.rows("SELECT count(*) FROM candidate", database) or [0])[0]

    def kill_one(self, database):
        """Kills a random process of the run and returns its role, or None if it killed nothing.
        Unless the role is the coordinator, the function first waits until all candidates in flight
        are done, so that no candidate loses its worker twice."""
        part = self.random.choice(self.parts)
        if part == "coordinator":
            time.sleep(self.random.uniform(0, 1))
        else:
            wanted, end = self.count(database) + WINDOW + 1, time.monotonic() + PATIENCE_S
            while self.program.poll() is None and self.count(database) < wanted:
                self.assertLess(time.monotonic(), end, "the run stands still")
                self.tend_hosts()
                time.sleep(0.01)
        victims = self.victims(part)
        if self.program.poll() is not None or not victims:
            return None
        try:
            os.kill(self.random.choice(victims), signal.SIGKILL)
        except ProcessLookupError:
            return None
        self.done[part] += 1
        if part == "device agent":
            self.joined.append(self.lend("n1", "device", "fake:predicted"))
        if part == "compile agent":
            self.joined.append(self.lend("n2", "compile", "--jobs", "1"))
        return part

    def expect_kept(self, database, kept):
        with sqlite3.connect(f"file:{self.folder}/{database}?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        facts = {fact for table in story(self.folder / database) for fact in table}
        self.assertLessEqual(kept, facts, "stored rows are lost")
        return facts

    def one_run(self, database):
        """Makes one run from its start to its end, and kills its processes in between."""
        kept = set()
        while True:
            resumes = bool(self.rows("SELECT 1 FROM run", database))
            run = self.tune(database, ["--listen", self.address] + ["--resume"] * resumes)
            ended_by = None
            while run.poll() is None and ended_by is None:
                self.tend_hosts()
                part = self.kill_one(database) if self.done.total() < self.kills else None
                ended_by = part if part in ("coordinator", "gateway") else None
                time.sleep(0.01)
            code = run.wait(PATIENCE_S)
            if code == 0:
                break
            self.assertEqual(code, {"coordinator": -signal.SIGKILL, "gateway": 130}.get(ended_by), self.said())
            if self.rows("SELECT 1 FROM run", database):
                kept = self.expect_kept(database, kept)
            if self.rows("SELECT status FROM run", database) == ["finished"]:
                break  # evo-tune was killed after the last transaction
        facts = self.expect_kept(database, kept)
        self.assertEqual(len(self.rows("SELECT 1 FROM run", database)), 1)
        self.expect_same(database)
        return len(facts)

    def test_nothing_is_lost(self):
        self.run_alone()
        runs = facts = 0
        begin = time.monotonic()
        while self.done.total() < self.kills:
            runs += 1
            facts += self.one_run(f"run{runs}.db")
        self.end_hosts()
        parts = ", ".join(f"{number} of a {part}" for part, number in sorted(self.done.items()))
        print(f"{self.done.total()} kills ({parts}) in {runs} runs of {facts} facts and "
              f"{time.monotonic() - begin:.0f} s: nothing lost, every run ended as the undisturbed one", flush=True)


def parent_of_running(process):
    try:
        return parent_of(process)
    except TypeError:  # the process has ended
        return None


if __name__ == "__main__":
    unittest.main()
