#!/usr/bin/env bash
# Fuzzes the given targets, or all targets, for SECONDS each: tests/fuzz/run.sh SECONDS [target…]
#
# The script first builds the targets (preset fuzz: clang 16, address and undefined sanitizers).
# If `tests/fuzz/pack.sh FOLDER` has put targets beside this script, the script uses those instead.
# The script prints the number of executions and the result of each target, and also writes them to
# OUT/summary.txt.
# The exit code is 1 if a target has a finding.
# The input of a finding is in the file OUT/<target>-crash-…, -timeout-… or -oom-….
#
#   EVO_FUZZ_JOBS     number of targets at a time (default: number of cores)
#   EVO_FUZZ_WORKERS  number of processes for each target (default: 1)
#   EVO_FUZZ_SEED     seed of the mutations; 0 (default): a new seed each time
#   EVO_FUZZ_OUT      the folder OUT for logs, findings and new inputs (default: build/fuzz/out; for
#                     packed targets, the folder out beside this script)
set -u
here="$(cd "$(dirname "$0")" && pwd)"
all=(bundle expression frame ptx recording spec)

[ $# -ge 1 ] && [[ "$1" =~ ^[0-9]+$ ]] || { echo "usage: $0 SECONDS [${all[*]}]" >&2; exit 2; }
seconds="$1"
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || { echo "no target '$target'; there are: ${all[*]}" >&2; exit 2; }
done

if [ -x "$here/fuzz_ptx" ]; then
  bin="$here"
  out="${EVO_FUZZ_OUT:-$here/out}"
else
  cd "$here/../.." || exit 3
  . cmake/setup.sh
  install_packages "${packages[@]}" clang-16 libclang-rt-16-dev
  toolkit="$(find_toolkit)"
  [ -n "$toolkit" ] || toolkit="$(fetch_toolkit)" || exit $?
  bin="$PWD/build/fuzz/fuzz"
  out="${EVO_FUZZ_OUT:-$PWD/build/fuzz/out}"
  cmake --preset fuzz -DEVO_CUDA_ROOT="$toolkit" >/dev/null || exit 3
  ninja -C build/fuzz "${targets[@]/#/fuzz_}" >build/fuzz/build.log 2>&1 ||
    { grep -E 'error:' -A 3 build/fuzz/build.log >&2; exit 3; }
fi
mkdir -p "$out"

# Fuzzes one target for the given time, and prints its line of the summary.
fuzz() {
  local target="$1" log="$out/$1.log" fork=() status executions result="clean"
  local -A longest=([bundle]=12000 [expression]=400 [frame]=20000 [ptx]=6000 [recording]=8000 [spec]=12000)
  mkdir -p "$out/new/$target"
  [ "${EVO_FUZZ_WORKERS:-1}" -le 1 ] || fork=("-fork=$EVO_FUZZ_WORKERS")
  [ ! -d "$bin/lib" ] || export LD_LIBRARY_PATH="$bin/lib"
  "$bin/fuzz_$target" \
    "$out/new/$target" "$here/corpus/$target" "${fork[@]}" -max_total_time="$seconds" -timeout=30 \
    -seed="${EVO_FUZZ_SEED:-0}" \
    -rss_limit_mb=3000 -max_len="${longest[$target]}" -dict="$here/dictionary/$target.dict" \
    -artifact_prefix="$out/$target-" -print_final_stats=1 >"$log" 2>&1
  status=$?
  executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)"
  [ -n "$executions" ] || executions="$(grep -oE '^#[0-9]+' "$log" | tail -n 1 | tr -d '#')"
  [ "$status" -eq 0 ] ||
    result="FINDING (exit $status): $(grep -hoE 'SUMMARY: .*|runtime error: .*|terminate called.*|Assertion .*' "$log" | head -n 2 | paste -sd ' ')"
  printf '%-10s %8s s %12s executions %8s/s  %s\n' "$target" "$seconds" "${executions:-0}" \
    "$((${executions:-0} / (seconds > 0 ? seconds : 1)))" "$result"
  return "$status"
}

export -f fuzz
export here bin out seconds
printf '%s\n' "${targets[@]}" |
  xargs -P "${EVO_FUZZ_JOBS:-$(nproc)}" -I '{}' bash -c 'fuzz {} || exit 1' | tee "$out/summary.txt"
status=("${PIPESTATUS[@]}")
[ "${status[1]}" -eq 0 ] || { echo "findings are in $out" >&2; exit 1; }
