"""Runs unchanged examples of Kernel Tuner: kernel_tuner_examples.py PROGRAMS SOURCE [SCRIPT…]

PROGRAMS: the folder of the evo-tune programs. SOURCE: the folder that contains the package
evo_tune. SCRIPT: names of examples (default: all). Environment variables:
EVO_KERNEL_TUNER_EXAMPLES is the folder of the CUDA examples, EVO_DEVICE the device. Each search
ends after at most EVO_EXAMPLE_SEARCH_SECONDS (10 s). Without EVO_KERNEL_TUNER_EXAMPLES, the test is
skipped. Prints for each script that it ran, that evo-tune refused it with a message, that it took
longer than EVO_EXAMPLE_SECONDS (120 s), or that it FAILED. Only FAILED counts as a failure of the
test.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS, SOURCE = sys.argv[1:3]
EXAMPLES = os.environ.get("EVO_KERNEL_TUNER_EXAMPLES")
SECONDS = float(os.environ.get("EVO_EXAMPLE_SECONDS", "120"))
SEARCH_SECONDS = os.environ.get("EVO_EXAMPLE_SEARCH_SECONDS", "10")


def outcome(script, folder):
    """Runs a script. Returns "ran", "refused", "FAILED" or "too long", and the last output line."""
    environment = {**os.environ, "PYTHONPATH": SOURCE,
                   "PATH": PROGRAMS + os.pathsep + os.environ["PATH"]}
    command = [sys.executable, "-m", "evo_tune", "run", "--max-seconds", SEARCH_SECONDS]
    command += ["-m", "pytest", "-q"] if script.name.startswith("test_") else []
    with subprocess.Popen([*command, script.name], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            said, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            said, _ = process.communicate()
            return "too long", ""
    last = said.strip().splitlines()[-1] if said.strip() else ""
    if process.returncode == 0:
        return "ran", last
    is_refused = process.returncode == 2 and "Traceback" not in said
    return ("refused" if is_refused else "FAILED"), last


def main():
    # A background job of a shell script ignores SIGINT, and so do the processes that the job
    # starts. This call handles SIGINT again, so that outcome() can end scripts with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not EXAMPLES:
        print("skipped: EVO_KERNEL_TUNER_EXAMPLES names no folder")
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "cuda")
        shutil.copytree(EXAMPLES, folder)
        scripts = [folder / name for name in sys.argv[3:]] or sorted(folder.glob("*.py"))
        for script in scripts:
            begin = time.monotonic()
            word, last = outcome(script, folder)
            failures += word == "FAILED"
            print(f"{script.name:40} {word:8} {time.monotonic() - begin:6.0f} s  {last[:200]}",
                  flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
