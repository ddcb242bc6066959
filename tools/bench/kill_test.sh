#!/usr/bin/env bash
# Kills evo-tune, its compilers and the device worker with kill -9 at random instants.
# Also kills each process of a run over two hosts: evo-tune, its gateway, and the workers.
# Each run must still end with the result of an undisturbed run and lose no stored outcome.
# Usage: tools/bench/kill_test.sh [kills of each kind of process, default 200] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
bin="${EVO_BIN:-build/ci/bin}"
for victim in coordinator compile device; do
  "$bin/kill-run" --victim "$victim" --kills "${1:-200}" --seed "${2:-1}" | tail -n 1
done
EVO_KILLS="${1:-200}" EVO_KILLS_SEED="${2:-1}" python3 tests/cluster/kills_test.py "$bin"
