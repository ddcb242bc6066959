"""Tests evo-tune with workers on two hosts that it reaches by ssh. The hosts node1 and node2 are
both this machine, on which a real sshd listens. The worker of node2 connects to the run through a
tunnel in the ssh connection."""

import os
import pathlib
import signal
import unittest

from cluster_case import BIN, Cluster, children, free_ports, parent_of


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

    def hosts(self):
        """Maps the name of each host to the id of its first worker process."""
        found = {}
        for one in self.agents("host"):
            variables = pathlib.Path(f"/proc/{one}/environ").read_bytes().decode().split("\0")
            found.setdefault(next(text[14:] for text in variables if text.startswith("EVO_HOST_NAME=")), one)
        return found

    def test_a_connection_is_cut(self):
        def harm(run):
            os.kill(next(one for one, words in children().items() if words[0] == "ssh"), signal.SIGKILL)
        self.run_through(harm, self.workers)

    def test_the_sshd_of_a_session_is_killed(self):
        """Kills the sshd process of a host, first of node1, then of node2. The worker of
        node2 sends its messages through the ssh connection; the worker of node1 does not."""
        for node in self.nodes:
            with self.subTest(node):
                def harm(run):
                    session = parent_of(self.hosts()[node])
                    self.assertIn("sshd", pathlib.Path(f"/proc/{session}/comm").read_text())
                    os.kill(session, signal.SIGKILL)
                self.run_through(harm, self.workers)
            for database in self.folder.glob("*.db*"):
                database.unlink()

    def test_a_host_is_lost(self):
        self.run_through(lambda run: os.kill(self.agents("host")[0], signal.SIGKILL), self.workers)

    def test_the_coordinator_is_killed_and_resumes(self):
        self.kill_and_resume(lambda run: run.pid, self.workers, -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
