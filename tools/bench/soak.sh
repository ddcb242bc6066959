#!/usr/bin/env bash
# A long run with faults of every kind: workers that are killed, stopped, hang, are slow or send
# rubbish, a full disk, a locked database, evo-tune killed and resumed. Prints what came out; fails
# when an evaluation was lost or stored twice, a wrong kernel is green, evo-tune ended by itself, or
# its memory grows by more than what a run must remember.
# Usage: tools/bench/soak.sh [evaluations, default 10000] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
exec "${EVO_BIN:-build/ci/bin}/soak-run" --evaluations "${1:-10000}" --seed "${2:-1}"
