#!/usr/bin/env bash
# Kills evo-tune, its compilers and the device worker with kill -9 at random instants. Every run
# must give the same result as an undisturbed one.
# Usage: tools/bench/kill_test.sh [kills of each, default 200] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
for victim in coordinator compile device; do
  "${EVO_BIN:-build/ci/bin}/kill-run" --victim "$victim" --kills "${1:-200}" --seed "${2:-1}" | tail -n 1
done
