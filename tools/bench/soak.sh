#!/usr/bin/env bash
# Tests a long run of evo-tune with injected faults.
# Workers are killed, are stopped, hang, are slow or send garbage.
# At times, the disk is full or the database is locked.
# evo-tune itself is killed and resumed.
# The test fails if an evaluation was lost or stored twice, or if a wrong kernel is green.
# The test also fails if evo-tune ended for a reason other than these faults before the search was
# finished, or used more memory than a run's outcomes need.
# Usage: tools/bench/soak.sh [evaluations, default 10000] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
exec "${EVO_BIN:-build/ci/bin}/soak-run" --evaluations "${1:-10000}" --seed "${2:-1}"
