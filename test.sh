#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test that can run on this machine, except the
# tests with the labels wheel and ray, which .ci/nightly runs.
# Usage: ./test.sh [options of ctest]
set -u
cd "$(dirname "$0")" || exit 1
. cmake/setup.sh

# Packages for the build (with unzip for a CUDA Toolkit from PyPI), and Python with NumPy for tests
# of the Python package and of problems with programs.
install_packages "${packages[@]}" unzip python3 python3-dev python3-numpy python3-pip
# Without other packages, some tests are skipped.
install_test_packages() {
  # for the test that opens reports
  (install_packages chromium chromium-driver python3-selenium) || say "Without Chromium: reports are not opened in a browser."
  # for tests of completion and of manual pages
  (install_packages zsh man-db groff-base mandoc) || say "Without zsh, man, groff and mandoc: completion and manual pages are tested less."
  # for tests that start Slurm and sshd on this machine
  (install_packages slurmctld slurmd slurm-client munge openssh-server openssh-client) || say "Without Slurm and sshd: runs over several hosts are tested less."
}
# Root needs no password, so the packages can be installed while the programs are built.
if [ "$(id -u)" -eq 0 ]; then install_test_packages & else install_test_packages; fi
# Compiles all sources of a target together (cmake/Unity.cmake), unless EVO_UNITY is set.
export EVO_UNITY="${EVO_UNITY-all}"
setup_and_build ci
wait
log="build/ci/ctest.log"
exclude='wheel|ray'  # .ci/nightly
nvidia-smi -L >/dev/null 2>&1 || exclude="gpu|$exclude"
tests() { ctest --preset ci --no-tests=ignore "$@" 2>&1 | tee -a "$log"; return "${PIPESTATUS[0]}"; }
: >"$log"
# Many tests wait, so ctest runs three more tests at once than the machine has processors.
tests -j "$(($(nproc) + 3))" -LE "$exclude|cluster" "$@"
status=$?
# These tests wait most of the time, so all run at once (tests/cluster/CMakeLists.txt).
tests -j 12 -L cluster "$@" || status=$?
grep -q 'Test *#' "$log" || { say "No test matches: $*"; exit 2; }
[[ "$exclude" != gpu* ]] || say "Skipped: the tests labelled gpu ($(ctest --preset ci -N -L gpu | grep -c 'Test *#')): this machine has no CUDA GPU."
skipped="$(grep -cE 'Skipped' "$log")"
[ "$skipped" -eq 0 ] || { say "Tests that skipped themselves, with their reasons:"; grep -hE '\*\*\*Skipped' "$log" | sort -u | head -n 40 >&2; }
exit "$status"
