"""Tests workers that --launch or the test itself starts, and programs that send replayed, truncated
or random data to the port of a run."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from cluster_case import BIN, LEASE_S, PATIENCE_S, SPACE, Cluster, children, free_ports, kilobytes


class LaunchTest(Cluster):
    needs_root = False
    nodes = ("n1", "n2")

    def start_cluster(self):
        self.workers = ["--listen", "127.0.0.1:0", "--worker-jobs", "2"]
        for node in self.nodes:
            self.workers += ["--launch", f"EVO_HOST_NAME={node} {{worker}}"]
        self.devices = ["--worker-device", "fake:predicted,fake:predicted"]

    def test_a_host_is_lost(self):
        self.run_through(lambda run: os.kill(self.agents("host")[0], signal.SIGKILL), self.workers + self.devices)

    def test_the_coordinator_is_killed_and_resumes(self):
        self.kill_and_resume(lambda run: run.pid, self.workers + self.devices, -signal.SIGKILL)

    def test_the_gateway_is_killed_and_the_run_resumes(self):
        self.kill_and_resume(lambda run: self.gateway(), self.workers + self.devices, 130)

    def test_another_model_is_refused(self):
        run = self.tune("many.db", self.workers + ["--worker-device", "fake:measured,fake:predicted"])
        text = self.expect(lambda: self.rows("SELECT text FROM event WHERE kind = 'worker refused'"), "no worker was refused")[0]
        self.assertRegex(text, r"fake GPU \((measured|predicted)\), and this run is on fake GPU \((m|p)")
        self.assertEqual(run.wait(PATIENCE_S), 0, self.said())

    def test_a_gpu_that_two_workers_have_is_taken_once(self):
        launch = []
        for node in self.nodes:
            launch += ["--launch", f"EVO_FAKE_UUID=GPU-1 EVO_HOST_NAME={node} {{worker}}"]
        run = self.tune("many.db", ["--listen", "127.0.0.1:0", "--worker-jobs", "1",
                                    "--worker-device", "fake:predicted", *launch])
        self.assertEqual(run.wait(PATIENCE_S), 0, self.said())
        text = self.rows("SELECT text FROM event WHERE kind = 'worker refused'")
        self.assertEqual(len(text), 1)
        self.assertRegex(text[0], "GPU GPU-1 is already in this run, lent by n[12]: give each worker a GPU")
        self.assertEqual(len(set(self.rows("SELECT host FROM timing"))), 1)

    def test_the_workers_stay_for_the_shapes_of_another_build(self):
        shutil.copytree(SPACE.parent.parent, self.folder / "planted")
        self.space = self.folder / "planted/search_spaces/wide.json"
        file = self.folder / "planted/kernel_templates/planted/problem.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"macros": {"IS_TINY": "N < 10"}}))
        run = self.tune("many.db", self.workers + self.devices + ["--shape", "all"])
        self.expect(self.is_complete, "the four devices and the four compilers do not join the run")
        self.assertEqual(run.wait(PATIENCE_S), 0, self.said())
        self.assertEqual(self.rows("SELECT shape FROM run"), ["mission", "ragged", "single"])
        self.assertTrue(self.is_complete(), "no worker joins twice")
        hosts = "SELECT DISTINCT host FROM timing t JOIN candidate c ON c.id = t.candidate_id WHERE c.run_id = 3"
        # Fast devices of one host may serve the whole second search.
        self.assertIn(set(self.rows(hosts)), [{"n1"}, {"n2"}, {"n1", "n2"}])
        self.assertFalse(self.rows("SELECT text FROM event WHERE kind = 'device lost'"))

    def test_no_device_comes(self):
        run = self.tune("many.db", self.workers + ["--worker-device", "fake:none", "--worker-jobs", "0"])
        self.assertEqual(run.wait(PATIENCE_S), 3, self.said())
        self.assertRegex(self.said(), "worker refused: device worker on n1: .*fake:none")


class Relay:
    """A relay between the workers and the run. The relay forwards data, records the data from
    the workers, and can imitate a broken network."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.said = []     # the data from each worker that connected
        self.pairs = []
        self.cuts_after = None  # number of bytes of the next message to forward before the cut
        self.is_dead = False    # drops all data without closing the connections
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                caller = self.listener.accept()[0]
            except OSError:
                return
            run = self.dial()
            self.pairs.append((caller, run))
            kept = bytearray()
            self.said.append(kept)
            for source, sink, keep in ((caller, run, kept), (run, caller, None)):
                threading.Thread(target=self.carry, args=(source, sink, keep), daemon=True).start()

    def dial(self):
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # a worker may start before the run listens
                time.sleep(0.1)

    def carry(self, source, sink, kept):
        try:
            while data := source.recv(65536):
                if self.is_dead:
                    continue
                if kept is not None:
                    kept += data
                    if self.cuts_after is not None:
                        sink.sendall(data[:self.cuts_after])
                        self.cuts_after = None
                        break
                sink.sendall(data)
        except OSError:
            pass
        for one in () if self.is_dead else (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        for one in sum(self.pairs, ()):
            one.close()


def play(port, data, patience_s):
    """Sends recorded data to a port of this machine. Returns whether the receiver closed the
    connection."""
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.settimeout(patience_s)
        try:
            one.sendall(data)
            while one.recv(65536):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True


class HandTest(Cluster):
    """evo-tune starts no workers. The test starts the workers, which read the key of the run from a
    file."""
    needs_root = False
    nodes = ("n1", "n2")

    def start_cluster(self):
        self.port = free_ports(1)
        key = self.folder / "key"
        key.touch(0o600)
        drawn = subprocess.run(["openssl", "rand", "-hex", "32"], check=True, capture_output=True, text=True)
        key.write_text(drawn.stdout)
        self.environment["EVO_WORKER_KEY_FILE"] = str(key)
        self.listen = ["--listen", f"127.0.0.1:{self.port}"]
        # The test limits memory growth, so the address sanitizer must keep little freed memory.
        self.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"

    def lend(self, port, nodes=None):
        for node in nodes or self.nodes:
            worker = subprocess.Popen([BIN / "evo-worker", "host", "--connect", f"127.0.0.1:{port}", "--device",
                                       "fake:predicted,fake:predicted", "--jobs", "2"], stdin=subprocess.DEVNULL,
                                      env=dict(self.environment, EVO_HOST_NAME=node), stderr=subprocess.DEVNULL)
            self.addCleanup(worker.wait, PATIENCE_S)

    def refused(self):
        return self.rows("SELECT text FROM event WHERE kind = 'worker refused'")

    def test_a_replayed_stream_and_a_truncated_one_are_refused(self):
        replays, cuts = 30, 30
        relay = Relay(self.port)
        self.addCleanup(relay.close)

        def harm(run):
            gateway, before = self.gateway(), kilobytes(self.gateway())
            chance = random.Random(7)
            said_much = lambda: [bytes(one) for one in relay.said if len(one) > 2000]
            self.expect(lambda: len(said_much()) >= 3, "fewer than three workers sent over 2000 bytes")
            sessions = said_much()
            for _ in range(replays):
                self.assertTrue(play(self.port, chance.choice(sessions), 5))
            for _ in range(cuts):
                one = chance.choice(sessions)
                play(self.port, one[:chance.randrange(1, min(len(one), 4000))], 0.02)
            relay.cuts_after = 40  # cuts a TLS record of a working worker in two
            self.expect(lambda: self.rows("SELECT 1 FROM event WHERE kind = 'worker left'"), "the cut is not seen")
            self.expect(lambda: len(self.refused()) >= replays, "replays are not refused")
            self.assertLess(kilobytes(gateway), before + 20000)
        self.lend(relay.port)
        self.run_through(harm, self.listen, compile_ms=300)
        self.assertLessEqual({"unknown worker: it does not have the key of this run, or it disconnected"}, set(self.refused()))
        names = "SELECT count(*) FROM event WHERE kind = 'worker joined' AND text NOT LIKE '% on n_'"
        self.assertEqual(self.rows(names), [0])

    def test_the_network_is_cut(self):
        """During the run, the relay begins to lose all data, but it closes neither the connection
        to the worker nor the connection to the run. The worker must end, and the run must go on."""
        relay = Relay(self.port)
        self.addCleanup(relay.close)

        def harm(run):
            beyond = [one for one in self.agents("host") if f"127.0.0.1:{relay.port}" in children()[one]]
            self.assertEqual(len(beyond), 5)  # two devices, two compilers and their parent
            relay.is_dead = True
            end = time.monotonic() + LEASE_S
            left = []
            while not left or set(beyond) & set(children()):
                left = self.rows("SELECT text FROM event WHERE kind = 'worker left'")
                self.assertLess(time.monotonic(), end, "workers outlive their coordinator")
                time.sleep(0.05)
            self.assertIn("n2: the worker sent no message", left[0])
            self.assertIsNone(run.poll())
        self.lend(self.port, ["n1"])
        self.lend(relay.port, ["n2"])
        self.run_through(harm, self.listen, compile_ms=700)

    def test_noise_is_refused(self):
        """The environment variable EVO_NOISE_FRAMES is the number of random frames (1,500 by
        default). Each run receives at most 10,000 frames."""
        left = int(os.environ.get("EVO_NOISE_FRAMES", "1500"))
        while left > 0:
            frames = min(left, 10000)
            self.disturb(frames, seed=left)
            left -= frames
            for database in self.folder.glob("*.db*"):
                database.unlink()

    def disturb(self, frames, seed):
        def harm(run):
            watched = (run.pid, self.gateway())
            before = [kilobytes(one) for one in watched]
            noise = subprocess.run([BIN / "gateway-noise", "--connect", f"127.0.0.1:{self.port}",
                                    "--frames", str(frames), "--seed", str(seed)],
                                   env=self.environment, capture_output=True, text=True)
            self.assertIsNone(run.poll(), "the run ended before the noise")
            self.assertEqual(noise.returncode, 0, noise.stderr)
            grown = [kilobytes(one) - size for one, size in zip(watched, before)]
            print(f"{noise.stdout.strip()}; the run took {grown[0]} KB more, its gateway {grown[1]} KB", flush=True)
            self.assertLess(max(grown), 30000)
        self.lend(self.port)
        self.run_through(harm, self.listen, compile_ms=200 + frames // 3)


if __name__ == "__main__":
    unittest.main()
