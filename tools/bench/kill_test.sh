#!/usr/bin/env bash
# kill -9 of evo-tune, of its compilers and of the device worker at random instants; every run must
# end as the one that nobody disturbed.
# Usage: tools/bench/kill_test.sh [kills of each, default 200] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
for victim in coordinator compile device; do
  "${EVO_BIN:-build/ci/bin}/kill-run" --victim "$victim" --kills "${1:-200}" --seed "${2:-1}" | tail -n 1
done
