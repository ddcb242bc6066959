#!/usr/bin/env bash
# Installs missing packages, builds, and runs every test that can run on this machine.
# Usage: ./test.sh [options of ctest]
set -u
cd "$(dirname "$0")" || exit 1
. cmake/setup.sh

# Packages for tests of the Python package, and of problems with programs.
install_packages python3 python3-dev python3-numpy python3-pip
# Packages for the test that opens reports; without them, the test is skipped.
(install_packages chromium chromium-driver python3-selenium) || say "Without Chromium: reports are not opened in a browser."
# Packages for tests of completion and of manual pages; without them, fewer tests run.
(install_packages zsh man-db groff-base mandoc) || say "Without zsh, man, groff and mandoc: completion and manual pages are tested less."
# Compiles all sources of a target together (cmake/Unity.cmake), unless EVO_UNITY is set.
export EVO_UNITY="${EVO_UNITY-all}"
# Packages for tests on a cluster of this machine; without them, the tests are skipped.
(install_packages slurmctld slurmd slurm-client munge openssh-server openssh-client) || say "Without Slurm and sshd: runs over several hosts are tested less."
setup_and_build ci
log="build/ci/ctest.log"
exclude=(-LE 'wheel|ray')  # .ci/nightly
nvidia-smi -L >/dev/null 2>&1 || exclude=(-LE 'gpu|wheel|ray')
ctest --preset ci -j "$(nproc)" "${exclude[@]}" "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
[ "${exclude[1]}" = 'wheel|ray' ] || say "Skipped: the tests labelled gpu ($(ctest --preset ci -N -L gpu | grep -c 'Test *#')): this machine has no CUDA GPU."
skipped="$(grep -cE 'Skipped' "$log")"
[ "$skipped" -eq 0 ] || { say "Skipped by themselves, with their reasons:"; grep -hE '\*\*\*Skipped' "$log" | sort -u | head -n 40 >&2; }
exit "$status"
