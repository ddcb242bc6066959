"""Tests evo-tune on a real Slurm cluster of two nodes on this machine."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from cluster_case import BIN, FIRST_DIAL_S, LEASE_S, PATIENCE_S, SOURCE, Cluster, children, free_ports, parent_of


class SlurmCase(Cluster):
    needs = ("slurmctld", "slurmd", "munged", "srun", "salloc")
    port_count = 4
    nodes = ("n1", "n2")
    lent = ["--worker-device", "fake:predicted", "--worker-jobs", "2", "--listen", "127.0.0.1:0"]
    workers = ["--workers", "slurm:-k -N2 --exclusive --gpus-per-node=2", *lent]

    def start_cluster(self):
        self.port = free_ports(self.port_count)
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        self.addCleanup(self.script, "slurm.sh", "stop")
        self.addCleanup(self.wait_for_steps)
        self.script("slurm.sh", "start")

    def wait_for_steps(self):
        """Waits until no slurmstepd process is left, so that all job steps have ended before the
        test stops Slurm."""
        end = time.monotonic() + FIRST_DIAL_S
        while any(words[0].startswith("slurmstepd") for words in children().values()) and time.monotonic() < end:
            time.sleep(0.1)

    def slurm(self, *words):
        return subprocess.run(words, env=self.environment, check=True, capture_output=True, text=True,
                              cwd=self.folder).stdout

    def steps(self, name):
        lines = self.slurm("squeue", "-s", "-h", "-o", "%i %j").splitlines()
        return [line.split()[0] for line in lines if line.split()[1] == name]

    def expect_no_process(self, but=(), within=FIRST_DIAL_S):
        if but:  # Slurm still runs
            end = time.monotonic() + LEASE_S
            while (jobs := self.slurm("squeue", "-h")) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual(jobs, "")
        super().expect_no_process(but, within)


class SlurmWorkersTest(SlurmCase):
    """The run goes on after it has lost a worker."""

    def test_a_task_is_killed(self):
        self.run_through(lambda run: os.kill(self.agents("device")[0], signal.SIGKILL), self.workers)

    def test_within_an_allocation(self):
        """Runs evo-tune inside salloc, so that the workers become steps of the allocation, and
        kills a device worker."""
        allocation = ["salloc", "-k", "-N2", "--exclusive", "--gpus-per-node=2"]
        self.run_through(lambda run: os.kill(self.agents("device")[0], signal.SIGKILL),
                         ["--workers", "slurm", *self.lent], within=allocation)

    def test_a_step_is_cancelled(self):
        def harm(run):
            step = self.expect(lambda: self.steps("evo-compile"), "no job step of a compiler is found")[0]
            self.slurm("scancel", step)
        self.run_through(harm, self.workers)

    def test_slurmstepd_is_killed(self):
        def harm(run):
            tasks = self.agents("device")
            stepd = {parent_of(task) for task in tasks} - set(tasks)
            names = {one: pathlib.Path(f"/proc/{one}/comm").read_text().strip() for one in stepd}
            os.kill(next(one for one, name in names.items() if name == "slurmstepd"), signal.SIGKILL)
        self.run_through(harm, self.workers)


class SlurmRunTest(SlurmCase):
    """A node or the coordinator fails, or the run ends."""

    def test_slurmd_is_killed(self):
        """Kills the Slurm daemon of node n2. The run must still go on when Slurm marks n2 as down
        and ends the tasks of the job there."""
        def harm(run):
            os.kill(int((self.folder / "slurmd-n2.pid").read_text()), signal.SIGKILL)
            self.expect(lambda: "down" in self.slurm("sinfo", "-h", "-N", "-n", "n2", "-o", "%T"),
                        "the node does not go down")
            self.assertIsNone(run.poll())
        self.run_through(harm, self.workers, compile_ms=700)

    def test_the_coordinator_is_killed_and_resumes(self):
        self.kill_and_resume(lambda run: run.pid, self.workers, -signal.SIGKILL)

    def test_nobody_is_left(self):
        run = self.tune("many.db", self.workers + ["--worker-wait", "1"])
        self.expect(self.is_under_way, "the four devices do not join the run")
        for one in self.agents("device"):
            os.kill(one, signal.SIGKILL)
        self.assertEqual(run.wait(PATIENCE_S), 130, self.said())
        self.assertIn("no device left", self.said())

    def job(self, number):
        return dict(word.split("=", 1) for word in self.slurm("scontrol", "show", "job", number).split() if "=" in word)

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while not condition() and time.monotonic() < end:
            time.sleep(0.1)
        log = self.folder / "batch.log"
        self.assertTrue(condition(), what + "\n" + (log.read_text() if log.exists() else ""))

    def test_a_batch_job_is_preempted_and_resumes(self):
        """Submits the batch script of docs/cluster.md unchanged; a script named evo-tune adds the
        options of this test."""
        page = (SOURCE / "docs/cluster.md").read_text()
        script = self.folder / "batch.sh"
        script.write_text(re.search(r"```bash\n(#!/bin/bash\n#SBATCH.*?)```", page, re.S).group(1))
        (self.folder / "bin").mkdir()
        program = self.folder / "bin/evo-tune"
        words = " ".join(str(word) for word in self.command("evo.db", self.lent)[1:] if word != self.folder / "evo.db")
        program.write_text(f"#!/bin/sh\nexec {BIN}/evo-tune {words.replace(' --db', '')} \"$@\"\n")
        program.chmod(0o755)
        self.environment["PATH"] = f"{self.folder}/bin:{self.environment['PATH']}"
        self.run_alone()
        number = self.slurm("sbatch", "--parsable", "-k", "--gpus-per-node=2", "-o", "batch.log", script).strip()
        self.wait_for(lambda: self.is_under_way("evo.db"), "the four devices do not join the run")
        self.slurm("scancel", "--signal=USR1", "--batch", number)
        self.wait_for(lambda: self.job(number)["JobState"] == "PENDING", "the job is not requeued")
        kept = self.rows("SELECT count(*) FROM candidate", "evo.db")[0]
        self.assertEqual(self.rows("SELECT status FROM run", "evo.db"), ["interrupted"])
        # The test restarts the job after three seconds; Slurm by itself would wait two minutes.
        # The test waits, because a node refuses a job that it has ended in the same second.
        self.slurm("scontrol", "update", f"jobid={number}", "StartTime=now+3")
        self.wait_for(lambda: self.job(number)["JobState"] in ("COMPLETED", "FAILED"), "the job does not end")
        self.assertEqual((self.job(number)["JobState"], self.job(number)["Restarts"]), ("COMPLETED", "1"),
                         (self.folder / "batch.log").read_text())
        self.assertLess(kept, self.rows("SELECT count(*) FROM candidate", "evo.db")[0])
        self.expect_same("evo.db")


if __name__ == "__main__":
    unittest.main()
