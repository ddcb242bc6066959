#!/usr/bin/env bash
# Measures how many candidates evo-tune judges per second, and how much time its engine needs.
# Prints one line per figure.
# Usage: tools/bench/judge_rate.sh [build folder, default build/ci (has the fake worker)]
set -eu
cd "$(dirname "$0")/../.."
bin="$(realpath "${1:-build/ci}")/bin"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
space=search_spaces/sdpa_fp8_wmma_l4.json
figure() { python3 -c "
import json, sys
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event['event'] == 'speed': print(sys.argv[2].format(**event))" "$@"; }

"$bin/evo-tune" --space $space --device none --strategy random --generations 8 --offspring 16 \
  --db "$work/cold.db" --json > "$work/cold.json"
figure "$work/cold.json" "build and resource gates: {variants_per_s:.1f} candidates/s ($(nproc) cores)"

"$bin/evo-tune" --space $space --device none --strategy random --generations 8 --offspring 16 \
  --db "$work/cold.db" --json > "$work/warm.json"
python3 - "$work/warm.json" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    event = json.loads(line)
    if event["event"] == "speed":
        print(f"cached compilations: {event['total_ms'] / event['evaluated']:.2f} ms per candidate, all included")
PY

# The fake worker compiles and runs instantly, so the measured time is that of evo-tune's engine.
export EVO_WORKER="$bin/fake-worker"
start=$(date +%s%N)
"$bin/evo-tune" --space tests/planted/search_spaces/wide.json --device fake:measured --generations 1 \
  --offspring 1 --db "$work/start.db" --quiet > /dev/null || [ $? -eq 1 ] # nothing green
echo "start to end of a run of one generation: $((($(date +%s%N) - start) / 1000000)) ms"
/usr/bin/env python3 - "$bin" "$work" <<'PY'
import json, resource, subprocess, sys
binary, work = sys.argv[1:]
command = [f"{binary}/evo-tune", "--space", "tests/planted/search_spaces/wide.json", "--device", "fake:measured",
           "--strategy", "random", "--generations", "1250", "--db", f"{work}/engine.db", "--json"]
run = subprocess.run(command, capture_output=True, text=True)
if run.returncode > 1:
    sys.exit(run.stderr)
for line in run.stdout.splitlines():
    event = json.loads(line)
    if event["event"] == "speed":
        per = event["engine_ms"] / event["evaluated"]
        print(f"engine: {per:.2f} ms per candidate beside compilers and device, {event['evaluated']:.0f} candidates")
print(f"largest resident set of a process: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")
PY
