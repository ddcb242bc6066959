#!/usr/bin/env bash
# A long run with injected faults: workers that are killed, stopped, hang, are slow or send garbage,
# a full disk, a locked database, evo-tune killed and resumed. Prints the result. Fails if an
# evaluation was lost or stored twice, if a wrong kernel is green, if evo-tune ended by itself, or
# if the memory of evo-tune grows by more than the outcomes of a run need.
# Usage: tools/bench/soak.sh [evaluations, default 10000] [seed, default 1]
set -eu
cd "$(dirname "$0")/../.."
exec "${EVO_BIN:-build/ci/bin}/soak-run" --evaluations "${1:-10000}" --seed "${2:-1}"
