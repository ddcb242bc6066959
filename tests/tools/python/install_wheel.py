"""Builds the wheel and installs it in TARGET/lib: install_wheel.py SOURCE TARGET."""

import glob
import importlib.util
import os
import shutil
import subprocess
import sys

SOURCE, TARGET = sys.argv[1:3]
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]

shutil.rmtree(TARGET, ignore_errors=True)
os.makedirs(TARGET)
copy = os.path.join(TARGET, "source")  # nothing is written to the source tree
shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "build", "dist"))
# Without scikit-build-core pip fetches it for the build. The programs are not built.
has_backend = importlib.util.find_spec("scikit_build_core")
offline = ["--no-index", "--no-build-isolation"] if has_backend else []
subprocess.run([*PIP, "wheel", "--no-deps", "--config-settings=wheel.cmake=false", *offline,
                "--wheel-dir", TARGET, copy], check=True)
(wheel,) = glob.glob(os.path.join(TARGET, "evo_tune-*-py3-none-any.whl"))
library = os.path.join(TARGET, "lib")
subprocess.run([*PIP, "install", "--no-deps", "--no-index", "--root-user-action=ignore", "--target",
                library, wheel], check=True)
shutil.rmtree(copy)
found = subprocess.run([sys.executable, "-c", "import evo_tune; print(evo_tune.__file__)"],
                       env={"PYTHONPATH": library}, cwd="/", capture_output=True, text=True)
print(wheel, found.stdout + found.stderr)
if not found.stdout.startswith(library):
    sys.exit("the installed package is not found")
