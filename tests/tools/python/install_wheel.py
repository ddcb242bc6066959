"""Builds the wheel of the package evo_tune, without its programs, and installs it in TARGET/lib:
install_wheel.py TOOLS TARGET. TOOLS: the folder tools of the project."""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys

TOOLS, TARGET = sys.argv[1:3]
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]

shutil.rmtree(TARGET, ignore_errors=True)
os.makedirs(TARGET)
source = os.path.join(TARGET, "source")  # nothing is written to the source tree
for part in ("python", "loader"):
    shutil.copytree(os.path.join(TOOLS, part), os.path.join(source, part),
                    ignore=shutil.ignore_patterns("__pycache__", "build", "dist"))
# If a build tool is missing, pip downloads the build tools. The wheel is built without the evo-tune
# programs.
has_all = all(importlib.util.find_spec(name) for name in ("scikit_build_core", "nanobind", "cmake"))
offline = ["--no-index", "--no-build-isolation"] if has_all else []
subprocess.run([*PIP, "wheel", "--no-deps", "--config-settings=cmake.source-dir=.", *offline,
                "--wheel-dir", TARGET, os.path.join(source, "python")], check=True)
(wheel,) = glob.glob(os.path.join(TARGET, "evo_tune-*.whl"))
library = os.path.join(TARGET, "lib")
subprocess.run([*PIP, "install", "--no-deps", "--no-index", "--root-user-action=ignore", "--target",
                library, wheel], check=True)
shutil.rmtree(source)
found = subprocess.run([sys.executable, "-c", "import evo_tune; print(evo_tune.__file__)"],
                       env={"PYTHONPATH": library}, cwd="/", capture_output=True, text=True)
print(wheel, found.stdout + found.stderr)
if not found.stdout.startswith(library):
    sys.exit("the installed package is not found")
