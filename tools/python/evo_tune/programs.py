"""Finds and starts the programs of evo-tune."""

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

from .errors import Error

#: Environment variable that names the device to use; without it, choose_device() takes a GPU.
DEVICE_VARIABLE = "EVO_DEVICE"


def find(name):
    """The path of a program of evo-tune: in Python's folder for scripts, else next to the
    interpreter, else in PATH. Raises Error if there is none."""
    for folder in (sysconfig.get_path("scripts"), Path(sys.executable).parent):
        candidate = Path(folder) / name
        if os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which(name)
    if found is None:
        raise Error(f"{name} was not found; install the wheel of evo-tune, or put the folder of "
                    "its programs into PATH")
    return found


def run(name, arguments, folder, quiet=True, on_line=None):
    """Runs a program in `folder` and returns the finished process with its captured output.

    Progress on standard error is shown unless `quiet`. `on_line` is called with each line of
    standard output.
    With exit code 0 or 1, returns; 130 raises KeyboardInterrupt; any other exit code raises Error
    with the program's message, or else its last three lines.
    """
    command = [find(name), *map(str, arguments)]
    lines = []
    # After Ctrl-C, waits for the program, which the terminal also interrupts, to save its results.
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors="replace") as process:
        try:
            out = _follow(process, lines, quiet, on_line)
        except KeyboardInterrupt:
            process.wait()
            raise
    if process.returncode == 130:
        raise KeyboardInterrupt
    if process.returncode not in (0, 1):
        raise Error(_last_words(name, lines))
    return subprocess.CompletedProcess(command, process.returncode, out, "".join(lines))


def _follow(process, lines, quiet, on_line):
    """Returns the standard output of a running program, and appends each line of its standard error
    to `lines`."""
    def read_errors():
        for line in process.stderr:
            lines.append(line)
            if not quiet:
                sys.stderr.write(line)

    reader = threading.Thread(target=read_errors)
    reader.start()
    out = []
    for line in process.stdout:
        out.append(line)
        if on_line is not None:
            on_line(line)
    process.wait()
    reader.join()
    return "".join(out)


def _last_words(name, lines):
    said = [line.rstrip() for line in lines if line.startswith(name + ":")]
    if said:
        begin = lines.index(next(line for line in lines if line.startswith(name + ":")))
        return "".join(lines[begin:begin + 12]).strip()
    return f"{name} failed: " + " ".join(line.strip() for line in lines[-3:])


def _driver():
    """The initialised CUDA driver library; None if there is no driver."""
    for name in ("libcuda.so.1", "libcuda.so"):
        try:
            driver = ctypes.CDLL(name)
        except OSError:
            continue
        if driver.cuInit(0) == 0:
            return driver
    return None


def gpu_count():
    """The number of GPUs visible to the CUDA driver; 0 without a driver."""
    driver, count = _driver(), ctypes.c_int(0)
    if driver is None or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def gpu_name(device):
    """The name of a device "cuda:N" as the driver gives it; None for any other device."""
    number = device.removeprefix("cuda:")
    driver, name = _driver(), ctypes.create_string_buffer(256)
    if number == device or not number.isdecimal() or driver is None or driver.cuDeviceGetName(
            name, len(name) - 1, int(number)) != 0:
        return None
    return name.value.decode()


def choose_device(number=0):
    """The value for --device: EVO_DEVICE if set, else virtual:l4 if there is no GPU, else the GPU
    `number`. Raises Error if this machine has GPUs, but not this one."""
    chosen = os.environ.get(DEVICE_VARIABLE)
    if chosen:
        return chosen
    gpus = gpu_count()
    if gpus == 0:
        return "virtual:l4"
    if not 0 <= number < gpus:
        raise Error(f"device {number}: this machine has GPUs 0 to {gpus - 1}")
    return f"cuda:{number}"


def say(text):
    """Prints one line for the user on standard error."""
    print("evo_tune: " + text, file=sys.stderr, flush=True)
