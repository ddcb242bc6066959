#!/usr/bin/env bash
# Tunes typical kernels at real sizes.
# Prints for each kernel how many candidates evo-tune judges per second, and the time of each phase.
# compare_kernel_tuner.py measures Kernel Tuner on the same kernels.
# Usage: tools/bench/real_kernels.sh [folder of programs, default build/release/bin] [device]
#                                    [seconds for each kernel, default 20] [SPACE[:SHAPE] ...]
# The environment variable STRATEGY selects evo-tune's strategy (default: random).
set -eu
cd "$(dirname "$0")/../.."
bin="${1:-build/release/bin}"
device="${2:-cuda:0}"
seconds="${3:-20}"
shift $(($# < 3 ? $# : 3))
spaces="${*:-convolution stencil matmul sum nbody:quarter nbody}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
for space in $spaces; do
  shape=()
  [ "$space" = "${space%:*}" ] || shape=(--shape "${space#*:}")
  "$bin/evo-tune" --space "tools/bench/real_kernels/search_spaces/${space%:*}.json" "${shape[@]}" --device "$device" \
    --strategy "${STRATEGY:-random}" --seed 7 --generations 1000 --max-seconds "$seconds" --db "$work/$space.db" --json > "$work/$space.json" || true
  python3 - "$work/$space.json" "$space" <<'PY'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
speed = [e for e in events if e["event"] == "speed"]
if not speed:
    sys.exit(f"{sys.argv[2]}: no candidate was judged: {events[-1] if events else 'nothing was printed'}")
best = [e["elite"][0]["p50_us"] for e in events if e["event"] == "generation" and e["elite"]]
speed = speed[-1]
rejected = sum(e["event"] == "evaluated" and "gate" in e for e in events)
per = {k[:-3]: v / speed["evaluated"] for k, v in speed.items() if k.endswith("_ms") and v}
print(f"{sys.argv[2]}: {speed['variants_per_s']:.2f} candidates/s ({speed['evaluated']:.0f}, {rejected} rejected); ms per candidate: "
      + ", ".join(f"{k} {v:.1f}" for k, v in sorted(per.items())) + (f"; best {best[-1]:.2f} us" if best else ""))
PY
done
