#!/usr/bin/env bash
# Tests a long run of evo-tune with injected faults.
# Workers are killed, are stopped, hang, are slow or send garbage.
# At times, the disk is full or the database is locked.
# evo-tune itself is killed and resumed.
# The test fails if an evaluation was lost or stored twice, or if a wrong kernel is green.
# The test also fails if evo-tune ended before the search was finished, except after a kill or on a
# full disk, or if it used more memory than the outcomes of a run need.
# Usage: tools/bench/soak.sh [evaluations, default 10000] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
exec "${EVO_BIN:-build/ci/bin}/soak-run" --evaluations "${1:-10000}" --seed "${2:-1}"
