#!/usr/bin/env bash
# Builds the wheel with the programs: tools/python/build_wheel.sh [FOLDER] (default: build/dist).
# The environment variable PYTHON chooses the interpreter that builds the wheel, and
# EVO_WHEEL_OPTIONS gives options to `pip wheel`. If Python 3.12 or later builds the extension, the
# extension also works in later versions. The wheel's tag names the oldest glibc that its programs
# support.
set -eu
cd "$(dirname "$0")/../.."
folder="${1:-build/dist}"
python="${PYTHON:-python3}"
mkdir -p "$folder"
rm -f "$folder"/evo_tune-*.whl
# Names the compiler like other builds do, so that ccache finds the objects of other builds.
CXX="${CXX:-/usr/bin/c++}" "$python" -m pip wheel --quiet --no-deps --wheel-dir "$folder" \
  ${EVO_WHEEL_OPTIONS:-} tools/python
glibc="$(find build/wheel/bin build/wheel/tools/python -type f \( -perm -u+x -o -name '_launcher*.so' \) -exec objdump -T {} + 2>/dev/null |
  grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2 -n | tail -n 1)"
tag="manylinux_2_${glibc#GLIBC_2.}_$(uname -m)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check wheel
"$work/tools/bin/wheel" tags --remove --platform-tag "$tag" "$folder"/evo_tune-*.whl
ls "$folder"/evo_tune-*.whl
