#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test this machine can run.
# Usage: ./test.sh [options of ctest]
set -u
cd "$(dirname "$0")" || exit 1
. cmake/setup.sh

# For tests with programs of a problem, and of the Python package.
install_packages python3 python3-dev python3-numpy python3-pip
# For the test that opens reports; without them it is skipped.
(install_packages chromium chromium-driver python3-selenium) || say "Without Chromium: reports are not opened in a browser."
# For the tests of completion and of manual pages; without them zsh is skipped, and fewer programs
# read the pages.
(install_packages zsh man-db groff-base mandoc) || say "Without zsh, man, groff and mandoc: completion and manual pages are tested less."
# All sources of a target together (cmake/Unity.cmake), unless EVO_UNITY says otherwise.
export EVO_UNITY="${EVO_UNITY-all}"
# For the tests on a cluster of this machine; without these they are skipped.
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
