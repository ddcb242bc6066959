"""Workers of evo-tune on a Ray cluster: one actor per GPU, and one per node for its remaining
cores.

evo-tune --workers ray:ADDRESS starts this module, with the key of the run in EVO_WORKER_KEY."""

import argparse
import os
import signal
import subprocess
import sys

KEY = "EVO_WORKER_KEY"


def end_with_parent():
    import ctypes

    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Worker:
    """A Ray actor that runs evo-worker. When the actor ends, evo-worker ends as well."""

    def run(self, words, key, gives):
        # `gives`: the environment variables EVO_… of evo-tune except the key, and EVO_HOST_NAME.
        environment = dict(os.environ, **gives, **{KEY: key})
        return subprocess.run(words, env=environment, preexec_fn=end_with_parent, check=False).returncode


def node_actors(ray, node, arguments):
    """Starts the workers of one node. Returns pairs of an actor and its future."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    gpus = int(node["Resources"].get("GPU", 0)) if arguments.device != "none" else 0
    cores = int(node["Resources"].get("CPU", 0))
    jobs = cores - gpus if arguments.jobs == "all" else int(arguments.jobs)
    place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    gives = {name: os.environ[name] for name in os.environ if name.startswith("EVO_") and name != KEY}
    gives["EVO_HOST_NAME"] = node["NodeManagerHostname"]
    actor = ray.remote(max_restarts=0)(Worker)
    started = []
    for _ in range(gpus):
        one = actor.options(num_gpus=1, num_cpus=0, scheduling_strategy=place).remote()
        words = [arguments.worker, "device", arguments.device, "--connect", arguments.connect]
        started.append((one, one.run.remote(words, os.environ[KEY], gives)))
    if jobs > 0:
        one = actor.options(num_cpus=0, scheduling_strategy=place).remote()
        words = [arguments.worker, "compile", "--jobs", str(jobs), "--connect", arguments.connect]
        started.append((one, one.run.remote(words, os.environ[KEY], gives)))
    return started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ray", default="auto", help="address of the cluster")
    for name in ("connect", "worker", "device", "jobs"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    try:
        import ray
    except ImportError:
        sys.exit("ray_workers: the package ray is missing: pip install ray")
    ray.init(address=arguments.ray, log_to_driver=True, logging_level="ERROR")
    started = [one for node in ray.nodes() if node["Alive"] for one in node_actors(ray, node, arguments)]
    if not started:
        sys.exit(f"ray_workers: the cluster at {arguments.ray} has neither a GPU nor a core to lend")
    waiting = {future: actor for actor, future in started}
    while waiting:
        done, _ = ray.wait(list(waiting), num_returns=1)
        waiting.pop(done[0])


if __name__ == "__main__":
    main()
